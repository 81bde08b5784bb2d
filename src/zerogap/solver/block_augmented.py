"""The augmented Lagrangian of blocks: `augmented` for rows with K outputs.

A data block's prox has the derivative diag(g) - g g^T / sum(g), so its second derivative is given by
q = w sigma g alone: diag(q) - q q^T / sum(q). A constraint row's is diag(q).
"""

import numpy as np

from zerogap._jit import inline, kernel
from zerogap.problem import block_registry as losses
from zerogap.problem.block_terms import BlockTerms
from zerogap.problem.terms import range_prox

Array = np.ndarray


def _outputs(terms: BlockTerms, flat: Array) -> tuple[int, int]:
    rows = terms.weight.size
    return rows, flat.size // rows


def forces(terms: BlockTerms, m: Array, u: Array, sigma: Array, out: Array) -> None:
    """out = u_new at the margins m."""
    shape = _outputs(terms, m)
    V = np.where(np.isinf(sigma), m, u + np.where(np.isinf(sigma), 0.0, sigma) * m).reshape(shape)
    _forces(terms, V, sigma.reshape(shape), out.reshape(shape))


def stiffness(terms: BlockTerms, m: Array, u: Array, sigma: Array, out: Array) -> None:
    """out = the q of every block at the margins m."""
    shape = _outputs(terms, m)
    moved = np.empty(m.size)
    forces(terms, m, u, sigma, moved)
    _spreads(terms, moved.reshape(shape), sigma.reshape(shape), out.reshape(shape))


def pull_along(terms: BlockTerms, m: Array, direction: Array, step: float, u: Array, sigma: Array) -> float:
    """sum_i w_i u_new_i . direction_i at the margins m + step direction."""
    moved = np.empty(m.size)
    forces(terms, m + step * direction, u, sigma, moved)
    shape = _outputs(terms, m)
    return float(terms.weight @ np.einsum("ik,ik->i", moved.reshape(shape), direction.reshape(shape)))


def row_gaps(terms: BlockTerms, m: Array, u: Array) -> float:
    """sum_i w_i (phi(m_i) + phi*(u_i) - u_i . m_i) over the data rows: their share of the duality gap."""
    shape = _outputs(terms, m)
    return _row_gaps(terms, m.reshape(shape), u.reshape(shape))


@kernel
def _forces(terms, V, sigma, out):
    n = terms.y.size
    for i in range(n):
        if sigma[i, 0] == np.inf:
            losses.gradient(terms.loss, V, i, terms.y[i], out, i)
        else:
            losses.prox(terms.loss, V, i, sigma[i, 0], terms.y[i], out, i)
    for i in range(n, V.shape[0]):
        for k in range(V.shape[1]):
            out[i, k] = range_prox(V[i, k], sigma[i, k], terms.low[i - n], terms.high[i - n])


@inline
def _data_spread(terms, U, i, tau, out):
    scale = terms.weight[i] * (tau if tau > 0.0 else 1.0)
    count = 0
    for k in range(U.shape[1]):
        p = U[i, k] + (1.0 if k == terms.y[i] else 0.0)
        out[i, k] = scale * losses.spread(terms.loss, p, tau)
        count += out[i, k] > 0.0
    if count < 2:  # a vertex: nothing moves
        for k in range(U.shape[1]):
            out[i, k] = 0.0


@kernel
def _spreads(terms, U, sigma, out):
    n = terms.y.size
    for i in range(n):
        _data_spread(terms, U, i, 0.0 if sigma[i, 0] == np.inf else sigma[i, 0], out)
    for i in range(n, U.shape[0]):
        pinned = terms.low[i - n] == terms.high[i - n]
        for k in range(U.shape[1]):
            out[i, k] = terms.weight[i] * sigma[i, k] if pinned or U[i, k] != 0.0 else 0.0


@kernel
def _row_gaps(terms, M, U):
    total = 0.0
    for i in range(terms.y.size):
        gap = losses.value(terms.loss, M, i, terms.y[i]) + losses.conjugate(terms.loss, U, i, terms.y[i])
        for k in range(U.shape[1]):
            gap -= U[i, k] * M[i, k]
        if terms.weight[i] > 0.0:
            total += terms.weight[i] * max(gap, 0.0)
    return total
