"""Validation of what users hand in: targets, labels, weights."""

from typing import Any

import numpy as np

from zerogap.data.blocks import BlockDiagonalRows
from zerogap.data.numbers import LARGEST, as_floats, check_finite
from zerogap.data.rows import as_rows
from zerogap.exceptions import DataError

Array = np.ndarray


def check_matrix(X: Any, name: str = "X") -> Any:
    """Rows over X, with at least one sample and one feature."""
    if isinstance(X, BlockDiagonalRows):
        return X
    shape = getattr(X, "shape", ())
    if any(size >= 2**32 for size in shape):  # before anything of that size is made
        raise DataError(f"{name}: expected at most 2^32 - 1 rows and columns; got shape {shape}")
    rows = as_rows(X, name)
    if 0 in rows.shape:
        raise DataError(f"{name}: expected at least one row and one column; got shape {rows.shape}")
    return rows


def check_vector(
    values: Any, size: int, name: str, of: str = "one entry per row of X", largest: float = LARGEST
) -> Array:
    """A finite float64 vector of the given size."""
    vector = as_floats(values, name)
    if vector.ndim == 2 and vector.shape[1] == 1:
        vector = vector[:, 0]
    if vector.shape != (size,):
        raise DataError(f"{name}: expected shape ({size},), {of}; got {vector.shape}")
    check_finite(vector, name, largest)
    return np.ascontiguousarray(vector)


def check_block(values: Any, shape: tuple[int, ...], name: str, of: str) -> Array:
    """A finite float64 array of the given shape, its numbers of any size."""
    block = as_floats(values, name)
    if block.shape != shape:
        raise DataError(f"{name}: expected shape {shape}, {of}; got {block.shape}")
    check_finite(block, name, np.inf)
    return np.ascontiguousarray(block)


def _labels(y: Any, size: int) -> tuple[Array, Array]:
    """Labels as a vector, and the classes among them."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (size,):
        raise DataError(f"y: expected shape ({size},), one label per row of X; got {labels.shape}")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise DataError("y: expected finite labels; got NaN or infinity")
    try:
        return labels, np.unique(labels)
    except TypeError as error:  # labels of different types, or None among them
        raise DataError(f"y: expected labels of one type; got {y!r:.80}") from error


def check_labels(y: Any, size: int, loss_name: str) -> tuple[Array, Array]:
    """Labels as -1 and +1, and the two classes they stand for (the smaller is -1)."""
    labels, classes = _labels(y, size)
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


def check_classes(y: Any, weights: Array, loss_name: str) -> tuple[Array, Array]:
    """The number of each row's class, and the classes that have a row of positive weight.

    Rows of weight 0 whose class has none get any number.
    """
    labels, _ = _labels(y, weights.size)
    classes = np.unique(labels[weights > 0])
    if classes.size < 2:
        raise DataError(
            f"y: the {loss_name} loss needs labels of at least two classes; got one ({classes[0]!r:.40})"
        )
    codes = np.searchsorted(classes, labels)
    return np.minimum(codes, classes.size - 1).astype(np.int64), classes


def check_weights(sample_weight: Any, size: int) -> Array:
    """Weights that sum to one."""
    if sample_weight is None:
        return np.full(size, 1.0 / size)
    weights = check_vector(sample_weight, size, "sample_weight", largest=np.inf)
    if (weights < 0).any():
        raise DataError(f"sample_weight: expected weights >= 0; got {weights.min()}")
    if not weights.any():
        raise DataError("sample_weight: expected at least one positive weight; all are zero")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if np.isinf(total):
        weights = weights / weights.max()
        total = weights.sum()
    return weights / total
