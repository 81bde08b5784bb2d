"""Least squares with penalties, boxes and constraints."""

from typing import Any

from zerogap.linear_model._docs import estimator
from zerogap.linear_model._inputs import non_negative
from zerogap.linear_model._regressor import LinearRegressor
from zerogap.linear_model._search import PathSearch
from zerogap.linear_model._strength import AlphaScale
from zerogap.problem import losses, regularizers


@estimator
class ElasticNetFields(AlphaScale):
    """What the regressor and its path share."""

    l1_ratio: float = 0.5

    def _loss(self) -> Any:
        return losses.Squared()


@estimator
class ElasticNet(ElasticNetFields, LinearRegressor):
    """Least squares with an elastic net penalty.

    minimise over w, b    sum_i s_i (y_i - w.x_i - b)^2 / (2 sum_i s_i)
                          + alpha (l1_ratio ||w||_1 + (1 - l1_ratio)/2 ||w||^2)

    with s_i the sample weight: the objective of scikit-learn's ElasticNet. l1_ratio=1 is the lasso.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty, >= 0.
    l1_ratio : float, default=0.5
        Share of the l1 norm in the penalty.
    {common}

    Attributes
    ----------
    coef_ : array (n_features,)
    intercept_ : float
    {fitted}

    Examples
    --------
    >>> import numpy as np
    >>> from zerogap.linear_model import ElasticNet
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    >>> ElasticNet(alpha=0.1, tol=1e-9).fit(X, [0.0, 1.0, 2.0]).coef_.round(3)
    array([0.446, 0.446])
    """

    alpha: float = 1.0

    def _strength(self) -> Any:
        return self.alpha


@estimator
class RidgeFields:
    """What the regressor and its path share."""

    strength_name = "alpha"

    def _alpha_unit(self, total: float) -> float:
        return total

    def _loss(self) -> Any:
        return losses.Squared()

    def _regularizer(self, strength: Any, total: float) -> Any:
        return regularizers.L2(non_negative("alpha", strength) / total)


@estimator
class Ridge(RidgeFields, LinearRegressor):
    """Least squares with a squared l2 penalty.

    minimise over w, b    sum_i s_i (y_i - w.x_i - b)^2 + alpha ||w||^2

    with s_i the sample weight: the objective of scikit-learn's Ridge, a *sum* of squares. Divided by
    2 sum_i s_i this is the mean form, in whose units the certificate is: l2 = alpha / n without weights.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty, >= 0.
    {common}

    Attributes
    ----------
    coef_ : array (n_features,)
    intercept_ : float
    {fitted}

    Examples
    --------
    >>> import numpy as np
    >>> from zerogap.linear_model import Ridge
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> Ridge(positive=True).fit(X, [2.0, 1.0, 0.0]).coef_
    array([0.])
    """

    alpha: float = 1.0

    def _strength(self) -> Any:
        return self.alpha


@estimator
class ElasticNetCV(PathSearch, ElasticNetFields, LinearRegressor):
    """`ElasticNet` with its strength chosen by cross-validation.

    Folds run along warm-started paths, from the strongest penalty to the weakest; the chosen strength is
    then fitted to all samples. The objective is that of `ElasticNet`.

    Parameters
    ----------
    alphas : int or sequence, default=10
        Strengths to try, or how many: three decades
        below the one that keeps every coefficient at zero, or six decades without an l1 term.
    l1_ratio : float or sequence of floats, default=0.5
        Share of the l1 norm in the penalty; of several, the best is chosen.
    {search}
    {common}

    Attributes
    ----------
    alpha_ : float
    alphas_ : array
    {chosen}
    coef_ : array (n_features,)
    intercept_ : float
    {fitted}

    Examples
    --------
    >>> import numpy as np
    >>> from zerogap.linear_model import ElasticNetCV
    >>> X = np.random.default_rng(0).standard_normal((60, 4))
    >>> model = ElasticNetCV(alphas=3).fit(X, X[:, 0] - X[:, 1])
    >>> model.coef_.shape
    (4,)
    """

    alphas: Any = 10


@estimator
class RidgeCV(PathSearch, RidgeFields, LinearRegressor):
    """`Ridge` with its strength chosen by cross-validation.

    Folds run along warm-started paths, from the strongest penalty to the weakest; the chosen strength is
    then fitted to all samples. The objective is that of `Ridge`.

    Parameters
    ----------
    alphas : int or sequence, default=10
        Strengths to try, or how many: six decades.
    {search}
    {common}

    Attributes
    ----------
    alpha_ : float
    alphas_ : array
    {chosen}
    coef_ : array (n_features,)
    intercept_ : float
    {fitted}

    Examples
    --------
    >>> import numpy as np
    >>> from zerogap.linear_model import RidgeCV
    >>> X = np.random.default_rng(0).standard_normal((60, 4))
    >>> model = RidgeCV(alphas=3).fit(X, X[:, 0] - X[:, 1])
    >>> model.coef_.shape
    (4,)
    """

    alphas: Any = 10
