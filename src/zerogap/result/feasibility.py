"""Contradictory constraints: a Farkas certificate that anyone can check, on an irreducible set of rows.

Rows  low_i <= r_i.x <= high_i  and the box  lower_j <= x_j <= upper_j  contradict each other when some y has

    min over the box of z.x  >  sum_i (high_i max(y_i, 0) + low_i min(y_i, 0)),      z = sum_i y_i r_i

for every x in the box that satisfies the rows would have z.x at most the right-hand side.
"""

import dataclasses
import warnings
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from zerogap.problem.problem import Problem

Array = np.ndarray

#: A contradiction must exceed its own terms by this share; rounding in e stays far below it.
MARGIN = 1e-9
#: |z_j| up to this multiple of the terms it adds up counts as zero.
_ROUNDING = 1e-12
#: Violations of the phase-1 problem below this (unit rows) are left to the solver.
_FEASIBLE = 1e-11


@dataclasses.dataclass(frozen=True, eq=False)
class Farkas:
    """Multipliers that prove a contradiction.

    rows        (index of the constraint object, row in it) of every row involved; no row can be spared
    multipliers one number per entry of `rows`: > 0 uses the row's upper side, < 0 its lower side
    features    the features whose box takes part
    """

    problem: Problem
    rows: tuple[tuple[int, int], ...]
    multipliers: Array
    features: Array

    def margin(self) -> float:
        """By how much the two sides contradict each other, relative to their terms; <= 0: no proof."""
        index = _positions(self.problem, self.rows)
        return _margin(_rows_of(self.problem), index, self.multipliers)

    def verify(self) -> bool:
        """Recompute the contradiction from the problem's data."""
        return bool(self.margin() > MARGIN)

    def __str__(self) -> str:
        named = ", ".join(_label(self.problem, c, i) for c, i in self.rows[:8])
        more = f" and {len(self.rows) - 8} more" if len(self.rows) > 8 else ""
        box = f"; the box of {self.features.size} feature(s) takes part" if self.features.size else ""
        return f"these rows contradict each other: {named}{more}{box}" if named else f"the box is empty{box}"


def _label(problem: Problem, c: int, i: int) -> str:
    """A row's name where it was given one, or its place."""
    constraint = problem.constraints[c]
    if constraint.names is not None:
        return repr(constraint.names[i])
    return f"{type(constraint).__name__} {c} row {i}"


@dataclasses.dataclass(frozen=True)
class _Rows:
    """Constraint rows over features and intercept, and the box."""

    matrix: Any
    low: Array
    high: Array
    lower: Array
    upper: Array


def _rows_of(problem: Problem) -> _Rows:
    matrix = problem.rows.bottom.matrix
    t = problem.n_features
    penalty: Any = problem.penalty
    lower, upper = np.full(t, -np.inf), np.full(t, np.inf)
    if penalty.boxed:
        lower, upper = np.broadcast_to(penalty.lower, t), np.broadcast_to(penalty.upper, t)
    if problem.fit_intercept:
        matrix = sp.hstack([matrix, sp.csr_array(problem.rows.constants[:, None])], format="csr")
        lower, upper = np.append(lower, -np.inf), np.append(upper, np.inf)
    return _Rows(sp.csr_array(matrix), problem.low, problem.high, lower, upper)


def _positions(problem: Problem, rows: tuple[tuple[int, int], ...]) -> Array:
    starts = np.cumsum([0] + [len(c) for c in problem.constraints])
    return np.array([starts[c] + i for c, i in rows], dtype=np.intp)


def _names(problem: Problem, index: Array) -> tuple[tuple[int, int], ...]:
    starts = np.cumsum([0] + [len(c) for c in problem.constraints])
    which = np.searchsorted(starts, index, side="right") - 1
    return tuple((int(c), int(i - starts[c])) for c, i in zip(which, index, strict=True))


def _margin(rows: _Rows, index: Array, y: Array) -> float:
    """(least z.x over the box - greatest z.x over the rows) / the size of both sums' terms."""
    if not index.size or not np.isfinite(y).all():
        return -np.inf
    part = rows.matrix[index]
    z, terms = part.T @ y, abs(part).T @ np.abs(y)
    side = np.where(y > 0, rows.high[index], rows.low[index])
    if np.isinf(side[y != 0]).any():
        return -np.inf
    used = np.where(y != 0, side, 0.0) * y
    zero = np.abs(z) <= _ROUNDING * terms
    end = np.where(z > 0, rows.lower, rows.upper)
    if np.isinf(end[~zero]).any():
        return -np.inf
    box = np.where(zero, 0.0, z * np.where(zero, 0.0, end))
    size = np.abs(used).sum() + np.abs(box).sum()
    return float((box.sum() - used.sum()) / size) if size > 0 else -np.inf


def obvious_contradiction(problem: Problem) -> Farkas | None:
    """A contradiction that one row, or two rows on the same feature, show by themselves."""
    rows = _rows_of(problem)
    m = rows.matrix.shape[0]
    if not m:
        return None
    positive, negative = rows.matrix.maximum(0), rows.matrix.minimum(0)
    with np.errstate(invalid="ignore"):  # inf - inf: such a row is no contradiction by itself
        least = _times(positive, rows.lower) + _times(negative, rows.upper)
        most = _times(positive, rows.upper) + _times(negative, rows.lower)
    for index, sign in ((np.flatnonzero(least > rows.high), 1.0), (np.flatnonzero(most < rows.low), -1.0)):
        for i in index[:5]:
            proof = _proof(problem, rows, np.array([i]), np.array([sign]))
            if proof is not None:
                return proof
    return _crossing(problem, rows)


def _times(matrix: Any, x: Array) -> Array:
    """matrix @ x where an absent entry times an infinite one is absent."""
    infinite = np.isinf(x)
    total = matrix @ np.where(infinite, 0.0, x)
    hit = abs(matrix) @ infinite.astype(float) > 0
    direction = matrix @ np.where(infinite, np.sign(np.where(infinite, x, 0.0)), 0.0)
    return np.where(hit, np.where(direction >= 0, np.inf, -np.inf), total)


def _crossing(problem: Problem, rows: _Rows) -> Farkas | None:
    """Two rows on one feature whose ranges do not meet."""
    counts = np.diff(rows.matrix.indptr)
    single = np.flatnonzero(counts == 1)
    if single.size < 2:
        return None
    first = rows.matrix.indptr[single]
    j, a = rows.matrix.indices[first], rows.matrix.data[first]
    ends = np.array([rows.low[single], rows.high[single]]) / a
    below, above = ends.min(axis=0), ends.max(axis=0)
    n = rows.matrix.shape[1]
    floor, ceiling = np.full(n, -np.inf), np.full(n, np.inf)
    np.maximum.at(floor, j, below)
    np.minimum.at(ceiling, j, above)
    for k in np.flatnonzero(floor > ceiling)[:5]:
        p = np.flatnonzero((j == k) & (below == floor[k]))[0]
        q = np.flatnonzero((j == k) & (above == ceiling[k]))[0]
        proof = _proof(problem, rows, single[[p, q]], np.array([-1.0 / a[p], 1.0 / a[q]]))
        if proof is not None:
            return proof
    return None


def prove_infeasible(problem: Problem) -> Farkas | None:
    """A Farkas certificate on an irreducible set of rows, or None when the rows do not contradict.

    A phase-1 linear program (the least common violation of all rows, each of unit size) finds
    multipliers; then each row that can be spared is taken out.
    """
    if not problem.n_constraints:
        return None
    proof = obvious_contradiction(problem)
    if proof is not None:
        return proof
    rows = _rows_of(problem)
    everything = np.arange(rows.matrix.shape[0])
    found = _phase_one(rows, everything)
    if found is None:
        return None
    index, y = found
    if _margin(rows, index, _polished(rows, index, y)) <= MARGIN:
        return None
    k = 0
    while k < index.size:
        fewer = _phase_one(rows, np.delete(index, k))
        if fewer is not None and _margin(rows, fewer[0], _polished(rows, *fewer)) > MARGIN:
            kept = np.isin(index[:k], fewer[0]).sum()
            (index, y), k = fewer, int(kept)
        else:
            k += 1
    return _proof(problem, rows, index, _polished(rows, index, y))


def _proof(problem: Problem, rows: _Rows, index: Array, y: Array) -> Farkas | None:
    if _margin(rows, index, y) <= MARGIN:
        return None
    z, terms = rows.matrix[index].T @ y, abs(rows.matrix[index]).T @ np.abs(y)
    box = np.flatnonzero(np.abs(z) > _ROUNDING * terms)
    return Farkas(problem, _names(problem, index), y, box)


def _phase_one(rows: _Rows, index: Array) -> tuple[Array, Array] | None:
    """Rows and multipliers of the least common violation, None when it is zero (or the LP fails)."""
    if not index.size:
        return None
    part = rows.matrix[index]
    norms = np.sqrt(np.asarray(part.multiply(part).sum(axis=1)).ravel())
    scale = 1.0 / np.where(norms > 0, norms, 1.0)
    part = sp.diags_array(scale) @ part
    low, high = rows.low[index] * scale, rows.high[index] * scale
    top, bottom = np.flatnonzero(np.isfinite(high)), np.flatnonzero(np.isfinite(low))
    slack = sp.csr_array(-np.ones((top.size + bottom.size, 1)))
    A = sp.hstack([sp.vstack([part[top], -part[bottom]]), slack], format="csr")
    bounds = [*zip(rows.lower, rows.upper, strict=True), (0.0, None)]
    cost = np.zeros(A.shape[1])
    cost[-1] = 1.0
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = scipy.optimize.linprog(
            cost,
            A_ub=A,
            b_ub=np.append(high[top], -low[bottom]),
            bounds=bounds,
            method="highs",
            options=options,
        )
    if answer.status != 0 or answer.fun <= _FEASIBLE:
        return None
    y = np.zeros(index.size)
    np.add.at(y, top, -answer.ineqlin.marginals[: top.size])
    np.add.at(y, bottom, answer.ineqlin.marginals[top.size :])
    y[np.abs(y) <= 1e-9 * np.abs(y).max(initial=0.0)] = 0.0
    used = np.flatnonzero(y)
    return index[used], y[used] * scale[used]


def _polished(rows: _Rows, index: Array, y: Array) -> Array:
    """y moved so that z vanishes where the box is no help."""
    part = rows.matrix[index]
    z = part.T @ y
    terms = abs(part).T @ np.abs(y)
    bounded = np.isfinite(np.where(z > 0, rows.lower, rows.upper)) & (np.abs(z) > 1e-7 * terms)
    free = np.flatnonzero((terms > 0) & ~bounded)
    if not free.size:
        return y
    # in units where every multiplier is one and every feature's terms add up to one
    block = part[:, free].toarray() * y[:, None] / terms[free]
    best = np.ones(y.size)
    for _ in range(3):
        best -= np.linalg.lstsq(block.T, block.T @ best, rcond=1e-10)[0]
    return y * best if (best > 0).all() else y
