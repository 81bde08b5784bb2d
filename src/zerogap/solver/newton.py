"""`algorithm="newton"`: which of the Newton methods a problem gets."""

from zerogap.problem.problem import Problem
from zerogap.solver.active_set import ActiveSetSolver
from zerogap.solver.finisher import NewtonSolver
from zerogap.solver.proximal_newton import ProximalNewtonSolver
from zerogap.solver.solver import Solver


def newton_solver(problem: Problem, tol: float) -> Solver:
    """Active-set steps where the dual is piecewise quadratic, the augmented Lagrangian elsewhere.

    With a proximal term where nothing but constraints holds a feature.
    """
    if ActiveSetSolver.fits(problem):
        return ActiveSetSolver(problem)
    if ProximalNewtonSolver.fits(problem):
        return ProximalNewtonSolver(problem, tol)
    return NewtonSolver(problem, None, None, tol)
