"""Support vector machines: classification and regression."""

from typing import Any

import numpy as np

from zerogap.linear_model._classifier import LinearClassifier
from zerogap.linear_model._docs import estimator
from zerogap.linear_model._inputs import one_of
from zerogap.linear_model._regressor import LinearRegressor
from zerogap.linear_model._search import PathSearch
from zerogap.linear_model._strength import CScale, PenaltyChoice
from zerogap.problem import losses


class Supported:
    """Estimators whose dual vanishes on most samples."""

    support_: Any

    def _keep(self, results: list[Any]) -> None:
        super()._keep(results)  # type: ignore[misc]
        duals = [result.dual[: result.problem.n_samples] for result in results]
        used = [np.flatnonzero(dual if dual.ndim == 1 else dual.any(axis=1)) for dual in duals]
        self.support_ = used[0] if len(used) == 1 else used


@estimator
class SVCFields(Supported, PenaltyChoice):
    """What the classifier and its path share."""

    loss: str = "squared_hinge"
    width: float = 1.0
    multi_class: str = "ovr"

    def _loss(self) -> Any:
        one_of("loss", self.loss, ("hinge", "squared_hinge", "smoothed_hinge"))
        one_of("multi_class", self.multi_class, ("ovr", "crammer_singer"))
        several = self.multi_class != "ovr" and len(self.classes_) > 2  # type: ignore[attr-defined]
        if several:
            return losses.CrammerSinger()
        if self.loss == "smoothed_hinge":
            return losses.SmoothedHinge(self.width)
        return losses.Hinge() if self.loss == "hinge" else losses.SquaredHinge()


@estimator
class LinearSVC(SVCFields, LinearClassifier):
    """Linear support vector classification.

    minimise over w, b    l1_ratio ||w||_1 + (1 - l1_ratio)/2 ||w||^2 + C sum_i s_i loss(y_i, w.x_i + b)

    with y_i = -1 or +1 and s_i the sample weight times the class weight. loss is max(0, 1 - y m) for
    "hinge", its square for "squared_hinge", and for "smoothed_hinge" the hinge with a parabola of width
    `width` at its kink. Divided by C sum_i s_i this is the mean form, in whose units the certificate is:
    l2 = (1 - l1_ratio) / (C n) and l1 = l1_ratio / (C n) without weights.

    With scikit-learn's LinearSVC it shares the objective, but not the penalty on the intercept.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses, > 0.
    loss : {"hinge", "squared_hinge", "smoothed_hinge"}, default="squared_hinge"
    width : float, default=1.0
        Width of the smoothed hinge.
    penalty : {"elasticnet", "l2", "l1", None}, default="elasticnet"
        "l2" and "l1" stand for l1_ratio 0 and 1, None for no penalty at all.
    l1_ratio : float, default=0.0
        Share of the l1 norm in the penalty: by default there is none.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        With more than two classes: each class against the rest, or one problem with the loss
        max_k (m_k + [k != y]) - m_y of all classes' margins.
    class_weight : dict or "balanced", default=None
        Weights of the classes; they multiply the sample weights.
    {common}

    Attributes
    ----------
    coef_ : array (1 or n_classes, n_features)
    intercept_ : array (1 or n_classes,)
    classes_ : array (n_classes,)
    support_ : array, or a list with one per class
        The samples with a dual value other than zero.
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from zerogap.linear_model import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> LinearSVC(loss="hinge", C=10.0).fit(X, y).predict(X[:3])
    array([0, 0, 0])
    """

    C: float = 1.0

    def _strength(self) -> Any:
        return self.C


@estimator
class SVRFields(Supported, CScale):
    """What the regressor and its path share."""

    epsilon: float = 0.0
    loss: str = "epsilon_insensitive"

    def _loss(self) -> Any:
        one_of("loss", self.loss, ("epsilon_insensitive", "squared_epsilon_insensitive"))
        if self.loss == "epsilon_insensitive":
            return losses.EpsilonInsensitive(self.epsilon)
        return losses.SquaredEpsilonInsensitive(self.epsilon)


@estimator
class LinearSVR(SVRFields, LinearRegressor):
    """Linear support vector regression.

    minimise over w, b    1/2 ||w||^2 + C sum_i s_i loss(w.x_i + b - y_i)

    with s_i the sample weight and loss(r) = max(0, |r| - epsilon) for "epsilon_insensitive", its square
    for "squared_epsilon_insensitive". Divided by C sum_i s_i this is the mean form, in whose units the
    certificate is: l2 = 1 / (C n) without weights.

    With scikit-learn's LinearSVR it shares the objective, but not the penalty on the intercept.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses, > 0.
    epsilon : float, default=0.0
        Residuals up to this size cost nothing.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
    {common}

    Attributes
    ----------
    coef_ : array (n_features,)
    intercept_ : float
    support_ : array
        The samples with a dual value other than zero.
    {fitted}

    Examples
    --------
    >>> import numpy as np
    >>> from zerogap.linear_model import LinearSVR
    >>> X = np.arange(6.0).reshape(-1, 1)
    >>> model = LinearSVR(C=100.0).fit(X, 2.0 * X[:, 0] + 1.0)
    >>> bool(abs(model.predict([[10.0]])[0] - 21.0) < 1e-3)
    True
    """

    C: float = 1.0

    def _strength(self) -> Any:
        return self.C


@estimator
class LinearSVCCV(PathSearch, SVCFields, LinearClassifier):
    """`LinearSVC` with its strength chosen by cross-validation.

    Folds run along warm-started paths, from the strongest penalty to the weakest; the chosen strength is
    then fitted to all samples. The objective is that of `LinearSVC`.

    Parameters
    ----------
    Cs : int or sequence, default=10
        Values of C to try, or how many between 1e-4 and 1e4, evenly on a log scale.
    loss : {"hinge", "squared_hinge", "smoothed_hinge"}, default="squared_hinge"
    width : float, default=1.0
        Width of the smoothed hinge.
    penalty : {"elasticnet", "l2", "l1", None}, default="elasticnet"
    l1_ratio : float or sequence of floats, default=0.0
        Share of the l1 norm in the penalty; of several, the best is chosen.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
    class_weight : dict or "balanced", default=None
        Weights of the classes; they multiply the sample weights.
    {search}
    {common}

    Attributes
    ----------
    C_ : float
    Cs_ : array
    {chosen}
    coef_ : array (1 or n_classes, n_features)
    intercept_ : array (1 or n_classes,)
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from zerogap.linear_model import LinearSVCCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVCCV(Cs=3).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    Cs: Any = 10


@estimator
class LinearSVRCV(PathSearch, SVRFields, LinearRegressor):
    """`LinearSVR` with its strength chosen by cross-validation.

    Folds run along warm-started paths, from the strongest penalty to the weakest; the chosen strength is
    then fitted to all samples. The objective is that of `LinearSVR`.

    Parameters
    ----------
    Cs : int or sequence, default=10
        Values of C to try, or how many between 1e-4 and 1e4, evenly on a log scale.
    epsilon : float, default=0.0
        Residuals up to this size cost nothing.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
    {search}
    {common}

    Attributes
    ----------
    C_ : float
    Cs_ : array
    {chosen}
    coef_ : array (n_features,)
    intercept_ : float
    {fitted}

    Examples
    --------
    >>> import numpy as np
    >>> from zerogap.linear_model import LinearSVRCV
    >>> X = np.random.default_rng(0).standard_normal((60, 4))
    >>> model = LinearSVRCV(Cs=3).fit(X, X[:, 0] - X[:, 1])
    >>> model.coef_.shape
    (4,)
    """

    Cs: Any = 10
