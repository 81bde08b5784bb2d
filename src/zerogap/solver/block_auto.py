"""Which solvers a problem over K outputs gets."""

from typing import Any

import numpy as np

from zerogap.exceptions import SettingsError
from zerogap.problem import loss_registry
from zerogap.problem.block_problem import BlockProblem
from zerogap.solver import costs
from zerogap.solver.auto import AutoSolver
from zerogap.solver.block_newton import BlockNewton
from zerogap.solver.block_sdca import BlockSdca
from zerogap.solver.settings import SDCA, Auto, Newton
from zerogap.solver.solver import Solver

#: Conjugate gradient steps in a Newton step, by which a finish is priced.
GRADIENT_STEPS = 50


def block_solver(problem: BlockProblem, chosen: Any, rng: np.random.Generator, tol: float) -> Solver:
    """The solver behind a settings object."""
    if isinstance(chosen, SDCA):
        return BlockSdca(problem, chosen, rng)
    if isinstance(chosen, Newton):
        return BlockNewton(problem, tol)
    if isinstance(chosen, Auto):
        return BlockAuto(problem, chosen, rng, tol)
    name = loss_registry.traits(problem.loss).name
    raise SettingsError(
        f"algorithm: the {name} loss needs 'auto', 'sdca', 'rdca', 'cdca' or 'newton'; got {chosen!r:.60}"
    )


class BlockAuto(AutoSolver):
    """Block coordinate steps, then Newton steps, by the rule of `AutoSolver`; no accelerated ones."""

    problem: BlockProblem
    second = "ardca"

    def _newton_first(self) -> bool:
        problem = self.problem
        smooth = loss_registry.traits(problem.loss).differentiable
        broken = problem.n_constraints > 0 or problem.penalty.kinked
        return smooth or broken or problem.fit_intercept or not self._coordinates_fit

    def _newton_step(self) -> float:
        return (costs.NEWTON_PRODUCTS + GRADIENT_STEPS) * costs.product(self.problem.rows)

    def _solver(self, name: str) -> Solver:
        if name == "newton":
            return BlockNewton(self.problem, self.tol)
        return BlockSdca(self.problem, SDCA(shrink=True), self.rng)

    def _following(self) -> str:
        following = super()._following()
        return "sdca" if following == "ardca" else following
