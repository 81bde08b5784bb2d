"""Solutions along a path of penalty strengths."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from zerogap.linear_model._grids import strengths_of
from zerogap.result.result import Result

Array = np.ndarray


class RegularizationPath(NamedTuple):
    """What `regularization_path` returns.

    strengths   alphas from large to small, Cs from small to large, or regularisers as given
    coefs       (n_features, n_strengths), or (n_classes, n_features, n_strengths)
    intercepts  (n_strengths,), or (n_classes, n_strengths)
    dual_gaps   certified gaps, of the same shape (mean form of the objective)
    results     the results themselves; a list per class when there are several
    """

    strengths: Any
    coefs: Array
    intercepts: Array
    dual_gaps: Array
    results: list[Any]


def regularization_path(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    strengths: Sequence[Any] | int | None = None,
    sample_weight: Any = None,
) -> RegularizationPath:
    """Fit an estimator for many strengths of its penalty, each from the dual point of the one before.

    Parameters
    ----------
    estimator : an estimator of `zerogap.linear_model`; it says everything but the strength, and stays
        as it is.
    X, y, sample_weight : as in its `fit`.
    strengths : values of alpha or C (regularisers for the generalized estimators), or how many;
        default 20. Without an l1 term the alphas span six decades; with one, three decades below the
        strength that keeps all coefficients at zero.

    Returns
    -------
    RegularizationPath

    Examples
    --------
    >>> import numpy as np
    >>> from zerogap.linear_model import ElasticNet, regularization_path
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> alphas, coefs, *_ = regularization_path(ElasticNet(l1_ratio=0.9), X, X[:, 0], strengths=5)
    >>> coefs.shape
    (3, 5)
    """
    worker = clone(estimator)
    X, y, weight = worker._prepare(X, y, sample_weight)
    grid = strengths_of(worker, X, y, weight, strengths)
    paths: list[list[Result]] = worker._paths(X, worker._targets(y, weight), weight, grid)
    coefs, intercepts, gaps = [], [], []
    for k in range(len(grid)):
        worker._keep([path[k] for path in paths])
        coefs.append(worker.coef_)
        intercepts.append(worker.intercept_)
        gaps.append(worker.dual_gap_)
    one = len(paths) == 1
    stacked = np.stack(coefs, axis=-1)
    if one and stacked.ndim == 3 and stacked.shape[0] == 1:
        stacked, intercepts = stacked[0], [b[0] for b in intercepts]
    results: list[Any] = paths[0] if one else paths
    return RegularizationPath(grid, stacked, np.stack(intercepts, -1), np.stack(gaps, -1), results)
