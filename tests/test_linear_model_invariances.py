"""What must not change an answer: shifts, scales, order, the coding of weights, seeds, threads."""

import numpy as np
import pytest
import scipy.sparse
from linear_model_data import labels, regression
from sklearn.base import clone

import zerogap as zg
from zerogap import linear_model as lm

TIGHT = {"tol": 1e-11}
REGRESSORS = [
    lm.ElasticNet(alpha=0.1, **TIGHT),
    lm.Ridge(**TIGHT),
    lm.HuberRegressor(alpha=0.05, **TIGHT),
    lm.LADRegressor(alpha=0.05, **TIGHT),
    lm.LADRegressor(alpha=0.05, l1_ratio=0.5, **TIGHT),
    lm.QuantileRegressor(quantile=0.3, alpha=0.05, l1_ratio=0.5, **TIGHT),
    lm.QuantileRegressor(quantile=0.3, alpha=0.05, **TIGHT),
    lm.LinearSVR(epsilon=0.2, **TIGHT),
    lm.LinearSVR(epsilon=0.2, loss="squared_epsilon_insensitive", **TIGHT),
]
CLASSIFIERS = [
    lm.LinearSVC(loss="hinge", **TIGHT),
    lm.LinearSVC(l1_ratio=0.3, **TIGHT),
    lm.LinearSVC(loss="smoothed_hinge", width=0.5, **TIGHT),
    lm.LogisticRegression(**TIGHT),
    lm.LogisticRegression(l1_ratio=0.5, **TIGHT),
]


def named(estimators):
    return pytest.mark.parametrize("model", estimators, ids=lambda model: repr(model)[:50])


def assert_same(model, coef, intercept, accuracy=1e-8):
    size = np.abs(coef).max() + np.abs(intercept).max()
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=accuracy * size)
    np.testing.assert_allclose(model.intercept_, intercept, rtol=0, atol=accuracy * size)


def fitted(model, X, y, weight=None):
    model.fit(X, y, weight)
    return model.coef_.copy(), np.copy(model.intercept_)


STORED = pytest.mark.parametrize("stored", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])


def sparse_enough(X):
    """X with a third of its entries zero."""
    return np.where(np.random.default_rng(2).random(X.shape) < 1 / 3, 0.0, X)


@named(REGRESSORS + CLASSIFIERS)
@STORED
def test_weight_two_is_a_row_twice_and_weight_zero_no_row(model, stored):
    X, y, w = labels(n=60) if model in CLASSIFIERS else regression(n=60)
    X = sparse_enough(X)
    coef, intercept = fitted(model, stored(X), y, w)
    model.fit(stored(np.repeat(X, w.astype(int), axis=0)), np.repeat(y, w.astype(int)))
    assert_same(model, coef, intercept)


@named(REGRESSORS + CLASSIFIERS)
@STORED
def test_order_of_rows(model, stored):
    X, y, w = labels(n=60) if model in CLASSIFIERS else regression(n=60)
    X = sparse_enough(X)
    coef, intercept = fitted(model, stored(X), y, w)
    order = np.random.default_rng(1).permutation(len(y))
    assert_same(model.fit(stored(X[order]), y[order], w[order]), coef, intercept)


@named(REGRESSORS)
@STORED
def test_targets_shifted_by_a_million(model, stored):
    X, y, _ = regression(n=60)
    X = stored(sparse_enough(X))
    coef, intercept = fitted(model, X, y)
    model.fit(X, y + 1e6)
    # the targets themselves lose 1e6 * 2^-53 to rounding
    size = np.abs(coef).max() + abs(intercept)
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-8 * size)
    np.testing.assert_allclose(model.intercept_ - 1e6, intercept, rtol=0, atol=1e-8 * size)


LOSSES = ["absolute", "squared", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"]
LABEL_LOSSES = ["hinge", "squared_hinge", "smoothed_hinge", "logistic", "crammer_singer", "multinomial"]


@pytest.mark.parametrize("loss", LOSSES + LABEL_LOSSES)
@pytest.mark.parametrize(("l1", "box"), [(0.0, np.inf), (0.02, np.inf), (0.01, 0.3)])
@STORED
def test_columns_scaled_with_their_penalties(loss, l1, box, stored):
    """x_j -> x_j / d_j when column j becomes d_j times as large and l2_j, l1_j and the box follow."""
    several = 3 if loss in ("crammer_singer", "multinomial") else 2
    X, y, _ = labels(n=60, t=6, classes=several) if loss in LABEL_LOSSES else regression(n=60)
    kind = lm.GeneralizedLinearClassifier if loss in LABEL_LOSSES else lm.GeneralizedLinearRegressor
    X, d = sparse_enough(X), np.logspace(-6, 6, X.shape[1])
    plain = kind(loss=loss, regularizer=zg.ElasticNet(0.05, l1, -box, box), tol=1e-13).fit(stored(X), y)
    regularizer = zg.ElasticNet(0.05 * d**2, l1 * d, -box / d, box / d)
    scaled = kind(loss=loss, regularizer=regularizer, tol=1e-13).fit(stored(X * d), y)
    size = np.abs(plain.coef_).max() + np.abs(plain.intercept_).max()
    np.testing.assert_allclose(scaled.coef_ * d, plain.coef_, rtol=0, atol=1e-8 * size)
    # hinges may leave the intercept an interval
    if loss not in ("hinge", "crammer_singer"):
        np.testing.assert_allclose(scaled.intercept_, plain.intercept_, rtol=0, atol=1e-8 * size)


@pytest.mark.parametrize("algorithm", ["ardca-restart", "sdca", "newton"])
def test_same_seed_same_bits(algorithm):
    X, y, _ = regression(n=40)
    fits = [
        lm.LADRegressor(alpha=0.1, algorithm=algorithm, random_state=7, tol=1e-4).fit(X, y) for _ in range(2)
    ]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    np.testing.assert_array_equal(fits[0].dual_coef_, fits[1].dual_coef_)


SEVERAL = [
    (lm.LinearSVC(loss="hinge"), 4),
    (lm.LogisticRegression(multi_class="ovr"), 4),
    (lm.ElasticNetCV(cv=3, alphas=4), 0),
    (lm.QuantileRegressorCV(cv=3, alphas=3), 0),
    (lm.LinearSVRCV(cv=3, Cs=3), 0),
    (lm.LogisticRegressionCV(cv=3, Cs=3), 3),
]


@pytest.mark.parametrize(("model", "classes"), SEVERAL, ids=lambda thing: repr(thing)[:30])
def test_one_thread_and_two_give_the_same(model, classes):
    X, y, _ = labels(classes=classes) if classes else regression()
    one, two = (clone(model).set_params(n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)
    if hasattr(one, "scores_"):
        np.testing.assert_array_equal(one.scores_, two.scores_)


@named([REGRESSORS[3], CLASSIFIERS[3]])
def test_sparse_float32_and_fortran_order(model):
    X, y, _ = labels(n=60) if model in CLASSIFIERS else regression(n=60)
    X = X.astype(np.float32)
    coef, intercept = fitted(model, X.astype(np.float64), y)
    for same in (X, np.asfortranarray(X), scipy.sparse.csr_array(X), scipy.sparse.csc_matrix(X)):
        assert_same(model.fit(same, y), coef, intercept, 1e-7)
