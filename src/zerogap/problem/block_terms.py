"""Every block's function, for compiled code: a loss over K outputs, or a range on each output.

Matrices have a row per data row and then per constraint row, and a column per output.
"""

from typing import Any, NamedTuple

import numpy as np

from zerogap._jit import inline, kernel
from zerogap.problem import block_registry as losses
from zerogap.problem.terms import range_prox

Array = np.ndarray


class BlockTerms(NamedTuple):
    """One function and one weight for each row, shared by its outputs where it is a range."""

    loss: Any
    y: Array  # class numbers of the data rows
    weight: Array  # all rows
    low: Array  # constraint rows
    high: Array
    salt: Any  # see _jit.fingerprint


@inline
def in_domain(U, i, y):
    """Is row i of U, up to rounding, a difference of a point of the simplex and e_y?"""
    total = 0.0
    for k in range(U.shape[1]):
        total += U[i, k]
        if U[i, k] < (-1.0 if k == y else 0.0):
            return False
    return abs(total) <= losses.BLOCK_ROUNDING * U.shape[1]


@kernel
def loss_values(terms, M, out):
    """out_i = phi_i(m_i) on the data rows."""
    for i in range(terms.y.size):
        out[i] = losses.value(terms.loss, M, i, terms.y[i])


@kernel
def conjugate_sum(terms, U):
    """sum_i w_i phi_i*(u_i) over the rows of positive weight, inf outside the domain."""
    n = terms.y.size
    total = 0.0
    for i in range(n):
        if terms.weight[i] > 0.0:
            if not in_domain(U, i, terms.y[i]):
                return np.inf
            total += terms.weight[i] * losses.conjugate(terms.loss, U, i, terms.y[i])
    for i in range(n, U.shape[0]):
        for k in range(U.shape[1]):
            if U[i, k] != 0.0:
                side = terms.high[i - n] if U[i, k] > 0.0 else terms.low[i - n]
                total += terms.weight[i] * U[i, k] * side
    return total


@kernel
def project(terms, U):
    """Move U to the nearest point of the dual domain, in place."""
    n = terms.y.size
    for i in range(n):
        if not in_domain(U, i, terms.y[i]):
            losses.project_block(U, i, terms.y[i])
    for i in range(n, U.shape[0]):
        for k in range(U.shape[1]):
            if terms.low[i - n] == -np.inf:
                U[i, k] = max(U[i, k], 0.0)
            if terms.high[i - n] == np.inf:
                U[i, k] = min(U[i, k], 0.0)


@inline
def prox_block(terms, i, V, v, tau, out, o):
    """Row o of out = the prox of tau phi_i* at row v of V."""
    n = terms.y.size
    if i < n:
        losses.prox(terms.loss, V, v, tau, terms.y[i], out, o)
        return
    for k in range(out.shape[1]):
        out[o, k] = range_prox(V[v, k], tau, terms.low[i - n], terms.high[i - n])
