"""The frozen problem: primal value, dual value, and the map from one to the other."""

import dataclasses
import functools
import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from zerogap._jit import fingerprint
from zerogap.data.prepare import check_labels, check_matrix, check_vector, check_weights
from zerogap.data.rows import Rows, empty_rows, split_last_column, stack_sparse
from zerogap.data.stacked import StackedRows
from zerogap.exceptions import DataError, ProblemError
from zerogap.problem import loss_registry
from zerogap.problem import terms as row_terms
from zerogap.problem.builders import bind_all, recipes
from zerogap.problem.columns import Columns, feature_names
from zerogap.problem.constraints import Between
from zerogap.problem.regularizers import Penalty

Array = np.ndarray

#: |s_j| of a feature without curvature counts as zero up to the rounding of the sum itself: this multiple of
#: sum_i |w_i u_i r_ij| for a short sum, sqrt(n) / 2 times as much for one of n terms.
SLOPE_ROUNDING = 16 * float(np.finfo(np.float64).eps)


class Flat(NamedTuple):
    """Features without curvature, and the interval of s_j where the conjugate of each is finite."""

    features: Array
    low: Array
    high: Array


@dataclasses.dataclass(frozen=True, eq=False, init=False, repr=False)
class Problem:
    """min_x  f(x) + sum_i w_i loss(a_i.x + b, y_i) / sum_i w_i   s.t.  B x = e,  lower <= J x <= upper

    Parameters
    ----------
    X : array or sparse matrix (n_samples, n_features), or None when there are constraints only.
    y : targets, or labels of two classes (the smaller one becomes -1); of K >= 2 classes for losses over
        all classes at once, whose problems are `BlockProblem`s.
    loss : a name, or an object from `zg.losses`.
    regularizer : `zg.L2(l2)`, `zg.ElasticNet(l2, l1, ...)` or `zg.GroupLasso(l2, group, groups)`.
    constraints : `zg.Equal(B, e)`, `zg.Between(J, lower, upper)`, builders such as `zg.order(["a", "b"])`,
        text such as "a + b = 1", or a sequence of these.
    sample_weight : w_i >= 0, default 1. The data term is always the weighted mean.
    fit_intercept : add b, which nothing penalises.
    feature_names : names of the columns, for constraints that name them. Default: those of a data frame, or
        x0, x1, ...

    The dual has one coordinate u_i per data row and per constraint row. With s(u) = sum_i w_i u_i r_i,

        D(u) = f*(-s(u)) + sum_i w_i phi_i*(u_i)        primal(x) >= -D(u) for every feasible x, every u.

    Examples
    --------
    >>> import numpy as np, zerogap as zg
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([1.0, 2.0, 2.0])
    >>> total = zg.Equal([1.0, 1.0], 2.0)
    >>> problem = zg.Problem(X, y, loss="absolute", regularizer=zg.L2(0.1), constraints=total)
    >>> problem
    Problem(3 x 2, absolute, L2(l2=0.1), 1 constraint rows)
    >>> problem.primal(np.array([1.0, 1.0]))  # 0.1/2 * 2 + (0 + 1 + 0) / 3
    0.43333333333333335
    >>> problem.dual(np.zeros(4))  # u = 0 says that no objective is below zero
    0.0
    """

    rows: Any  # StackedRows, or BlockRows over K outputs
    y: Array
    classes: Array | None
    loss: Any
    penalty: Penalty
    regularizer: Any
    constraints: tuple[Between, ...]
    weight: Array
    low: Array
    high: Array
    constraint_norms: Array

    #: Is the objective known to have a lower bound? Else a solve without one looks for a way down.
    bounded_below: ClassVar[bool] = False
    #: Classes of problems whose losses have several outputs register here.
    of_blocks: ClassVar[type["Problem"]]

    def __new__(cls, X: Any = None, y: Any = None, *, loss: Any = "squared", **_: Any) -> "Problem":
        several = loss_registry.traits(loss_registry.resolve(loss)).outputs
        return object.__new__(cls.of_blocks if several else cls)

    def __init__(
        self,
        X: Any = None,
        y: Any = None,
        *,
        loss: Any = "squared",
        regularizer: Any,
        constraints: Any = (),
        sample_weight: Any = None,
        fit_intercept: bool = False,
        feature_names: Any = None,
    ):
        put = functools.partial(object.__setattr__, self)
        top = _data_rows(X, y, constraints, feature_names)
        n, t = top.shape
        data_weight = check_weights(sample_weight, n) if n else np.zeros(0)
        constraints = bind_all(
            constraints, lambda: _columns(X, top, data_weight, bool(fit_intercept), feature_names)
        )
        put("loss", loss_registry.resolve(loss))
        put("regularizer", regularizer)
        put("penalty", _bind(regularizer, t))
        put("constraints", constraints)
        data_weight = check_weights(sample_weight, n) if n else np.zeros(0)
        targets, classes = self._targets(y, data_weight)
        put("y", targets)
        put("classes", classes)
        blocks, constants = _constraint_blocks(constraints, t, bool(fit_intercept))
        put("low", _joined([c.lower for c in constraints]))
        put("high", _joined([c.upper for c in constraints]))
        put("constraint_norms", _joined([c.norms for c in constraints]))
        put("weight", np.append(data_weight, np.ones(constants.size)))
        put("rows", StackedRows(top, stack_sparse(blocks, t), constants, bool(fit_intercept)))

    def _targets(self, y: Any, weight: Array) -> tuple[Array, Array | None]:
        """Targets or labels as the loss takes them, and the classes behind the labels."""
        if not weight.size:
            return np.zeros(0), None
        about = loss_registry.traits(self.loss)
        if about.classification:
            return check_labels(y, weight.size, about.name)
        return check_vector(y, weight.size, "y"), None

    @property
    def n_samples(self) -> int:
        return self.rows.n_top

    @property
    def n_features(self) -> int:
        return self.rows.top.shape[1]

    @property
    def n_data(self) -> int:
        """Dual coordinates of the data rows: they come first in u and in the margins."""
        return self.rows.n_top

    @property
    def n_rows(self) -> int:
        """All dual coordinates: data rows, then constraint rows (the paper's n-hat)."""
        return self.rows.shape[0]

    @property
    def n_constraints(self) -> int:
        return self.n_rows - self.n_data

    @property
    def fit_intercept(self) -> bool:
        return self.rows.intercept

    def __repr__(self) -> str:
        name = loss_registry.traits(self.loss).name
        parts = [f"{self.n_samples} x {self.n_features}", name, repr(self.regularizer)[:60]]
        if self.n_constraints:
            parts.append(f"{self.n_constraints} constraint rows")
        if self.fit_intercept:
            parts.append("intercept")
        return f"Problem({', '.join(parts)})"

    @property
    def one_output(self) -> "Problem":
        """What the constraints hold for: here the problem itself."""
        return self

    def each_output(self, values: Array) -> list[Array]:
        """A point, or multipliers, for each output by itself."""
        return [values]

    @functools.cached_property
    def terms(self) -> Any:
        """The rows' scalar functions, for compiled code."""
        salt = fingerprint(*loss_registry.traits(self.loss).functions)
        loss = loss_registry.compiled(self.loss)
        return row_terms.Terms(loss, self.y, self.weight, self.low, self.high, salt)

    @functools.cached_property
    def level(self) -> float:
        """Where the search for an intercept starts: a weighted median of the targets, 0 for labels.

        A bounded dual moves an intercept by bounded steps, so a far target would take many.
        """
        if not self.fit_intercept or not self.n_samples or loss_registry.traits(self.loss).classification:
            return 0.0
        order = np.argsort(self.y, kind="stable")
        reached = np.cumsum(self.weight[: self.n_samples][order])
        return float(self.y[order[np.searchsorted(reached, 0.5 * reached[-1])]])

    @functools.cached_property
    def active_rows(self) -> Array:
        """Rows of positive weight: the coordinates that the solvers work on."""
        kind = np.uint32 if self.n_rows < 2**32 else np.uint64
        return np.flatnonzero(self.weight > 0).astype(kind)

    def check_point(self, x: Any, intercept: Any) -> Array:
        """What a user calls x and intercept, checked and joined."""
        x = check_vector(x, self.n_features, "x", "one entry per feature", np.inf)
        if not np.isfinite(intercept):
            raise DataError(f"intercept: expected a finite number; got {intercept}")
        if intercept != 0.0 and not self.fit_intercept:
            raise DataError("intercept: this problem has none; expected 0")
        return self.join(x, float(intercept))

    def check_dual(self, dual: Any, name: str) -> Array:
        """What a user calls a dual point, checked, as the vector u."""
        each = "one entry per data row, then per constraint row"
        return check_vector(dual, self.n_rows, name, each, np.inf)

    def shape_dual(self, u: Array) -> Array:
        """The inverse of `check_dual`."""
        return u

    def join(self, x: Array, intercept: float = 0.0) -> Array:
        """x with the intercept behind it, when there is one: the argument of `rows.dot`."""
        return np.append(x, intercept) if self.fit_intercept else x

    def split(self, x: Array) -> tuple[Array, float]:
        """The inverse of `join`."""
        if self.fit_intercept:
            return x[:-1], float(x[-1])
        return x, 0.0

    def primal(self, x: Array, intercept: float = 0.0) -> float:
        """f(x) + the weighted mean loss. Constraints are not part of it: see `violations`."""
        return self.primal_from_margins(x, self.rows.dot(self.join(x, intercept)))

    def primal_from_margins(self, x: Array, margins: Array) -> float:
        """The same, when `margins` = rows.dot(x) is at hand."""
        return self.penalty.value(x) + self.loss_sum(margins)

    def loss_sum(self, margins: Array) -> float:
        """sum_i w_i loss_i over the data rows."""
        return float(row_terms.loss_sum(self.terms, margins)) if self.n_samples else 0.0

    def _conjugate_sum(self, u: Array) -> float:
        """sum_i w_i phi_i*(u_i)."""
        return row_terms.conjugate_sum(self.terms, u)

    def violations(self, margins: Array) -> Array:
        """How far each constraint row is outside its range."""
        activity = margins[self.n_data :]
        return np.maximum(np.maximum(self.low - activity, activity - self.high), 0.0)

    def dual(self, u: Array) -> float:
        """D(u), to be minimised; -D(u) is a lower bound of every feasible primal value.

        It is inf (no bound) where u leaves its domain, or, with an intercept, where sum_i w_i u_i (plus
        the constraints' share) is not zero; likewise where a feature has mu_j = 0, no l1 term and no box.
        """
        return self.dual_from_slope(u, self.slope(u))

    def dual_from_slope(self, u: Array, s: Array) -> float:
        """The same, when s = s(u) is at hand."""
        settled = self._settled(u, s)
        if settled is None:
            return np.inf
        return self.penalty.conjugate(settled[: self.penalty.n_features]) + self._conjugate_sum(u)

    @functools.cached_property
    def flat(self) -> Flat:
        """The features without curvature (and the intercept), and the slopes they need for a bound."""
        index, low, high = self.penalty.flat()
        if self.fit_intercept:
            index = np.append(index, self.n_features)
            low, high = np.append(low, 0.0), np.append(high, 0.0)
        return Flat(index, low, high)

    @property
    def slope_rounding(self) -> float:
        """What rounding may add to s_j, relative to the sum of its absolute terms."""
        return SLOPE_ROUNDING * max(1.0, 0.5 * math.sqrt(self.n_rows))

    def _settled(self, u: Array, s: Array) -> Array | None:
        """s with the flat features' slopes inside their intervals, or None when they are not.

        Outside by the rounding of the sum s_j counts as inside.
        """
        flat = self.flat
        if not flat.features.size:
            return s
        own = s[flat.features]
        inside = np.clip(own, flat.low, flat.high)
        outside = np.abs(own - inside)
        if not outside.any():
            return s
        if (outside > self.slope_rounding * self._slope_sizes(u)).any():
            return None
        s = s.copy()
        s[flat.features] = inside
        return s

    def _slope_sizes(self, u: Array) -> Array:
        """sum_i |w_i u_i r_ij| for the flat features."""
        flat, size = self.flat.features, np.abs(self.weight * u)
        if flat[0] == self.n_features:
            n = self.n_samples
            return np.array([size[:n].sum() + size[n:] @ np.abs(self.rows.constants)])
        return self.rows.column_magnitudes(size)[flat]

    def slope(self, u: Array) -> Array:
        """s(u) = sum_i w_i u_i r_i, the intercept's entry last."""
        return self.rows.tdot(self.weight * u)

    def primal_from_dual(self, u: Array) -> Array:
        """x*(u) = grad f*(-s(u)): the features (the dual does not determine an intercept)."""
        return self.penalty.minimiser(self.slope(u)[: self.n_features])

    def project_dual(self, u: Array) -> Array:
        """u clipped to the dual domain (a copy)."""
        out = np.array(u, dtype=np.float64)
        row_terms.project(self.terms, out)
        return out

    def multipliers(self, u: Array) -> list[Array]:
        """The constraint coordinates of u, one array per constraint object, in the order given."""
        ends = np.cumsum([len(c) for c in self.constraints], dtype=np.int64)
        return np.split(u[self.n_samples :], ends[:-1]) if self.constraints else []


def _data_rows(X: Any, y: Any, constraints: Any, names: Any) -> Rows:
    if X is not None:
        if y is None:
            raise DataError("y: expected one target per row of X; got None")
        return check_matrix(X)
    listed = recipes(constraints)
    if not listed or y is not None:
        raise DataError("X: expected a matrix; None is for problems with constraints and no y")
    if names is not None:
        return empty_rows(len(names))
    widths = [c.rows.shape[1] for c in listed if isinstance(c, Between)]
    if not widths:
        raise DataError("feature_names: expected the names of the columns, as there is no X; got None")
    return empty_rows(widths[0])


def _columns(X: Any, rows: Rows, weight: Array, fit_intercept: bool, names: Any) -> Columns:
    t = rows.shape[1]
    return Columns(t, fit_intercept, feature_names(names, X, t), rows, weight)


def _bind(regularizer: Any, n_features: int) -> Penalty:
    if not hasattr(regularizer, "bind") or isinstance(regularizer, type):
        raise ProblemError(
            "regularizer: expected zg.L2(l2), zg.ElasticNet(l2, l1) or zg.GroupLasso(l2, group, groups); "
            f"got {regularizer!r:.80}"
        )
    return regularizer.bind(n_features)


def _constraint_blocks(
    constraints: tuple[Between, ...], n_features: int, fit_intercept: bool
) -> tuple[list[Any], Array]:
    blocks, constants = [], []
    for constraint in constraints:
        rows = constraint.checked(n_features, fit_intercept)
        own = np.zeros(len(constraint))
        if rows.shape[1] > n_features:
            rows, own = split_last_column(rows)
        blocks.append(rows)
        constants.append(own)
    return blocks, _joined(constants)


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0)
