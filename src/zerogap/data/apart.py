"""Columns of which no row touches two, such as the dummies of a category: their Gram matrix is diagonal.

Solving for them first leaves a small system for the others, whatever their number.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from zerogap._jit import kernel
from zerogap.data.rows import SparseRows, column, entry, span

Array = np.ndarray

#: The chosen columns must be this share of all, and all more than a few, to be worth the trouble.
SHARE, MANY = 0.5, 500
#: The largest matrix that couples them with the others.
LARGEST_CROSS = 40_000_000


class Apart(NamedTuple):
    """The rows, cut into the columns that stand apart and the others (with the intercept)."""

    chosen: Array
    rest: Array  # the intercept's number last
    own: Any  # rows of the chosen columns, without an intercept
    others: Any

    def cross(self, weights: Array) -> Array:
        """others^T diag(weights) own, dense."""
        own, others = self.own, self.others
        out = np.zeros((others.shape[1], own.shape[1]))
        n = own.n_top
        _add_cross(others.top.compiled(), own.top.compiled(), weights[:n], out)
        if own.constrained:
            _add_cross(others.bottom.compiled(), own.bottom.compiled(), weights[n:], out)
        if others.intercept:
            out[-1] = own.tdot(weights * np.append(np.ones(n), others.constants))
        return out


@kernel
def _add_cross(others, own, weights, out):
    """out += sum_i weights_i others_i own_i^T"""
    for i in range(weights.size):
        if weights[i] == 0.0:
            continue
        first, stop = span(own, i)
        for p in range(first, stop):
            j, scaled = column(own, p, first), weights[i] * entry(own, p)
            start, end = span(others, i)
            for q in range(start, end):
                out[column(others, q, start), j] += scaled * entry(others, q)


@kernel
def _add_counts(rows, n, out):
    """out_j += how many of the n rows touch column j"""
    for i in range(n):
        first, stop = span(rows, i)
        for p in range(first, stop):
            out[column(rows, p, first)] += 1


@kernel
def _choose(columns, order, used, chosen):
    """chosen_j, in the given order, for columns that share no row with one chosen before."""
    for j in order:
        first, stop = span(columns, j)
        alone = True
        for p in range(first, stop):
            if used[column(columns, p, first)]:
                alone = False
                break
        if alone:
            chosen[j] = True
            for p in range(first, stop):
                used[column(columns, p, first)] = True


def find(rows: Any) -> Apart | None:
    """Columns that stand apart, rare ones first; None where they are not most of the columns."""
    t = rows.top.shape[1]
    if t <= MANY or not isinstance(rows.top, SparseRows):
        return None
    counts = np.zeros(t, dtype=np.int64)
    _add_counts(rows.top.compiled(), rows.n_top, counts)
    _add_counts(rows.bottom.compiled(), rows.shape[0] - rows.n_top, counts)
    if np.sort(counts)[: int(SHARE * t)].sum() > rows.shape[0]:
        return None  # even the rarest columns meet in some row
    stacked = sp.vstack([rows.top.matrix, rows.bottom.matrix], format="csr")
    columns = SparseRows(sp.csr_array(stacked.T))
    chosen = np.zeros(t, dtype=np.bool_)
    used = np.zeros(rows.shape[0], dtype=np.bool_)
    _choose(columns.compiled(), np.argsort(counts, kind="stable"), used, chosen)
    count = int(chosen.sum())
    if count < SHARE * t or (t + 1 - count) * count > LARGEST_CROSS:
        return None
    index, rest = np.flatnonzero(chosen), np.flatnonzero(~chosen)
    own, others = rows.columns(index), rows.columns(rest)
    bare = type(rows)(own.top, own.bottom, np.zeros_like(own.constants), False)
    return Apart(index, np.append(rest, t) if rows.intercept else rest, bare, others)
