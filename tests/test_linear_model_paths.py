"""Paths of strengths, and the estimators that choose one by cross-validation."""

import numpy as np
import pytest
import sklearn.linear_model
from linear_model_data import labels, regression
from sklearn.model_selection import KFold

import zerogap as zg
from zerogap import linear_model as lm


def test_path_is_lasso_path():
    X, y, _ = regression()
    X, y = X - X.mean(axis=0), y - y.mean()
    alphas, coefs, gaps = sklearn.linear_model.lasso_path(X, y, alphas=6, eps=1e-2, tol=1e-13)
    path = lm.regularization_path(lm.ElasticNet(l1_ratio=1.0, tol=1e-11), X, y, strengths=alphas)
    np.testing.assert_allclose(path.strengths, alphas)
    np.testing.assert_allclose(path.coefs, coefs, atol=1e-5)
    assert path.dual_gaps.shape == gaps.shape
    assert (np.abs(path.coefs[:, 0]) < 1e-6).all()  # the first alpha silences everything


def test_default_grid_starts_where_everything_is_silent():
    X, y, w = regression()
    for model in (lm.ElasticNet(l1_ratio=0.7), lm.QuantileRegressor(quantile=0.5)):
        path = lm.regularization_path(model, X, y, strengths=4, sample_weight=w)
        assert np.count_nonzero(np.abs(path.coefs[:, 0]) > 1e-6) <= 1
        assert np.count_nonzero(path.coefs[:, -1]) >= 3
        assert all(result.certificate.within(1e-6) for result in path.results)


def test_path_of_a_classifier_has_a_block_per_class():
    X, y, _ = labels(classes=3)
    path = lm.regularization_path(lm.LinearSVC(), X, y, strengths=[0.01, 1.0])
    assert path.coefs.shape == (3, X.shape[1], 2)
    X, y, _ = labels()
    path = lm.regularization_path(lm.LogisticRegression(), X, y, strengths=[0.01, 1.0])
    assert path.coefs.shape == (X.shape[1], 2)
    assert path.intercepts.shape == (2,)


def test_warm_started_duals_save_passes():
    X, y, _ = regression(n=200)
    model = lm.LADRegressor(algorithm="ardca-restart", random_state=0, tol=1e-5)
    grid = np.geomspace(1.0, 0.5, 6)
    warm = sum(result.passes for result in lm.regularization_path(model, X, y, strengths=grid).results)
    cold = sum(model.set_params(alpha=alpha).fit(X, y).n_iter_ for alpha in grid)
    assert warm < cold


def test_elastic_net_cv_chooses_what_scikit_learn_chooses():
    X, y, _ = regression(n=120, t=10, noise=2.0)
    grid = np.geomspace(1.0, 1e-3, 12)
    ours = lm.ElasticNetCV(alphas=grid, l1_ratio=[0.2, 0.9], cv=4, tol=1e-9).fit(X, y)
    peer = sklearn.linear_model.ElasticNetCV(alphas=grid, l1_ratio=[0.2, 0.9], cv=4, tol=1e-9).fit(X, y)
    assert ours.alpha_ == peer.alpha_
    assert ours.l1_ratio_ == peer.l1_ratio_
    np.testing.assert_allclose(-2.0 * ours.scores_, peer.mse_path_, rtol=1e-5)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)


def test_logistic_cv_chooses_what_scikit_learn_chooses():
    X, y, _ = labels(n=150)
    grid = [0.001, 0.1, 10.0]
    ours = lm.LogisticRegressionCV(Cs=grid, cv=3, scoring="neg_log_loss").fit(X, y)
    peer = sklearn.linear_model.LogisticRegressionCV(
        Cs=grid, l1_ratios=(0.0,), cv=3, scoring="neg_log_loss", tol=1e-8, use_legacy_attributes=False
    ).fit(X, y)
    assert ours.C_ == peer.C_
    np.testing.assert_allclose(ours.scores_.T, np.squeeze(peer.scores_), rtol=1e-4)


def test_quantile_cv_scores_by_its_own_loss():
    X, y, w = regression(n=90)
    splits = list(KFold(3).split(X))
    model = lm.QuantileRegressorCV(quantile=0.8, alphas=[0.5, 0.05], cv=splits, tol=1e-8).fit(X, y, w)
    train, test = splits[1]
    alone = lm.QuantileRegressor(quantile=0.8, alpha=0.05, tol=1e-8).fit(X[train], y[train], w[train])
    loss = sklearn.metrics.mean_pinball_loss(
        y[test], alone.predict(X[test]), alpha=0.8, sample_weight=w[test]
    )
    np.testing.assert_allclose(model.scores_[1, 1], -loss, rtol=1e-5)


def test_one_standard_error_is_never_weaker():
    X, y, _ = regression(n=60, t=10, noise=3.0)
    best = lm.ElasticNetCV(alphas=12).fit(X, y)
    cautious = lm.ElasticNetCV(alphas=12, selection="one_standard_error").fit(X, y)
    assert cautious.alpha_ > best.alpha_
    mean = best.scores_.mean(axis=1)
    error = best.scores_[mean.argmax()].std(ddof=1) / np.sqrt(5)
    chosen = np.flatnonzero(cautious.alphas_ == cautious.alpha_)[0]
    assert mean[chosen] >= mean.max() - error > mean[:chosen].max(initial=-np.inf)


def test_generalized_cv_chooses_among_regularizers():
    X, y, _ = regression()
    candidates = [zg.L2(100.0), zg.GroupLasso(1e-3, 0.01, [0, 0, 1, 1, 2, 2]), zg.L2(1e-3)]
    model = lm.GeneralizedLinearRegressorCV(loss="huber", regularizers=candidates, cv=3).fit(X, y)
    assert model.regularizer_ in candidates[1:]
    assert model.scores_.shape == (3, 3)


@pytest.mark.parametrize("kind", [lm.RidgeCV, lm.LinearSVRCV, lm.HuberRegressorCV, lm.LADRegressorCV])
def test_every_search_fits_and_certifies(kind):
    X, y, _ = regression(n=50)
    model = kind(cv=2, **({"Cs": 3} if kind is lm.LinearSVRCV else {"alphas": 3})).fit(X, y)
    assert model.certificate_.within(1e-6)
    assert model.scores_.shape == (3, 2)
    assert model.predict(X).shape == y.shape
