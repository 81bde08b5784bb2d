"""A primal-dual interior point method for few rows and many kinks, as the start of Newton steps.

Semismooth Newton steps cross kinks a few at a time; Mehrotra's predictor-corrector method takes about
fifteen steps however many there are. With the problem in `pieces`, g_k the row (or unit vector) of piece k,
and slopes l, h >= 0 of its two bounds, the optimality conditions are

    mu x - pull + sum_k w_k z_k g_k = 0
    g_k.x = aim_k + bend_k z_k - l_k + h_k        l_k (z_k - low_k) = 0        h_k (high_k - z_k) = 0

The zeros on the right of the last two are target / w_k on the central path. With z, l and h eliminated, a
step solves the system of a Newton step, with theta = l / (z - low) + h / (high - z) + bend for 1 / sigma.
Newton steps take over where the tolerance is reached, or rounding gets the upper hand: they end at a vertex.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import SeparablePenalty
from zerogap.solver import newton_system, pieces
from zerogap.solver.finisher import NewtonSolver
from zerogap.solver.solver import Candidates

Array = np.ndarray

#: Steps at most, and the share of the tolerance at which they end.
STEPS, GOAL = 60, 0.5
#: How far a step goes towards the nearest bound; shorter ones than SHORT lead nowhere.
INSIDE, SHORT = 0.995, 1e-8
#: A free dual coordinate without bend, and a feature without curvature, have this share of what the other
#: side gives them, about their own place: it changes the pace, not the end.
SHARE = 1e-8
#: Once the gap is this small, relative to the objective, a residual that grows so much is rounding.
CLOSE, GROWN = 1e-2, 10.0
#: How much stiffer than at a cold start the Newton steps begin.
STIFFER = 100.0
#: More rows than this are for other methods.
ROWS = 1500


class Iterate(NamedTuple):
    """x, and the dual coordinate and the bounds' slopes of every piece."""

    x: Array
    z: Array
    l: Array  # noqa: E741
    h: Array


class InteriorSolver:
    """State: the best iterate, and the Newton solver that took over, if one did."""

    @staticmethod
    def fits(problem: Problem) -> bool:
        """An l1 term, pieces, and no more rows than features."""
        penalty, (n, t) = problem.penalty, problem.rows.shape
        if not isinstance(penalty, SeparablePenalty) or not np.any(penalty.l1):
            return False
        return n <= min(t, ROWS) and pieces.fit(problem)

    def __init__(self, problem: Problem, finisher: NewtonSolver):
        self.problem, self.finisher, self.tol = problem, finisher, finisher.tol
        self.began = self.offered = self.close = False

    @property
    def phase(self) -> str:
        return "newton" if self.began else "interior"

    @property
    def active(self) -> int:
        return self.finisher.active

    @property
    def stride(self) -> float:
        """See `NewtonSolver.stride`."""
        return self.finisher.stride if self.began else 0.0

    def start(self, u: Array) -> None:
        self.u = u
        self._prepare()
        self.now = self.best = self._first()
        self.left = np.inf

    def _prepare(self) -> None:
        problem, penalty = self.problem, self.finisher.problem.penalty
        self.pieces = p = pieces.pieces_of(problem)
        self.mu, self.pull = self.finisher.mu, self.finisher.pull
        self.below, self.above = np.isfinite(p.low), np.isfinite(p.high)
        self.bounds = max(int(self.below.sum() + self.above.sum()), 1)
        flat = self.mu == 0.0
        columns = problem.rows.square_columns(problem.weight)
        self.metric = np.where(flat, SHARE * np.where(columns > 0.0, columns, 1.0), self.mu)
        usual = np.where(flat, np.where(columns > 0.0, columns, 1.0), self.mu)
        norms = problem.rows.square_norms(1.0 / usual[: penalty.n_features], 1.0 / usual[-1])
        free = ~(self.below | self.above) & (p.bend == 0.0)
        norms = np.append(norms, 1.0 / usual)[p.of] * p.weight
        self.own_bend = p.bend + np.where(free, SHARE * np.where(norms > 0.0, norms, 1.0), 0.0)

    def _first(self) -> Iterate:
        """In the middle of bounded intervals, and far from the bounds of the others."""
        problem, p = self.problem, self.pieces
        penalty: Any = problem.penalty
        low, high = np.where(self.below, p.low, 0.0), np.where(self.above, p.high, 0.0)
        one_sided = np.where(self.below, low + 1.0, np.where(self.above, high - 1.0, 0.0))
        z = np.where(self.below & self.above, 0.5 * (low + high), one_sided)
        x = problem.join(np.clip(np.zeros(penalty.n_features), penalty.lower, penalty.upper), problem.level)
        slope = self._margins(x) - p.aim - p.bend * z
        least = max(float(np.mean(np.abs(slope))), 1e-3)
        lower, upper = (np.maximum(s, 0.0) + least for s in (-slope, slope))
        return Iterate(x, z, np.where(self.below, lower, 0.0), np.where(self.above, upper, 0.0))

    def _margins(self, x: Array, margins: Array | None = None) -> Array:
        """g_k.x of every piece, from the rows' margins."""
        margins = self.problem.rows.dot(x) if margins is None else margins
        return np.append(margins, x)[self.pieces.of]

    def _sums(self, values: Array) -> tuple[Array, Array]:
        """Of the pieces of each row, and of each feature."""
        n, t = self.problem.rows.shape
        sums = np.bincount(self.pieces.of, values, minlength=n + t)
        return sums[:n], sums[n:]

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        """All interior steps at once, and Newton steps to end them; only these when asked again."""
        done = 0
        if not self.began:
            with np.errstate(all="ignore"):
                while done < STEPS and not stop() and self._safe_step():
                    done += 1
            self._hand_over()
            self.began = True
        return 2.0 * done + self.finisher.advance(passes, stop)

    def _safe_step(self) -> bool:
        """A step; numbers that overflow are the end of the way, for Newton steps to start afresh."""
        try:
            return self._step()
        except np.linalg.LinAlgError:
            return False

    def _step(self) -> bool:
        """One step of predictor and corrector; False at the end of the way."""
        problem, p, (x, z, l, h) = self.problem, self.pieces, self.now  # noqa: E741
        room_below, room_above = np.where(self.below, z - p.low, 1.0), np.where(self.above, p.high - z, 1.0)
        forces, pins = self._sums(p.weight * z)
        pulls = self.pull - self.mu * x - pins
        margins = problem.rows.dot(x)
        left_z = self._margins(x, margins) - p.aim - p.bend * z + l - h
        size = abs(problem.primal_from_margins(self._inside(x)[: problem.n_features], margins))
        self.gap = float(p.weight @ (l * room_below + h * room_above))
        if not self._goes_on(pulls - problem.rows.tdot(forces), left_z, size):
            return False
        theta = l / room_below + h / room_above + self.own_bend
        stiffness, pinned = self._sums(p.weight / theta)
        solve = self._factor(self.metric + pinned, stiffness)

        def direction(low_target: Array, high_target: Array) -> Iterate:
            a, b = low_target / room_below, high_target / room_above
            rest = (left_z + a - b) / theta
            pushes, held = self._sums(p.weight * rest)
            dx = solve(pulls - held, -forces - pushes)
            dz = self._margins(dx) / theta + rest
            return Iterate(
                dx, dz, (a - l / room_below * dz) * self.below, (b + h / room_above * dz) * self.above
            )

        def longest(d: Iterate) -> float:
            moves = (room_below, d.z * self.below), (room_above, -d.z * self.above), (l, d.l), (h, d.h)
            return min(
                1.0, INSIDE * min(float(np.min(-v[m < 0] / m[m < 0], initial=np.inf)) for v, m in moves)
            )

        ahead = direction(-l * room_below, -h * room_above)
        step = longest(ahead)
        products = (l + step * ahead.l) * (room_below + step * ahead.z * self.below)
        products += (h + step * ahead.h) * (room_above - step * ahead.z * self.above)
        mean = self.gap / self.bounds
        target = mean * (max(float(p.weight @ products), 0.0) / self.gap) ** 3 / p.weight
        move = direction(
            (target - l * room_below - ahead.l * ahead.z) * self.below,
            (target - h * room_above + ahead.h * ahead.z) * self.above,
        )
        step = longest(move)
        self.now = Iterate(*(v + step * d for v, d in zip(self.now, move, strict=True)))
        return step > SHORT

    def _factor(self, d: Array, h: Array) -> Callable[[Array, Array], Array]:
        """x with (D + R^T H R) x = own + R^T p, refined once."""
        used = np.flatnonzero(h)  # rows of weight zero are none
        part, h = self.problem.rows.take(used), h[used]
        factor = newton_system.outer_factor(part, d, h)

        def solve(own: Array, p: Array) -> Array:
            dx = factor.solve(own, p[used])
            return dx + factor.solve(own - d * dx, p[used] - h * part.dot(dx))

        return solve

    def _goes_on(self, left_x: Array, left_z: Array, size: float) -> bool:
        """Measure the iterate against the objective's size, and keep it if it is the best."""
        left = self.gap + float(np.abs(self.pieces.weight * left_z) @ np.abs(self.now.z))
        left += float(left_x @ (left_x / self.metric))
        if not np.isfinite(left) or (self.gap < CLOSE * size and left > GROWN * self.left):
            return False
        if left < self.left:
            self.left, self.best = left, self.now
        self.close = self.left < CLOSE * size
        return left > GOAL * self.tol * size and self.gap > 0.0

    def _hand_over(self) -> None:
        """Newton steps begin at the best iterate, or from the start where that has led nowhere."""
        if not self.close:
            self.finisher.start(self.u)
            return
        forces, pins = self._sums(self.best.z)
        self.finisher.start(self.problem.project_dual(forces))
        self.finisher.take_up(self.best.x, pins, STIFFER)

    def candidates(self) -> Candidates:
        """Those of the Newton steps; and the point that they came from, should they have lost it at once."""
        found = self.finisher.candidates()
        if not self.offered and self.close and self.finisher.excess > 1.0:
            found.points.append(self._inside(self.best.x))
        self.offered = True
        return found

    def _inside(self, point: Array) -> Array:
        """The nearest point of the box."""
        penalty: Any = self.problem.penalty
        out = point.copy()
        out[: penalty.n_features] = np.clip(out[: penalty.n_features], penalty.lower, penalty.upper)
        return out
