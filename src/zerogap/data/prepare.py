"""Validation of what users hand in: targets, labels, weights."""

from typing import Any

import numpy as np

from zerogap.data.rows import Rows, as_rows
from zerogap.exceptions import DataError

Array = np.ndarray


def check_matrix(X: Any, name: str = "X") -> Rows:
    """Rows over X, with at least one sample and one feature."""
    rows = as_rows(X, name)
    if 0 in rows.shape:
        raise DataError(f"{name}: expected at least one row and one column; got shape {rows.shape}")
    if rows.shape[0] >= 2**32 or rows.shape[1] >= 2**32:
        raise DataError(f"{name}: at most 2^32 - 1 rows and columns; got shape {rows.shape}")
    return rows


def check_vector(values: Any, size: int, name: str, of: str = "one entry per row of X") -> Array:
    """A finite float64 vector of the given size."""
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: expected numbers; got {values!r:.80}") from error
    if vector.ndim == 2 and vector.shape[1] == 1:
        vector = vector[:, 0]
    if vector.shape != (size,):
        raise DataError(f"{name}: expected shape ({size},), {of}; got {vector.shape}")
    if not np.isfinite(vector.sum()) and not np.isfinite(vector).all():
        bad = vector[~np.isfinite(vector)][0]
        raise DataError(f"{name}: expected finite numbers; got {bad} (and maybe more)")
    return np.ascontiguousarray(vector)


def check_labels(y: Any, size: int, loss_name: str) -> tuple[Array, Array]:
    """Labels as -1 and +1, and the two classes they stand for (the smaller is -1)."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (size,):
        raise DataError(f"y: expected shape ({size},), one label per row of X; got {labels.shape}")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise DataError("y: expected finite labels; got NaN or infinity")
    classes = np.unique(labels)
    if classes.size == 1 and labels.dtype.kind in "fi" and classes[0] in (-1, 1):
        classes = np.array([-1, 1])  # one class of an unmistakable coding
    if classes.size != 2:
        shown = ", ".join(map(str, classes[:5])) + (", ..." if classes.size > 5 else "")
        raise DataError(
            f"y: the {loss_name} loss needs labels of exactly two classes; got {classes.size} ({shown})"
        )
    if labels.dtype == np.float64 and np.array_equal(classes, (-1.0, 1.0)):
        return np.ascontiguousarray(labels), classes
    return np.where(labels == classes[1], 1.0, -1.0), classes


def check_weights(sample_weight: Any, size: int) -> Array:
    """Weights that sum to one."""
    if sample_weight is None:
        return np.full(size, 1.0 / size)
    weights = check_vector(sample_weight, size, "sample_weight")
    if (weights < 0).any():
        raise DataError(f"sample_weight: expected weights >= 0; got {weights.min()}")
    total = weights.sum()
    if total <= 0:
        raise DataError("sample_weight: expected at least one positive weight; all are zero")
    return weights / total
