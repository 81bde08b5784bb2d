"""Newton steps where rows are far stiffer than f, or columns far from zero: shapes that used to get lost."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import zerogap as zg
from zerogap.data.rows import as_constraint_rows, as_rows
from zerogap.data.stacked import StackedRows
from zerogap.solver import newton_system


@pytest.mark.parametrize("size", [1e2, 1e4, 1e7])
def test_a_system_of_stiff_rows_is_solved(size):
    """Fewer rows than columns, and D far below what the rows add: nothing is left of D in either sum."""
    rng = np.random.default_rng(0)
    bottom, _ = as_constraint_rows(np.zeros((0, 80)), "J")
    rows = StackedRows(as_rows(size * rng.standard_normal((20, 80)), "X"), bottom, np.zeros(0), False)
    d, h, own, pushes = (
        np.full(80, 1e-4),
        np.ones(20),
        1e-4 * rng.standard_normal(80),
        rng.standard_normal(20),
    )
    x = newton_system.solve(rows, d, h, own + rows.tdot(pushes), 1e-3, lambda: (own.copy(), pushes.copy()))
    q, r = np.linalg.qr(rows.dense().T)  # x = q a + rest, rest orthogonal to all rows
    rest = own / d - q @ (q.T @ (own / d))
    a = np.linalg.lstsq(np.vstack([1e-2 * np.eye(20), r.T]), np.append(q.T @ own / 1e-2, pushes), rcond=None)[
        0
    ]
    np.testing.assert_allclose(x, q @ a + rest, atol=1e-6 * np.abs(rest).max())


def test_a_system_of_nearly_dependent_stiff_rows_is_solved():
    """As many stiff rows as columns of rank 12, of integers as images have them."""
    rng = np.random.default_rng(1)
    bottom, _ = as_constraint_rows(np.zeros((0, 64)), "J")
    X = rng.integers(0, 17, (60, 12)) @ rng.integers(0, 3, (12, 64)) + 1e-3 * rng.standard_normal((60, 64))
    rows = StackedRows(as_rows(X, "X"), bottom, np.zeros(0), False)
    d, h, b = np.full(64, 5e-10), np.full(60, 0.2), rng.standard_normal(64)
    b = rows.tdot(rows.dot(b))
    x = newton_system.solve(rows, d, h, b, 1e-3)
    assert np.linalg.norm(d * x + rows.tdot(h * rows.dot(x)) - b) <= 1e-3 * np.linalg.norm(b)


@pytest.mark.parametrize("far", [0.0, 1e2, 1e4])
def test_a_rare_class_and_columns_far_from_zero(far):
    """The intercept makes up for the columns' means: next to no curvature is left for it alone."""
    rng = np.random.default_rng(2)
    X = (rng.random((200, 20)) + far * rng.random(20)) * 10.0 ** rng.uniform(-4, 4, 20)
    y = np.where(np.arange(200) < 2, 1.0, -1.0)
    for loss in ("logistic", "smoothed_hinge"):
        problem = zg.Problem(X, y, loss=loss, regularizer=zg.L2(0.01), fit_intercept=True)
        assert zg.solve(problem, tol=1e-8, random_state=0).solved


def test_weak_regularisation_of_separable_looking_images():
    """mu so small that Newton directions leave for good: a proximal term brings them back."""
    X, digit = load_digits(return_X_y=True)
    problem = zg.Problem(X, np.where(digit == 9, 1.0, -1.0), loss="hinge", regularizer=zg.L2(1e-6 / len(X)))
    assert zg.solve(problem, random_state=0).solved


@pytest.mark.parametrize(("far", "scales"), [(1e1, 4), (1e2, 2)])
def test_a_few_rows_of_large_numbers_and_a_sum(far, scales):
    """Squares with less to say than the rounding of their terms, and a constraint."""
    rng = np.random.default_rng(3)
    X = (rng.poisson(1.5, (50, 1000)) + far * rng.random(1000)) * 10.0 ** rng.uniform(-scales, scales, 1000)
    y = X[:, 0] / X[:, 0].std() + 0.3 * rng.standard_normal(50)
    total = zg.Equal(np.ones((1, 1000)), 1.0)
    problem = zg.Problem(X, y, loss="squared", regularizer=zg.L2(1e-4), constraints=total)
    result = zg.solve(problem, tol=1e-8, random_state=0)
    assert result.solved
    assert result.passes <= 200


@pytest.mark.parametrize("l2", [1.0, 1e-3])
def test_few_rows_of_large_numbers_that_can_be_separated(l2):
    """Margins of 1 to the last digit are not enough: their rounding is a large part of the objective."""
    rng = np.random.default_rng(4)
    X, y = 1e4 * np.exp(1.5 * rng.standard_normal((40, 2000))), np.where(np.arange(40) % 3, 1.0, -1.0)
    problem = zg.Problem(X, y, loss="hinge", regularizer=zg.L2(l2), fit_intercept=True)
    result = zg.solve(problem, random_state=0)
    assert result.solved
    assert result.passes <= 200


def test_few_rows_of_large_numbers_that_can_be_interpolated():
    """Forces read off the margins are nothing but rounding; coordinate steps know the dual better."""
    rng = np.random.default_rng(5)
    X, y = 1e4 * np.exp(rng.standard_normal((40, 2000))), np.where(np.arange(40) % 3, 1.0, -1.0)
    problem = zg.Problem(X, y, loss="huber", regularizer=zg.L2(1e-3), fit_intercept=False)
    assert zg.solve(problem, random_state=0).solved
