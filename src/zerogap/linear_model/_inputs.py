"""What estimators are given, checked and brought into the form that `Problem` takes."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from zerogap.data.prepare import check_vector
from zerogap.exceptions import DataError, ProblemError, SettingsError
from zerogap.problem.builders import any_on_intercept
from zerogap.problem.columns import Columns, feature_names
from zerogap.problem.regularizers import ElasticNet

Array = np.ndarray

_FLOATS = [np.float64, np.float32]


def training_data(estimator: Any, X: Any, y: Any, **options: Any) -> Any:
    """(X, y) for `fit`: X as float matrix or CSR, without a copy where it is one already."""
    return validate_data(estimator, X, y, accept_sparse="csr", dtype=_FLOATS, **options)


def new_data(estimator: Any, X: Any) -> Any:
    """X for predictions, with the columns that the estimator was fitted on."""
    return validate_data(estimator, X, reset=False, accept_sparse="csr", dtype=_FLOATS)


def checked_weight(sample_weight: Any, n_samples: int) -> Array | None:
    """Sample weights as a vector (a single number is the same for all), or None."""
    if sample_weight is None:
        return None
    given = np.asarray(sample_weight)
    weight = np.full(n_samples, given) if given.ndim == 0 else given
    weight = check_vector(weight, n_samples, "sample_weight", "one entry per sample", np.inf)
    if (weight < 0).any():
        raise DataError(f"sample_weight: expected weights >= 0; got {weight.min()}")
    if not weight.any():
        raise DataError("sample_weight: expected at least one positive weight; all are zero")
    return weight


def total_weight(weight: Array | None, n_samples: int) -> float:
    """What turns a sum of losses into their mean."""
    return float(n_samples) if weight is None else float(weight.sum())


def non_negative(name: str, number: Any, strictly: bool = False, most: float = np.inf) -> float:
    """A number in [0, most], or a complaint that names the parameter."""
    valid = isinstance(number, (int, float, np.number)) and not isinstance(number, (bool, np.bool_))
    if not valid or not (number > 0 if strictly else number >= 0) or number > most:
        wanted = f"a number {'> 0' if strictly else '>= 0'}" + (f" and <= {most:g}" if most < np.inf else "")
        raise SettingsError(f"{name}: expected {wanted}; got {number!r}")
    return float(number)


def one_of(name: str, choice: Any, known: tuple[Any, ...]) -> Any:
    """The choice, or a complaint that lists what is known."""
    if choice not in known:
        raise SettingsError(f"{name}: expected one of {', '.join(map(repr, known))}; got {choice!r}")
    return choice


def on_intercept(estimator: Any) -> bool:
    """Does a constraint involve the intercept?"""
    t = estimator.n_features_in_
    names = feature_names(getattr(estimator, "feature_names_in_", None), None, t)
    return any_on_intercept(estimator.constraints, Columns(t, bool(estimator.fit_intercept), names))


def boxed(regularizer: Any, positive: bool, bounds: Any, estimator: Any) -> Any:
    """The regularizer within the box that `positive` and `bounds` describe."""
    if not positive and bounds is None:
        return regularizer
    if not isinstance(regularizer, ElasticNet):
        raise ProblemError(
            f"positive, bounds: expected zg.L2 or zg.ElasticNet beside them; got {regularizer!r:.60}"
        )
    lower, upper = _sides(bounds, estimator)
    if positive:
        lower = np.maximum(lower, 0.0)
    given = {field.name: getattr(regularizer, field.name) for field in dataclasses.fields(ElasticNet)}
    given |= {"lower": np.maximum(given["lower"], lower), "upper": np.minimum(given["upper"], upper)}
    return ElasticNet(**given)


def _sides(bounds: Any, estimator: Any) -> tuple[Any, Any]:
    if bounds is None:
        return -np.inf, np.inf
    if isinstance(bounds, Mapping):
        return _sides_by_column(bounds, estimator)
    try:
        lower, upper = bounds
    except (TypeError, ValueError) as error:
        raise ProblemError(
            f"bounds: expected (lower, upper) or a dict of columns; got {bounds!r:.80}"
        ) from error
    return _open(lower, -np.inf), _open(upper, np.inf)


def _open(side: Any, infinite: float) -> Any:
    return infinite if side is None else np.asarray(side, dtype=np.float64)


def _sides_by_column(bounds: Mapping[Any, Any], estimator: Any) -> tuple[Array, Array]:
    t = estimator.n_features_in_
    lower, upper = np.full(t, -np.inf), np.full(t, np.inf)
    names = {name: j for j, name in enumerate(getattr(estimator, "feature_names_in_", ()))}
    for column, pair in bounds.items():
        j = names.get(column, column)
        if not isinstance(j, (int, np.integer)) or not 0 <= j < t:
            known = ", ".join(map(str, list(names)[:8])) or f"0 .. {t - 1}"
            raise DataError(f"bounds: expected columns of X ({known}); got {column!r}")
        low, high = _sides(pair, estimator)
        lower[j], upper[j] = low, high
    return lower, upper
