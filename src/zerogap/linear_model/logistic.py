"""Logistic regression."""

from typing import Any

import numpy as np
from scipy.special import expit, softmax

from zerogap.linear_model._classifier import LinearClassifier
from zerogap.linear_model._docs import estimator
from zerogap.linear_model._inputs import one_of
from zerogap.linear_model._search import PathSearch
from zerogap.linear_model._strength import PenaltyChoice
from zerogap.problem import losses

Array = np.ndarray


@estimator
class LogisticFields(PenaltyChoice):
    """What the classifier and its path share."""

    multi_class: str = "multinomial"

    def _loss(self) -> Any:
        one_of("multi_class", self.multi_class, ("multinomial", "ovr"))
        several = self.multi_class != "ovr" and len(self.classes_) > 2  # type: ignore[attr-defined]
        return losses.Multinomial() if several else losses.Logistic()

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, one column each."""
        scores = self.decision_function(X)  # type: ignore[attr-defined]
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        if self.multi_class == "multinomial":
            return softmax(scores, axis=1)
        shares = expit(scores)
        total = shares.sum(axis=1, keepdims=True)
        return np.divide(shares, total, out=np.full_like(shares, 1.0 / scores.shape[1]), where=total > 0)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


@estimator
class LogisticRegression(LogisticFields, LinearClassifier):
    """Logistic regression, multinomial or one-versus-rest.

    minimise over w, b    l1_ratio ||w||_1 + (1 - l1_ratio)/2 ||w||^2 + C sum_i s_i loss(y_i, w.x_i + b)

    with s_i the sample weight times the class weight. With two classes, or one-versus-rest, y_i is -1 or +1
    and loss is log(1 + exp(-y m)); multinomial, w and b have a row per class and loss is
    log(sum_k exp(m_k)) - m_y. Divided by C sum_i s_i this is the mean form, in whose units the certificate
    is: l2 = (1 - l1_ratio) / (C n) and l1 = l1_ratio / (C n) without weights. The objective is that of
    scikit-learn's LogisticRegression.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses, > 0.
    penalty : {"elasticnet", "l2", "l1", None}, default="elasticnet"
        "l2" and "l1" stand for l1_ratio 0 and 1, None for no penalty at all.
    l1_ratio : float, default=0.0
        Share of the l1 norm in the penalty: by default there is none.
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        With more than two classes: one problem over all of them, or each class against the rest.
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
    >>> from sklearn.datasets import load_iris
    >>> from zerogap.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> LogisticRegression(tol=1e-8).fit(X, y).predict_proba(X[:1]).round(2)
    array([[0.98, 0.02, 0.  ]])
    """

    C: float = 1.0

    def _strength(self) -> Any:
        return self.C


@estimator
class LogisticRegressionCV(PathSearch, LogisticFields, LinearClassifier):
    """`LogisticRegression` with its strength chosen by cross-validation.

    Folds run along warm-started paths, from the strongest penalty to the weakest; the chosen strength is
    then fitted to all samples. The objective is that of `LogisticRegression`.

    Parameters
    ----------
    Cs : int or sequence, default=10
        Values of C to try, or how many between 1e-4 and 1e4, evenly on a log scale.
    penalty : {"elasticnet", "l2", "l1", None}, default="elasticnet"
    l1_ratio : float or sequence of floats, default=0.0
        Share of the l1 norm in the penalty; of several, the best is chosen.
    multi_class : {"multinomial", "ovr"}, default="multinomial"
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
    >>> from zerogap.linear_model import LogisticRegressionCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegressionCV(Cs=3).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    Cs: Any = 10
