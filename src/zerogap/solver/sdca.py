"""SDCA, RDCA and CDCA: one dual coordinate at a time, without acceleration."""

from collections.abc import Callable

import numpy as np

from zerogap.problem.problem import Problem
from zerogap.solver import kernels
from zerogap.solver.sampling import sampler
from zerogap.solver.settings import SDCA, STEPS
from zerogap.solver.solver import Candidates
from zerogap.solver.workspace import Workspace

Array = np.ndarray

#: Moves this small, relative to the largest since the last check, end the passes over the live rows.
SETTLED = 0.1
#: Passes between checks with shrinking, at least: a check costs a good part of a pass.
STRIDE = 3.0
#: So few live rows are visited epoch after epoch without a call between; at most so many steps.
FEW, AT_ONCE = 3000, 200_000


class SdcaSolver:
    """u_i <- prox_{tau phi_i*}(u_i + tau r_i.x*(u)), with the rows drawn as the settings say."""

    phase = "sdca"

    def __init__(self, problem: Problem, settings: SDCA, rng: np.random.Generator):
        self.work = Workspace(problem)
        self.active = problem.active_rows.size
        self._draw, self._rng = sampler(settings.sampling, rng), rng
        self._rows = self._live = problem.active_rows
        # step "paper" is Algorithm 4's first phase: theta = 1/n makes its z-step w / (2 c L)
        self.work.tau /= 2.0 * STEPS[settings.step]
        self._shrink = settings.shrink
        self._width = np.inf
        self.u = np.zeros(0)
        self.s = np.zeros(0)

    def start(self, u: Array) -> None:
        self.u = u.copy()
        self.s = self.work.slope(self.u)

    @property
    def stride(self) -> float:
        """Passes worth waiting for between checks."""
        return STRIDE if self._shrink else 0.0

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        done = 0.0
        if not self._shrink:
            while done < passes and not stop():
                self._epoch(np.inf)
                done += 1.0
            return done
        first = 0.0
        while done < passes and not stop():
            # rows at rest drop out, by a margin as wide as the last pass's largest move
            few = self._live.size <= FEW and self._width < np.inf
            steps, first = self._epochs(passes - done, first) if few else self._shrinking_epoch(first)
            done += steps / self._rows.size
            if self.active == 0 or self._width <= SETTLED * first:
                break  # more passes over these rows would only polish what the others may yet change
        return done

    def _epoch(self, width: float) -> tuple[Array, int, float]:
        """One pass over the live rows: their order, how many are left of it, and the largest move."""
        w, order = self.work, self._draw(self._live)
        kept, largest = kernels.sdca_epoch(order, w.rows, w.terms, w.f, self.u, self.s, w.tau, width)
        return order, kept, largest

    def _shrinking_epoch(self, first: float) -> tuple[int, float]:
        order, self.active, self._width = self._epoch(self._width)
        self._live = order[: self.active]
        return order.size, max(first, self._width)

    def _epochs(self, passes: float, first: float) -> tuple[int, float]:
        """As many at once as few rows need."""
        w, order = self.work, self._live.copy()
        most = int(min(passes * self._rows.size, AT_ONCE)) + 1
        seed = np.uint64(self._rng.integers(2**63))
        rule = kernels.Settle(self._width, first, SETTLED, most, seed)
        steps, self.active, self._width, first = kernels.sdca_epochs(
            order, w.rows, w.terms, w.f, self.u, self.s, w.tau, rule
        )
        self._live = order[: self.active]
        return steps, first

    def candidates(self) -> Candidates:
        self.s = self.work.slope(self.u)  # from u, in float64: rounding does not pile up
        point = self.work.point(self.s)
        margins = self.work.problem.rows.dot(point)
        self._live = self._select(margins)
        self.work.step_out(point)
        return Candidates(
            [point], self.u.copy(), self.work.trim(self.s), stretch=self._shrink, margins=margins
        )

    def _select(self, margins: Array) -> Array:
        """Every check looks at every row again: those not at rest by a margin as wide as the last moves."""
        if not self._shrink or self._width == np.inf:
            return self._rows
        w = self.work
        live = np.empty(self.u.size, dtype=np.bool_)
        width = np.full(self.u.size, self._width)
        kernels.select_live(w.terms, margins, self.u, w.tau, width, live)
        live = live[self._rows]
        return self._rows[live] if live.any() else self._rows
