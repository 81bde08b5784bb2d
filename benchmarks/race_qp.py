"""Tasks as quadratic programs, hand-written, for PIQP, Clarabel, OSQP, SCS and DAQP.

    minimise  1/2 z'Pz + c'z   s.t.  A z = b,  h_low <= G z <= h_high,  z_low <= z <= z_high

Everything is multiplied by n, so that slacks cost 1 and not 1/n. An l1 term splits x into x+ - x-.
"""

import dataclasses
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.race_task import Task

Array = np.ndarray
INF = np.inf
EQUAL = {"absolute", "pinball", "huber", "squared", "epsilon_insensitive"}
HINGES = {"hinge", "squared_hinge"}


@dataclasses.dataclass(frozen=True, eq=False)
class Program:
    """z = (x+, x-) or (x), then the intercept if any, then slacks."""

    P: Any
    c: Array
    A: Any
    b: Array
    G: Any
    h_low: Array
    h_high: Array
    z_low: Array
    z_high: Array
    t: int
    split: bool
    intercept: bool

    def point(self, z: Array) -> tuple[Array, float]:
        """x and the intercept."""
        z = np.asarray(z, dtype=np.float64)
        t = self.t
        x = z[:t] - z[t : 2 * t] if self.split else z[:t]
        at = 2 * t if self.split else t
        return x, float(z[at]) if self.intercept else 0.0


def program(task: Task, gram: bool = False) -> Program:
    """The form with slacks; or, for the squared loss, the one on X'X."""
    t, n, split = task.t, task.n, _splits(task)
    scale = max(n, 1)
    copies = 2 if split else 1
    free = int(task.intercept)
    lead = copies * t + free
    diagonal = np.append(np.full(copies * t, scale * task.l2), np.zeros(free))
    cost = np.append(np.full(copies * t, scale * task.l1), np.zeros(free))
    low = np.full(lead, -INF)
    low[: copies * t] = 0.0 if split else task.lower
    J = None if task.J is None else _wide(task.J, split, task.intercept, 0.0)
    if n == 0 or gram:
        P, c = sp.diags_array(diagonal).tocsc(), cost
        if gram:
            M = task.X.toarray() if task.sparse else task.X
            P = sp.csc_array(M.T @ M + np.diag(diagonal))
            c = cost - M.T @ task.y
        empty = sp.csc_array((0, lead))
        return _finish(task, P, c, empty, np.zeros(0), empty, np.zeros(0), J, low)
    M = _wide(task.X, split, task.intercept, 1.0)
    slack = _slacks(task, M)
    P = sp.diags_array(np.append(diagonal, slack.curvature)).tocsc()
    rows = sp.hstack([slack.rows, slack.parts]).tocsc()
    low = np.append(low, slack.low)
    width = rows.shape[1]
    none = sp.csc_array((0, width))
    c = np.append(cost, slack.cost)
    if task.loss in HINGES:
        return _finish(task, P, c, none, np.zeros(0), rows, np.ones(n), J, low)
    return _finish(task, P, c, rows, task.y, none, np.zeros(0), J, low)


def _splits(task: Task) -> bool:
    """|x| is linear where x >= 0."""
    return task.l1 > 0 and task.lower < 0


def _wide(matrix: Any, split: bool, intercept: bool, constant: float) -> Any:
    """The rows over (x+, x-, b)."""
    M = sp.csc_array(matrix)
    blocks = [M, -M] if split else [M]
    if intercept:
        blocks.append(sp.csc_array(np.full((M.shape[0], 1), constant)))
    return sp.hstack(blocks).tocsc()


@dataclasses.dataclass(frozen=True, eq=False)
class _Slacks:
    rows: Any
    parts: Any
    cost: Array
    curvature: Array
    low: Array


def _slacks(task: Task, M: Any) -> _Slacks:
    """What each loss adds. Regression: m + p - q (+ z) = y with p, q >= 0 and z free."""
    n, one = task.n, sp.eye_array(task.n)
    zeros, ones, free = np.zeros(n), np.ones(n), np.full(n, -INF)
    if task.loss in HINGES:
        rows = sp.diags_array(task.y) @ M
        square = task.loss == "squared_hinge"
        return _Slacks(rows, one, zeros if square else ones, 2 * ones if square else zeros, zeros)
    if task.loss == "squared":
        return _Slacks(M, one, zeros, ones, free)
    pair = sp.hstack([one, -one])
    nothing = np.zeros(2 * n)
    if task.loss in ("absolute", "pinball"):
        q = 0.5 if task.loss == "absolute" else task.parameter
        factor = 2.0 if task.loss == "absolute" else 1.0
        cost = factor * np.concatenate([q * ones, (1 - q) * ones])
        return _Slacks(M, pair, cost, nothing, nothing)
    d = task.parameter
    triple = sp.hstack([pair, one])
    if task.loss == "huber":
        cost = np.concatenate([d * ones, d * ones, zeros])
        curvature = np.concatenate([nothing, ones])
        return _Slacks(M, triple, cost, curvature, np.concatenate([nothing, free]))
    cost = np.concatenate([ones, ones, zeros])  # epsilon-insensitive: z in [-d, d]
    return _Slacks(M, triple, cost, np.zeros(3 * n), np.concatenate([nothing, np.full(n, -d)]))


def _finish(
    task: Task, P: Any, c: Array, A: Any, b: Array, G: Any, h_low: Array, J: Any, low: Array
) -> Program:
    """Add the constraint rows (equalities to A), and the upper bounds."""
    width, n = c.size, task.n
    high = np.full(width, INF)
    if task.loss == "epsilon_insensitive" and width > task.t + n:
        high[-n:] = task.parameter
    h_high = np.full(h_low.size, INF)
    if J is not None:
        J = sp.hstack([J, sp.csc_array((J.shape[0], width - J.shape[1]))]).tocsr()
        equal = task.low == task.high
        A = sp.vstack([A, J[equal]]).tocsc()
        b = np.append(b, task.low[equal])
        G = sp.vstack([G, J[~equal]]).tocsc()
        h_low = np.append(h_low, task.low[~equal])
        h_high = np.append(h_high, task.high[~equal])
    return Program(
        sp.csc_matrix(P), c, sp.csc_matrix(A), b, sp.csc_matrix(G), h_low, h_high,
        low, high, task.t, _splits(task), task.intercept,
    )  # fmt: skip


def stacked(qp: Program) -> tuple[Any, Array, Array]:
    """All rows in one matrix, l <= M z <= u (equalities, inequalities, bounds)."""
    bounded = np.isfinite(qp.z_low) | np.isfinite(qp.z_high)
    eye = sp.eye_array(qp.c.size, format="csr")[bounded]
    M = sp.vstack([qp.A, qp.G, eye]).tocsc()
    l = np.concatenate([qp.b, qp.h_low, qp.z_low[bounded]])  # noqa: E741
    u = np.concatenate([qp.b, qp.h_high, qp.z_high[bounded]])
    return M, l, u


def conic(qp: Program) -> tuple[Any, Array, int]:
    """M z + s = r with s = 0 in the first `equal` rows and s >= 0 in the others."""
    M, l, u = stacked(qp)  # noqa: E741
    equal = qp.b.size
    M = M.tocsr()
    upper, lower = np.flatnonzero(np.isfinite(u)), np.flatnonzero(np.isfinite(l))
    upper, lower = upper[upper >= equal], lower[lower >= equal]
    rows = sp.vstack([M[:equal], M[upper], -M[lower]]).tocsc()
    return sp.csc_matrix(rows), np.concatenate([qp.b, u[upper], -l[lower]]), equal
