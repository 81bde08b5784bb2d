"""The two losses over K classes. What their functions mean is written in `block_registry`."""

import math
from typing import NamedTuple

from zerogap._jit import inline
from zerogap.problem.block_registry import close_block, project_block, register


class CrammerSinger(NamedTuple):
    """max_k (m_k + [k != y]) - m_y. Dual domain: u + e_y in the simplex, phi*(u) = u_y."""


class Multinomial(NamedTuple):
    """log(sum_k exp(m_k)) - m_y. Dual domain: p = u + e_y in the simplex, phi*(u) = sum_k p_k log p_k."""


@inline
def _crammer_singer_value(loss, M, i, y):
    best = M[i, y]
    for k in range(M.shape[1]):
        if k != y:
            best = max(best, M[i, k] + 1.0)
    return best - M[i, y]


@inline
def _crammer_singer_prox(loss, V, i, tau, y, out, o):
    # the linear phi* moves the point that is projected: v - tau e_y
    for k in range(out.shape[1]):
        out[o, k] = V[i, k]
    out[o, y] -= tau
    project_block(out, o, y)


@inline
def _crammer_singer_rests(loss, V, i, tau, y, width):
    first, second = -math.inf, -math.inf
    for k in range(V.shape[1]):
        a = V[i, k] + (1.0 - tau if k == y else 0.0)
        if a > first:
            first, second = a, first
        elif a > second:
            second = a
    return first - second >= 1.0 + 2.0 * tau * width


register(
    CrammerSinger,
    name="crammer_singer",
    value=_crammer_singer_value,
    conjugate=lambda loss, U, i, y: U[i, y],
    prox=_crammer_singer_prox,
    spread=lambda loss, p, tau: 1.0 if p > 0.0 and tau > 0.0 else 0.0,
    rests=_crammer_singer_rests,
)


@inline
def _largest(M, i):
    best = M[i, 0]
    for k in range(1, M.shape[1]):
        best = max(best, M[i, k])
    return best


@inline
def _multinomial_value(loss, M, i, y):
    # log(1 + sum_{k != y} exp(m_k - m_y)), by the largest exponent
    top, others = _largest(M, i), 0.0
    for k in range(M.shape[1]):
        if k != y:
            others += math.exp(M[i, k] - top)
    if top == M[i, y]:
        return math.log1p(others)
    return top - M[i, y] + math.log(others + math.exp(M[i, y] - top))


@inline
def _multinomial_gradient(loss, M, i, y, out, o):
    top, total = _largest(M, i), 0.0
    for k in range(M.shape[1]):
        out[o, k] = math.exp(M[i, k] - top)
        total += out[o, k]
    for k in range(M.shape[1]):
        out[o, k] /= total
    close_block(out, o, y)


@inline
def _multinomial_conjugate(loss, U, i, y):
    total = 0.0
    for k in range(U.shape[1]):
        if k == y:
            if U[i, k] > -1.0:
                total += (1.0 + U[i, k]) * math.log1p(U[i, k])
        elif U[i, k] > 0.0:
            total += U[i, k] * math.log(U[i, k])
    return total


@inline
def _log_share(c, tau):
    """log p for the p in (0, 1] with p + tau log p = c <= 1."""
    # exp(t) + tau t = c is convex and increasing in t: from the right, Newton steps only go left
    t = math.log(c) if c > tau else c / tau
    for _ in range(100):
        e = math.exp(t)
        step = (e + tau * t - c) / (e + tau)
        t = min(t - step, 0.0)
        if abs(step) <= 1e-15 * (1.0 + abs(t)):
            break
    return t


@inline
def _multinomial_prox(loss, V, i, tau, y, out, o):
    # p_k + tau log p_k = a_k - level with a = v + e_y; sum_k p_k falls and is convex in the level,
    # so that Newton steps from where the largest p_k is one only go up
    outputs = out.shape[1]
    largest = -math.inf
    for k in range(outputs):
        largest = max(largest, V[i, k] + (1.0 if k == y else 0.0))
    level = largest - 1.0
    for _ in range(100):
        total, fall = 0.0, 0.0
        for k in range(outputs):
            a = V[i, k] + (1.0 if k == y else 0.0)
            p = math.exp(_log_share(min(a - level, 1.0), tau))
            out[o, k] = p
            total += p
            fall += p / (p + tau)
        step = (total - 1.0) / fall
        if step <= 1e-15 * (1.0 + abs(level)):
            break
        level += step
    for k in range(outputs):
        out[o, k] /= total
    close_block(out, o, y)


register(
    Multinomial,
    name="multinomial",
    value=_multinomial_value,
    conjugate=_multinomial_conjugate,
    prox=_multinomial_prox,
    spread=lambda loss, p, tau: p / (p + tau) if tau > 0.0 else p,
    gradient=_multinomial_gradient,
    smoothness=2.0,  # diag(p) - p p^T <= I / 2
)
