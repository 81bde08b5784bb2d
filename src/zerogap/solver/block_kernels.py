"""Dual coordinate ascent over blocks of K coordinates, one compiled loop."""

from typing import NamedTuple

import numpy as np

from zerogap._jit import kernel, verb
from zerogap.data.rows import Dense, Sparse, Stacked, column, entry, span
from zerogap.problem.block_registry import rests
from zerogap.problem.block_terms import prox_block
from zerogap.problem.regularizers import minimiser

Array = np.ndarray


class BlockView(NamedTuple):
    """s with a row per feature and the intercepts' last, and what a step works in."""

    s: Array
    scale: float  # b = center - scale s_b: the intercepts under their outer proximal step
    center: Array
    margin: Array  # scratch, (2, K): the point that the prox is taken of, and its image


@verb
def margins(rows, i, f, view):
    """Row 0 of view.margin = r_i . x*(u), for every output"""


@margins.on(Dense, Sparse)
def _(rows, i, f, view):
    K = view.margin.shape[1]
    for k in range(K):
        view.margin[0, k] = 0.0
    first, stop = span(rows, i)
    for p in range(first, stop):
        j, a = column(rows, p, first), entry(rows, p)
        for k in range(K):
            view.margin[0, k] += a * minimiser(f, j * np.uint64(K) + np.uint64(k), view.s[j, k])


@margins.on(Stacked)
def _(rows, i, f, view):
    if i < rows.n_top:
        margins(rows.top, i, f, view)
        constant = rows.constant
    else:
        margins(rows.bottom, i - rows.n_top, f, view)
        constant = rows.constants[i - rows.n_top]
    if constant != 0.0:
        last = view.s.shape[0] - 1
        for k in range(view.margin.shape[1]):
            view.margin[0, k] += constant * (view.center[k] - view.scale * view.s[last, k])


@verb
def add_block(rows, i, view):
    """s += r_i times row 1 of view.margin"""


@add_block.on(Dense, Sparse)
def _(rows, i, view):
    first, stop = span(rows, i)
    for p in range(first, stop):
        j, a = column(rows, p, first), entry(rows, p)
        for k in range(view.margin.shape[1]):
            view.s[j, k] += a * view.margin[1, k]


@add_block.on(Stacked)
def _(rows, i, view):
    if i < rows.n_top:
        add_block(rows.top, i, view)
        constant = rows.constant
    else:
        add_block(rows.bottom, i - rows.n_top, view)
        constant = rows.constants[i - rows.n_top]
    if constant != 0.0:
        for k in range(view.margin.shape[1]):
            view.s[view.s.shape[0] - 1, k] += constant * view.margin[1, k]


@kernel
def block_epoch(order, rows, terms, f, U, view, tau, width):
    """Dual block coordinate ascent: u_i = prox_{tau phi_i*}(u_i + tau X^T r_i), s = S u.

    tau_i = w_i / L_i, with L_i = w_i^2 sum_j r_ij^2 / mu_j the same for all outputs. A block at a vertex that
    it would not leave if all its margins were `width` off is dropped, as in `kernels.sdca_epoch`; returns how
    many are kept, and the largest move in units of a margin.
    """
    kept, largest, K = 0, 0.0, U.shape[1]
    for c in range(order.size):
        i = order[c]
        step = tau[i]
        margins(rows, i, f, view)
        for k in range(K):
            view.margin[0, k] = U[i, k] + step * view.margin[0, k]
        prox_block(terms, i, view.margin, 0, step, view.margin, 1)
        change = 0.0
        for k in range(K):
            u_new = view.margin[1, k]
            view.margin[1, k] = terms.weight[i] * (u_new - U[i, k])
            change = max(change, abs(u_new - U[i, k]))
            U[i, k] = u_new
        if change != 0.0:
            add_block(rows, i, view)
            largest = max(largest, change / step)
        elif (
            width < np.inf and i < terms.y.size and rests(terms.loss, view.margin, 0, step, terms.y[i], width)
        ):
            continue
        order[kept] = i
        kept += 1
    return kept, largest
