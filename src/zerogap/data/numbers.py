"""What counts as numbers: conversion to floating point, and checks that name what is wrong."""

from typing import Any

import numpy as np

from zerogap.exceptions import DataError

Array = np.ndarray

#: Entries looked at a time.
_BLOCK = 1 << 20
#: Of numbers up to this size (and no smaller than its inverse, where they divide) double precision can hold
#: all the products that a solve makes.
LARGEST = 1e30


def as_floats(values: Any, name: str, kept: tuple[Any, ...] = (np.float64,)) -> Array:
    """An array of one of the `kept` types if it is one already, of float64 otherwise."""
    try:
        array = np.asarray(values)
        if array.dtype in kept:
            return array
        if array.dtype.kind in "biufO":
            return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{name}: expected real numbers; got {values!r:.80}") from error
    raise DataError(f"{name}: expected real numbers; got {values!r:.80}")


def check_finite(
    values: Array, name: str, largest: float = LARGEST, advice: str = "Take other units"
) -> None:
    """Raise when a value is NaN, infinite or too large, without a temporary of the size of `values`."""
    with np.errstate(over="ignore", invalid="ignore"):
        if values.dtype == np.float64:
            sound = np.vdot(values, values) <= LARGEST
        else:  # no float32 is too large
            sound = np.isfinite(values.sum(dtype=np.float64))
    if sound:
        return
    flat = values.reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        block = flat[start : start + _BLOCK]
        bad = ~np.isfinite(block)
        if bad.any():
            number = block[int(bad.argmax())]
            raise DataError(f"{name}: expected finite numbers; got {number} (and maybe more)")
        number = block[int(np.abs(block).argmax())]
        if abs(number) > largest:
            raise DataError(
                f"{name}: expected numbers up to {largest:g} in size, as double precision must hold "
                f"their products; got {number:g}. {advice}"
            )


def check_sparse(matrix: Any, name: str) -> None:
    """Raise when a sparse matrix is not a matrix of real numbers, or points outside its own arrays.

    scipy does not look at indices; the kernels would read and write whatever they point at.
    """
    if matrix.ndim != 2:
        raise DataError(f"{name}: expected a 2-D matrix; got {matrix.ndim} dimension(s)")
    if matrix.dtype.kind not in "biuf":
        raise DataError(f"{name}: expected real numbers; got {matrix.dtype.name}")
    if matrix.format not in ("csr", "csc"):
        return
    major, minor = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    pointers, indices = matrix.indptr, matrix.indices
    sound = pointers.size == major + 1 and pointers[0] == 0 and bool((pointers[1:] >= pointers[:-1]).all())
    sound = sound and pointers[-1] <= min(indices.size, matrix.data.size)
    if sound and pointers[-1]:
        stored = indices[: pointers[-1]]
        sound = stored.min() >= 0 and stored.max() < minor
    if not sound:
        raise DataError(
            f"{name}: expected rising pointers and indices from 0 to {minor - 1}; this {matrix.format} "
            "matrix points outside"
        )
