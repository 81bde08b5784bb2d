"""`solve_qp`: a quadratic program as a problem of this library, solved and read back."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from zerogap.data.prepare import check_vector
from zerogap.exceptions import DataError
from zerogap.problem.constraints import Between, Equal
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import ElasticNet
from zerogap.quadratic import factor
from zerogap.quadratic.program import QuadraticProgram, checked
from zerogap.quadratic.solution import QPSolution, from_result
from zerogap.solver import driver

Array = np.ndarray


def solve_qp(
    P: Any,
    q: Any,
    G: Any = None,
    h: Any = None,
    A: Any = None,
    b: Any = None,
    lb: Any = None,
    ub: Any = None,
    *,
    initvals: Any = None,
    tol: float = 1e-8,
    warn: bool = True,
    **options: Any,
) -> QPSolution:
    """Solve a convex quadratic program, with a certificate.

        minimise 1/2 x'Px + q'x   subject to   G x <= h,  A x = b,  lb <= x <= ub

    The multipliers satisfy P x + q + G'z + A'y + z_box = 0 with z >= 0, z_box > 0 at `ub`, < 0 at `lb`.

    Parameters
    ----------
    P : symmetric positive semidefinite matrix, dense or sparse; None or zero for a linear program.
    q : linear term.
    G, h : inequality rows, G dense or sparse; h may be +inf.
    A, b : equality rows.
    lb, ub : bounds, numbers or one per variable; infinite entries are no bounds.
    initvals : a point to start near, or an earlier solution of a program of the same shape.
    tol : relative duality gap and scaled violation at most this. Where the objective is zero, the gap is
        relative to the absolute sum of its terms.
    warn : emit a ConvergenceWarning when no certified solution was found.
    options : further keywords of `zg.solve`, such as algorithm, max_time, max_passes, random_state.

    Returns
    -------
    QPSolution : x, y, z, z_box, obj, found, status, certificate.

    Examples
    --------
    >>> import numpy as np, zerogap as zg
    >>> solution = zg.solve_qp(np.eye(2), [-1.0, -3.0], A=[[1.0, 1.0]], b=[1.0], lb=0.0)
    >>> solution.x.round(6)
    array([0., 1.])
    """
    program = checked(P, q, (G, h, A, b), (lb, ub))
    problem = as_problem(program)
    result = driver.solve(
        problem, tol=tol, warn=False, warm_start=_start(problem, program, initvals), **options
    )
    solution = from_result(program, result, tol)
    if warn and not solution.found:
        warnings.warn(driver.complaint(result, tol), ConvergenceWarning, stacklevel=2)
    return solution


def as_problem(program: QuadraticProgram) -> Problem:
    """The same program: curvature in f and in squared-loss rows, the linear term and the box in f."""
    mu, rows = factor.split(program.P)
    penalty = ElasticNet(mu, 0.0, program.lb, program.ub, linear=program.q)
    constraints: list[Between] = []
    if program.b.size:
        constraints.append(Equal(program.A, program.b, names=[f"A[{i}]" for i in range(program.b.size)]))
    if program.h.size:
        names = [f"G[{i}]" for i in range(program.h.size)]
        constraints.append(Between(program.G, -np.inf, program.h, names=names))
    if rows is None:
        if not constraints:  # a problem needs rows: one that asks for nothing
            constraints.append(Between(np.zeros((1, program.n_variables)), names=["none"]))
        return Problem(regularizer=penalty, constraints=constraints)
    count = rows.shape[0]  # the data term is a mean: its rows are scaled for that
    return Problem(rows * np.sqrt(count), np.zeros(count), regularizer=penalty, constraints=constraints)


def _start(problem: Problem, program: QuadraticProgram, initvals: Any) -> Any:
    """A dual point to start from."""
    if initvals is None:
        return None
    dual, n = np.zeros(problem.n_rows), problem.n_samples
    x = initvals.x if isinstance(initvals, QPSolution) else initvals
    if x is None:
        return None
    x = check_vector(x, program.n_variables, "initvals", "one entry per variable")
    dual[:n] = problem.rows.dot(x)[:n]
    if isinstance(initvals, QPSolution):
        for name, own, theirs in (("A", program.b, initvals.y), ("G", program.h, initvals.z)):
            if theirs is None or own.size != theirs.size:
                raise DataError(f"initvals: expected a solution with {own.size} rows in {name}")
        multipliers = [part for part in (initvals.y, initvals.z) if part is not None]
        dual[n : n + program.b.size + program.h.size] = np.concatenate(multipliers)
    return dual
