"""The optimum, intercept and weights included, is that of scikit-learn, statsmodels and cvxpy."""

import numpy as np
import pytest
import sklearn.linear_model
import sklearn.svm
from linear_model_data import labels, regression

import zerogap as zg
from zerogap import linear_model as lm

TIGHT = {"tol": 1e-11}


def assert_same_optimum(ours, theirs, X, y, weight, unique=True):
    """Objectives to 1e-5 relative, coefficients to 1e-4. `ours` defines the objective."""
    target = y
    if hasattr(ours, "classes_"):
        target = np.where(y == ours.classes_[1], 1.0, -1.0)
    strength = ours._strength()
    problem = ours._problem(X, target, weight, strength)
    values = [
        problem.primal(np.ravel(coef), float(np.ravel(b)[0]) if ours.fit_intercept else 0.0)
        for coef, b in [(ours.coef_, ours.intercept_), theirs]
    ]
    assert values[0] <= values[1] + 1e-9 * abs(values[1])
    np.testing.assert_allclose(values[0], values[1], rtol=1e-5)
    if unique:
        size = np.abs(np.ravel(theirs[0])).max()
        np.testing.assert_allclose(np.ravel(ours.coef_), np.ravel(theirs[0]), rtol=0, atol=1e-4 * size)
        intercepts = np.ravel(ours.intercept_), np.ravel(theirs[1])
        np.testing.assert_allclose(*intercepts, rtol=1e-4, atol=1e-4 * size)


WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


@WEIGHTED
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ratio", [0.2, 1.0])
def test_elastic_net(weighted, intercept, ratio):
    X, y, w = regression()
    weight = w if weighted else None
    settings = {"alpha": 0.1, "l1_ratio": ratio, "fit_intercept": intercept}
    peer = sklearn.linear_model.ElasticNet(**settings, tol=1e-12, max_iter=100_000).fit(X, y, weight)
    ours = lm.ElasticNet(**settings, **TIGHT).fit(X, y, weight)
    assert_same_optimum(ours, (peer.coef_, peer.intercept_), X, y, weight)


@WEIGHTED
@pytest.mark.parametrize("positive", [False, True])
def test_ridge(weighted, positive):
    X, y, w = regression()
    weight = w if weighted else None
    peer = sklearn.linear_model.Ridge(alpha=3.0, positive=positive, tol=1e-10).fit(X, y, weight)
    ours = lm.Ridge(alpha=3.0, positive=positive, **TIGHT).fit(X, y, weight)
    assert_same_optimum(ours, (peer.coef_, peer.intercept_), X, y, weight)


@WEIGHTED
@pytest.mark.parametrize("alpha", [0.0, 0.05])
@pytest.mark.parametrize("quantile", [0.25, 0.8])
def test_quantile(weighted, alpha, quantile):
    X, y, w = regression(seed=3)
    weight = w if weighted else None
    peer = sklearn.linear_model.QuantileRegressor(quantile=quantile, alpha=alpha).fit(X, y, weight)
    ours = lm.QuantileRegressor(quantile=quantile, alpha=alpha, tol=1e-9).fit(X, y, weight)
    assert_same_optimum(ours, (peer.coef_, peer.intercept_), X, y, weight)


@pytest.mark.parametrize("quantile", [0.5, 0.9])
def test_quantile_against_statsmodels(quantile):
    regression_models = pytest.importorskip("statsmodels.regression.quantile_regression")
    X, y, _ = regression(n=61, t=3, seed=5)
    design = np.column_stack([X, np.ones(len(y))])
    fit = regression_models.QuantReg(y, design).fit(q=quantile, p_tol=1e-10, max_iter=5000)
    ours = lm.QuantileRegressor(quantile=quantile, alpha=0.0, tol=1e-9).fit(X, y)
    assert_same_optimum(ours, (fit.params[:-1], fit.params[-1]), X, y, None)


@WEIGHTED
@pytest.mark.parametrize("multiple", [1.0, 0.3])
def test_huber_at_scikit_learns_scale(weighted, multiple):
    """Their joint optimum in w, b and sigma is ours at delta = epsilon sigma, alpha = alpha sigma / n."""
    X, y, w = regression(n=120)
    weight = w + 1.0 if weighted else None
    alpha = 2.0 * multiple
    peer = sklearn.linear_model.HuberRegressor(alpha=alpha, tol=1e-12, max_iter=10_000).fit(X, y, weight)
    total = len(y) if weight is None else weight.sum()
    ours = lm.HuberRegressor(delta=1.35 * peer.scale_, alpha=alpha * peer.scale_ / total, **TIGHT)
    assert_same_optimum(ours.fit(X, y, weight), (peer.coef_, peer.intercept_), X, y, weight)


@WEIGHTED
@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_logistic(weighted, ratio, intercept):
    X, y, w = labels(n=200)
    weight = w if weighted else None
    settings = {"C": 0.5, "l1_ratio": ratio, "fit_intercept": intercept}
    solver = {"solver": "lbfgs"} if ratio == 0.0 else {"solver": "saga"}
    peer = sklearn.linear_model.LogisticRegression(**settings, **solver, tol=1e-10, max_iter=100_000)
    peer.fit(X, y, weight)
    ours = lm.LogisticRegression(**settings, **TIGHT).fit(X, y, weight)
    assert_same_optimum(ours, (peer.coef_, peer.intercept_), X, y, weight)
    if ratio == 0.0:
        np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-5)


@WEIGHTED
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_svc_without_intercept(weighted, loss):
    X, y, w = labels()
    weight = w if weighted else None
    settings = {"C": 0.7, "loss": loss, "fit_intercept": False}
    peer = sklearn.svm.LinearSVC(**settings, dual=True, tol=1e-10, max_iter=10**6, random_state=0)
    peer.fit(X, y, weight)
    ours = lm.LinearSVC(**settings, **TIGHT).fit(X, y, weight)
    assert_same_optimum(ours, (peer.coef_, 0.0), X, y, weight)


def test_svc_with_intercept_is_libsvms():
    """libsvm leaves the intercept unpenalised, as we do."""
    X, y, _ = labels()
    peer = sklearn.svm.SVC(kernel="linear", C=0.7, tol=1e-9).fit(X, y)
    ours = lm.LinearSVC(C=0.7, loss="hinge", **TIGHT).fit(X, y)
    assert_same_optimum(ours, (peer.coef_, peer.intercept_), X, y, None)
    assert set(peer.support_) <= set(ours.support_)


def test_svr_is_libsvms():
    X, y, _ = regression()
    peer = sklearn.svm.SVR(kernel="linear", C=0.7, epsilon=0.3, tol=1e-9).fit(X, y)
    ours = lm.LinearSVR(C=0.7, epsilon=0.3, **TIGHT).fit(X, y)
    assert_same_optimum(ours, (peer.coef_, peer.intercept_), X, y, None)


@WEIGHTED
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_svr_without_intercept(weighted, loss):
    X, y, w = regression()
    weight = w if weighted else None
    settings = {"C": 0.3, "epsilon": 0.2, "loss": loss, "fit_intercept": False}
    peer = sklearn.svm.LinearSVR(**settings, dual=True, tol=1e-10, max_iter=10**6, random_state=0)
    peer.fit(X, y, weight)
    ours = lm.LinearSVR(**settings, **TIGHT).fit(X, y, weight)
    assert_same_optimum(ours, (peer.coef_, 0.0), X, y, weight)


def test_class_weights_are_sample_weights():
    X, y, _ = labels()
    weight = np.where(y == 1, 3.0, 1.0)
    ours = lm.LogisticRegression(class_weight={1: 3.0}, **TIGHT).fit(X, y)
    same = lm.LogisticRegression(**TIGHT).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, same.coef_, rtol=1e-7)


def test_lad_with_box_and_constraints_against_cvxpy():
    cp = pytest.importorskip("cvxpy")
    X, y, w = regression(seed=2)
    t = X.shape[1]
    coef, b = cp.Variable(t), cp.Variable()
    penalty = 0.05 * (0.5 * cp.norm1(coef) + 0.25 * cp.sum_squares(coef))
    objective = (w / w.sum()) @ cp.abs(y - X @ coef - b) + penalty
    conditions = [cp.sum(coef) == 1.0, coef >= -0.5, coef <= 1.0, coef[0] - coef[1] <= 0.25]
    cp.Problem(cp.Minimize(objective), conditions).solve(solver="CLARABEL")
    order = np.zeros((1, t))
    order[0, :2] = 1.0, -1.0
    constraints = [zg.Equal(np.ones((1, t)), 1.0), zg.Between(order, upper=0.25)]
    ours = lm.LADRegressor(
        alpha=0.05, l1_ratio=0.5, bounds=(-0.5, 1.0), constraints=constraints, tol=1e-9
    ).fit(X, y, w)
    np.testing.assert_allclose(ours.coef_, coef.value, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, float(b.value), atol=1e-5)
    np.testing.assert_allclose(ours.certificate_.primal, objective.value, rtol=1e-6)


def test_smoothed_hinge_against_cvxpy():
    cp = pytest.importorskip("cvxpy")
    X, y, _ = labels()
    sign = np.where(y == 1, 1.0, -1.0)
    coef, b = cp.Variable(X.shape[1]), cp.Variable()
    missing = cp.pos(1.0 - cp.multiply(sign, X @ coef + b))
    # the smoothed hinge of width g is huber(missing, g) / (2 g), cvxpy's huber having no one half
    loss = cp.sum(cp.huber(missing, 0.5)) / 1.0
    objective = 0.5 * cp.sum_squares(coef) + 0.7 * loss
    cp.Problem(cp.Minimize(objective)).solve(solver="CLARABEL")
    ours = lm.LinearSVC(C=0.7, loss="smoothed_hinge", width=0.5, **TIGHT).fit(X, y)
    np.testing.assert_allclose(ours.coef_[0], coef.value, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_[0], float(b.value), atol=1e-4)


def test_generalized_pair_is_the_named_estimator():
    X, y, w = regression()
    named = lm.HuberRegressor(delta=0.8, alpha=0.1, l1_ratio=0.5, **TIGHT).fit(X, y, w)
    pair = lm.GeneralizedLinearRegressor(
        loss=zg.losses.Huber(0.8), regularizer=zg.ElasticNet(l2=0.05, l1=0.05), **TIGHT
    ).fit(X, y, w)
    np.testing.assert_array_equal(pair.coef_, named.coef_)


def test_group_lasso_silences_whole_groups():
    X, y, _ = regression()
    groups = np.array([0, 0, 1, 1, 2, 2])
    model = lm.GeneralizedLinearRegressor(
        loss="squared", regularizer=zg.GroupLasso(l2=1e-3, group=1.0, groups=groups), tol=1e-8
    ).fit(X, y)
    zero = model.coef_ == 0.0
    assert zero.any()
    for g in range(3):
        assert zero[groups == g].all() or not zero[groups == g].any()
