"""Robust regression: quantiles, least absolute deviations, Huber."""

from typing import Any

from zerogap.linear_model._docs import estimator
from zerogap.linear_model._quantiles import SeveralQuantiles
from zerogap.linear_model._regressor import LinearRegressor
from zerogap.linear_model._search import PathSearch
from zerogap.linear_model._strength import AlphaScale
from zerogap.problem import losses


@estimator
class QuantileFields(AlphaScale):
    """What the regressor and its path share."""

    quantile: Any = 0.5
    l1_ratio: float = 1.0

    def _loss(self) -> Any:
        return losses.Pinball(self.quantile)


@estimator
class QuantileRegressor(QuantileFields, SeveralQuantiles):
    """Linear regression of a conditional quantile, or of several that do not cross.

    minimise over w, b    sum_i s_i pinball(y_i - w.x_i - b) / sum_i s_i
                          + alpha (l1_ratio ||w||_1 + (1 - l1_ratio)/2 ||w||^2)

    with s_i the sample weight and pinball(r) = max(quantile r, (quantile - 1) r). With the default
    l1_ratio this is the objective of scikit-learn's QuantileRegressor; alpha=0 is plain quantile regression.

    With several levels and non_crossing, one problem has all of them: the mean of these objectives, subject
    to  w_k.x + b_k <= w_k+1.x + b_k+1  at every row x of X and of X_grid.

    Parameters
    ----------
    quantile : float, or a rising sequence of floats, default=0.5
        Between 0 and 1, strictly. For a sequence, `predict` gives a column for each level.
    alpha : float, default=1.0
        Strength of the penalty, >= 0.
    l1_ratio : float, default=1.0
        Share of the l1 norm in the penalty.
    non_crossing : bool, default=False
        Fit several levels together, so that predictions rise with the level at every row of X (and X_grid).
        Constraints then hold for every level, and may not involve the intercept.
    X_grid : array, sparse matrix or data frame (n_points, n_features), default=None
        Further points where predictions must not cross.
    {common}

    Attributes
    ----------
    coef_ : array (n_features,), or (n_levels, n_features)
    intercept_ : float, or array (n_levels,)
    {fitted}

    With non_crossing there is one certificate, status and history, of the joint objective (a mean over the
    levels), and `multipliers_` has a list of arrays for each level.

    Examples
    --------
    >>> import numpy as np
    >>> from zerogap.linear_model import QuantileRegressor
    >>> y = np.arange(11.0)
    >>> model = QuantileRegressor(quantile=0.75, alpha=0.01, l1_ratio=0.0).fit(np.zeros((11, 1)), y)
    >>> round(float(model.intercept_), 3)
    8.0
    >>> X = np.linspace(0.0, 1.0, 50).reshape(-1, 1)
    >>> model = QuantileRegressor(quantile=[0.1, 0.5, 0.9], non_crossing=True, alpha=1e-3)
    >>> model.fit(X, np.sin(20.0 * X[:, 0])).predict(X).shape
    (50, 3)
    """

    alpha: float = 1.0
    non_crossing: bool = False
    X_grid: Any = None

    def _strength(self) -> Any:
        return self.alpha


@estimator
class LADFields(AlphaScale):
    """What the regressor and its path share."""

    def _loss(self) -> Any:
        return losses.Absolute()


@estimator
class LADRegressor(LADFields, LinearRegressor):
    """Linear regression by least absolute deviations.

    minimise over w, b    sum_i s_i |y_i - w.x_i - b| / sum_i s_i
                          + alpha (l1_ratio ||w||_1 + (1 - l1_ratio)/2 ||w||^2)

    with s_i the sample weight. alpha=0 is plain LAD.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the penalty, >= 0.
    l1_ratio : float, default=0.0
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
    >>> from zerogap.linear_model import LADRegressor
    >>> X = np.arange(6.0).reshape(-1, 1)
    >>> y = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 500.0])
    >>> model = LADRegressor(alpha=1e-6).fit(X, y)
    >>> bool(abs(model.coef_[0] - 1.0) < 1e-4)
    True
    """

    alpha: float = 1e-4

    def _strength(self) -> Any:
        return self.alpha


@estimator
class HuberFields(AlphaScale):
    """What the regressor and its path share."""

    delta: float = 1.35

    def _loss(self) -> Any:
        return losses.Huber(self.delta)


@estimator
class HuberRegressor(HuberFields, LinearRegressor):
    """Linear regression with the Huber loss at a fixed threshold.

    minimise over w, b    sum_i s_i huber(y_i - w.x_i - b) / sum_i s_i
                          + alpha (l1_ratio ||w||_1 + (1 - l1_ratio)/2 ||w||^2)

    with s_i the sample weight and huber(r) = r^2/2 if |r| <= delta, else delta (|r| - delta/2).
    scikit-learn's HuberRegressor estimates a scale sigma of y as well; at a given scale its minimiser in w
    and b is the one here for delta = epsilon sigma and alpha = its alpha sigma / n.

    Parameters
    ----------
    delta : float, default=1.35
        Where squares turn into absolute values, in units of y.
    alpha : float, default=1e-4
        Strength of the penalty, >= 0.
    l1_ratio : float, default=0.0
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
    >>> from zerogap.linear_model import HuberRegressor
    >>> X = np.arange(6.0).reshape(-1, 1)
    >>> y = np.array([0.0, 3.0, 6.0, 9.0, 12.0, 500.0])
    >>> model = HuberRegressor(delta=0.1, alpha=1e-6).fit(X, y)
    >>> bool(abs(model.coef_[0] - 3.0) < 0.2)
    True
    """

    alpha: float = 1e-4

    def _strength(self) -> Any:
        return self.alpha


@estimator
class QuantileRegressorCV(PathSearch, QuantileFields, LinearRegressor):
    """`QuantileRegressor` with its strength chosen by cross-validation.

    Folds run along warm-started paths, from the strongest penalty to the weakest; the chosen strength is
    then fitted to all samples. The objective is that of `QuantileRegressor`.

    Parameters
    ----------
    quantile : float, default=0.5
    alphas : int or sequence, default=10
        Strengths to try, or how many: three decades
        below the one that keeps every coefficient at zero, or six decades without an l1 term.
    l1_ratio : float or sequence of floats, default=1.0
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
    >>> from zerogap.linear_model import QuantileRegressorCV
    >>> X = np.random.default_rng(0).standard_normal((60, 4))
    >>> model = QuantileRegressorCV(alphas=3, l1_ratio=0.5).fit(X, X[:, 0] - X[:, 1])
    >>> model.coef_.shape
    (4,)
    """

    alphas: Any = 10


@estimator
class LADRegressorCV(PathSearch, LADFields, LinearRegressor):
    """`LADRegressor` with its strength chosen by cross-validation.

    Folds run along warm-started paths, from the strongest penalty to the weakest; the chosen strength is
    then fitted to all samples. The objective is that of `LADRegressor`.

    Parameters
    ----------
    alphas : int or sequence, default=10
        Strengths to try, or how many: three decades
        below the one that keeps every coefficient at zero, or six decades without an l1 term.
    l1_ratio : float or sequence of floats, default=0.0
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
    >>> from zerogap.linear_model import LADRegressorCV
    >>> X = np.random.default_rng(0).standard_normal((60, 4))
    >>> model = LADRegressorCV(alphas=3).fit(X, X[:, 0] - X[:, 1])
    >>> model.coef_.shape
    (4,)
    """

    alphas: Any = 10


@estimator
class HuberRegressorCV(PathSearch, HuberFields, LinearRegressor):
    """`HuberRegressor` with its strength chosen by cross-validation.

    Folds run along warm-started paths, from the strongest penalty to the weakest; the chosen strength is
    then fitted to all samples. The objective is that of `HuberRegressor`.

    Parameters
    ----------
    delta : float, default=1.35
        Where squares turn into absolute values, in units of y.
    alphas : int or sequence, default=10
        Strengths to try, or how many: three decades
        below the one that keeps every coefficient at zero, or six decades without an l1 term.
    l1_ratio : float or sequence of floats, default=0.0
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
    >>> from zerogap.linear_model import HuberRegressorCV
    >>> X = np.random.default_rng(0).standard_normal((60, 4))
    >>> model = HuberRegressorCV(alphas=3).fit(X, X[:, 0] - X[:, 1])
    >>> model.coef_.shape
    (4,)
    """

    alphas: Any = 10
