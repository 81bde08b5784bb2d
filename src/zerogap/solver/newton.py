"""`algorithm="newton"`: which of the two Newton methods a problem gets."""

from zerogap.problem.problem import Problem
from zerogap.solver.active_set import ActiveSetSolver
from zerogap.solver.finisher import NewtonSolver
from zerogap.solver.solver import Solver


def newton_solver(problem: Problem, tol: float) -> Solver:
    """Active-set steps where the dual is piecewise quadratic, the augmented Lagrangian elsewhere."""
    if ActiveSetSolver.fits(problem):
        return ActiveSetSolver(problem)
    return NewtonSolver(problem, None, None, tol)
