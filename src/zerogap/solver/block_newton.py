"""`algorithm="newton"` over K outputs: the finisher, with blocks for rows."""

import numpy as np

from zerogap.problem.block_problem import BlockProblem
from zerogap.solver import block_augmented
from zerogap.solver.block_system import BlockSystem
from zerogap.solver.finisher import NewtonSolver
from zerogap.solver.solver import Candidates

Array = np.ndarray


class BlockNewton(NewtonSolver):
    """Semismooth Newton steps on the augmented Lagrangian; a smooth loss is met as it is."""

    augmented = block_augmented
    problem: BlockProblem

    def __init__(self, problem: BlockProblem, tol: float):
        super().__init__(problem, None, None, tol)
        self.system = BlockSystem(problem.rows, problem.n_samples)
        self.damping.bare = False

    def candidates(self) -> Candidates:
        found = super().candidates()
        return Candidates([self.problem.centred(point) for point in found.points], found.dual)
