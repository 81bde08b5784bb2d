"""Every estimator against an interior-point method on the objective that its docstring states."""

import numpy as np
import pytest
from linear_model_data import labels, regression

import zerogap as zg
from zerogap import linear_model as lm

cp = pytest.importorskip("cvxpy")

TIGHT = {"tol": 1e-10}


def hinges(width):
    """The losses of labels y = -1, +1 as functions of what a margin lacks to one."""
    return {
        "hinge": cp.pos,
        "squared_hinge": lambda missing: cp.square(cp.pos(missing)),
        # cvxpy's huber has no one half
        "smoothed_hinge": lambda missing: cp.huber(cp.pos(missing), width) / (2.0 * width),
        "logistic": lambda missing: cp.logistic(missing - 1.0),
    }


def residual_losses(model):
    quantile, epsilon = getattr(model, "quantile", 0.5), getattr(model, "epsilon", 0.0)
    return {
        "pinball": lambda r: cp.maximum(quantile * r, (quantile - 1.0) * r),
        "absolute": cp.abs,
        "huber": lambda r: cp.huber(r, getattr(model, "delta", 1.0)) / 2.0,
        "squared": lambda r: cp.square(r) / 2.0,
        "epsilon_insensitive": lambda r: cp.pos(cp.abs(r) - epsilon),
        "squared_epsilon_insensitive": lambda r: cp.square(cp.pos(cp.abs(r) - epsilon)),
    }


def optimum(losses, penalty_of, total, X, weight, intercept):
    """Coefficients, intercept and value of  penalty + sum of weighted losses / total."""
    coef, b = cp.Variable(X.shape[1]), cp.Variable()
    value = weight @ losses(X @ coef + (b if intercept else 0.0)) / total + penalty_of(coef)
    cp.Problem(cp.Minimize(value)).solve(solver="CLARABEL")
    return coef.value, float(b.value) if intercept else 0.0, float(value.value)


def elastic_net(scale, ratio):
    return lambda w: scale * (ratio * cp.norm1(w) + 0.5 * (1.0 - ratio) * cp.sum_squares(w))


def assert_optimal(model, expected, in_mean_form, unique=True):
    coef, b, value = expected
    np.testing.assert_allclose(model.certificate_.primal, value / in_mean_form, rtol=1e-5)
    if unique:
        size = np.abs(coef).max()
        np.testing.assert_allclose(np.ravel(model.coef_), coef, rtol=0, atol=1e-4 * size)
        np.testing.assert_allclose(np.ravel(model.intercept_), b, rtol=0, atol=1e-4 * size)


REGRESSORS = [
    (lm.QuantileRegressor(quantile=0.3, alpha=0.05, l1_ratio=0.5), "pinball"),
    (lm.LADRegressor(alpha=0.05, l1_ratio=0.3), "absolute"),
    (lm.HuberRegressor(delta=0.8, alpha=0.05, l1_ratio=0.5), "huber"),
    (lm.ElasticNet(alpha=0.1, l1_ratio=0.6), "squared"),
    (lm.LinearSVR(C=0.3, epsilon=0.2), "epsilon_insensitive"),
    (lm.LinearSVR(C=0.3, epsilon=0.2, loss="squared_epsilon_insensitive"), "squared_epsilon_insensitive"),
    (lm.Ridge(alpha=3.0), "squared"),
]
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["without_intercept", "weighted"])


@WEIGHTED
@pytest.mark.parametrize(("model", "loss"), REGRESSORS, ids=lambda thing: str(thing)[:40])
def test_regressors(model, loss, weighted):
    X, y, w = regression(n=60)
    weight = w if weighted else np.ones(len(y))
    loss_of = residual_losses(model)[loss]
    if hasattr(model, "C"):  # a sum of losses beside 1/2 ||w||^2
        total, penalty, scale = 1.0 / model.C, elastic_net(1.0, 0.0), model.C * weight.sum()
    elif isinstance(model, lm.Ridge):  # a sum of squares beside alpha ||w||^2
        total, penalty, scale = 0.5, elastic_net(2.0 * model.alpha, 0.0), 2.0 * weight.sum()
    else:
        total, penalty, scale = weight.sum(), elastic_net(model.alpha, model.l1_ratio), 1.0
    expected = optimum(lambda m: loss_of(y - m), penalty, total, X, weight, weighted)
    model.set_params(fit_intercept=weighted, **TIGHT).fit(X, y, w if weighted else None)
    unique = weighted or loss != "pinball"
    assert_optimal(model, expected, scale, unique)


CLASSIFIERS = [
    (lm.LinearSVC(C=0.7, loss="hinge"), "hinge"),
    (lm.LinearSVC(C=0.7, loss="hinge", l1_ratio=0.4), "hinge"),
    (lm.LinearSVC(C=0.2, penalty="l1"), "squared_hinge"),
    (lm.LinearSVC(C=0.7, loss="smoothed_hinge", width=0.5, l1_ratio=0.4), "smoothed_hinge"),
    (lm.LogisticRegression(C=0.5, l1_ratio=0.5), "logistic"),
    (lm.LogisticRegression(C=0.5, penalty="l2", l1_ratio=0.9), "logistic"),
    (lm.LogisticRegression(penalty=None), "logistic"),
]


@WEIGHTED
@pytest.mark.parametrize(("model", "loss"), CLASSIFIERS, ids=lambda thing: str(thing)[:40])
def test_classifiers(model, loss, weighted):
    X, y, w = labels(n=200)
    class_weight = {0: 1.0, 1: 2.5} if weighted else None
    weight = w * np.where(y == 1, 2.5, 1.0) if weighted else np.ones(len(y))
    sign = np.where(y == 1, 1.0, -1.0)
    loss_of = hinges(model.width if hasattr(model, "width") else 1.0)[loss]
    ratio = {"l2": 0.0, "l1": 1.0}.get(model.penalty, model.l1_ratio)
    penalty = elastic_net(0.0 if model.penalty is None else 1.0, ratio)
    expected = optimum(
        lambda m: loss_of(1.0 - cp.multiply(sign, m)), penalty, 1.0 / model.C, X, weight, weighted
    )
    model.set_params(fit_intercept=weighted, class_weight=class_weight, **TIGHT)
    model.fit(X, y, w if weighted else None)
    assert_optimal(model, expected, model.C * weight.sum())


@pytest.mark.parametrize("loss", ["absolute", "huber", "squared"])
def test_group_penalties(loss):
    X, y, w = regression(n=60)
    groups = np.array([0, 0, 0, 1, 1, 2])
    model = lm.GeneralizedLinearRegressor(
        loss=loss, regularizer=zg.GroupLasso(l2=0.05, group=0.1, groups=groups), tol=1e-8, random_state=0
    )
    delta = zg.losses.Huber().delta
    loss_of = {
        "absolute": cp.abs,
        "huber": lambda r: cp.huber(r, delta) / 2.0,
        "squared": lambda r: r**2 / 2,
    }[loss]

    def penalty(coef):
        norms = [np.sqrt((groups == g).sum()) * cp.norm2(coef[np.flatnonzero(groups == g)]) for g in range(3)]
        return 0.1 * sum(norms) + 0.025 * cp.sum_squares(coef)

    expected = optimum(lambda m: loss_of(y - m), penalty, w.sum(), X, w, True)
    assert_optimal(model.fit(X, y, w), expected, 1.0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_generalized_classifier_with_one_penalty_per_feature(loss):
    X, y, w = labels(n=80)
    sign = np.where(y == 1, 1.0, -1.0)
    l2, l1 = np.linspace(0.01, 0.1, 5), np.linspace(0.05, 0.0, 5)
    regularizer = zg.ElasticNet(l2, l1, lower=-0.4, upper=[0.1, 1.0, 1.0, 0.5, np.inf], center=0.2)
    model = lm.GeneralizedLinearClassifier(loss=loss, regularizer=regularizer, **TIGHT).fit(X, y, w)
    coef, b = cp.Variable(5), cp.Variable()
    losses = hinges(1.0)[loss](1.0 - cp.multiply(sign, X @ coef + b))
    value = w @ losses / w.sum() + 0.5 * l2 @ cp.square(coef - 0.2) + l1 @ cp.abs(coef)
    box = [coef >= -0.4, coef[:4] <= np.array([0.1, 1.0, 1.0, 0.5])]
    cp.Problem(cp.Minimize(value), box).solve(solver="CLARABEL")
    assert_optimal(model, (coef.value, float(b.value), float(value.value)), 1.0)


SEARCHES = [
    (lm.ElasticNetCV(alphas=3, l1_ratio=[0.3, 0.8]), lm.ElasticNet),
    (lm.RidgeCV(alphas=3), lm.Ridge),
    (lm.LADRegressorCV(alphas=3), lm.LADRegressor),
    (lm.QuantileRegressorCV(quantile=0.3, alphas=3, l1_ratio=0.5), lm.QuantileRegressor),
    (lm.HuberRegressorCV(alphas=3, l1_ratio=0.5), lm.HuberRegressor),
    (lm.LinearSVRCV(Cs=[0.01, 1.0], epsilon=0.1), lm.LinearSVR),
    (lm.LinearSVCCV(Cs=[0.01, 1.0], loss="hinge"), lm.LinearSVC),
    (lm.LogisticRegressionCV(Cs=[0.01, 1.0], l1_ratio=0.5), lm.LogisticRegression),
]


@pytest.mark.parametrize(("search", "plain"), SEARCHES, ids=lambda thing: getattr(thing, "__name__", ""))
def test_searches_end_in_the_plain_estimator_at_the_chosen_strength(search, plain):
    X, y, w = (
        labels(n=80, classes=3) if issubclass(plain, lm.LinearSVC | lm.LogisticRegression) else regression()
    )
    search.set_params(cv=3, **TIGHT).fit(X, y, w)
    same = plain(
        **{name: value for name, value in search.get_params().items() if name in plain().get_params()}
    )
    name = search.strength_name
    same.set_params(**{name: getattr(search, f"{name}_")})
    if hasattr(search, "l1_ratio_"):
        same.set_params(l1_ratio=search.l1_ratio_)
    same.fit(X, y, w)
    size = np.abs(same.coef_).max()
    np.testing.assert_allclose(search.coef_, same.coef_, rtol=0, atol=1e-7 * size)
    np.testing.assert_allclose(search.intercept_, same.intercept_, rtol=0, atol=1e-7 * size)
