"""zerogap as a cvxpy solver: values, multipliers and statuses, against Clarabel."""

import numpy as np
import pytest

import zerogap as zg

cp = pytest.importorskip("cvxpy")

import zerogap.cvxpy  # noqa: E402

EXACT = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def data(seed, n=40, t=6):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, t))
    return rng, A, A @ rng.standard_normal(t) + 0.5 * rng.standard_normal(n)


def least_squares_constrained(x):
    _, A, b = data(0)
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b)), [cp.sum(x) == 1, x[:3] >= 0, A[:4] @ x <= 1])


def least_squares_plain(x):
    _, A, b = data(1)
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b) / 40))


def nonnegative(x):
    _, A, b = data(2)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(A @ x + b)), [x >= 0])


def lad(x):
    _, A, b = data(3)
    return cp.Problem(cp.Minimize(cp.norm1(A @ x - b)))


def lad_constrained(x):
    _, A, b = data(4)
    return cp.Problem(cp.Minimize(cp.norm1(A @ x - b)), [cp.sum(x) == 0, x <= 1])


def huber(x):
    _, A, b = data(5)
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(A @ x - b, 0.7))), [x[0] == x[1]])


def quantile(x):
    _, A, b = data(6)
    r = b - A @ x
    return cp.Problem(cp.Minimize(cp.sum(cp.maximum(0.9 * r, -0.1 * r))))


def portfolio(x):
    rng, A, _ = data(7)
    mean = rng.uniform(0, 0.1, 6)
    risk = np.cov(A.T)
    return cp.Problem(cp.Minimize(cp.quad_form(x, risk) - 5 * mean @ x), [cp.sum(x) == 1, x >= 0])


def svm(x):
    _, A, b = data(8)
    y = np.sign(b)
    return cp.Problem(cp.Minimize(0.05 * cp.sum_squares(x) + cp.sum(cp.pos(1 - cp.multiply(y, A @ x))) / 40))


def lasso(x):
    _, A, b = data(9)
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b) / 40 + 0.3 * cp.norm1(x)))


def linear_program(x):
    rng, A, _ = data(10)
    return cp.Problem(
        cp.Minimize(rng.uniform(0.1, 1.0, 6) @ x), [np.abs(A[:5]) @ x >= 1, x >= 0, cp.sum(x) <= 20]
    )


def chebyshev(x):
    _, A, b = data(11)
    return cp.Problem(cp.Minimize(cp.norm_inf(A @ x - b)), [x >= -1, x <= 1])


def maximised(x):
    rng, A, _ = data(12)
    return cp.Problem(cp.Maximize(rng.standard_normal(6) @ x - cp.sum_squares(x)), [A[:3] @ x == 1])


PROBLEMS = [
    least_squares_constrained,
    least_squares_plain,
    nonnegative,
    lad,
    lad_constrained,
    huber,
    quantile,
    portfolio,
    svm,
    lasso,
    linear_program,
    chebyshev,
    maximised,
]


@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_values_and_multipliers_are_those_of_clarabel(make):
    x = cp.Variable(6)
    problem = make(x)
    expected = problem.solve(solver=cp.CLARABEL, **EXACT)
    multipliers = [np.copy(c.dual_value) for c in problem.constraints]
    value = problem.solve(solver=zerogap.cvxpy.ZEROGAP())
    assert problem.status == "optimal"
    assert value == pytest.approx(expected, rel=1e-6, abs=1e-8)
    for constraint, multiplier in zip(problem.constraints, multipliers, strict=True):
        assert constraint.dual_value == pytest.approx(multiplier, rel=1e-4, abs=1e-4)
    assert isinstance(problem.solver_stats.extra_stats, zg.QPSolution)


def test_infeasible():
    x = cp.Variable(3)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == 5, x <= 1])
    assert problem.solve(solver=zerogap.cvxpy.ZEROGAP()) == np.inf
    assert problem.status == "infeasible"


def test_unbounded():
    x = cp.Variable(3)
    problem = cp.Problem(cp.Minimize(cp.square(x[0]) - x[1]), [x[2] == 1])
    assert problem.solve(solver=zerogap.cvxpy.ZEROGAP()) == -np.inf
    assert problem.status == "unbounded"


def test_a_limit_is_a_user_limit_and_still_gives_a_point():
    x = cp.Variable(6)
    problem = lad_constrained(x)
    with pytest.warns(UserWarning, match="inaccurate"):  # cvxpy's own
        problem.solve(solver=zerogap.cvxpy.ZEROGAP(), tol=1e-15, max_passes=1)
    assert problem.status == "user_limit"
    assert x.value.shape == (6,)


def test_options_reach_the_solver_and_unknown_ones_are_named():
    x = cp.Variable(6)
    problem = portfolio(x)
    problem.solve(solver=zerogap.cvxpy.ZEROGAP(), tol=1e-10, algorithm="newton", max_time=60.0)
    assert problem.solver_stats.extra_stats.extras["algorithm"] == "newton"
    assert problem.solver_stats.extra_stats.certificate.within(1e-10)
    with pytest.raises(zg.SettingsError, match="toll"):
        problem.solve(solver=zerogap.cvxpy.ZEROGAP(), toll=1e-10)


def test_parameters_and_warm_starts():
    x, limit = cp.Variable(6), cp.Parameter(value=1.0)
    _, A, b = data(13)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b)), [cp.norm1(x) <= limit])
    solver = zerogap.cvxpy.ZEROGAP()
    for limit.value in (1.0, 0.5, 2.0):
        value = problem.solve(solver=solver, warm_start=True)
        assert value == pytest.approx(problem.solve(solver=cp.CLARABEL, **EXACT), rel=1e-6)


def test_bounds_of_variables():
    x = cp.Variable(6, bounds=[-0.1, 0.2])
    _, A, b = data(14)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b)))
    value = problem.solve(solver=zerogap.cvxpy.ZEROGAP())
    assert value == pytest.approx(problem.solve(solver=cp.CLARABEL, **EXACT), rel=1e-6)


def test_no_answer_comes_with_its_proof():
    x = cp.Variable(3)
    solver = zerogap.cvxpy.ZEROGAP()
    for objective, rows, status in (
        (cp.sum_squares(x), [cp.sum(x) == 5, x <= 1], "infeasible"),
        (x[0], [x[1:] >= 0], "unbounded"),
    ):
        problem = cp.Problem(cp.Minimize(objective), rows)
        problem.solve(solver=solver)
        assert problem.status == status
        found = problem.solver_stats.extra_stats
        assert (found.infeasibility or found.ray).verify()
        assert all(row.dual_value is None for row in rows)
        assert x.value is None


@pytest.mark.parametrize("seed", range(6))
def test_multipliers_satisfy_the_optimality_conditions(seed):
    """Of equalities, one-sided rows and bounds together, in cvxpy's signs."""
    rng, A, b = data(20 + seed)
    x = cp.Variable(6)
    B, G = rng.standard_normal((2, 6)), rng.standard_normal((5, 6))
    point = rng.standard_normal(6)
    rows = [B @ x == B @ point, G @ x <= G @ point, x >= point - 0.5]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b)), rows)
    problem.solve(solver=zerogap.cvxpy.ZEROGAP(), tol=1e-10)
    slope = 2 * A.T @ (A @ x.value - b)
    y, z, low = (row.dual_value for row in rows)
    np.testing.assert_allclose(slope + B.T @ y + G.T @ z - low, 0.0, atol=1e-5 * np.abs(slope).max())
    assert min(z.min(), low.min()) >= 0.0
    np.testing.assert_allclose(z * (G @ (point - x.value)), 0.0, atol=1e-5 * np.abs(slope).max())
