"""Any loss with any regulariser."""

from typing import Any

from zerogap.exceptions import ProblemError
from zerogap.linear_model._classifier import LinearClassifier
from zerogap.linear_model._docs import estimator
from zerogap.linear_model._regressor import LinearRegressor
from zerogap.linear_model._search import PathSearch
from zerogap.problem import loss_registry, regularizers


@estimator
class AnyPair:
    """What the classifier, the regressor and their paths share."""

    strength_name = "regularizer"
    _classification = False

    def _loss(self) -> Any:
        loss = loss_registry.resolve(self.loss)  # type: ignore[attr-defined]
        about = loss_registry.traits(loss)
        if about.classification is not self._classification:
            kind = "classification" if self._classification else "regression"
            raise ProblemError(f"loss: expected one for {kind}; got {about.name}")
        return loss

    def _regularizer(self, strength: Any, total: float) -> Any:
        return regularizers.L2(1e-4) if strength is None else strength


@estimator
class ClassificationPair(AnyPair):
    """Any loss for labels."""

    loss: Any = "hinge"

    _classification = True


@estimator
class RegressionPair(AnyPair):
    """Any loss for targets."""

    loss: Any = "absolute"


@estimator
class GeneralizedLinearClassifier(ClassificationPair, LinearClassifier):
    """Linear classification with any loss and any regulariser; one-versus-rest beyond two classes.

    minimise over w, b    f(w) + sum_i s_i loss(y_i, w.x_i + b) / sum_i s_i

    with y_i = -1 or +1, s_i the sample weight times the class weight, and f the regulariser.

    Parameters
    ----------
    loss : str or loss object, default="hinge"
        A classification loss of `zg.losses`, or one of your own.
    regularizer : `zg.L2`, `zg.ElasticNet` or `zg.GroupLasso`, default=None
        None is `zg.L2(1e-4)`.
    class_weight : dict or "balanced", default=None
        Weights of the classes; they multiply the sample weights.
    {common}

    Attributes
    ----------
    coef_ : array (1 or n_classes, n_features)
    intercept_ : array (1 or n_classes,)
    classes_ : array (n_classes,)
    {fitted}

    Examples
    --------
    >>> import zerogap as zg
    >>> from sklearn.datasets import load_iris
    >>> from zerogap.linear_model import GeneralizedLinearClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GeneralizedLinearClassifier(loss=zg.losses.SmoothedHinge(0.5), regularizer=zg.L2(0.01))
    >>> model.fit(X, y).predict(X[:2])
    array([0, 0])
    """

    regularizer: Any = None

    def _strength(self) -> Any:
        return self.regularizer


@estimator
class GeneralizedLinearRegressor(RegressionPair, LinearRegressor):
    """Linear regression with any loss and any regulariser.

    minimise over w, b    f(w) + sum_i s_i loss(w.x_i + b, y_i) / sum_i s_i

    with s_i the sample weight and f the regulariser.

    Parameters
    ----------
    loss : str or loss object, default="absolute"
        A regression loss of `zg.losses`, or one of your own.
    regularizer : `zg.L2`, `zg.ElasticNet` or `zg.GroupLasso`, default=None
        None is `zg.L2(1e-4)`.
    {common}

    Attributes
    ----------
    coef_ : array (n_features,)
    intercept_ : float
    {fitted}

    Examples
    --------
    >>> import numpy as np
    >>> import zerogap as zg
    >>> from zerogap.linear_model import GeneralizedLinearRegressor
    >>> X = np.arange(6.0).reshape(-1, 1)
    >>> model = GeneralizedLinearRegressor(loss=zg.losses.Pinball(0.9), regularizer=zg.L2(0.01))
    >>> model.fit(X, X[:, 0]).predict(X[:2]).shape
    (2,)
    """

    regularizer: Any = None

    def _strength(self) -> Any:
        return self.regularizer


@estimator
class GeneralizedLinearClassifierCV(PathSearch, ClassificationPair, LinearClassifier):
    """`GeneralizedLinearClassifier` with its strength chosen by cross-validation.

    Folds run along warm-started paths, from the strongest penalty to the weakest; the chosen strength is
    then fitted to all samples. The objective is that of `GeneralizedLinearClassifier`.

    Parameters
    ----------
    loss : str or loss object, default="hinge"
    regularizers : sequence of regularisers, default=None
        From the strongest to the weakest. None is `zg.L2(l2)` for l2 from 10 to 1e-6, a decade apart.
    class_weight : dict or "balanced", default=None
        Weights of the classes; they multiply the sample weights.
    {search}
    {common}

    Attributes
    ----------
    regularizer_ : the one chosen
    regularizers_ : list
    {chosen}
    coef_ : array (1 or n_classes, n_features)
    intercept_ : array (1 or n_classes,)
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from zerogap.linear_model import GeneralizedLinearClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GeneralizedLinearClassifierCV(loss="smoothed_hinge").fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    regularizers: Any = None


@estimator
class GeneralizedLinearRegressorCV(PathSearch, RegressionPair, LinearRegressor):
    """`GeneralizedLinearRegressor` with its strength chosen by cross-validation.

    Folds run along warm-started paths, from the strongest penalty to the weakest; the chosen strength is
    then fitted to all samples. The objective is that of `GeneralizedLinearRegressor`.

    Parameters
    ----------
    loss : str or loss object, default="absolute"
    regularizers : sequence of regularisers, default=None
        From the strongest to the weakest. None is `zg.L2(l2)` for l2 from 10 to 1e-6, a decade apart.
    {search}
    {common}

    Attributes
    ----------
    regularizer_ : the one chosen
    regularizers_ : list
    {chosen}
    coef_ : array (n_features,)
    intercept_ : float
    {fitted}

    Examples
    --------
    >>> import numpy as np
    >>> from zerogap.linear_model import GeneralizedLinearRegressorCV
    >>> X = np.random.default_rng(0).standard_normal((60, 4))
    >>> model = GeneralizedLinearRegressorCV(loss="huber").fit(X, X[:, 0] - X[:, 1])
    >>> model.coef_.shape
    (4,)
    """

    regularizers: Any = None
