"""Every way of solving (diag(d) + R^T diag(h) R) x = b gives what NumPy gives."""

import numpy as np
import pytest
import scipy.sparse

import zerogap as zg
from zerogap.data.rows import as_constraint_rows, as_rows
from zerogap.data.stacked import StackedRows
from zerogap.solver import newton_system


def stacked(n, t, intercept, sparse, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, t)) * (rng.random((n, t)) < 0.5)
    bottom, _ = as_constraint_rows(rng.standard_normal((3, t)), "J")
    top = as_rows(scipy.sparse.csr_array(X) if sparse else X, "X")
    return StackedRows(top, bottom, np.array([0.0, 1.0, 0.0]), intercept)


def matrix_of(rows):
    return np.stack([rows.dot(unit) for unit in np.eye(rows.shape[1])], axis=1)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("n", "t"), [(40, 7), (9, 60)])
def test_matches_numpy(n, t, intercept, sparse):
    rows = stacked(n, t, intercept, sparse)
    rng = np.random.default_rng(1)
    d, h = rng.uniform(0.5, 2.0, rows.shape[1]), rng.uniform(0.1, 3.0, rows.shape[0])
    h[::3] = 0.0
    b = rng.standard_normal(rows.shape[1])
    R = matrix_of(rows)
    expected = np.linalg.solve(np.diag(d) + R.T @ (h[:, None] * R), b)
    np.testing.assert_allclose(newton_system.solve(rows, d, h, b, 1e-12), expected, rtol=1e-9)


@pytest.mark.parametrize("curvature", [0.0, 1e-20, 1e-9])
def test_flat_columns_cost_no_digits(curvature):
    """Columns without curvature of their own, where there are fewer rows than columns."""
    rows = stacked(9, 60, True, False)
    rng = np.random.default_rng(2)
    d, h = rng.uniform(0.5, 2.0, 61), rng.uniform(0.1, 3.0, 12)
    d[[3, 60]] = curvature
    b = rng.standard_normal(61)
    x = newton_system.solve(rows, d, h, b, 1e-12)
    R = matrix_of(rows)
    np.testing.assert_allclose(d * x + R.T @ (h * (R @ x)), b, rtol=1e-8, atol=1e-9)


def test_rows_next_to_no_curvature_do_not_overflow():
    rows = stacked(9, 60, False, False)
    h = np.full(12, 1e-310)
    h[0] = 1.0
    x = newton_system.solve(rows, np.ones(60), h, np.ones(60), 1e-12)
    r = matrix_of(rows)[0]
    np.testing.assert_allclose(x, np.ones(60) - r * (r.sum() / (1.0 + r @ r)), rtol=1e-9)


def one_hot(n=900, seed=3):
    """Two categories (one of 600 levels), a number, an intercept, and a constraint on one dummy."""
    rng = np.random.default_rng(seed)
    hot = [np.eye(600)[rng.integers(0, 600, n)], np.eye(5)[rng.integers(0, 5, n)]]
    X = scipy.sparse.csr_array(np.hstack([*hot, rng.standard_normal((n, 1))]))
    J = np.zeros((2, 606))
    J[0, 7], J[1, 602:] = 1.0, 1.0
    constraint = zg.Between(J, -1.0, 1.0)
    y = rng.standard_normal(n)
    return zg.Problem(
        X, y, loss="absolute", regularizer=zg.L2(1e-6), constraints=[constraint], fit_intercept=True
    )


def test_columns_that_no_row_shares_are_eliminated():
    rows = one_hot().rows
    parts = rows.apart
    assert parts is not None
    assert parts.chosen.size + parts.rest.size == rows.shape[1]
    touched = sum((rows.dot(unit) != 0).astype(int) for unit in np.eye(rows.shape[1])[parts.chosen])
    assert touched.max() <= 1
    rng = np.random.default_rng(0)
    d, h = rng.uniform(1e-6, 1.0, rows.shape[1]), rng.uniform(0.0, 2.0, rows.shape[0])
    h[rng.random(h.size) < 0.5] = 0.0
    b = rng.standard_normal(d.size)
    x = newton_system.solve(rows, d, h, b, 1e-12)
    left = d * x + rows.tdot(h * rows.dot(x)) - b
    assert np.abs(left).max() <= 1e-9 * np.abs(b).max()


def test_dense_rows_and_few_columns_have_nothing_to_eliminate():
    assert stacked(9, 60, True, False).apart is None
    X = scipy.sparse.csr_array(np.ones((30, 600)))
    assert zg.Problem(X, np.ones(30), regularizer=zg.L2(1.0)).rows.apart is None
