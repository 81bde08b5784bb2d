"""A primal-dual interior point method for few rows with many kinks, as a start for the Newton steps.

Semismooth Newton steps cross kinks a few at a time. Where the matrices are small next to the number of kinks,
Mehrotra's predictor-corrector method takes twenty-odd steps whatever the kinks. Every row and every feature
with an l1 term or a box is a sum of pieces

    tau(m) = max_{low <= z <= high}  z m - aim z - bend z^2 / 2

(an l1 term is one with low = -l1, high = l1; an upper bound one with low = 0, high = inf; a range of a
constraint row is two). With slopes l, h >= 0 of the bounds, the optimality conditions are

    mu x - pull + sum_k w_k z_k g_k = 0      m = aim + bend z - l + h      l (z - low) = h (high - z) = 0

whose right-hand zeros are 'target' on the central path. A step solves the same system as a Newton step, with
h_k = w_k / theta_k, theta = l / (z - low) + h / (high - z) + bend.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from zerogap.problem import losses
from zerogap.problem import terms as row_terms
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import SeparablePenalty
from zerogap.solver import newton_system
from zerogap.solver.solver import Candidates

Array = np.ndarray

#: phi*(u) = u y + tube |u| + bend u^2 / 2 on the dual domain: (tube, bend) of the losses that are like this.
SHAPES: dict[type, Callable[[Any], tuple[float, float]]] = {
    losses.Hinge: lambda loss: (0.0, 0.0),
    losses.SmoothedHinge: lambda loss: (0.0, loss.width),
    losses.SquaredHinge: lambda loss: (0.0, 0.5),
    losses.Absolute: lambda loss: (0.0, 0.0),
    losses.Pinball: lambda loss: (0.0, 0.0),
    losses.Squared: lambda loss: (0.0, 1.0),
    losses.Huber: lambda loss: (0.0, 1.0),
    losses.EpsilonInsensitive: lambda loss: (loss.epsilon, 0.0),
    losses.SquaredEpsilonInsensitive: lambda loss: (loss.epsilon, 0.5),
}
#: How far a step goes towards the nearest bound.
INSIDE = 0.995
#: A dual coordinate without bounds or bend bends this much, relative to what its row gives; about its own
#: place, so that nothing but the pace changes.
FREE = 1e-8
STEPS = 60
GOAL = 0.5
BOOST = 100.0


class Pieces(NamedTuple):
    """The elementary terms; `of` is the row, or the feature behind all rows."""

    of: Array
    low: Array
    high: Array
    aim: Array
    bend: Array
    weight: Array


def pieces_of(problem: Problem) -> Pieces:
    n, m = problem.n_data, problem.n_rows
    low, high = np.empty(m), np.empty(m)
    row_terms.domains(problem.terms, low, high)
    tube, bend = SHAPES[type(problem.loss)](problem.loss) if n else (0.0, 0.0)
    lists = []
    data = np.flatnonzero(problem.weight[:n] > 0.0)
    y = problem.y[data]

    def add(of, low, high, aim, bend=0.0):
        of = np.asarray(of)
        lists.append([of, *(np.broadcast_to(np.asarray(p, dtype=np.float64), of.shape) for p in (low, high, aim, bend))])

    if tube:
        add(data, 0.0, high[data], y + tube, bend)
        add(data, low[data], 0.0, y - tube, bend)
    else:
        add(data, low[data], high[data], y, bend)
    rows = np.arange(n, m)
    same = problem.low == problem.high
    add(rows[same], -np.inf, np.inf, problem.low[same])
    for side, ends in ((problem.high, (0.0, np.inf)), (problem.low, (-np.inf, 0.0))):
        there = np.isfinite(side) & ~same
        add(rows[there], *ends, side[there])
    penalty: Any = problem.penalty
    full = np.zeros(penalty.n_features)
    l1, lower, upper = penalty.l1 + full, penalty.lower + full, penalty.upper + full
    soft = np.flatnonzero(l1 > 0.0)
    add(m + soft, -l1[soft], l1[soft], 0.0)
    for side, ends in ((upper, (0.0, np.inf)), (lower, (-np.inf, 0.0))):
        there = np.flatnonzero(np.isfinite(side))
        add(m + there, *ends, side[there])
    of, lo, hi, aim, bends = (np.concatenate(p) for p in zip(*lists, strict=True))
    weight = np.append(problem.weight, np.ones(problem.rows.shape[1]))[of]
    return Pieces(of.astype(np.int64), lo, hi, aim, bends, weight)


class InteriorSolver:
    phase = "interior"

    @staticmethod
    def fits(problem: Problem) -> bool:
        return isinstance(problem.penalty, SeparablePenalty) and (type(problem.loss) in SHAPES or not problem.n_data)

    def __init__(self, problem: Problem, tol: float):
        self.problem, self.tol = problem, tol
        self.active = problem.n_rows
        self.over, self.finisher = False, None

    def start(self, u: Array) -> None:
        problem = self.problem
        self.p = p = pieces_of(problem)
        t = problem.rows.shape[1]
        penalty: Any = problem.penalty
        self.mu, self.pull = np.zeros(t), np.zeros(t)
        self.mu[: penalty.n_features] = penalty.mu
        self.pull[: penalty.n_features] = penalty.pull
        self.lo_bound, self.hi_bound = np.isfinite(p.low), np.isfinite(p.high)
        self.bounds = int(self.lo_bound.sum() + self.hi_bound.sum())
        only = np.where(np.arange(problem.n_rows) < problem.n_data, problem.weight, 1.0)
        curvature = self.mu + 0.0
        columns = problem.rows.square_columns(only)
        flat = self.mu == 0
        self.own = np.where(flat, 1e-8 * np.where(columns > 0, columns, 1.0), self.mu)
        norms = np.append(problem.rows.square_norms(1.0 / np.where(flat, 1.0, self.mu)[: penalty.n_features], 1.0), np.ones(t))[p.of]
        free = ~self.lo_bound & ~self.hi_bound & (p.bend == 0.0)
        self.extra = np.where(free, FREE * np.maximum(norms * p.weight, 1e-12), 0.0)
        self.x = problem.join(penalty.minimiser(np.zeros(penalty.n_features)) if not flat[:penalty.n_features].any() else np.zeros(penalty.n_features), problem.level)
        m = self._margins(self.x)
        both = self.lo_bound & self.hi_bound
        width = 1.0
        self.z = np.where(both, 0.5 * (np.where(both, p.low, 0) + np.where(both, p.high, 0)),
                          np.where(self.lo_bound, np.where(self.lo_bound, p.low, 0) + width, np.where(self.hi_bound, np.where(self.hi_bound, p.high, 0) - width, 0.0)))
        r = m - p.aim - p.bend * self.z
        delta = max(float(np.mean(np.abs(r))), 1e-3)
        self.l = np.where(self.lo_bound, np.maximum(-r, 0.0) + delta, 0.0)
        self.h = np.where(self.hi_bound, np.maximum(r, 0.0) + delta, 0.0)

    def _margins(self, x: Array) -> Array:
        return np.append(self.problem.rows.dot(x), x)[self.p.of]

    def _gather(self, values: Array) -> tuple[Array, Array]:
        """Sums over the pieces of each row, and of each feature."""
        n, t = self.problem.rows.shape
        total = np.bincount(self.p.of, values, minlength=n + t)
        return total[:n], total[n:]

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        if self.over:
            if self.finisher is None:
                self.finisher = self._hand_over()
            return self.finisher.advance(passes, stop)
        self.over = True
        done = 0
        while done < STEPS and not stop() and self._step():
            done += 1
        return 2.0 * max(done, 1)

    def _step(self) -> bool:
        problem, p = self.problem, self.p
        rows = problem.rows
        below = np.where(self.lo_bound, self.z - p.low, 1.0)
        above = np.where(self.hi_bound, p.high - self.z, 1.0)
        whole = rows.dot(self.x)
        m = np.append(whole, self.x)[p.of]
        push_rows, push_features = self._gather(p.weight * self.z)
        left_x = -(self.mu * self.x - self.pull + rows.tdot(push_rows) + push_features)
        left_z = m - p.aim - p.bend * self.z + self.l - self.h
        gap = float(p.weight @ (self.l * below + self.h * above))
        mean = gap / max(self.bounds, 1)
        penalty: Any = problem.penalty
        t = penalty.n_features
        size = abs(problem.primal_from_margins(np.clip(self.x[:t], penalty.lower, penalty.upper), whole))
        left = float(np.abs(p.weight * left_z) @ np.abs(self.z)) + float(np.sum(left_x**2 / self.own))
        self.log = getattr(self, 'log', [])
        self.log.append((gap / max(size, 1e-300), left / max(size, 1e-300), float(np.abs(left_x).max()), float(np.abs(left_z).max()), getattr(self, 'step', 0)))
        if gap + left <= GOAL * self.tol * size:
            return False
        if left > gap and gap < 1e-2*size and getattr(self,'keep',None) is not None and left > 10*self.keep[0]:
            _, self.x, self.z, self.l, self.h = self.keep
            self.log.append((9,9,9,9,9))
            return False
        self.keep = (gap+left, self.x, self.z, self.l, self.h)
        theta = self.l / below + self.h / above + p.bend + self.extra
        stiff_rows, stiff_features = self._gather(p.weight / theta)
        solve = newton_system.factorised(rows, self.own + stiff_features, stiff_rows)

        def direction(low_target, high_target):
            tl, th = low_target / below, high_target / above
            rest = (left_z + tl - th) / theta
            r_rows, r_features = self._gather(p.weight * rest)
            dx = solve(left_x - rows.tdot(r_rows) - r_features)
            dz = self._margins(dx) / theta + rest
            dl = np.where(self.lo_bound, tl - self.l / below * dz, 0.0)
            dh = np.where(self.hi_bound, th + self.h / above * dz, 0.0)
            return dx, dz, dl, dh

        def longest(dz, dl, dh):
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios = [np.where(d < 0, -v / d, np.inf).min(initial=np.inf) for v, d in (
                    (below, np.where(self.lo_bound, dz, 0.0)), (above, np.where(self.hi_bound, -dz, 0.0)), (self.l, dl), (self.h, dh))]
            return min(1.0, INSIDE * min(ratios))

        _, dz, dl, dh = direction(-self.l * below, -self.h * above)
        step = longest(dz, dl, dh)
        ahead = p.weight @ ((self.l + step * dl) * (below + self.lo_bound * step * dz) + (self.h + step * dh) * (above - self.hi_bound * step * dz))
        ahead = max(float(ahead), 0.0) / max(self.bounds, 1)
        target = mean * (ahead / mean) ** 3 / p.weight if mean > 0 else 0.0
        dx, dz, dl, dh = direction(
            np.where(self.lo_bound, target - self.l * below - dl * dz, 0.0),
            np.where(self.hi_bound, target - self.h * above + dh * dz, 0.0),
        )
        step = longest(dz, dl, dh)
        self.step = step
        self.x = self.x + step * dx
        self.z = self.z + step * dz
        self.l = self.l + step * dl
        self.h = self.h + step * dh
        return step > 1e-8

    def _hand_over(self):
        from zerogap.solver.finisher import NewtonSolver
        problem = self.problem
        n, t = problem.rows.shape
        sums = np.bincount(self.p.of, self.z, minlength=n + t)
        f = NewtonSolver(problem, None, None, self.tol)
        f.start(problem.project_dual(sums[:n]))
        f.x, f.m = self.x.copy(), problem.rows.dot(self.x)
        if f.identity.any:
            f.v = sums[n:]
        f.sigma = f.sigma * BOOST
        f.s = f.s * BOOST
        return f

    def candidates(self) -> Candidates:
        if self.finisher is not None:
            return self.finisher.candidates()
        problem = self.problem
        n, t = problem.rows.shape
        u = np.bincount(self.p.of, self.z, minlength=n + t)[:n]
        u = problem.project_dual(u)
        points = [self.x.copy()]
        penalty: Any = problem.penalty
        points[0][: penalty.n_features] = np.clip(self.x[: penalty.n_features], penalty.lower, penalty.upper)
        if penalty.mu_min > 0:
            points.append(np.append(penalty.minimiser(problem.slope(u)[: penalty.n_features]), self.x[penalty.n_features :]))
        return Candidates(points, u)
