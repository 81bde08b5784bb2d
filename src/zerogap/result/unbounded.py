"""Objectives without a lower bound: a direction that anyone can check.

From any feasible x, the objective falls without end along d (with its intercept, if any) when d_j = 0
wherever mu_j > 0, d stays in the box and in every range for ever, and its slope there is negative:

    sum_j (q_j d_j + l1_j |d_j|) + sum_i w_i sup_{u in dom phi_i*} u (r_i.d)  <  0
"""

import dataclasses
import warnings
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from zerogap.problem import terms as row_terms
from zerogap.problem.problem import Problem

Array = np.ndarray

#: The slope must be negative by this share of its terms.
MARGIN = 1e-7
#: Movements of a row, or of a bounded feature, up to this multiple of their terms count as none.
_ROUNDING = 1e-9


@dataclasses.dataclass(frozen=True, eq=False)
class Ray:
    """A direction along which the objective has no lower bound."""

    problem: Problem
    direction: Array

    def slope(self) -> float:
        """The objective's change per unit step far along the ray, relative to its terms; inf: no ray."""
        problem, d = self.problem, self.direction
        t = problem.n_features
        penalty: Any = problem.penalty
        features = d[:t]
        size = float(np.abs(d).max(initial=0.0))
        if not size or not np.isfinite(size):
            return np.inf
        lower, upper, mu = (np.zeros(t) + p for p in (penalty.lower, penalty.upper, penalty.mu))
        still = _ROUNDING * size
        bent = (mu > 0) | (np.isfinite(lower) & np.isfinite(upper))
        if (np.abs(features[bent]) > still).any():
            return np.inf
        if (features[np.isfinite(lower)] < -still).any() or (features[np.isfinite(upper)] > still).any():
            return np.inf
        low, high = np.empty(problem.n_rows), np.empty(problem.n_rows)
        row_terms.domains(problem.terms, low, high)
        moves = problem.rows.dot(d)
        terms = problem.rows.dot(np.zeros(d.size)) + _absolute(problem) @ np.abs(d)
        moves[np.abs(moves) <= _ROUNDING * terms] = 0.0
        moves[problem.weight == 0] = 0.0
        with np.errstate(invalid="ignore"):
            steep = np.where(moves == 0.0, 0.0, np.where(moves > 0, high * moves, low * moves))
        parts = [
            penalty.linear * features + np.zeros(t),
            penalty.l1 * np.abs(features),
            problem.weight * steep,
        ]
        total = float(sum(part.sum() for part in parts))
        scale = float(sum(np.abs(part).sum() for part in parts))
        return total / scale if np.isfinite(scale) and scale > 0 else np.inf

    def verify(self) -> bool:
        """Recompute the slope from the problem's data."""
        return bool(self.slope() < -MARGIN)

    def __str__(self) -> str:
        moving = np.flatnonzero(np.abs(self.direction) > _ROUNDING * np.abs(self.direction).max())
        named = ", ".join(f"x[{j}] by {self.direction[j]:.3g}" for j in moving[:6])
        more = f" and {moving.size - 6} more" if moving.size > 6 else ""
        return f"moving {named}{more} lowers it for ever"


def _absolute(problem: Problem) -> Any:
    """|R| with the intercept's column."""
    return abs(_matrix(problem))


def _matrix(problem: Problem) -> Any:
    top, bottom = sp.csr_array(problem.rows.top.matrix), sp.csr_array(problem.rows.bottom.matrix)
    matrix = sp.vstack([top, bottom], format="csr")
    if problem.fit_intercept:
        constants = np.append(np.ones(problem.n_samples), problem.rows.constants)
        matrix = sp.hstack([matrix, sp.csr_array(constants[:, None])], format="csr")
    return sp.csr_array(matrix)


def prove_unbounded(problem: Problem) -> Ray | None:
    """A ray, or None where the objective has a lower bound (or the linear program fails).

    Only a linear term can go below zero without end, along features without curvature.
    """
    penalty: Any = problem.penalty
    if not problem.flat.features.size or not np.any(penalty.linear):
        return None
    t = problem.n_features
    full = np.zeros(t)
    lower, upper, mu = (p + full for p in (penalty.lower, penalty.upper, penalty.mu))
    free = (mu == 0) & ~(np.isfinite(lower) & np.isfinite(upper))
    most, least = np.where(free & (upper == np.inf), 1.0, 0.0), np.where(free & (lower == -np.inf), -1.0, 0.0)
    if problem.fit_intercept:
        most, least = np.append(most, 1.0), np.append(least, -1.0)
    direction = _steepest(problem, least, most)
    if direction is None:
        return None
    ray = Ray(problem, direction)
    return ray if ray.verify() else None


def _steepest(problem: Problem, least: Array, most: Array) -> Array | None:
    """The direction of least slope in the box [least, most], by a linear program, then made exact."""
    penalty: Any = problem.penalty
    matrix = _matrix(problem)
    low, high = np.empty(problem.n_rows), np.empty(problem.n_rows)
    row_terms.domains(problem.terms, low, high)
    used = problem.weight > 0
    # slope = q.d + l1.p + w.e   with  p >= |d|,  e_i >= high_i m_i, low_i m_i;  m_i <= 0 where high_i = inf
    k, t = least.size, problem.n_features
    kinked = np.flatnonzero(np.zeros(t) + penalty.l1)
    priced = np.flatnonzero(used & ((np.isfinite(low) & (low != 0)) | (np.isfinite(high) & (high != 0))))
    cost = np.concatenate([
        np.zeros(t) + penalty.linear, np.zeros(k - t),
        (np.zeros(t) + penalty.l1)[kinked], problem.weight[priced],
    ])  # fmt: skip
    pick = sp.eye_array(k, format="csr")[kinked]
    e_kinked = sp.eye_array(kinked.size, priced.size + kinked.size, format="csr")
    e_priced = sp.eye_array(priced.size, priced.size + kinked.size, k=kinked.size, format="csr")
    blocks = [sp.hstack([pick, -e_kinked]), sp.hstack([-pick, -e_kinked])]
    for side in (low, high):
        factor = np.where(np.isfinite(side[priced]), side[priced], 0.0)
        blocks.append(sp.hstack([sp.diags_array(factor) @ matrix[priced], -e_priced]))
    up, down = np.flatnonzero(used & (high == np.inf)), np.flatnonzero(used & (low == -np.inf))
    empty = sp.csr_array((up.size + down.size, kinked.size + priced.size))
    blocks.append(sp.hstack([sp.vstack([matrix[up], -matrix[down]]), empty]))
    rows = sp.vstack(blocks, format="csr")
    bounds = [*zip(least, most, strict=True), *([(0.0, None)] * (kinked.size + priced.size))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = scipy.optimize.linprog(
            cost, A_ub=rows, b_ub=np.zeros(rows.shape[0]), bounds=bounds, method="highs"
        )
    if answer.status != 0 or answer.fun >= 0:
        return None
    return _exact(matrix[np.union1d(up, down)], answer.x[:k])


def _exact(matrix: Any, d: Array) -> Array:
    """d moved so that the rows it hardly moves do not move at all; entries at zero stay there."""
    d = np.where(np.abs(d) <= 1e-7 * np.abs(d).max(initial=0.0), 0.0, d)
    moving = np.flatnonzero(d)
    part = matrix[:, moving]
    moves, terms = part @ d[moving], abs(part) @ np.abs(d[moving])
    still = np.flatnonzero((np.abs(moves) <= 1e-6 * terms) & (terms > 0))
    if still.size:
        block = part[still].toarray() / terms[still][:, None] * d[moving]
        d[moving] += d[moving] * np.linalg.lstsq(block, -moves[still] / terms[still], rcond=1e-12)[0]
    return d
