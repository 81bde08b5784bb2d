"""The best multiple of a primal point."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import zerogap as zg
from zerogap.solver.stretch import stretched


def weak_svm():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 200))
    y = np.sign(X[:, 0] + 0.1)
    return zg.Problem(X, y, loss="hinge", regularizer=zg.L2(1e-6), fit_intercept=True)


@pytest.mark.parametrize("factor", [0.2, 0.97, 1.0004, 3.0])
def test_it_is_the_minimum_along_the_ray(factor):
    problem = weak_svm()
    best = zg.solve(problem, random_state=0, tol=1e-10)
    point = problem.join(factor * best.x, factor * best.intercept)
    start = problem.primal(*problem.split(point))
    found = problem.primal(*problem.split(stretched(problem, point, start / best.certificate.dual - 1.0)))
    along = minimize_scalar(
        lambda c: problem.primal(*problem.split(c * point)), bounds=(0.1, 8.0), method="bounded",
        options={"xatol": 1e-12},
    )  # fmt: skip
    assert found < start
    assert found - along.fun <= 1e-3 * (start - along.fun)


def test_no_multiple_is_better_than_the_best_point():
    problem = zg.Problem(np.eye(2), np.ones(2), loss="squared", regularizer=zg.L2(0.5))
    assert stretched(problem, np.array([0.5, 0.5]), 1e-3) is None


def test_a_coordinate_method_offers_it():
    """Where the regularisation is weak, x*(u) misses little but its length."""
    problem = weak_svm()
    result = zg.solve(
        problem, algorithm=zg.SDCA(shrink=True), random_state=0, tol=1e-2, max_passes=50, warn=False
    )
    x_of_u = problem.primal_from_dual(result.dual)
    assert result.certificate.primal < problem.primal(x_of_u, result.intercept)
