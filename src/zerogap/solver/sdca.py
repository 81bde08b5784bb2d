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


class SdcaSolver:
    """u_i <- prox_{tau phi_i*}(u_i + tau r_i.x*(u)), with the rows drawn as the settings say."""

    phase = "sdca"

    def __init__(self, problem: Problem, settings: SDCA, rng: np.random.Generator):
        self.work = Workspace(problem)
        self.active = problem.active_rows.size
        self._draw = sampler(settings.sampling, rng)
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
        done, first = 0.0, 0.0
        w = self.work
        while done < passes and not stop():
            order = self._draw(self._live)
            kept, largest = kernels.sdca_epoch(
                order, w.rows, w.terms, w.f, self.u, self.s, w.tau, self._width
            )
            done += order.size / self._rows.size
            if self._shrink:
                # rows at rest drop out, by a margin as wide as the last pass's largest move
                self._live, self._width = order[:kept], largest
                self.active = kept
                first = max(first, largest)
                if kept == 0 or largest <= SETTLED * first:
                    break  # more passes over these rows would only polish what the others may yet change
        return done

    def candidates(self) -> Candidates:
        self.s = self.work.slope(self.u)  # from u, in float64: rounding does not pile up
        point = self.work.point(self.s)
        self._live = self._select(point)
        self.work.step_out(point)
        return Candidates([point], self.u.copy(), self.work.trim(self.s), stretch=self._shrink)

    def _select(self, point: Array) -> Array:
        """Every check looks at every row again: those not at rest by a margin as wide as the last moves."""
        if not self._shrink or self._width == np.inf:
            return self._rows
        w = self.work
        live = np.empty(self.u.size, dtype=np.bool_)
        width = np.full(self.u.size, self._width)
        kernels.select_live(w.terms, w.problem.rows.dot(point), self.u, w.tau, width, live)
        live = live[self._rows]
        return self._rows[live] if live.any() else self._rows
