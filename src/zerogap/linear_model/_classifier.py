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
        weight = checked_weight(sample_weight, X.shape[0])
        present = codes if weight is None else codes[weight > 0]
        if (present == present[0]).all():
            only = self.classes_[present[0]]
            raise DataError(f"y: expected samples of at least two classes; got one class ({only!r})")
        return X, codes, self._with_class_weight(y, codes, weight)

    def _with_class_weight(self, y: Array, codes: Array, weight: Array | None) -> Array | None:
        if self.class_weight is None:
            return weight
        per_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        return per_class[codes] * (1.0 if weight is None else weight)

    def _targets(self, codes: Array, weight: Array | None) -> Sequence[Array]:
        """Labels -1 and +1: of the second class against the first, or of each class against the rest."""
        count = self.classes_.size
        positive = [1] if count == 2 else range(count)
        return [np.where(codes == k, 1.0, -1.0) for k in positive]

    def _keep(self, results: list[Any]) -> None:
        super()._keep(results)
        self.coef_ = np.array([result.x for result in results])
        self.intercept_ = np.array([result.intercept for result in results])

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
