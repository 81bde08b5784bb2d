"""Strengths to try, from the strongest penalty to the weakest, so that each dual point starts the next."""

from typing import Any

import numpy as np

from zerogap.exceptions import SettingsError
from zerogap.linear_model._inputs import total_weight
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import L2, ElasticNet
from zerogap.solver.driver import solve

Array = np.ndarray

#: Decades of alpha below the strength that silences every feature; and around it, without an l1 term.
L1_DECADES, L2_DECADES = (0.0, -3.0), (2.0, -4.0)


def strengths_of(estimator: Any, X: Any, y: Array, weight: Array | None, given: Any = None) -> Any:
    """The grid of an estimator: `given`, or its own alphas, Cs or regularizers, or as many as they say."""
    name = estimator.strength_name
    if given is None:
        given = getattr(estimator, f"{name}s", 20)
    if name == "regularizer":
        return list(given) if np.iterable(given) else [L2(l2) for l2 in np.logspace(1, -6, 8)]
    if np.ndim(given) > 0:
        values = np.sort(np.asarray(given, dtype=np.float64))
        if values.ndim != 1 or not values.size:
            raise SettingsError(f"{name}s: expected how many strengths, or some of them; got {given!r:.80}")
        return values if name == "C" else values[::-1]
    if not isinstance(given, (int, np.integer)) or given < 1:
        raise SettingsError(f"{name}s: expected a whole number >= 1 or an array; got {given!r:.80}")
    if name == "C":
        return np.logspace(-4, 4, given)
    ratio = getattr(estimator, "l1_ratio", 0.0)
    high, low = L1_DECADES if ratio else L2_DECADES
    top = _silencing(estimator, X, y, weight) / (ratio or 1.0)
    return top * estimator._alpha_unit(total_weight(weight, X.shape[0])) * np.logspace(high, low, given)


def _silencing(estimator: Any, X: Any, y: Array, weight: Array | None) -> float:
    """max_j |s_j| at the best fit without features: the smallest l1 that keeps every coefficient at zero."""
    largest = 0.0
    for target in estimator._targets(y, weight):
        problem = Problem(
            X, target, loss=estimator._loss(), regularizer=ElasticNet(1.0, lower=0.0, upper=0.0),
            sample_weight=weight, fit_intercept=bool(estimator.fit_intercept),
        )  # fmt: skip
        result = solve(problem, tol=1e-3, warn=False)
        slope = problem.slope(result.dual)[: problem.penalty.n_features]
        largest = max(largest, float(np.max(np.abs(slope))))
    return largest or 1.0
