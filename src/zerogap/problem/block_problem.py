"""Problems over K outputs at once: a dual block u_i in R^K for each data row."""

import functools
from typing import Any

import numpy as np

from zerogap._jit import fingerprint
from zerogap.data.block_rows import BlockRows
from zerogap.data.prepare import check_block, check_classes
from zerogap.exceptions import DataError, ProblemError
from zerogap.problem import block_terms, loss_registry
from zerogap.problem.block_terms import BlockTerms
from zerogap.problem.problem import Flat, Problem
from zerogap.problem.regularizers import SeparablePenalty

Array = np.ndarray


class BlockProblem(Problem):
    """min_X  sum_k f(x_k) + sum_i w_i loss(X^T a_i + b, y_i) / sum_i w_i

    What `Problem` is for a loss over all classes at once: X has a column x_k and b an entry for each of
    K classes. The penalty and every constraint hold for each class's column by itself. A data row has a dual
    block u_i in R^K, a constraint row one multiplier per class. With s_k(u) = sum_i w_i u_ik r_i,

        D(u) = sum_k f*(-s_k(u)) + sum_i w_i phi_i*(u_i)

    Inside, points and dual points are flat vectors (the classes run fastest); users see x of shape
    (n_features, K), intercepts (K,) and dual points (n_samples + constraint rows, K). A class without a
    sample of positive weight is no class.
    """

    outputs: int
    penalty: SeparablePenalty
    row_weight: Array  # one per data row and constraint row

    def __init__(self, X: Any = None, y: Any = None, *, loss: Any, regularizer: Any, **options: Any):
        super().__init__(X, y, loss=loss, regularizer=regularizer, **options)
        if self.classes is None:
            raise DataError(f"X: the {loss_registry.traits(self.loss).name} loss needs samples; got none")
        put = functools.partial(object.__setattr__, self)
        K = self.classes.size
        put("outputs", K)
        put("penalty", _for_each_output(self.penalty, K, regularizer))
        put("rows", BlockRows(self.rows, K))
        put("row_weight", self.weight)
        for name in ("weight", "low", "high", "constraint_norms"):
            put(name, np.repeat(getattr(self, name), K))

    def _targets(self, y: Any, weight: Array) -> tuple[Array, Array | None]:
        if not weight.size:
            return np.zeros(0, dtype=np.int64), None
        return check_classes(y, weight, loss_registry.traits(self.loss).name)

    @property
    def n_samples(self) -> int:
        return self.rows.base.n_top

    @property
    def n_features(self) -> int:
        return self.rows.base.top.shape[1]

    @functools.cached_property
    def terms(self) -> BlockTerms:
        constants = slice(None, None, self.outputs)
        salt = fingerprint(*loss_registry.traits(self.loss).functions)
        return BlockTerms(self.loss, self.y, self.row_weight, self.low[constants], self.high[constants], salt)

    @functools.cached_property
    def one_output(self) -> Problem:
        """The constraints and the penalty of a single class, without the data."""
        return Problem(
            np.zeros((1, self.n_features)), np.zeros(1), regularizer=self.regularizer,
            constraints=self.constraints, fit_intercept=self.fit_intercept,
        )  # fmt: skip

    def each_output(self, values: Array) -> list[Array]:
        return list(np.ascontiguousarray(self.blocks(values).T))

    def blocks(self, u: Array) -> Array:
        """A flat vector with a row per data row, constraint row or feature."""
        return np.ravel(u).reshape(-1, self.outputs)

    def check_point(self, x: Any, intercept: Any) -> Array:
        x = check_block(x, (self.n_features, self.outputs), "x", "a row per feature, a column per class")
        if np.ndim(intercept) == 0:
            intercept = np.full(self.outputs, intercept)
        b = check_block(intercept, (self.outputs,), "intercept", "one entry per class")
        if b.any() and not self.fit_intercept:
            raise DataError("intercept: this problem has none; expected 0")
        return self.join(x, b)

    def check_dual(self, dual: Any, name: str) -> Array:
        shape = (self.n_rows // self.outputs, self.outputs)
        of = "a row per data row, then per constraint row, and a column per class"
        return check_block(dual, shape, name, of).ravel()

    def shape_dual(self, u: Array) -> Array:
        return self.blocks(u)

    def join(self, x: Array, intercept: Any = 0.0) -> Array:
        x = np.ravel(x)
        return np.append(x, np.zeros(self.outputs) + intercept) if self.fit_intercept else x

    def split(self, x: Array) -> tuple[Array, Any]:
        x = self.blocks(x)
        t = self.n_features
        return x[:t], x[t] if self.fit_intercept else np.zeros(self.outputs)

    def centred(self, point: Array) -> Array:
        """The same point by the loss: what is common to all classes is taken out where nothing else sees it.

        That is the mean of the intercepts, and of a feature's coefficients where f is zero, as long as no
        constraint has a say.
        """
        penalty, x = self.penalty, self.blocks(point).copy()
        t = self.n_features
        free = np.zeros(x.shape[0], dtype=bool)
        if self.fit_intercept:
            free[t] = not self.rows.base.constants.any()
        if not self.n_constraints and not penalty.boxed:
            parts = (np.broadcast_to(p, t * self.outputs) for p in (penalty.mu, penalty.l1, penalty.linear))
            free[:t] = ~np.any([self.blocks(part).any(axis=1) for part in parts], axis=0)
        x[free] -= x[free].mean(axis=1, keepdims=True)
        return x.ravel()

    def primal_from_margins(self, x: Array, margins: Array) -> float:
        return super().primal_from_margins(np.ravel(x), margins)

    def loss_sum(self, margins: Array) -> float:
        losses = np.empty(self.n_samples)
        block_terms.loss_values(self.terms, self.blocks(margins), losses)
        return float(self.row_weight[: self.n_samples] @ losses)

    def _conjugate_sum(self, u: Array) -> float:
        return block_terms.conjugate_sum(self.terms, self.blocks(u))

    @property
    def n_data(self) -> int:
        return self.rows.n_top

    @functools.cached_property
    def active_rows(self) -> Array:
        """Blocks of positive weight."""
        return np.flatnonzero(self.row_weight > 0).astype(np.uint32)

    @functools.cached_property
    def flat(self) -> Flat:
        index, low, high = self.penalty.flat()
        if self.fit_intercept:
            zero = np.zeros(self.outputs)
            index = np.append(index, self.penalty.n_features + np.arange(self.outputs))
            low, high = np.append(low, zero), np.append(high, zero)
        return Flat(index, low, high)

    def _slope_sizes(self, u: Array) -> Array:
        flat = self.flat.features
        if flat[0] < self.penalty.n_features:
            return self.rows.column_magnitudes(self.weight * u)[flat]
        size = self.blocks(np.abs(self.weight * u))
        n = self.n_samples
        return size[:n].sum(axis=0) + np.abs(self.rows.base.constants) @ size[n:]

    def dual(self, u: Array) -> float:
        return super().dual(np.ravel(u))

    def slope(self, u: Array) -> Array:
        """s(u), flat: a row of K entries per feature, the intercepts' last."""
        return self.rows.tdot(self.weight * np.ravel(u))

    def primal_from_dual(self, u: Array) -> Array:
        return self.blocks(self.penalty.minimiser(self.slope(u)[: self.penalty.n_features]))

    def project_dual(self, u: Array) -> Array:
        """u (flat) moved to the nearest point of the dual domain (a copy)."""
        out = np.array(self.blocks(u), dtype=np.float64)
        block_terms.project(self.terms, out)
        return out.ravel()

    def multipliers(self, u: Array) -> list[Array]:
        """One array (rows, K) per constraint object, in the order given."""
        return super().multipliers(self.blocks(u))


def _for_each_output(penalty: Any, outputs: int, regularizer: Any) -> SeparablePenalty:
    """f of every class, over the flat vector of all coefficients."""
    if not isinstance(penalty, SeparablePenalty):
        raise ProblemError(
            f"regularizer: a loss over all classes takes zg.L2 or zg.ElasticNet; got {regularizer!r:.60}. "
            "With a group penalty fit each class against the rest"
        )
    parts = (penalty.mu, penalty.l1, penalty.lower, penalty.upper, penalty.center, penalty.linear)
    wide = [np.repeat(part, outputs) if np.ndim(part) else part for part in parts]
    return SeparablePenalty(penalty.n_features * outputs, *wide)


Problem.of_blocks = BlockProblem
