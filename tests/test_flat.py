"""No strong convexity: plain quantile, LAD and SVM fits and linear programs, by every kind of algorithm."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import zerogap as zg

LOSSES = ["absolute", zg.losses.Pinball(0.9), "hinge", zg.losses.EpsilonInsensitive(0.2)]


def data(seed, n=120, t=5, dependent=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, t))
    if dependent:  # every class of a category, as many columns as classes, beside the intercept
        X = np.hstack([X, np.eye(4)[rng.integers(0, 4, n)]])
    return X, X @ rng.standard_normal(X.shape[1]) + rng.standard_t(3, n) + 2.0


def targets(loss, y):
    return np.sign(y - np.median(y)) if loss == "hinge" else y


def linear_program(X, y, loss, l1=0.0, fit_intercept=True):
    """The optimal value by HiGHS: min sum of losses e_i / n + l1 |x|, e_i above both pieces of each loss."""
    n, t = X.shape
    A = np.column_stack([X, np.full(n, float(fit_intercept))])
    if loss == "hinge":
        pieces = [(-y[:, None] * A, 1.0 * np.ones(n))]
    elif loss == "absolute":
        pieces = [(A, -y), (-A, y)]
    elif isinstance(loss, zg.losses.Pinball):
        q = loss.quantile
        pieces = [(-q * A, q * y), ((1 - q) * A, -(1 - q) * y)]
    else:
        pieces = [(A, -y - loss.epsilon), (-A, y - loss.epsilon)]
    cost = np.concatenate([np.zeros(t + 1), np.full(n, 1 / n), np.full(t, l1)])
    rows, sides = [], []
    for slope, constant in pieces:  # slope z + constant <= e
        rows.append(np.hstack([slope, -np.eye(n), np.zeros((n, t))]))
        sides.append(-constant)
    for sign in (1.0, -1.0):  # +-x <= p
        rows.append(np.hstack([sign * np.eye(t, t + 1), np.zeros((t, n)), -np.eye(t)]))
        sides.append(np.zeros(t))
    bounds = [(None, None)] * (t + 1) + [(0, None)] * (n + t)
    answer = linprog(cost, np.vstack(rows), np.concatenate(sides), bounds=bounds, method="highs")
    assert answer.status == 0
    return answer.fun


@pytest.mark.parametrize("dependent", [False, True], ids=["independent", "dependent"])
@pytest.mark.parametrize("l1", [0.0, 0.01])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_plain_fits_are_linear_programs(loss, l1, dependent):
    X, y = data(0, dependent=dependent)
    y = targets(loss, y)
    for matrix in (X, sp.csr_matrix(X)):
        problem = zg.Problem(matrix, y, loss=loss, regularizer=zg.ElasticNet(0.0, l1), fit_intercept=True)
        result = zg.solve(problem, random_state=0)
        assert result.solved
        best = linear_program(X, y, loss, l1)
        assert result.certificate.dual <= best * (1 + 1e-9)
        assert result.certificate.primal == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize("algorithm", ["sdca", "rdca", "ardca-restart"])
@pytest.mark.parametrize("loss", ["absolute", zg.losses.Pinball(0.9), "hinge", "squared"], ids=str)
def test_coordinate_steps_in_a_proximal_loop(algorithm, loss):
    X, y = data(1)
    y = targets(loss, y)
    for l2 in (0.0, [0.0, 0.0, 0.1, 0.1, 0.1]):
        penalty = zg.ElasticNet(l2, 0.01)
        problem = zg.Problem(X, y, loss=loss, regularizer=penalty, constraints="x0 + x1 = 1")
        best = zg.solve(problem, algorithm="newton", tol=1e-9).certificate.dual
        result = zg.solve(problem, algorithm=algorithm, tol=1e-4, random_state=0)
        assert result.solved
        assert result.certificate.dual <= best * (1 + 1e-9)
        assert result.certificate.primal == pytest.approx(best, rel=3e-4)


@pytest.mark.parametrize("seed", range(12))
def test_linear_programs_agree_with_highs(seed):
    rng = np.random.default_rng(seed)
    t = int(rng.integers(3, 25))
    point, q = rng.standard_normal(t), rng.standard_normal(t)
    J = rng.standard_normal((int(rng.integers(1, 2 * t)), t)) * 10.0 ** rng.uniform(-2, 2)
    lower, upper = J @ point - rng.uniform(0, 1, len(J)), J @ point + rng.uniform(0, 1, len(J))
    lower[rng.random(len(J)) < 0.3] = -np.inf
    B = rng.standard_normal((int(rng.integers(0, t // 2 + 1)), t))
    answer = linprog(
        q, np.vstack([J, -J[np.isfinite(lower)]]), np.append(upper, -lower[np.isfinite(lower)]),
        B if len(B) else None, B @ point if len(B) else None, bounds=(-5.0, 5.0), method="highs",
    )  # fmt: skip
    rows = [zg.Between(J, lower, upper), *([zg.Equal(B, B @ point)] if len(B) else [])]
    penalty = zg.ElasticNet(0.0, lower=-5.0, upper=5.0, linear=q)
    result = zg.solve(zg.Problem(regularizer=penalty, constraints=rows), tol=1e-9, random_state=0)
    assert result.solved
    assert result.certificate.primal == pytest.approx(answer.fun, rel=1e-6)
    prices = answer.ineqlin.marginals
    expected = -prices[: len(J)]
    expected[np.isfinite(lower)] += prices[len(J) :]
    size = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(result.multipliers[0], expected, atol=1e-4 * size)


def test_quantiles_of_a_constant_design_are_quantiles():
    y = np.arange(101.0) ** 1.5
    result = zg.solve(
        zg.Problem(
            np.zeros((101, 1)), y, loss=zg.losses.Pinball(0.25), regularizer=zg.L2(0.0), fit_intercept=True
        )
    )
    assert result.solved
    assert result.intercept == pytest.approx(25.0**1.5, rel=1e-3)
