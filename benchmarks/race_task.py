"""One problem of a race as plain data, and the only judge of all solvers' answers: float64 NumPy.

minimise  l2/2 ||x||^2 + l1 ||x||_1 + 1/n sum_i loss(a_i.x + b, y_i)   s.t.  low <= J x <= high,  x >= lower
"""

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

Array = np.ndarray

#: Losses whose targets are labels -1 and +1.
CLASSIFICATION = {"hinge", "squared_hinge", "logistic"}


@dataclasses.dataclass(frozen=True, eq=False)
class Task:
    """`parameter` is the loss's own number: a quantile, Huber's delta, or epsilon. X may be None (n = 0)."""

    X: Any
    y: Array
    loss: str
    l2: float
    parameter: float = 0.0
    l1: float = 0.0
    intercept: bool = False
    lower: float = -np.inf
    J: Any = None  # dense or sparse, (rows, n_features)
    low: Array | None = None
    high: Array | None = None

    @property
    def n(self) -> int:
        return 0 if self.X is None else self.X.shape[0]

    @property
    def t(self) -> int:
        return (self.J if self.X is None else self.X).shape[1]

    @property
    def sparse(self) -> bool:
        return sp.issparse(self.X)

    @property
    def plain(self) -> bool:
        """Neither constraints, nor a box, nor an intercept: what most peers can do."""
        return self.J is None and self.lower == -np.inf and not self.intercept

    @property
    def C(self) -> float:
        """The weight of the summed losses where 1/2 ||x||^2 has weight 1."""
        return 1.0 / (self.l2 * self.n)

    @property
    def bytes(self) -> int:
        """Size of the data."""
        return sum(_bytes(m) for m in (self.X, self.J) if m is not None) + self.y.nbytes


def _bytes(matrix: Any) -> int:
    if sp.issparse(matrix):
        return matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    return matrix.nbytes


class Verdict(NamedTuple):
    """objective: charged for violations at the reference's multipliers; violation: the largest, scaled."""

    objective: float
    violation: float


def judge(
    task: Task, x: Array, intercept: float = 0.0, prices: Array | None = None, with_l2: bool = True
) -> Verdict:
    """The value of a point, whoever found it.

    x is clipped to the box first (by how much counts as violation). A violated row costs |multiplier| times
    its violation: with optimal multipliers that is an exact penalty, so no point is valued below the optimum.
    """
    x = np.asarray(x, dtype=np.float64).ravel()
    if x.shape != (task.t,) or not np.isfinite(x).all() or not np.isfinite(intercept):
        return Verdict(np.inf, np.inf)
    inside = np.maximum(x, task.lower)
    scale = max(1.0, float(np.max(np.abs(x), initial=0.0)))
    violation = float(np.max(inside - x, initial=0.0)) / scale
    value = task.l1 * float(np.abs(inside).sum())
    if with_l2:
        value += 0.5 * task.l2 * float(inside @ inside)
    if task.n:
        margins = np.asarray(task.X @ inside).ravel() + intercept
        value += float(np.mean(losses(task.loss, task.parameter, margins, task.y)))
    if task.J is not None:
        activity = np.asarray(task.J @ inside).ravel()
        outside = np.maximum(np.maximum(task.low - activity, activity - task.high), 0.0)
        bound = np.where(activity > task.high, task.high, task.low)
        size = np.maximum(np.where(outside > 0, np.abs(bound), 0.0), 1.0)
        violation = max(violation, float(np.max(outside / size)))
        if prices is not None:
            value += float(np.abs(prices) @ outside)
    return Verdict(value, violation)


def losses(name: str, parameter: float, m: Array, y: Array) -> Array:
    """loss(m_i, y_i)"""
    r = m - y
    if name == "hinge":
        return np.maximum(1.0 - y * m, 0.0)
    if name == "squared_hinge":
        return np.maximum(1.0 - y * m, 0.0) ** 2
    if name == "logistic":
        return np.logaddexp(0.0, -y * m)
    if name == "absolute":
        return np.abs(r)
    if name == "pinball":
        return np.maximum(-parameter * r, (1.0 - parameter) * r)
    if name == "squared":
        return 0.5 * r**2
    if name == "huber":
        size = np.abs(r)
        return np.where(size <= parameter, 0.5 * r**2, parameter * (size - 0.5 * parameter))
    if name == "epsilon_insensitive":
        return np.maximum(np.abs(r) - parameter, 0.0)
    raise ValueError(f"loss: the judge does not know {name!r}")


def zerogap_problem(task: Task) -> Any:
    """The task as a library problem."""
    import zerogap as zg

    parameterised = {
        "pinball": zg.losses.Pinball,
        "huber": zg.losses.Huber,
        "epsilon_insensitive": zg.losses.EpsilonInsensitive,
    }
    loss = parameterised[task.loss](task.parameter) if task.loss in parameterised else task.loss
    simple = task.l1 == 0.0 and task.lower == -np.inf
    penalty = zg.L2(task.l2) if simple else zg.ElasticNet(task.l2, task.l1, lower=task.lower)
    rows = [] if task.J is None else [zg.Between(task.J, task.low, task.high)]
    if task.X is None:
        return zg.Problem(None, None, regularizer=penalty, constraints=rows)
    return zg.Problem(
        task.X, task.y, loss=loss, regularizer=penalty, constraints=rows, fit_intercept=task.intercept
    )
