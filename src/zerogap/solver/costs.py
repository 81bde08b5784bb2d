"""Modelled seconds of passes, products and Newton steps, from counts of entries and multiply-adds.

`auto` compares its phases by these and not by a clock, so that the same seed takes the same way on every
run, on a busy machine as on an idle one. Only ratios matter; the constants are those of one core of 2020.
"""

from typing import Any

from zerogap.solver import newton_system

#: Seconds for an entry of a row that a coordinate step visits (its dot product and its update), and for the
#: step besides: (sparse, dense, step). Rows drawn at random are slow to come where they do not fit a cache.
_NEAR, _AWAY = (3e-9, 0.8e-9, 3e-8), (8e-9, 2.2e-9, 3e-7)
#: Bytes that fit a cache.
_CACHE = 16_000_000
#: An accelerated and averaged step costs more in all.
ACCELERATION = 2.0
#: Seconds for an entry in a product with all rows: sparse, dense.
_PRODUCT = (1.2e-9, 0.32e-9)
#: Multiply-adds a second of a factorisation, and products with the rows in one Newton step.
FLOPS, NEWTON_PRODUCTS = 4e9, 5.0
#: Products with the rows in a check.
_CHECK_PRODUCTS = 4.0
#: Seconds of a Newton step besides all that, and the same for a check.
_OVERHEAD = 2e-4


def _is_dense(rows: Any) -> bool:
    n, t = rows.shape
    return bool(rows.nonzeros >= 0.99 * n * t)


def coordinate_pass(rows: Any) -> float:
    """A pass of plain coordinate steps."""
    dense = _is_dense(rows)
    sparse_entry, dense_entry, step = _NEAR if rows.nonzeros * (8 if dense else 12) <= _CACHE else _AWAY
    return float(rows.nonzeros * (dense_entry if dense else sparse_entry) + step * rows.shape[0])


def product(rows: Any) -> float:
    """A product with the rows, or with their transpose."""
    return float(rows.nonzeros * _PRODUCT[_is_dense(rows)])


def check(rows: Any) -> float:
    """A certificate."""
    return _CHECK_PRODUCTS * product(rows) + _OVERHEAD


def newton_step(rows: Any) -> float:
    """A Newton step: products, and the factor of its matrix."""
    return NEWTON_PRODUCTS * product(rows) + newton_system.flops(rows) / FLOPS + _OVERHEAD
