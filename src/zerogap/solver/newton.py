"""`algorithm="newton"`: which of the Newton methods a problem gets."""

from zerogap.problem.problem import Problem
from zerogap.solver.active_set import ActiveSetSolver
from zerogap.solver.finisher import NewtonSolver
from zerogap.solver.interior import InteriorSolver
from zerogap.solver.proximal_newton import ProximalNewtonSolver
from zerogap.solver.reduced_squares import ReducedSquaresSolver
from zerogap.solver.solver import Solver


def newton_solver(problem: Problem, tol: float) -> Solver:
    """Active-set steps where the dual is piecewise quadratic, the augmented Lagrangian elsewhere.

    With a proximal term where nothing but constraints holds a feature, and after interior point steps where
    features with an l1 term outnumber the rows.
    """
    if ActiveSetSolver.fits(problem):
        return ActiveSetSolver(problem)
    proximal = ProximalNewtonSolver.fits(problem)

    def make(problem: Problem, tol: float) -> NewtonSolver:
        return ProximalNewtonSolver(problem, tol) if proximal else NewtonSolver(problem, None, None, tol)

    if ReducedSquaresSolver.fits(problem):
        return ReducedSquaresSolver(problem, tol, make)
    finisher = make(problem, tol)
    return InteriorSolver(problem, finisher) if InteriorSolver.fits(problem) else finisher
