"""Every row's scalar function, for compiled code: losses on data rows, ranges on constraint rows.

    data row        phi_i(m) = loss(m, y_i)                      phi_i*(u) per loss
    constraint row  phi_i(m) = 0 if low <= m <= high else inf    phi_i*(u) = high max(u,0) + low min(u,0)

An equality is a range with low = high. Nothing above this module knows which family a row is from.
"""

from typing import Any, NamedTuple

import numpy as np

from zerogap._jit import inline, kernel, verb
from zerogap.problem import loss_registry as losses

Array = np.ndarray


class Terms(NamedTuple):
    """One scalar function and one weight for each row."""

    loss: Any
    y: Array  # targets of the data rows
    weight: Array  # all rows
    low: Array  # constraint rows
    high: Array
    salt: Any  # see _jit.fingerprint


@inline
def range_prox(v, tau, low, high):
    if v > tau * high:
        return v - tau * high
    if v < tau * low:
        return v - tau * low
    return 0.0


@inline
def _range_conjugate(u, low, high):
    if u > 0.0:
        return high * u
    if u < 0.0:
        return low * u
    return 0.0


@verb
def prox_row(terms, i, v, tau):
    """argmin_u tau phi_i*(u) + (u - v)^2 / 2"""


@prox_row.on(Terms)
def _(terms, i, v, tau):
    n = terms.y.size
    if i < n:
        return losses.prox(terms.loss, v, tau, terms.y[i])
    return range_prox(v, tau, terms.low[i - n], terms.high[i - n])


@kernel
def loss_sum(terms, m):
    """sum_i w_i phi_i(m_i) over the data rows."""
    total = 0.0
    for i in range(terms.y.size):
        total += terms.weight[i] * losses.value(terms.loss, m[i], terms.y[i])
    return total


@kernel
def conjugates(terms, u, out):
    """out_i = phi_i*(u_i), inf outside the domain."""
    n = terms.y.size
    for i in range(n):
        low, high = losses.domain(terms.loss, terms.y[i])
        inside = low <= u[i] <= high
        out[i] = losses.conjugate(terms.loss, u[i], terms.y[i]) if inside else np.inf
    for i in range(n, u.size):
        out[i] = _range_conjugate(u[i], terms.low[i - n], terms.high[i - n])


@kernel
def conjugate_sum(terms, u):
    """sum_i w_i phi_i*(u_i) over the rows of positive weight, inf outside the domain."""
    n = terms.y.size
    total = 0.0
    for i in range(n):
        if terms.weight[i] > 0.0:
            low, high = losses.domain(terms.loss, terms.y[i])
            if not low <= u[i] <= high:
                return np.inf
            total += terms.weight[i] * losses.conjugate(terms.loss, u[i], terms.y[i])
    for i in range(n, u.size):
        total += terms.weight[i] * _range_conjugate(u[i], terms.low[i - n], terms.high[i - n])
    return total


@kernel
def domains(terms, low, high):
    """The dual domain of every row."""
    n = terms.y.size
    for i in range(n):
        low[i], high[i] = losses.domain(terms.loss, terms.y[i])
    for i in range(n, low.size):
        low[i] = 0.0 if terms.low[i - n] == -np.inf else -np.inf
        high[i] = 0.0 if terms.high[i - n] == np.inf else np.inf


@kernel
def project(terms, u):
    """Clip u to the dual domain, in place."""
    n = terms.y.size
    for i in range(n):
        low, high = losses.domain(terms.loss, terms.y[i])
        u[i] = min(max(u[i], low), high)
    for i in range(n, u.size):
        if terms.low[i - n] == -np.inf:
            u[i] = max(u[i], 0.0)
        if terms.high[i - n] == np.inf:
            u[i] = min(u[i], 0.0)


@kernel
def prox_map(terms, v, tau, out, slopes):
    """out_i = prox of tau_i phi_i* at v_i, and its derivative in v_i."""
    n = terms.y.size
    for i in range(n):
        out[i] = losses.prox(terms.loss, v[i], tau[i], terms.y[i])
        slopes[i] = losses.slope(terms.loss, v[i], tau[i], terms.y[i])
    for i in range(n, v.size):
        low, high = terms.low[i - n], terms.high[i - n]
        out[i] = range_prox(v[i], tau[i], low, high)
        slopes[i] = 1.0 if low == high or out[i] != 0.0 else 0.0
