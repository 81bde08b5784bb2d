"""What all estimators share: options, the way from data to results, and from results to attributes."""

import functools
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from zerogap.linear_model import _jobs
from zerogap.linear_model._describe import boxes_of, certificate_html, summary_frame
from zerogap.linear_model._docs import estimator
from zerogap.linear_model._inputs import boxed, total_weight
from zerogap.linear_model._protocol import CallbackSupportMixin, FitTask
from zerogap.problem.problem import Problem
from zerogap.result.result import Result
from zerogap.solver.driver import solve

Array = np.ndarray


class Fitted:
    """The attributes that a fit sets (declared here so that they are no constructor parameters)."""

    coef_: Array
    intercept_: Any
    n_iter_: int
    dual_coef_: Array
    multipliers_: list[Any]
    certificate_: Any
    dual_gap_: Any
    status_: Any
    classes_: Array
    history_: Any
    n_features_in_: int
    _duals: list[Array]
    _box: Any
    _constraints: list[Any]


@estimator
class LinearEstimator(CallbackSupportMixin, Fitted, BaseEstimator):
    """Base of all estimators: they say which loss and which regulariser, and how predictions are made."""

    constraints: Any = ()
    positive: bool = False
    bounds: Any = None
    fit_intercept: bool = True
    warm_start: bool = False
    tol: float = 1e-6
    max_passes: float = 10_000
    max_iter: float | None = None
    max_time: float | None = None
    algorithm: Any = "auto"
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    callbacks: Any = ()

    def _loss(self) -> Any:
        """The loss object."""
        raise NotImplementedError

    def _regularizer(self, strength: Any, total: float) -> Any:
        """The regulariser at a strength (alpha, C, ...), for samples that weigh `total` together."""
        raise NotImplementedError

    def _strength(self) -> Any:
        """The strength that `fit` uses."""
        raise NotImplementedError

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
        """What `fit` is given, checked: the matrix, targets or class numbers, weights or None."""
        raise NotImplementedError

    def _targets(self, y: Array, weight: Array | None) -> Sequence[Array]:
        """The targets of the problems to solve."""
        raise NotImplementedError

    def _fit(self, X: Any, y: Array, weight: Array | None, task: FitTask) -> None:
        paths = self._paths(X, self._targets(y, weight), weight, [self._strength()], task)
        self._keep([path[-1] for path in paths])

    def _problem(self, X: Any, target: Array, weight: Array | None, strength: Any) -> Any:
        regularizer = self._regularizer(strength, total_weight(weight, X.shape[0]))
        return Problem(
            X,
            target,
            loss=self._loss(),
            regularizer=boxed(regularizer, self.positive, self.bounds, self),
            constraints=self.constraints,
            sample_weight=weight,
            fit_intercept=bool(self.fit_intercept),
            feature_names=getattr(self, "feature_names_in_", None),
        )

    def _solve(self, problem: Any, **options: Any) -> Any:
        return solve(problem, **options)

    def _paths(
        self,
        X: Any,
        targets: Sequence[Array],
        weight: Array | None,
        strengths: Sequence[Any],
        task: FitTask | None = None,
    ) -> list[list[Result]]:
        """For every target, one result per strength; each starts from the dual point before it."""
        observers = task.observers() if task else []
        deadline = math.inf if self.max_time is None else time.perf_counter() + self.max_time
        jobs = [
            functools.partial(self._path, X, target, weight, strengths, start, observers, deadline)
            for target, start in zip(targets, self._starts(len(targets)), strict=True)
        ]
        return _jobs.run(jobs, self.n_jobs)

    def _path(
        self,
        X: Any,
        target: Array,
        weight: Array | None,
        strengths: Sequence[Any],
        start: Array | None,
        observers: list[Callable[[Any], Any]],
        deadline: float,
    ) -> list[Result]:
        results = []
        for strength in strengths:
            problem = self._problem(X, target, weight, strength)
            left = None if deadline == math.inf else max(deadline - time.perf_counter(), 1e-9)
            result = self._solve(
                problem,
                algorithm=self.algorithm,
                tol=self.tol,
                max_passes=self.max_passes if self.max_iter is None else self.max_iter,
                max_time=left,
                warm_start=start if start is not None and start.size == problem.n_rows else None,
                random_state=_seed(self.random_state),
                callbacks=[*self.callbacks, *observers],
                progress=bool(self.verbose),
            )
            results.append(result)
            start = result.dual
        return results

    def _starts(self, count: int) -> Sequence[Array | None]:
        known = getattr(self, "_duals", ()) if self.warm_start else ()
        return known if len(known) == count else [None] * count

    def _keep(self, results: list[Result]) -> None:
        """Attributes from results: scalars for one problem, lists for one problem per class."""
        one = len(results) == 1
        self.n_iter_ = max(1, math.ceil(max(result.passes for result in results)))
        duals = [result.dual[: result.problem.n_samples] for result in results]
        self.dual_coef_ = duals[0] if one else np.array(duals)
        gaps = [result.certificate.gap for result in results]
        self.dual_gap_ = gaps[0] if one else np.array(gaps)
        for name, values in (
            ("multipliers_", [result.multipliers for result in results]),
            ("certificate_", [result.certificate for result in results]),
            ("status_", [result.status for result in results]),
            ("history_", [result.history for result in results]),
        ):
            setattr(self, name, values[0] if one else values)
        self._constraints = [result.problem.constraints for result in results]
        boxed_ones = any(result.problem.penalty.boxed for result in results)
        self._box = [box for result in results for box in boxes_of(result)] if boxed_ones else None
        if self.warm_start:
            self._duals = [result.dual for result in results]

    def summary(self) -> Any:
        """Coefficients, intercept and constraints by name, with bounds and multipliers (needs pandas).

        A row has the columns kind ("coefficient", "intercept" or "constraint"), value, lower, upper and
        multiplier, and a column class when there are several. A multiplier is >= 0 where the upper side
        binds and <= 0 where the lower one does: raising that side by a little changes the optimal value
        (of the mean form of the objective) by minus the multiplier times that little.
        """
        check_is_fitted(self)
        return summary_frame(self)

    def _labels(self) -> tuple[str, Any]:
        """What several problems are told apart by, and its values."""
        return "class", self.classes_

    def _html_repr(self) -> str:
        return certificate_html(self)

    def _repr_html_inner(self) -> str:
        return self._html_repr()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _seed(random_state: Any) -> Any:
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return random_state
