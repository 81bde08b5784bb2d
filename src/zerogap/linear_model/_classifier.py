"""Linear classification estimators: fit, decision function and labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from zerogap.exceptions import DataError
from zerogap.linear_model._base import LinearEstimator
from zerogap.linear_model._docs import estimator
from zerogap.linear_model._inputs import checked_weight, new_data, training_data
from zerogap.linear_model._protocol import FitTask, with_callbacks
from zerogap.problem import loss_registry

Array = np.ndarray


@estimator
class LinearClassifier(ClassifierMixin, LinearEstimator):
    """Base of the classifiers."""

    class_weight: Any = None

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or data frame (n_samples, n_features)
        y : (n_samples,) labels of two or more classes, of any type.
        sample_weight : (n_samples,) weights >= 0: weight 2 is a row twice, weight 0 no row.
        """
        X, codes, weight = self._prepare(X, y, sample_weight)
        task = FitTask(self, X, self.classes_[codes], sample_weight)
        self._fit(X, codes, weight, task)
        task.end()
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
        X, y = training_data(self, X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weight = self._with_class_weight(codes, checked_weight(sample_weight, X.shape[0]))
        if weight is not None:  # a class without weight is no class, as if its rows were absent
            kept = np.bincount(codes, weight, self.classes_.size) > 0
            codes, self.classes_ = np.maximum(np.cumsum(kept)[codes] - 1, 0), self.classes_[kept]
        if self.classes_.size < 2:
            seen = ", ".join(map(repr, self.classes_))
            raise DataError(f"y: expected samples of at least two classes; got one class ({seen})")
        return X, codes, weight

    def _with_class_weight(self, codes: Array, weight: Array | None) -> Array | None:
        """Sample weights times class weights; "balanced" gives every class the same total."""
        if self.class_weight is None:
            return weight
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            totals = np.bincount(codes, weight).astype(np.float64)
            share = totals.sum() / np.count_nonzero(totals)
            per_class = np.divide(share, totals, out=np.zeros_like(totals), where=totals > 0)
        else:
            labels = self.classes_[codes]
            per_class = compute_class_weight(self.class_weight, classes=self.classes_, y=labels)
        return per_class[codes] * (1.0 if weight is None else weight)

    def _blocks(self) -> bool:
        """Is there one problem over all classes at once?"""
        return loss_registry.traits(self._loss()).outputs

    def _targets(self, codes: Array, weight: Array | None) -> Sequence[Array]:
        """Labels -1 and +1: of the second class against the first, or of each class against the rest.

        Losses over all classes take their numbers.
        """
        if self._blocks():
            return [codes]
        count = self.classes_.size
        positive = [1] if count == 2 else range(count)
        return [np.where(codes == k, 1.0, -1.0) for k in positive]

    def _keep(self, results: list[Any]) -> None:
        super()._keep(results)
        if not self._blocks():
            self.coef_ = np.array([result.x for result in results])
            self.intercept_ = np.array([result.intercept for result in results])
            return
        result = results[0]
        if self.classes_.size == 2:  # margins of the second class against the first
            self.coef_ = result.x[:, 1:].T - result.x[:, :1].T
            self.intercept_ = result.intercept[1:] - result.intercept[:1]
            return
        # a class that these samples lack is never predicted
        self.coef_ = np.zeros((self.classes_.size, self.n_features_in_))
        self.intercept_ = np.full(self.classes_.size, -np.inf)
        self.coef_[result.problem.classes] = result.x.T
        self.intercept_[result.problem.classes] = result.intercept

    def decision_function(self, X: Any) -> Array:
        """Signed margins X @ coef_.T + intercept_, one column per class when there are more than two."""
        check_is_fitted(self)
        X = new_data(self, X)
        scores = safe_sparse_dot(X, self.coef_.T) + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> Array:
        """The class with the largest margin."""
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]
