"""Linear regression estimators: fit and predict."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from zerogap.linear_model._base import LinearEstimator
from zerogap.linear_model._docs import estimator
from zerogap.linear_model._inputs import checked_weight, new_data, on_intercept, training_data
from zerogap.linear_model._protocol import FitTask, with_callbacks

Array = np.ndarray


@estimator
class LinearRegressor(RegressorMixin, LinearEstimator):
    """Base of the regressors."""

    _shift = 0.0

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or data frame (n_samples, n_features)
        y : (n_samples,) targets.
        sample_weight : (n_samples,) weights >= 0: weight 2 is a row twice, weight 0 no row.
        """
        X, y, weight = self._prepare(X, y, sample_weight)
        task = FitTask(self, X, y, sample_weight)
        self._fit(X, y, weight, task)
        task.end()
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
        X, y = training_data(self, X, y, y_numeric=True)
        return X, y, checked_weight(sample_weight, X.shape[0])

    def _targets(self, y: Array, weight: Array | None) -> Sequence[Array]:
        """y around its mean, when an intercept can take the mean back: a shift of y costs no digits."""
        free = self.fit_intercept and not on_intercept(self)
        self._shift = float(np.average(y, weights=weight)) if free else 0.0
        return [y - self._shift]

    def _keep(self, results: list[Any]) -> None:
        super()._keep(results)
        self.coef_ = results[0].x
        self.intercept_ = results[0].intercept + self._shift

    def predict(self, X: Any) -> Array:
        """The fitted values X @ coef_ + intercept_."""
        check_is_fitted(self)
        X = new_data(self, X)
        return safe_sparse_dot(X, self.coef_) + self.intercept_
