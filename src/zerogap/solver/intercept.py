"""Repair of a dual point onto s_b = sum_i c_i w_i u_i = 0, without which an intercept leaves no bound."""

import numpy as np

from zerogap.problem import terms as row_terms
from zerogap.problem.problem import Problem

Array = np.ndarray


def repair(problem: Problem, u: Array) -> Array:
    """A dual point inside its domain with s_b = 0, near u. Where none is found, u itself.

    Coordinates strictly inside their domain move first: at the optimum they are free to, at second-order
    cost. Only if they do not suffice do all the others follow.
    """
    c = np.ones(problem.n_rows)
    c[problem.n_samples :] = problem.rows.constants
    low, high = np.empty_like(u), np.empty_like(u)
    row_terms.domains(problem.terms, low, high)
    moved = settle(u, c * problem.weight, np.full(u.size, True), 0.0, low, high)
    return u if moved is None else moved


def settle(u: Array, share: Array, movable: Array, aim: float, low: Array, high: Array) -> Array | None:
    """u inside its domain with share.u = aim, moved on `movable` alone; None where that cannot be."""
    movable = movable & (share != 0.0)
    inside = movable & (u > low) & (u < high)
    for rows in (inside, movable):
        moved = _shift(u, np.flatnonzero(rows), share, aim, low, high)
        if moved is not None:
            return moved
    return None


def _shift(u: Array, rows: Array, share: Array, aim: float, low: Array, high: Array) -> Array | None:
    """u + amount * sign(share) on `rows`, clipped, with share.u = aim; Newton with a bracket."""
    if not rows.size:
        return None
    a, d, start = share[rows], np.sign(share[rows]), u[rows]
    bottom, top = low[rows], high[rows]
    rest = float(share @ u) - float(a @ start) - aim

    def at(amount: float) -> tuple[Array, float]:
        moved = np.clip(start + amount * d, bottom, top)
        return moved, float(a @ moved) + rest

    below, above, amount = -np.inf, np.inf, 0.0
    moved, excess = at(amount)
    scale = float(np.abs(share) @ np.abs(u)) + np.finfo(np.float64).tiny
    for _ in range(100):
        if abs(excess) <= 1e-15 * scale:
            break
        if excess > 0:
            above = amount
        else:
            below = amount
        free = (moved > bottom) & (moved < top) if amount else np.full(rows.size, True)
        pace = float(np.abs(a[free]).sum())
        if pace == 0.0:
            return None
        amount -= excess / pace
        if not below < amount < above:
            amount = 0.5 * (below + above)
        moved, excess = at(amount)
    if abs(excess) > 1e-12 * scale:
        return None
    out = u.copy()
    out[rows] = moved
    return _round_off(out, rows, share, aim, low, high)


def _round_off(u: Array, rows: Array, share: Array, aim: float, low: Array, high: Array) -> Array:
    """Push the rounding that is left into one coordinate that has room for it."""
    room = np.minimum(u[rows] - low[rows], high[rows] - u[rows]) * np.abs(share[rows])
    k = rows[int(np.argmax(room))]
    for _ in range(3):
        # the pairwise sum is the one that is judged; a long dot product rounds a hundred times as much
        u[k] -= (float(np.sum(share * u)) - aim) / share[k]
    u[k] = min(max(u[k], low[k]), high[k])
    return u
