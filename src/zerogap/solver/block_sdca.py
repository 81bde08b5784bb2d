"""SDCA, RDCA and CDCA over K outputs: one dual block at a time."""

from collections.abc import Callable

import numpy as np

from zerogap.exceptions import SettingsError
from zerogap.problem.block_problem import BlockProblem
from zerogap.problem.regularizers import Free
from zerogap.solver import block_kernels
from zerogap.solver.block_kernels import BlockView
from zerogap.solver.sampling import sampler
from zerogap.solver.settings import SDCA, STEPS
from zerogap.solver.solver import Candidates

Array = np.ndarray

#: Rows shorter than this, relative to the longest, get the step of that length (zero rows need some step).
_SHORTEST = 1e-12


class BlockSdca:
    """u_i <- prox_{tau phi_i*}(u_i + tau X^T r_i), with the rows drawn as the settings say.

    Intercepts have no curvature: they get the proximal term rho/2 ||b - center||^2, whose centre moves at
    every check, as in `workspace.Workspace`.
    """

    phase = "sdca"

    def __init__(self, problem: BlockProblem, settings: SDCA, rng: np.random.Generator):
        penalty = problem.penalty
        if penalty.mu_min <= 0:
            raise SettingsError(
                "regularizer l2: coordinate algorithms need l2 > 0 for every feature (strong convexity); "
                "got 0. Give a small positive l2, or take algorithm='newton'"
            )
        self.problem = problem
        self._draw = sampler(settings.sampling, rng)
        self._rows = self._live = problem.active_rows
        self.active = self._rows.size * problem.outputs
        self._compiled = problem.rows.base.compiled()
        self._f = penalty.compiled(Free(0.0, 0.0))
        self._shrink, self._width = settings.shrink, np.inf
        self._scale, self._center = 0.0, np.zeros(problem.outputs)
        self._tau = self._steps() / (2.0 * STEPS[settings.step])

    def _steps(self) -> Array:
        """tau_i = w_i / L_i."""
        problem, base = self.problem, self.problem.rows.base
        mu = np.broadcast_to(problem.penalty.mu, problem.penalty.n_features)[:: problem.outputs]
        curvature = base.square_norms(1.0 / mu)
        if problem.fit_intercept:
            n = problem.n_samples
            self._scale = float(problem.row_weight[:n] @ curvature[:n]) or 1.0
            curvature[:n] += self._scale
            curvature[n:] += self._scale * base.constants**2
        longest = float(curvature.max(initial=0.0)) or 1.0
        with np.errstate(divide="ignore"):
            return 1.0 / (problem.row_weight * np.maximum(curvature, _SHORTEST * longest))

    def start(self, u: Array) -> None:
        self.u = u.copy()
        self._rebuild()

    def _rebuild(self) -> None:
        """s from u, in float64, with a row for the intercepts whether there are any or not."""
        problem = self.problem
        self.slope = problem.slope(self.u)
        missing = (problem.n_features + 1) * problem.outputs - self.slope.size
        self.s = np.append(self.slope, np.zeros(missing)).reshape(-1, problem.outputs)

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        done, K = 0.0, self.problem.outputs
        view = BlockView(self.s, self._scale, self._center, np.zeros((2, K)))
        while done < passes and not stop():
            order = self._draw(self._live)
            kept, largest = block_kernels.block_epoch(
                order, self._compiled, self.problem.terms, self._f, self.problem.blocks(self.u), view,
                self._tau, self._width,
            )  # fmt: skip
            done += order.size / self._rows.size
            if self._shrink:
                # blocks at rest drop out, by a margin as wide as the last pass's largest move
                self._live, self._width = order[:kept], largest
                self.active = kept * K
                if kept == 0 or largest == 0.0:
                    break
        return done

    def candidates(self) -> Candidates:
        self._live = self._rows  # every check looks at every row again
        self._rebuild()
        problem = self.problem
        x = problem.penalty.minimiser(self.slope[: problem.penalty.n_features])
        self._center = self._center - self._scale * self.s[-1]
        point = problem.centred(problem.join(x, self._center))
        return Candidates([point], self.u.copy(), self.slope)
