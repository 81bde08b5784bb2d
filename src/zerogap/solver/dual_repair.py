"""Repair of a dual point where f has no curvature: without it, the point gives no bound.

A feature with mu_j = 0 has a finite conjugate only for -l1_j <= s_j + q_j where it has no upper bound, and
for s_j + q_j <= l1_j where it has no lower one; an unpenalised intercept asks for s_b = 0.
"""

import functools
from typing import Any

import numpy as np

from zerogap.problem import terms as row_terms
from zerogap.problem.problem import Problem
from zerogap.solver import intercept
from zerogap.solver.dual_projection import NOTHING, DualProjection

Array = np.ndarray

STEPS = 25
#: After so many steps that do not halve what is missing, others will not either.
SLOW = 3
#: Share of the way to the boundary of the domain that one step may go.
REACH = 0.95
#: Slopes this close to the end of their interval, relative to its terms, are kept from leaving it.
NEAR = 1e-3
#: ... but no more of the interval than this share at each end.
PART = 0.05
#: Up to so many features without curvature are settled one after the other, where no data row touches two.
SEPARATE = 64
#: Corrections of the rounding that a projection leaves.
CORRECTIONS = 5
#: Products run over a copy of the rows that may move, as long as these are no larger share of all.
COPIED = 0.1
#: Entries of a matrix of rows that is made dense.
DENSE = 150_000
#: ... and of a wider one with no more rows than this.
LARGER, FEW = 4_000_000, 100
_EPS = float(np.finfo(np.float64).eps)


class DualRepair:
    """Moves dual points onto the slopes that f without curvature allows."""

    def __init__(self, problem: Problem):
        self.problem = problem
        flat = problem.flat
        self.any = flat.features.size > 0
        self.rounding = 0.5 * problem.slope_rounding
        self._only_intercept = problem.fit_intercept and flat.features.size == 1
        if self.any and not self._only_intercept:
            features = flat.features[flat.features < problem.n_features]
            everything = features.size == problem.n_features
            self.rows = problem.rows if everything else problem.rows.columns(features)
            self.low, self.high = np.empty(problem.n_rows), np.empty(problem.n_rows)
            row_terms.domains(problem.terms, self.low, self.high)
            self.separate = features.size <= SEPARATE and self._disjoint()

    def _disjoint(self) -> bool:
        """Does every data row touch one of the features at most?"""
        n = self.problem.n_samples
        squares = self.rows.square_norms(1.0, 1.0)[:n]
        square_of_sum = self.rows.dot(np.ones(self.rows.shape[1]))[:n] ** 2
        return bool((np.abs(squares - square_of_sum) <= 1e-12 * squares).all())

    @functools.cached_property
    def _projection(self) -> DualProjection:
        return DualProjection(self.problem)

    @functools.cached_property
    def _share(self) -> Array:
        """w_i ||r_i||"""
        return self.problem.weight * np.sqrt(self.problem.rows.square_norms(1.0, 1.0))

    @functools.cached_property
    def _columns(self) -> list[Array]:
        """w_i r_ij over all rows, for each feature."""
        unit = np.eye(self.rows.shape[1])
        return [self.problem.weight * self.rows.dot(column) for column in unit]

    def _one_by_one(self, u: Array) -> Array | None:
        """Each slope moved into its interval by the data rows of its own; None where one cannot be."""
        flat, own = self.problem.flat, np.arange(u.size) < self.problem.n_samples
        widest = []
        for share, low, high in zip(self._columns, flat.low, flat.high, strict=True):
            aim = min(max(float(share @ u), low), high)
            moved = intercept.settle(u, share, own, aim, self.low, self.high)
            if moved is None:
                return None
            u = moved
            room = np.where(own & (share != 0.0), np.minimum(u - self.low, self.high - u), 0.0) * np.abs(
                share
            )
            widest.append(int(np.argmax(room)))
        share = np.array([share[k] for share, k in zip(self._columns, widest, strict=True)])
        for _ in range(3):  # the sums again, in the order in which they are judged
            slope = self.problem.slope(u)[flat.features]
            missing = np.clip(slope, flat.low, flat.high) - slope
            # an empty column has no share in anything, and no row of its own
            np.add.at(u, widest, np.where(share != 0.0, missing, 0.0) / np.where(share != 0.0, share, 1.0))
        return self.problem.project_dual(u)

    def __call__(self, u: Array, x: Array, stiffness: tuple[Array, Array] | None = None) -> Array:
        """A point near u with finite D, or u itself where none is found; x tells which kinks it is at.

        Where a solver knows how stiff rows and features are, Newton steps come first.
        """
        if self._only_intercept:
            return intercept.repair(self.problem, u)
        flat = self.problem.flat
        if stiffness is None:
            s, size = self._slopes(u)
            if float((np.abs(np.clip(s, flat.low, flat.high) - s) / size).max()) <= self.rounding:
                return u
        if self.separate:
            moved = self._one_by_one(u)
            if moved is not None:
                return moved
        if stiffness is not None and np.isfinite(stiffness[0]).all():
            moved = self._projected(u, x, stiffness)
            if moved is not None:
                return moved
        for interval, forced in (
            (self._interval(x), False),
            ((flat.low, flat.high), False),
            ((flat.low, flat.high), True),
        ):
            moved = self._move(u, interval, forced)
            if moved is not None:
                return moved
        return u

    def _projected(self, u: Array, x: Array, stiffness: tuple[Array, Array]) -> Array | None:
        """By Newton steps; what they leave is rounding, for the rows that are free to take."""
        found = self._projection(u, x, *stiffness)
        if found is None:
            return None
        v, h = found
        low, high = self.problem.flat.low, self.problem.flat.high
        norms = np.maximum(np.sqrt(self.rows.square_columns(h)), 1e-300)
        size = self._slopes(v)[1]
        usual = np.maximum(size, NOTHING * float(np.max(size)))
        # so small that what is out of reach is left where it is least relative to the sizes of the slopes
        scale = np.sqrt(h) * float(np.min(usual / norms))
        room = np.divide(scale, self.problem.weight, out=np.zeros_like(scale), where=h > 0.0)
        held = np.zeros(low.size, dtype=bool)
        for _ in range(CORRECTIONS):
            v[np.abs(self._share * v) <= _EPS * float(np.max(np.abs(self._share * v)))] = 0.0
            s, size = self._slopes(v)
            missing = np.clip(s, low, high) - s
            if float((np.abs(missing) / size).max()) <= self.rounding:
                return v
            held |= (s <= low + self.rounding * size) | (s >= high - self.rounding * size)
            shift = self._shift(missing, usual, held, scale)
            if shift is None:
                return None
            v += shift * room
            np.clip(v, self.low, self.high, out=v)
        return None

    def _interval(self, x: Array) -> tuple[Array, Array]:
        """The slopes for which x_j minimises f_j(x_j) + s_j x_j, for the flat features (mu_j = 0)."""
        index = self.problem.flat.features
        penalty: Any = self.problem.penalty
        low, high = np.zeros(x.size), np.zeros(x.size)
        t = self.problem.n_features
        own, l1 = x[:t], penalty.l1
        low[:t] = np.where(own == 0.0, -l1, -l1 * np.sign(own))
        high[:t] = np.where(own == 0.0, l1, -l1 * np.sign(own))
        high[:t][own <= penalty.lower] = np.inf
        low[:t][own >= penalty.upper] = -np.inf
        linear = np.append(np.zeros(t) + penalty.linear, np.zeros(x.size - t))
        return (low - linear)[index], (high - linear)[index]

    def _room(self, u: Array, forced: bool) -> Array:
        """How far each coordinate may move: affine scaling keeps it inside its domain.

        At a kink of its conjugate (u = 0 of a range) or at a bound a coordinate stays, unless forced.
        """
        problem, share = self.problem, self._share
        n, weight = problem.n_samples, problem.weight
        usual = 0.1 * float(np.max(share * np.abs(u), initial=0.0)) or 1.0
        room = np.minimum(u - self.low, self.high - u)
        free = np.maximum(np.abs(u), usual / np.where(share > 0, share, np.inf))
        room = np.where(np.isinf(room), free, room)
        ranges = np.flatnonzero(problem.low < problem.high) + n
        if not forced:
            room[ranges] = np.minimum(np.abs(u[ranges]), room[ranges])
        else:
            width = np.minimum(self.high - self.low, free)
            room = np.maximum(room, 1e-2 * width)
        room[weight == 0] = 0.0
        return room

    def _move(self, u: Array, interval: tuple[Array, Array], forced: bool) -> Array | None:
        low, high = interval
        v = u.copy()
        held = np.zeros(low.size, dtype=bool)
        last = before = np.inf
        for step in range(STEPS):
            s, size = self._slopes(v)
            near = np.minimum(NEAR * size, PART * (high - low)) if step == 0 else 0.0
            held |= (s <= low + near) | (s >= high - near)
            missing = np.where(held, np.clip(s, low, high) - s, 0.0)
            left = float((np.abs(missing) / size).max())
            if left <= 4.0 * _EPS or (left <= self.rounding and left > 0.5 * last):
                return v
            last = left
            if step % SLOW == 0:
                if left > 0.5 * before:
                    return None
                before = left
            if not self._step(v, missing, size, held, forced):
                return None
            v[np.abs(v) <= 4.0 * _EPS * np.abs(u)] = 0.0  # what cancellation leaves is rounding
            np.clip(v, self.low, self.high, out=v)
        return None

    def _slopes(self, u: Array) -> tuple[Array, Array]:
        """The slopes of the flat features, and the sizes of the terms in their sums."""
        weighted = self.problem.weight * u
        return self.rows.tdot(weighted), self.rows.column_magnitudes(weighted) + 1e-300

    def _step(self, v: Array, missing: Array, size: Array, held: Array, forced: bool) -> bool:
        """Move v (in place) by what is missing, or as far as its domain lets it; is there a way?"""
        room = self._room(v, forced)
        shift = self._shift(missing, size, held, self.problem.weight * room)
        if shift is None:
            return False
        shift *= room
        if not forced:
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(shift > 0, self.high - v, v - self.low) / np.abs(shift)
            shift *= min(1.0, REACH * float(np.min(room[shift != 0], initial=np.inf)))
        v += shift
        return True

    def _shift(self, missing: Array, size: Array, held: Array, scale: Array) -> Array | None:
        """The least z with R^T diag(scale) z = missing on the held slopes, None where they are out of reach.

        What no z can change is left where it is least, relative to `size`.
        """
        if not scale.any():
            return None
        rows: Any = slice(None)
        part = self.rows
        if np.count_nonzero(scale) <= COPIED * scale.size or part.nonzeros <= DENSE:
            rows = np.flatnonzero(scale)
            part = part.take(rows)
        norms = np.sqrt(part.square_columns(scale[rows] ** 2))
        untouched = norms <= 0.0
        if (np.abs(missing) > self.rounding * size)[held & untouched].any():
            return None
        root = np.where(held & ~untouched, 1.0 / np.maximum(size, norms), 0.0)
        out = np.zeros(scale.size)
        entries = part.shape[0] * part.shape[1]
        # by the rows themselves where there are few, as their Gram matrix loses digits
        if entries <= DENSE or (entries <= LARGER and part.shape[0] <= FEW):
            block = part.dense() * scale[rows, None] * root
            out[rows] = np.linalg.lstsq(block.T, root * missing, rcond=1e-13)[0]
            return out
        matrix = part.gram(scale[rows] ** 2) * root * root[:, None]
        values, vectors = np.linalg.eigh(matrix)
        kept = values > 1e-13 * values[-1]
        inverse = np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)
        y = root * (vectors @ (inverse * (vectors.T @ (root * missing))))
        out[rows] = part.dot(y)
        out *= scale
        return out
