"""Published answers. The files stay where ZEROGAP_DATA says; without it these tests are skipped."""

import os
from pathlib import Path

import numpy as np
import pytest
import sklearn.linear_model

from zerogap.linear_model import ElasticNet, LADRegressor, QuantileRegressor, Ridge

FOLDER = os.environ.get("ZEROGAP_DATA")
pytestmark = pytest.mark.skipif(not FOLDER, reason="ZEROGAP_DATA names no folder of data files")


def load(name):
    with np.load(Path(FOLDER) / f"{name}.npz") as archive:
        return archive["X"].astype(float), archive["y"].astype(float)


def test_engel_food_expenditure():
    """quantreg's vignette: rq(foodexp ~ income, tau = .5) gives 81.48225 and 0.56018."""
    model = QuantileRegressor(alpha=0.0, tol=1e-9).fit(*load("engel"))
    assert abs(model.intercept_ - 81.48225) < 2e-4
    assert abs(model.coef_[0] - 0.56018) < 1e-5
    assert model.certificate_.within(1e-9)


def test_stackloss_least_absolute_deviations():
    """Bloomfield and Steiger: -39.690, 0.8319, 0.5739, -0.0609."""
    model = LADRegressor(alpha=0.0, tol=1e-9).fit(*load("stackloss"))
    assert abs(model.intercept_ + 39.690) < 5e-4
    np.testing.assert_allclose(model.coef_, [0.8319, 0.5739, -0.0609], atol=5e-5)
    assert model.certificate_.within(1e-9)


def test_diabetes_lasso_and_ridge():
    X, y = load("diabetes_lars")
    X = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=0)
    for alpha in (2.0, 0.3, 0.02):
        peer = sklearn.linear_model.Lasso(alpha=alpha, tol=1e-13, max_iter=10**6).fit(X, y)
        ours = ElasticNet(alpha=alpha, l1_ratio=1.0, tol=1e-11).fit(X, y)
        np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4 * np.abs(peer.coef_).max())
        np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-8)
    # least squares: the textbook's full model (Efron et al. 2004, Table 1 and Figure 1)
    full = Ridge(alpha=1e-9, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(
        full.coef_, [-10.0, -239.8, 519.8, 324.4, -792.2, 476.7, 101.0, 177.1, 751.3, 67.6], atol=0.06
    )
