"""Modelled seconds of passes, products and Newton steps, from counts of entries and multiply-adds.

`auto` compares its phases by these and not by a clock, so that the same seed takes the same way on every
run, on a busy machine as on an idle one. Only ratios matter; the constants are those of one core of 2020.
"""

from typing import Any

from zerogap.solver import newton_system

#: Seconds for an entry of a row that a coordinate step visits (its dot product and its update).
_SPARSE_ENTRY, _DENSE_ENTRY = 3e-9, 0.8e-9
#: Seconds for a coordinate step besides its entries; an accelerated and averaged step costs more in all.
_ROW, ACCELERATION = 3e-8, 2.5
#: An entry costs a product with all rows this share of what it costs a coordinate step.
_PRODUCT = 0.4
#: Multiply-adds a second of a factorisation, and products with the rows in one Newton step.
FLOPS, NEWTON_PRODUCTS = 4e9, 5.0
#: Products with the rows in a check.
_CHECK_PRODUCTS = 4.0
#: Seconds of a Newton step besides all that, and the same for a check.
_OVERHEAD = 2e-4


def _entries(rows: Any) -> float:
    """Seconds for one visit of every entry."""
    n, t = rows.shape
    dense = rows.nonzeros >= 0.99 * n * t
    return float(rows.nonzeros * (_DENSE_ENTRY if dense else _SPARSE_ENTRY))


def coordinate_pass(rows: Any) -> float:
    """A pass of plain coordinate steps."""
    return _entries(rows) + _ROW * rows.shape[0]


def product(rows: Any) -> float:
    """A product with the rows, or with their transpose."""
    return _PRODUCT * _entries(rows)


def check(rows: Any) -> float:
    """A certificate."""
    return _CHECK_PRODUCTS * product(rows) + _OVERHEAD


def newton_step(rows: Any) -> float:
    """A Newton step: products, and the factor of its matrix."""
    return NEWTON_PRODUCTS * product(rows) + newton_system.flops(rows) / FLOPS + _OVERHEAD
