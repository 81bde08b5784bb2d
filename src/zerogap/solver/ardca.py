"""ARDCA: Algorithm 1, restarted as Algorithm 3 says, or preceded by plain steps as Algorithm 4 says."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from zerogap.problem import loss_registry
from zerogap.problem.problem import Problem
from zerogap.result.certificate import primal_side
from zerogap.solver import averaging, kernels, restarts
from zerogap.solver.averaging import Checkpoints, Eager, Lazy, LazyGroups, NoAverage
from zerogap.solver.sampling import sampler
from zerogap.solver.schedules import fill_table
from zerogap.solver.settings import ARDCA, STEPS
from zerogap.solver.solver import Candidates
from zerogap.solver.workspace import Workspace

Array = np.ndarray

#: How wide a margin makes a row rest, in moves of a typical margin since the last check.
WIDTH = 2.0
#: Rows at rest are left out at once when the others are fewer than this share.
FEWER = 0.7


class ArdcaSolver:
    """The accelerated iterate (z, uhat), its average, and the restart rule."""

    def __init__(self, problem: Problem, settings: ARDCA, rng: np.random.Generator, tol: float = 1e-6):
        self.work = Workspace(problem)
        self.settings = settings
        self.active = problem.active_rows.size
        self._rows = self._live = self.chosen = problem.active_rows
        self._margins: Array | None = None  # at the last check, when rows at rest are left out
        self._draw = sampler(settings.sampling, rng)
        self._tol = tol
        # tau_i = w_i / (2 c L_i)
        self.work.tau /= 2.0 * STEPS[settings.step]
        self._rule = restarts.rule(settings.restart)
        self._total: Array | None = None
        self._average = self._new_average()
        # the average of the period that the last restart ended, and its length
        self._finished: tuple[Array | None, int] | None = None
        self._plain_steps = 0  # what is left of Algorithm 4's first phase
        self.state: Any = None

    @property
    def phase(self) -> str:
        return "rdca" if self._plain_steps > 0 else "ardca"

    def _new_average(self) -> Any:
        if self.settings.average_from is None:
            return NoAverage()
        problem = self.work.problem
        self._total = total = np.zeros(problem.n_features + 1)
        if self.settings.average_over == "passes":
            return NoAverage()
        no_table = np.empty((0, 3))
        penalty: Any = problem.penalty
        if not penalty.separable:
            return LazyGroups(total, np.zeros(penalty.width.size + 1, np.uint32), no_table)
        if problem.rows.all_dense:
            return Eager(total)
        return Lazy(total, np.zeros(total.size, np.uint32), no_table)

    def start(self, u: Array) -> None:
        if self.settings.erm:
            self._plain_steps = lemma_steps(self.work, u, self._tol)
        self._restart(u)

    def _restart(self, u: Array, slope: Array | None = None) -> None:
        """z = u, uhat = 0, theta = 1/n, and s_z = s(u), rebuilt in float64."""
        if self.state is None:
            t = self.work.problem.n_features
            self.state = kernels.State(np.empty_like(u), np.empty_like(u), np.empty(t + 1), np.empty(t + 1))
        z, uhat, s_z, s_uhat = self.state
        z[:], s_z[:] = u, self.work.slope(u) if slope is None else slope
        uhat[:], s_uhat[:] = 0.0, 0.0
        self._live = self.chosen
        self.active = self._live.size
        self._theta = 1.0 / self.active
        self._steps, self._passes = 0, 0
        self._weight = 0.0
        if self._total is not None:
            self._total[:] = 0.0
            self._checkpoints = Checkpoints(float(self.settings.average_from or 0), self.active)

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        done = 0.0
        while done < passes and not stop():
            self._pass()
            done += self.active / self._rows.size
            value = self._dual_value() if self._rule.watches else 0.0
            if self._plain_steps > 0:
                self._plain_steps -= self.active
                if self._plain_steps <= 0:
                    self._restart(self.dual())
            elif self._rule.due(self._passes, value):
                self._finished = self._averaged(), self._passes
                self._restart(self.dual())
        return done

    def run_steps(self, order: Array, constant_theta: bool = False) -> None:
        """Algorithm 1 over the rows in `order`, at most n of them: one pass, or a part of one."""
        w, average = self.work, self._average
        table = np.empty((order.size + 1, 3))  # gone before the next check, which needs the memory
        self._theta = fill_table(table, self._theta, constant_theta)
        if hasattr(average, "table"):
            average = average._replace(table=table)
        kernels.ardca_epoch(
            order, w.rows, w.terms, w.f, self.state, w.tau, average,
            kernels.Schedule(table, float(self.active)),
        )  # fmt: skip
        self._last = table[order.size - 1, averaging.THETA]
        self._steps += order.size
        weight = table[order.size, averaging.SUM_INVERSE]
        self._weight += weight
        if self._total is not None and isinstance(average, NoAverage):
            self._total[:-1] += weight * w.penalty.minimiser(self._slope()[:-1])
            self._total[-1] += weight * w.free_value(self._slope())

    def _pass(self) -> None:
        self.run_steps(self._draw(self._live), constant_theta=self._plain_steps > 0)
        self._passes += 1
        if self._total is not None:
            self._checkpoints.keep(self._steps, self._total, self._weight)

    def dual(self) -> Array:
        """u = theta_K^2 uhat + z, inside the domain (rounding may have pushed it out)."""
        u = self._last**2 * self.state.uhat + self.state.z if self._steps else self.state.z
        return self.work.problem.project_dual(u)

    def _slope(self) -> Array:
        """s(u) as the kernels have it."""
        return self._last**2 * self.state.s_uhat + self.state.s_z

    def _dual_value(self) -> float:
        return self.work.bound_dual(self._slope(), self.dual())

    def _averaged(self) -> Array | None:
        if self._total is None or not self._steps:
            return None
        mean, _ = self._checkpoints.average(self._steps, self._total, self._weight)
        penalty: Any = self.work.problem.penalty
        if penalty.boxed:  # rounding may have pushed the average out of its box
            mean[:-1] = np.clip(mean[:-1], penalty.lower, penalty.upper)
        return mean if self.work.problem.fit_intercept else mean[:-1]

    def _longest_average(self) -> Array | None:
        """Of the current period, or of the one that has ended since the last check, if that was longer."""
        finished, self._finished = self._finished, None
        return finished[0] if finished is not None and finished[1] >= self._passes else self._averaged()

    def candidates(self) -> Candidates:
        u = self.dual()
        slope = self.work.slope(u)
        last = self.work.point(slope)
        anew = self.settings.shrink and self._select(u, last)
        points = [x for x in (self._longest_average(), last) if x is not None]
        # an outer step changes the problem under the momentum
        if self.work.step_out(last) or anew:
            self._restart(u, slope)
        margins = self._margins if self.settings.shrink else None
        return Candidates(points, u, self.work.trim(slope), stretch=self.settings.shrink, margins=margins)

    def _select(self, u: Array, point: Array) -> bool:
        """Choose the rows worth a step: those not at rest by a margin as wide as margins have moved.

        True when the acceleration should start anew at once: a row that was left out wants to move, or
        many have come to rest.
        """
        w = self.work
        margins = w.problem.rows.dot(point)
        before, self._margins = self._margins, margins
        if before is None:
            return False
        np.subtract(margins, before, out=before)
        np.abs(before, out=before)
        width = before  # long vectors are few: the next one takes its place
        width[:] = WIDTH * float(np.quantile(before, 0.99, overwrite_input=True))
        live, moving = np.empty(u.size, dtype=np.bool_), np.empty(u.size, dtype=np.bool_)
        kernels.select_live(w.terms, margins, u, w.tau, width, live)
        width[:] = 0.0
        kernels.select_live(w.terms, margins, u, w.tau, width, moving)
        chosen = self._rows[live[self._rows]]
        self.chosen = chosen if chosen.size else self._rows
        moving[self._live] = False
        return bool(moving[self._rows].any()) or self.chosen.size < FEWER * self._live.size


def lemma_steps(work: Workspace, u: Array, tol: float) -> int:
    """K' of the ERM lemma: ceil(n log(min(1/eps, n mu / M^2) (D(u0) + F(x*(u0)))) - 1), at least 0.

    The lemma assumes rows of norm at most 1; longest = max_i ||a_i||^2 / mu stands for its 1 / mu. eps is
    the absolute accuracy that `tol` asks for at the starting point's scale.
    """
    problem = work.problem
    n = problem.active_rows.size
    bound = loss_registry.traits(problem.loss).lipschitz(problem.loss)
    s = work.slope(u)
    point = work.point(s)
    value = primal_side(problem, point).value
    distance = work.bound_dual(s, u) + value
    eps = tol * max(abs(value), 1e-300)
    reach = min(1.0 / eps, n / (work.longest * bound**2))
    if not math.isfinite(distance) or reach * distance <= 1.0:
        return 0
    return max(0, math.ceil(n * math.log(reach * distance) - 1))
