"""Several storages along a diagonal: rows of models that share no coefficient, in the memory of one."""

import itertools
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from zerogap.data.rows import Rows, SparseRows

Array = np.ndarray

#: Terms of a sum that are added up one after the other.
LONGEST_SUM = 2048


class BlockDiagonalRows:
    """Block k's rows touch block k's columns only. The same storage may serve as several blocks.

    The verbs are those of `rows.py`, without the compiled ones: coordinate kernels do not take it.
    """

    def __init__(self, blocks: list[Rows]):
        self.blocks = blocks
        heights, widths = ([block.shape[k] for block in blocks] for k in (0, 1))
        self._rows, self._columns = [0, *itertools.accumulate(heights)], [0, *itertools.accumulate(widths)]
        self.shape = (self._rows[-1], self._columns[-1])
        self._parts: dict[int, list[SparseRows]] = {}

    def _by_row(self, u: Array) -> list[Array]:
        return [u[first:stop] for first, stop in itertools.pairwise(self._rows)]

    def _by_column(self, x: Array | float) -> list[Array]:
        whole = x if isinstance(x, np.ndarray) else np.full(self.shape[1], x)
        return [whole[first:stop] for first, stop in itertools.pairwise(self._columns)]

    def _join(self, verb: str, parts: list[Array]) -> Array:
        return np.concatenate([getattr(b, verb)(part) for b, part in zip(self.blocks, parts, strict=True)])

    def dot(self, x: Array) -> Array:
        return self._join("dot", self._by_column(x))

    def tdot(self, u: Array) -> Array:
        parts = zip(self.blocks, self._by_row(u), strict=True)
        return np.concatenate([self._sum(block, part) for block, part in parts])

    def _sum(self, block: Rows, u: Array) -> Array:
        """The block's `tdot`, in parts where sums are long.

        A long sum of equal terms is rounded the same way at every step, and sums over dependent columns
        would not agree to the digits that a dual point must meet.
        """
        if not isinstance(block, SparseRows) or block.shape[0] <= LONGEST_SUM:
            return block.tdot(u)
        if id(block) not in self._parts:
            self._parts[id(block)] = _consecutive(block, LONGEST_SUM)
        cuts = np.split(u, np.arange(LONGEST_SUM, u.size, LONGEST_SUM))
        sums = [part.tdot(cut) for part, cut in zip(self._parts[id(block)], cuts, strict=True)]
        return np.sum(sums, axis=0)

    def gram(self, weights: Array) -> Array:
        out = np.zeros((self.shape[1], self.shape[1]))
        sides = [slice(*pair) for pair in itertools.pairwise(self._columns)]
        for block, part, own in zip(self.blocks, self._by_row(weights), sides, strict=True):
            out[own, own] = block.gram(part)
        return out

    def outer(self, metric: Array) -> Array:
        """R diag(metric) R^T."""
        parts = zip(self.blocks, self._by_column(metric), strict=True)
        return scipy.linalg.block_diag(*[block.outer(part) for block, part in parts])

    def take(self, rows: Array) -> "BlockDiagonalRows":
        return self._part("take", rows, self._rows)

    def columns(self, chosen: Array) -> "BlockDiagonalRows":
        return self._part("columns", chosen, self._columns)

    def _part(self, verb: str, chosen: Array, starts: list[int]) -> "BlockDiagonalRows":
        """`take` or `columns` of each block; `chosen` ascends."""
        cuts = np.searchsorted(chosen, starts)
        own = [chosen[cuts[k] : cuts[k + 1]] - starts[k] for k in range(len(self.blocks))]
        return BlockDiagonalRows([getattr(b, verb)(c) for b, c in zip(self.blocks, own, strict=True)])

    def square_norms(self, m: Array | float) -> Array:
        return self._join("square_norms", self._by_column(m))

    def square_columns(self, weights: Array) -> Array:
        """sum_i weights_i r_ij^2 for every column."""
        return self._join("square_columns", self._by_row(weights))

    def magnitudes(self, x: Array) -> Array:
        """sum_j |r_ij x_j|: the size of the terms that `dot(x)` adds up."""
        return self._join("magnitudes", self._by_column(x))

    def column_magnitudes(self, u: Array) -> Array:
        """sum_i |u_i r_ij|: the size of the terms that `tdot(u)` adds up."""
        return self._join("column_magnitudes", self._by_row(u))

    def dense(self) -> Array:
        """The rows as a float64 matrix; for a few of them."""
        return scipy.linalg.block_diag(*[block.dense() for block in self.blocks])

    @property
    def nonzeros(self) -> int:
        return sum(block.nonzeros for block in self.blocks)


def _consecutive(rows: SparseRows, longest: int) -> list[SparseRows]:
    """The rows, at most `longest` at a time, in the same memory."""
    data, indices, pointers = rows.matrix.data, rows.matrix.indices, rows.matrix.indptr
    made = []
    for start in range(0, rows.shape[0], longest):
        own = pointers[start : start + longest + 1]
        inside = slice(own[0], own[-1])
        shape = (own.size - 1, rows.shape[1])
        made.append(SparseRows(sp.csr_array((data[inside], indices[inside], own - own[0]), shape=shape)))
    return made


def crossing_rows(base: Rows, pair: Array, index: Array, copies: int) -> Any:
    """Rows a_i.x_k - a_i.x_k+1 over `copies` blocks of columns, for k of `pair` and i of `index`; CSR."""
    width = base.shape[1]
    taken = sp.coo_array(sp.csr_array(base.take(index).matrix, dtype=np.float64))
    rows, columns = taken.coords
    left = columns.astype(np.int64) + np.asarray(pair, dtype=np.int64)[rows] * width
    values = np.append(taken.data, -taken.data)
    places = (np.append(rows, rows), np.append(left, left + width))
    return sp.csr_array((values, places), shape=(len(index), copies * width))
