"""Several quantiles in one estimator: each by itself, or all together without crossings."""

import copy
import math
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import d2_pinball_score
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from zerogap.exceptions import SettingsError
from zerogap.linear_model._describe import boxes_of
from zerogap.linear_model._inputs import boxed, new_data, total_weight
from zerogap.linear_model._protocol import FitTask
from zerogap.linear_model._regressor import LinearRegressor
from zerogap.problem.joint_quantiles import JointQuantiles, checked_levels
from zerogap.solver.driver import complaint
from zerogap.solver.joint_quantiles import JointResult, solve_joint
from zerogap.solver.settings import Auto, Newton, resolve

Array = np.ndarray


class SeveralQuantiles(LinearRegressor):
    """What a regressor does when `quantile` is a sequence."""

    quantile: Any
    non_crossing: Any
    X_grid: Any
    _joint_start: Any

    def _several(self) -> bool:
        return np.ndim(self.quantile) > 0

    def _labels(self) -> tuple[str, Any]:
        return "quantile", np.asarray(self.quantile, dtype=np.float64)

    def _fit(self, X: Any, y: Array, weight: Array | None, task: FitTask) -> None:
        if not self._several():
            if self.non_crossing or self.X_grid is not None:
                raise SettingsError(
                    "non_crossing, X_grid: expected with several levels, such as quantile=[0.1, 0.5, 0.9]; "
                    f"got quantile={self.quantile!r}"
                )
            super()._fit(X, y, weight, task)
        elif self.non_crossing:
            self._fit_jointly(X, y, weight, task)
        elif self.X_grid is not None:
            raise SettingsError("X_grid: expected with non_crossing=True, as points where nothing may cross")
        else:
            self._fit_each(X, y, weight, task)

    def _fit_each(self, X: Any, y: Array, weight: Array | None, task: FitTask) -> None:
        targets, results = self._targets(y, weight), []
        starts = self._starts(len(checked_levels(self.quantile)))
        for level, start in zip(checked_levels(self.quantile), starts, strict=True):
            one = copy.copy(self)
            one.quantile = float(level)
            one._duals = [] if start is None else [start]
            results += [path[-1] for path in one._paths(X, targets, weight, [self._strength()], task)]
        self._keep(results)
        self.coef_ = np.array([result.x for result in results])
        self.intercept_ = np.array([result.intercept for result in results]) + self._shift

    def _fit_jointly(self, X: Any, y: Array, weight: Array | None, task: FitTask) -> None:
        chosen = resolve(self.algorithm)[1]
        if not isinstance(chosen, (Auto, Newton)):
            raise SettingsError(
                f"algorithm: with non_crossing, expected 'auto' or 'newton'; got {self.algorithm!r:.60}"
            )
        (target,) = self._targets(y, weight)
        regularizer = self._regularizer(self._strength(), total_weight(weight, X.shape[0]))
        joint = JointQuantiles(
            X, target, levels=self.quantile, constraints=self.constraints, sample_weight=weight,
            regularizer=boxed(regularizer, self.positive, self.bounds, self),
            fit_intercept=bool(self.fit_intercept), X_grid=self._grid(),
            feature_names=getattr(self, "feature_names_in_", None),
        )  # fmt: skip
        start = getattr(self, "_joint_start", None) if self.warm_start else None
        answer = solve_joint(
            joint, tol=self.tol, shift=self._shift, max_time=self.max_time,
            max_passes=self.max_passes if self.max_iter is None else self.max_iter,
            warm_start=start if start is not None and joint.fits(*start) else None,
            callbacks=[*self.callbacks, *task.observers()], progress=bool(self.verbose),
        )  # fmt: skip
        if not answer.result.solved:
            warnings.warn(complaint(answer.result, self.tol), ConvergenceWarning, stacklevel=4)
        self._keep_joint(answer)

    def _grid(self) -> Any:
        return None if self.X_grid is None else new_data(self, self.X_grid)

    def _keep_joint(self, answer: JointResult) -> None:
        joint, result = answer.joint, answer.result
        count, t = joint.levels.size, joint.n_features
        by_level = joint.by_level(result.x)
        self.coef_ = by_level[:, :t].copy()
        self.intercept_ = by_level[:, t].copy() if joint.fit_intercept else np.zeros(count)
        self.intercept_ = self.intercept_ + self._shift
        self.n_iter_ = max(1, math.ceil(result.passes))
        # all levels share the loss at 1/2: the rest of a level's subgradient is constant
        u = result.dual[: joint.y.size * count].reshape(count, -1)
        self.dual_coef_ = u - (joint.levels[:, None] - 0.5)
        self.certificate_, self.dual_gap_ = result.certificate, result.certificate.gap
        self.status_, self.history_ = result.status, result.history
        own = [part.reshape(count, -1) for part in result.multipliers[: len(joint.bound)]]
        self.multipliers_ = [[part[k] for part in own] for k in range(count)]
        self._constraints = [joint.bound] * count
        (box,) = boxes_of(result)
        sides = [side.reshape(count, -1)[:, :t] for side in box]
        self._box = list(zip(*sides, strict=True)) if result.problem.penalty.boxed else None
        if self.warm_start:
            self._joint_start = answer.start

    def predict(self, X: Any) -> Array:
        """The fitted quantiles: one per row of X, or a column for each level of `quantile`."""
        check_is_fitted(self)
        if self.coef_.ndim == 1:
            return super().predict(X)
        return safe_sparse_dot(new_data(self, X), self.coef_.T) + self.intercept_

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 as in scikit-learn; for several levels the mean of their D^2 pinball scores."""
        check_is_fitted(self)
        if self.coef_.ndim == 1:
            return super().score(X, y, sample_weight)
        columns = zip(self.predict(X).T, self.quantile, strict=True)
        scores = [d2_pinball_score(y, p, sample_weight=sample_weight, alpha=q) for p, q in columns]
        return float(np.mean(scores))
