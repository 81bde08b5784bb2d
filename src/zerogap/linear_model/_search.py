"""Choosing the strength of the penalty by cross-validation along warm-started paths."""

import copy
import functools
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from zerogap.exceptions import SettingsError
from zerogap.linear_model import _jobs
from zerogap.linear_model._docs import estimator
from zerogap.linear_model._grids import strengths_of
from zerogap.linear_model._inputs import one_of
from zerogap.linear_model._protocol import FitTask
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import L2

Array = np.ndarray


@estimator
class PathSearch:
    """`fit` for the estimators that choose alpha, C or the regulariser themselves."""

    cv: Any = None
    scoring: Any = None
    selection: str = "best"

    def _fit(self, X: Any, y: Array, weight: Array | None, task: FitTask) -> None:
        one_of("selection", self.selection, ("best", "one_standard_error"))
        variants = self._variants()
        grids = [strengths_of(variant, X, y, weight) for variant in variants]
        known: Any = self
        labels = known.classes_[y] if is_classifier(self) else y
        folds = list(check_cv(self.cv, labels, classifier=is_classifier(self)).split(X, labels))
        allowed = getattr(self, "max_time", None)
        deadline = math.inf if allowed is None else time.perf_counter() + allowed
        jobs = [
            functools.partial(_score_fold, variant, grid, (X, y, weight), fold, task, deadline)
            for variant, grid in zip(variants, grids, strict=True)
            for fold in folds
        ]
        flat = _jobs.run(jobs, known.n_jobs)
        scores = [np.column_stack(flat[k : k + len(folds)]) for k in range(0, len(flat), len(folds))]
        variant, k = _choose(scores, self.selection == "one_standard_error")
        self._note(variants[variant], grids, grids[variant][k], scores)
        winner = _with_time_left(variants[variant], deadline, jobs=known.n_jobs)
        paths = winner._paths(X, known._targets(y, weight), weight, [grids[variant][k]], task)
        known._keep([path[-1] for path in paths])

    def _variants(self) -> list[Any]:
        """The estimator itself, or one copy for each l1_ratio in a list."""
        ratios = getattr(self, "l1_ratio", None)
        if ratios is None or np.ndim(ratios) == 0:
            return [copy.copy(self)]
        if not len(ratios):
            raise SettingsError("l1_ratio: expected a number or some numbers; got none")
        variants: list[Any] = [copy.copy(self) for _ in ratios]
        for variant, ratio in zip(variants, ratios, strict=True):
            variant.l1_ratio = float(ratio)
        return variants

    def _note(self, variant: Any, grids: list[Any], strength: Any, scores: list[Array]) -> None:
        name = variant.strength_name
        several = len(grids) > 1
        setattr(self, f"{name}_", strength)
        setattr(self, f"{name}s_", grids if several else grids[0])
        self.scores_ = np.array(scores) if several else scores[0]
        if hasattr(variant, "l1_ratio"):
            self.l1_ratio_ = variant.l1_ratio

    def _strength(self) -> Any:
        raise NotImplementedError  # `_fit` finds it


def _score_fold(
    worker: Any,
    grid: Sequence[Any],
    data: tuple[Any, Array, Array | None],
    fold: tuple[Array, Array],
    task: FitTask,
    deadline: float,
) -> Array:
    """Scores of one fold along the path, one per strength."""
    X, y, weight = data
    train, test = fold
    worker = _with_time_left(worker, deadline, jobs=1)
    inner = None if weight is None else weight[train]
    paths = worker._paths(X[train], worker._targets(y[train], inner), inner, grid, task)
    judge = copy.copy(worker)
    judge.__dict__.pop("feature_names_in_", None)  # X is an array by now
    score = _scorer(judge)
    outer = None if weight is None else weight[test]
    scores = np.empty(len(grid))
    for k in range(len(grid)):
        judge._keep([path[k] for path in paths])
        scores[k] = score(judge, X[test], y[test], outer)
    return scores


def _with_time_left(worker: Any, deadline: float, jobs: int | None) -> Any:
    worker = copy.copy(worker)
    worker.n_jobs = jobs
    if deadline < math.inf:
        worker.max_time = max(deadline - time.perf_counter(), 1e-9)
    return worker


def _scorer(judge: Any) -> Callable[..., float]:
    if is_classifier(judge):
        scorer = check_scoring(judge, judge.scoring)
        return lambda est, X, y, weight: scorer(est, X, est.classes_[y], **_weighted(weight))
    if judge.scoring is None:
        return _minus_mean_loss
    scorer = check_scoring(judge, judge.scoring)
    return lambda est, X, y, weight: scorer(est, X, y, **_weighted(weight))


def _weighted(weight: Array | None) -> dict[str, Any]:
    return {} if weight is None else {"sample_weight": weight}


def _minus_mean_loss(judge: Any, X: Any, y: Array, weight: Array | None) -> float:
    problem = Problem(X, y, loss=judge._loss(), regularizer=L2(0.0), sample_weight=weight, fit_intercept=True)
    return -problem.primal(judge.coef_, judge.intercept_)


def _choose(scores: list[Array], cautious: bool) -> tuple[int, int]:
    """Best mean score, or the strongest penalty on its path within one standard error of the best."""
    means = [table.mean(axis=1) for table in scores]
    variant = int(np.argmax([mean.max() for mean in means]))
    mean = means[variant]
    best = int(np.argmax(mean))
    folds = scores[variant].shape[1]
    if not cautious or folds < 2:
        return variant, best
    error = scores[variant][best].std(ddof=1) / math.sqrt(folds)
    return variant, int(np.argmax(mean >= mean[best] - error))
