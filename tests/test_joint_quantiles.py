"""Several quantiles: joint fits never cross where they were asked not to, and lose nothing else."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from support import refused

import zerogap as zg
from zerogap.linear_model import QuantileRegressor
from zerogap.problem.joint_quantiles import NO_ROWS, JointQuantiles

LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]


def data(seed=0, n=150, t=6):
    """Few rows and heavy tails: independent fits cross."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, t))
    return X, X @ rng.standard_normal(t) + (0.3 + np.abs(X[:, 0])) * rng.standard_t(3, n) + 50.0


def pinball(y, predictions, levels=LEVELS):
    r = y[:, None] - predictions
    return float(np.mean(np.maximum(np.array(levels) * r, (np.array(levels) - 1) * r)))


def objective(model, X, y):
    w = model.coef_
    ridge, lasso = (1 - model.l1_ratio) / 2 * np.sum(w**2), model.l1_ratio * np.abs(w).sum()
    return pinball(y, model.predict(X), model.quantile) + model.alpha * (ridge + lasso) / len(w)


def crossings(model, X):
    return int(np.sum(np.diff(model.predict(X), axis=1) < 0))


def optimum(X, y, levels, alpha, l1_ratio, points, fit_intercept=True):
    """The joint optimum by Clarabel, every crossing row written out."""
    cp = pytest.importorskip("cvxpy")
    K, t = len(levels), X.shape[1]
    W, b = cp.Variable((K, t)), cp.Variable(K)
    total = 0
    for k, q in enumerate(levels):
        r = y - X @ W[k] - b[k]
        total += cp.sum(cp.maximum(q * r, (q - 1) * r)) / len(y)
        total += alpha * (l1_ratio * cp.norm1(W[k]) + (1 - l1_ratio) / 2 * cp.sum_squares(W[k]))
    rows = [points @ W[k] + b[k] <= points @ W[k + 1] + b[k + 1] for k in range(K - 1)]
    rows += [] if fit_intercept else [b == 0]
    problem = cp.Problem(cp.Minimize(total / K), rows)
    return problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)


def linear_program(X, y, levels, l1, weight=None):
    """The joint optimum with penalty l1 |x| by HiGHS: errors above both pieces of each loss, |x| <= p."""
    X, K, (n, t) = np.asarray(X), len(levels), X.shape
    weight = np.full(n, 1.0) if weight is None else weight
    A, one = np.column_stack([X, np.ones(n)]), np.eye(K)
    own = [np.kron(one, A)]  # predictions of all levels from (x_1, b_1, x_2, b_2, ...)
    q = np.repeat(levels, n)[:, None]
    target = np.tile(y, K)
    features = np.kron(one, np.eye(t, t + 1))
    errors, sizes = np.eye(K * n), np.eye(K * t)
    none = {(a, b): np.zeros((a, b)) for a in (K * n, K * t, (K - 1) * n) for b in (K * n, K * t)}
    rows = [
        np.hstack([-q * own[0], -errors, none[K * n, K * t]]),
        np.hstack([(1 - q) * own[0], -errors, none[K * n, K * t]]),
        np.hstack([features, none[K * t, K * n], -sizes]),
        np.hstack([-features, none[K * t, K * n], -sizes]),
        np.hstack([np.kron(one[:-1] - one[1:], A), none[(K - 1) * n, K * n], none[(K - 1) * n, K * t]]),
    ]
    q = q.ravel()
    sides = [-q * target, (1 - q) * target, np.zeros(2 * K * t + (K - 1) * n)]
    cost = [np.zeros(K * (t + 1)), np.tile(weight / weight.sum(), K) / K, np.full(K * t, l1 / K)]
    bounds = [(None, None)] * (K * (t + 1)) + [(0, None)] * (K * (n + t))
    answer = linprog(
        np.concatenate(cost), sp.csr_array(np.vstack(rows)), np.concatenate(sides), bounds=bounds,
        method="highs",
    )  # fmt: skip
    assert answer.status == 0
    return answer.fun


def with_a_category(seed, n=150, classes=6):
    """Every class of a category has a column, one of them a single row: the columns are dependent."""
    X, y = data(seed, n)
    category = np.minimum(np.random.default_rng(seed).geometric(0.4, n) - 1, classes - 2)
    category[0] = classes - 1
    return np.hstack([X, np.eye(classes)[category]]), y + category


@pytest.mark.parametrize("dependent", [False, True], ids=["independent", "dependent"])
@pytest.mark.parametrize("alpha", [0.0, 1e-6, 1e-3, 1e-2])
def test_joint_linear_programs(alpha, dependent):
    """No l2 anywhere: the answer is a vertex, and the dual must meet every slope exactly."""
    X, y = with_a_category(10) if dependent else data(10)
    weight = np.random.default_rng(1).exponential(1.0, len(y))
    levels = [0.1, 0.4, 0.6, 0.9]
    options = {"quantile": levels, "alpha": alpha, "l1_ratio": 1.0}
    assert crossings(QuantileRegressor(**options).fit(X, y, sample_weight=weight), X) > 0
    best = linear_program(X, y, levels, alpha, weight)
    for matrix in (X, sp.csr_matrix(X)):
        model = QuantileRegressor(**options, non_crossing=True).fit(matrix, y, sample_weight=weight)
        assert model.status_ is zg.Status.SOLVED
        assert crossings(model, matrix) == 0
        assert model.certificate_.dual <= best * (1 + 1e-9)
        assert model.certificate_.primal == pytest.approx(best, rel=2e-6)


def test_dependent_columns_have_dependent_linear_terms():
    """Else nothing bounds the objective. A long sum of equal numbers rounds the same way at every step."""
    category = np.minimum(np.random.default_rng(2).geometric(0.3, 20_000) - 1, 11)
    X = sp.csr_matrix(np.eye(12)[category])
    joint = JointQuantiles(X, category, levels=LEVELS, regularizer=zg.L2(0.0))
    linear = joint.problem(NO_ROWS).penalty.linear.reshape(len(LEVELS), -1)
    assert linear[0, -1] != 0.0
    np.testing.assert_allclose(
        linear[:, :-1].sum(axis=1), linear[:, -1], rtol=1.6e-14, atol=1e-18
    )  # sqrt(n) eps / 2


def test_levels_that_do_not_cross_are_solved_by_themselves():
    X, y = data(0, n=2000, t=2)
    y = X @ [1.0, 2.0] + np.random.default_rng(3).standard_normal(len(y))
    options = {"quantile": LEVELS, "alpha": 1e-3, "l1_ratio": 1.0}
    alone = QuantileRegressor(**options).fit(X, y)
    assert crossings(alone, X) == 0
    model = QuantileRegressor(**options, non_crossing=True).fit(X, y)
    assert len(model.history_) == 1
    np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-12)
    np.testing.assert_allclose(model.dual_coef_, alone.dual_coef_, atol=1e-12)


@pytest.mark.parametrize(
    "limit",
    [{"max_time": 1e-9}, {"max_passes": 2}, {"callbacks": [lambda record: True]}],
    ids=lambda limit: next(iter(limit)),
)
def test_joint_fits_that_end_early_say_so_and_do_not_cross(limit):
    X, y = data(10)
    with pytest.warns(ConvergenceWarning):
        model = QuantileRegressor(quantile=LEVELS, alpha=0.0, non_crossing=True, **limit).fit(X, y)
    assert model.status_ in (zg.Status.MAX_TIME, zg.Status.MAX_PASSES, zg.Status.INTERRUPTED)
    assert crossings(model, X) == 0
    assert model.certificate_.dual <= linear_program(X, y, LEVELS, 0.0) * (1 + 1e-9)


def test_contradictory_constraints_of_joint_fits_are_named():
    X, y = data(11)
    constraints = ["x0 + x1 >= 1", "x0 + x1 <= 0"]
    with pytest.warns(ConvergenceWarning, match="level"):
        model = QuantileRegressor(quantile=LEVELS, alpha=0.0, non_crossing=True, constraints=constraints).fit(
            X, y
        )
    assert model.status_ is zg.Status.INFEASIBLE


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_joint_fits_are_optimal_and_do_not_cross(l1_ratio):
    X, y = data()
    options = {"quantile": LEVELS, "alpha": 1e-3, "l1_ratio": l1_ratio}
    alone = QuantileRegressor(**options).fit(X, y)
    assert crossings(alone, X) > 0
    model = QuantileRegressor(**options, non_crossing=True).fit(X, y)
    assert crossings(model, X) == 0
    assert model.status_ is zg.Status.SOLVED
    assert model.certificate_.within(1e-6)
    assert model.certificate_.primal == pytest.approx(objective(model, X, y), rel=1e-9)
    assert objective(model, X, y) == pytest.approx(optimum(X, y, LEVELS, 1e-3, l1_ratio, X), rel=2e-6)
    assert objective(model, X, y) >= objective(alone, X, y) * (1 - 1e-6)


def test_nothing_crosses_on_grid_points_either():
    X, y = data(1)
    grid = 3.0 * np.random.default_rng(5).standard_normal((80, X.shape[1]))
    options = {"quantile": LEVELS, "alpha": 1e-3, "l1_ratio": 0.0, "non_crossing": True}
    assert crossings(QuantileRegressor(**options).fit(X, y), grid) > 0
    model = QuantileRegressor(**options, X_grid=grid).fit(X, y)
    assert crossings(model, grid) == crossings(model, X) == 0
    best = optimum(X, y, LEVELS, 1e-3, 0.0, np.vstack([X, grid]))
    assert objective(model, X, y) == pytest.approx(best, rel=2e-6)


def test_real_data_sparse_or_dense():
    X, y = load_diabetes(return_X_y=True, scaled=False)
    X = X / X.std(axis=0)
    options = {"quantile": LEVELS, "alpha": 1e-3, "l1_ratio": 0.0, "non_crossing": True}
    dense = QuantileRegressor(**options).fit(X, y)
    sparse = QuantileRegressor(**options).fit(sp.csr_matrix(X), y)
    assert crossings(dense, X) == crossings(sparse, sp.csr_matrix(X)) == 0
    assert dense.certificate_.primal == pytest.approx(sparse.certificate_.primal, rel=3e-6)


def test_without_an_intercept():
    X, y = data(2)
    X = np.abs(X)
    model = QuantileRegressor(
        quantile=[0.1, 0.5, 0.9], alpha=1e-2, l1_ratio=0.0, non_crossing=True, fit_intercept=False
    ).fit(X, y)
    assert (model.intercept_ == 0).all()
    assert crossings(model, X) == 0
    best = optimum(X, y, [0.1, 0.5, 0.9], 1e-2, 0.0, X, fit_intercept=False)
    assert objective(model, X, y) == pytest.approx(best, rel=2e-6)


def test_constraints_boxes_and_weights_hold_for_every_level():
    X, y = data(3)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    options = {
        "quantile": [0.2, 0.5, 0.8], "alpha": 1e-3, "l1_ratio": 0.0, "non_crossing": True, "tol": 1e-8,
        "constraints": "x1 + x2 = 0.5", "bounds": (-1.0, 1.0),
    }  # fmt: skip
    model = QuantileRegressor(**options).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_[:, 1] + model.coef_[:, 2], 0.5, atol=1e-6)
    assert np.abs(model.coef_).max() <= 1.0
    repeated = np.repeat(np.arange(len(y)), weight.astype(int))
    again = QuantileRegressor(**options).fit(X[repeated], y[repeated])
    assert again.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-7)
    np.testing.assert_allclose(again.predict(X), model.predict(X), atol=1e-2)
    frame = model.summary()
    assert set(frame["quantile"]) == {0.2, 0.5, 0.8}
    assert (frame["kind"] == "constraint").sum() == 3


def test_shifts_of_y_change_nothing_but_intercepts():
    X, y = data(4)
    options = {"quantile": LEVELS, "alpha": 1e-3, "l1_ratio": 0.0, "non_crossing": True, "tol": 1e-8}
    near, far = (QuantileRegressor(**options).fit(X, y + shift) for shift in (0.0, 1e5))
    assert crossings(far, X) == 0
    np.testing.assert_allclose(far.predict(X) - 1e5, near.predict(X), atol=1e-2)


def test_warm_starts_and_attributes():
    X, y = data(5)
    model = QuantileRegressor(
        quantile=LEVELS, alpha=1e-3, l1_ratio=0.0, non_crossing=True, warm_start=True
    ).fit(X, y)
    first = model.n_iter_
    assert model.coef_.shape == (5, 6)
    assert model.intercept_.shape == (5,)
    assert model.dual_coef_.shape == (5, 150)
    levels = np.array(LEVELS)[:, None]
    assert (model.dual_coef_ >= -levels - 1e-12).all()
    assert (model.dual_coef_ <= 1 - levels + 1e-12).all()
    assert model.fit(X, y).n_iter_ < first
    assert 0.0 < model.score(X, y) < 1.0
    assert "relative gap" in model._repr_html_inner()
    assert QuantileRegressor(quantile=[0.2, 0.8], alpha=0.1).fit(X, y)._repr_html_inner()


def test_several_levels_by_themselves_are_those_of_single_fits():
    X, y = data(6)
    several = QuantileRegressor(quantile=LEVELS, alpha=1e-2, l1_ratio=0.5, tol=1e-9).fit(X, y)
    for k, level in enumerate(LEVELS):
        one = QuantileRegressor(quantile=level, alpha=1e-2, l1_ratio=0.5, tol=1e-9).fit(X, y)
        np.testing.assert_allclose(several.predict(X)[:, k], one.predict(X), atol=1e-5)
    assert several.quantile == LEVELS


def test_what_makes_no_sense_is_refused():
    X, y = data(7)

    def fit(**options):
        return lambda: QuantileRegressor(**options).fit(X, y)

    refused(zg.SettingsError, fit(non_crossing=True), "several levels", "0.5")
    refused(zg.SettingsError, fit(quantile=[0.1, 0.9], X_grid=X), "X_grid", "non_crossing")
    refused(zg.ProblemError, fit(quantile=[0.9, 0.1], non_crossing=True), "rising")
    refused(zg.ProblemError, fit(quantile=[0.5, 1.0], non_crossing=True), "between 0 and 1")
    refused(zg.SettingsError, fit(quantile=[0.1, 0.9], non_crossing=True, algorithm="sdca"), "newton")
    refused(
        zg.ProblemError,
        fit(quantile=[0.1, 0.9], non_crossing=True, constraints="intercept >= 0"),
        "intercept",
    )
    with pytest.raises(ValueError, match="features"):
        fit(quantile=[0.1, 0.9], non_crossing=True, X_grid=X[:, :2])()


def test_the_builder_states_the_same_rows():
    """`zg.non_crossing` on a problem whose features are two models side by side."""
    X, y = data(8, n=60, t=2)
    levels = np.array([0.3, 0.7])
    ones = np.column_stack([X, np.ones(len(y))])
    rows = sp.block_diag([ones, ones]).tocsr()
    targets = np.tile(y, 2)
    mean = np.concatenate([-(q - 0.5) / 2 * ones.mean(axis=0) for q in levels])
    l2 = np.tile([0.5e-2, 0.5e-2, 0.0], 2)
    problem = zg.Problem(
        rows, targets, loss=zg.losses.Pinball(0.5), regularizer=zg.ElasticNet(l2, linear=mean),
        constraints=zg.non_crossing(X, 2),
    )  # fmt: skip
    result = zg.solve(problem, tol=1e-8, random_state=0)
    assert result.solved
    model = QuantileRegressor(quantile=levels, alpha=1e-2, l1_ratio=0.0, non_crossing=True, tol=1e-8).fit(
        X, y
    )
    constant = float(np.mean(levels - 0.5) * y.mean())
    assert result.certificate.primal + constant == pytest.approx(model.certificate_.primal, rel=1e-6)
    assert "level 0 <= level 1 at row 0" in problem.constraints[0].row_names()
