"""`algorithm="newton"`: which of the Newton methods a problem gets."""

from zerogap.problem.problem import Problem
from zerogap.solver.active_set import ActiveSetSolver
from zerogap.solver.finisher import NewtonSolver
from zerogap.solver.proximal_newton import ProximalNewtonSolver
from zerogap.solver.reduced_squares import ReducedSquaresSolver
from zerogap.solver.solver import Solver


def newton_solver(problem: Problem, tol: float) -> Solver:
    """Active-set steps where the dual is piecewise quadratic, the augmented Lagrangian elsewhere.

    With a proximal term where nothing but constraints holds a feature.
    """
    if ActiveSetSolver.fits(problem):
        return ActiveSetSolver(problem)
    proximal = ProximalNewtonSolver.fits(problem)

    def make(problem: Problem, tol: float) -> NewtonSolver:
        return ProximalNewtonSolver(problem, tol) if proximal else NewtonSolver(problem, None, None, tol)

    return (
        ReducedSquaresSolver(problem, tol, make) if ReducedSquaresSolver.fits(problem) else make(problem, tol)
    )
