"""Repaired dual points: with slopes that f without curvature allows, they give a bound, and a good one."""

import numpy as np
import pytest
import scipy.sparse as sp

import zerogap as zg
from zerogap.solver.dual_projection import DualProjection
from zerogap.solver.dual_repair import DualRepair


def problem_of(l1, constraints=(), seed=0, n=80, t=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, t))
    y = X @ rng.standard_normal(t) + rng.standard_t(3, n) + 1.0
    penalty = zg.ElasticNet(0.0, l1, lower=-0.8)
    return zg.Problem(X, y, loss="absolute", regularizer=penalty, constraints=constraints, fit_intercept=True)


CONSTRAINTS = ["x0 + x1 = 0.5", "-0.1 <= x2 - x3 <= 0.2", "x4 - x5 <= 0"]


@pytest.mark.parametrize("constraints", [(), CONSTRAINTS], ids=["free", "constrained"])
@pytest.mark.parametrize("l1", [0.0, 0.05])
@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-4, 1e-2])
def test_newton_steps_repair_what_noise_has_spoilt(noise, l1, constraints):
    problem = problem_of(l1, constraints)
    best = zg.solve(problem, algorithm="newton", tol=1e-10)
    x = problem.join(best.x, best.intercept)
    rng = np.random.default_rng(1)
    u = problem.project_dual(best.dual + noise * rng.standard_normal(problem.n_rows))
    given = u.copy()
    stiffness = np.full(problem.n_rows, 10.0), np.full(x.size, 10.0)
    found = DualProjection(problem)(u, x, *stiffness)
    assert found is not None
    repaired = DualRepair(problem)(u, x, stiffness)
    np.testing.assert_array_equal(u, given)
    certificate = zg.certify(problem, best.x, repaired, best.intercept)
    assert certificate.dual <= best.certificate.primal * (1 + 1e-12)
    # x is where it was: a move of the rows at their kinks costs nothing, others as much as they are off
    assert certificate.relative_gap <= 1e-9 + 3.0 * noise


def test_a_column_of_one_row_does_not_hold_it_up():
    """Its slope is a single term: nothing but zero is small beside it."""
    rng = np.random.default_rng(2)
    n, classes = 300, 12
    category = np.minimum(rng.geometric(0.3, n) - 1, classes - 3)
    category[:2] = classes - 2, classes - 1
    X = sp.csr_matrix(np.hstack([rng.standard_normal((n, 3)), np.eye(classes)[category]]))
    y = rng.standard_t(3, n) + category
    for loss in ("absolute", zg.losses.Pinball(0.8)):
        problem = zg.Problem(X, y, loss=loss, regularizer=zg.L2(0.0), fit_intercept=True)
        assert zg.solve(problem).solved
