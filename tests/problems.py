"""One list of small reference problems with known optima: `PROBLEMS`.

Every loss x {l2, elastic_net, box, group} x {none, equal, between, both}, and variants with sample
weights, with an intercept and with per-feature arrays. The descriptions are neutral (names,
numbers, arrays): `build` makes a `zerogap.Problem` of one, `instance` a `reference.Instance`, and
`optimum` has it solved by Clarabel through cvxpy, once; results are kept in .cache/reference.

    minimise  f(x) + sum_i sw_i phi(a_i . x + b, y_i) / sum_i sw_i
    subject to  B x = e,  lower <= J x <= upper        (no penalty on b, no constraint on it)

A name is loss-regularizer-constraints, then -weights, -intercept or -arrays for a variant.
All numbers of X, y, B and J are exact in float32, so that a float32 copy is the same problem.
"""

import copy
import hashlib
import importlib.metadata
import itertools
import json
import os
import tempfile
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import reference
import scipy.sparse

CACHE = Path(__file__).resolve().parent.parent / ".cache" / "reference"
FORMULATION = 1  # part of the cache key: raise it when `_solve` changes
TOLERANCES = (1e-10, 1e-9, 1e-8)

N_SAMPLES, N_FEATURES = 30, 6
LOSSES = {
    "hinge": {},
    "squared_hinge": {},
    "smoothed_hinge": {"width": 0.5},
    "logistic": {},
    "absolute": {},
    "pinball": {"quantile": 0.8},
    "squared": {},
    "huber": {"delta": 0.4},
    "epsilon_insensitive": {"epsilon": 0.25},
    "squared_epsilon_insensitive": {"epsilon": 0.25},
}
REGULARIZERS = ("l2", "elastic_net", "box", "group")
CONSTRAINTS = ("none", "equal", "between", "both")


class Solution(NamedTuple):
    """What Clarabel found; `dual` has one entry per row in the order of `reference.Instance`."""

    objective: float
    x: np.ndarray
    intercept: float
    dual: np.ndarray


@dataclass(frozen=True, eq=False)
class ReferenceProblem:
    """A problem as names, numbers and arrays.

    loss = (name, parameters);  regularizer = ("l2", {l2}), ("elastic_net", {l2, l1, lower, upper,
    center}, the last three optional) or ("group_lasso", {l2, group, groups});  constraints is a
    tuple of ("equal", B, e) and ("between", J, lower, upper);  sample weights are positive.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    loss: tuple
    regularizer: tuple
    constraints: tuple
    sample_weight: np.ndarray | None = None
    fit_intercept: bool = False

    def build(self, sparse=False, dtype=np.float64):
        """The `zerogap.Problem`, on fresh copies of all arrays; X has that dtype, CSR if sparse."""
        import zerogap as zg

        X = self.X.astype(dtype)
        loss_name, parameters = self.loss
        kind, penalty = self.regularizer
        loss = getattr(zg.losses, "".join(part.capitalize() for part in loss_name.split("_")))
        regularizer = {"l2": zg.L2, "elastic_net": zg.ElasticNet, "group_lasso": zg.GroupLasso}
        constraint = {"equal": zg.Equal, "between": zg.Between}
        return zg.Problem(
            scipy.sparse.csr_matrix(X) if sparse else X,
            self.y.copy(),
            loss=loss(**parameters),
            regularizer=regularizer[kind](**copy.deepcopy(penalty)),
            constraints=[constraint[kind](*map(np.copy, rest)) for kind, *rest in self.constraints],
            sample_weight=None if self.sample_weight is None else self.sample_weight.copy(),
            fit_intercept=self.fit_intercept,
        )

    def instance(self, drop_intercept=False):
        """The `reference.Instance`, whose features are the columns of X.

        It has no intercept. A problem that has one must be asked for with drop_intercept=True: its
        dual is the instance's, restricted to sum_i sw_i u_i = 0 over the data rows.
        """
        if self.fit_intercept and not drop_intercept:
            raise ValueError(f"{self.name} has an intercept; the instance would drop it")
        rows, lower, upper = self._stacked_constraints()
        return reference.Instance(
            rows=np.vstack([self.X, rows]),
            weights=np.append(self._weights(), np.ones(len(rows))),
            loss=reference.make_loss(self.loss[0], **self.loss[1]),
            y=self.y.copy(),
            lower=lower,
            upper=upper,
            f=self._regularizer(),
        )

    def objective(self, x, intercept=0.0):
        """The objective at x, in plain NumPy; x need not satisfy the constraints."""
        loss = reference.make_loss(self.loss[0], **self.loss[1])
        losses = loss.value(self.X @ x + intercept, self.y)
        return self._regularizer().value(x) + float(self._weights() @ losses)

    def violation(self, x):
        """The largest violation of a constraint, in its own units."""
        rows, lower, upper = self._stacked_constraints()
        values = rows @ x
        return float(np.max(np.maximum(lower - values, values - upper), initial=0.0))

    def optimum(self):
        """(objective, x, intercept) at the optimum."""
        return self.solution()[:3]

    def solution(self):
        """The `Solution`, from the cache if it is there."""
        path = CACHE / f"{self._key()}.npz"
        if path.exists():
            with np.load(path) as kept:
                return Solution(float(kept["objective"]), kept["x"], float(kept["intercept"]), kept["dual"])
        solution = _solve(self)
        _write(path, solution)
        return solution

    def _weights(self):
        weights = np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight
        return weights / np.sum(weights)

    def _stacked_constraints(self):
        """(rows, lower, upper) of all constraints in the order given."""
        rows, lower, upper = [np.empty((0, self.X.shape[1]))], [np.empty(0)], [np.empty(0)]
        for kind, matrix, *sides in self.constraints:
            rows.append(matrix)
            lower.append(sides[0])
            upper.append(sides[0] if kind == "equal" else sides[1])
        return np.vstack(rows), np.concatenate(lower), np.concatenate(upper)

    def _regularizer(self):
        kind, penalty = self.regularizer
        if kind == "group_lasso":
            return reference.Group(**penalty)
        return reference.Separable.create(self.X.shape[1], **penalty)

    def _key(self):
        content = {
            "formulation": [FORMULATION, TOLERANCES],
            "solvers": [importlib.metadata.version(name) for name in ("cvxpy", "clarabel")],
            "data": [self.X, self.y, self.sample_weight, self.fit_intercept],
            "model": [self.loss, self.regularizer, self.constraints],
        }
        return hashlib.sha256(json.dumps(content, default=_as_json).encode()).hexdigest()[:32]


def _as_json(value):
    return [value.dtype.str, value.shape, value.tobytes().hex()]


def _write(path, solution):
    """Write to a temporary file, then rename: another process sees all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "wb") as file:
        np.savez(file, **solution._asdict())
    os.replace(temporary, path)


# ---- the optimum, by cvxpy and Clarabel
def _cvxpy_losses(cp, name, m, y, quantile=0.5, width=1.0, delta=1.0, epsilon=0.1):
    """The vector of losses as a cvxpy expression of the margins m."""
    short, r = cp.pos(1 - cp.multiply(y, m)), m - y
    return {
        "hinge": lambda: short,
        "squared_hinge": lambda: cp.square(short),
        "smoothed_hinge": lambda: cp.huber(short, width) / (2 * width),
        "logistic": lambda: cp.logistic(-cp.multiply(y, m)),
        "absolute": lambda: cp.abs(r),
        "pinball": lambda: cp.maximum(-quantile * r, (1 - quantile) * r),
        "squared": lambda: cp.square(r) / 2,
        "huber": lambda: cp.huber(r, delta) / 2,
        "epsilon_insensitive": lambda: cp.pos(cp.abs(r) - epsilon),
        "squared_epsilon_insensitive": lambda: cp.square(cp.pos(cp.abs(r) - epsilon)),
    }[name]()


def _cvxpy_regularizer(cp, kind, x, l2, l1=0.0, center=0.0, group=0.0, groups=None):
    if kind == "group_lasso":
        norms = [
            np.sqrt(np.sum(groups == label)) * cp.norm2(x[np.flatnonzero(groups == label)])
            for label in np.unique(groups)
        ]
        return l2 / 2 * cp.sum_squares(x) + group * sum(norms)
    weighted = cp.sum_squares(cp.multiply(np.sqrt(l2 / 2), x - center))
    return weighted + cp.sum(cp.multiply(l1, cp.abs(x)))


def _solve(problem):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an inaccurate answer is seen from its status
        import cvxpy as cp

        n_samples, n_features = problem.X.shape
        x, intercept, m = cp.Variable(n_features), cp.Variable(), cp.Variable(n_samples)
        kind, penalty = problem.regularizer
        penalty = dict(penalty)
        sides = penalty.pop("lower", -np.inf), penalty.pop("upper", np.inf)
        box = [np.broadcast_to(side, x.shape) for side in sides]
        losses = _cvxpy_losses(cp, problem.loss[0], m, problem.y, **problem.loss[1])
        margins = problem.X @ x + (intercept if problem.fit_intercept else 0.0) == m
        matrix, lower, upper = problem._stacked_constraints()
        rows = _cvxpy_ranges(matrix @ x, lower, upper)
        program = cp.Problem(
            cp.Minimize(_cvxpy_regularizer(cp, kind, x, **penalty) + problem._weights() @ losses),
            [margins] + [c for c, *_ in rows] + [c for c, *_ in _cvxpy_ranges(x, *box)],
        )
        _run_clarabel(cp, program, problem.name)
    dual = np.zeros(len(lower))
    for constraint, index, sign in rows:
        dual[index] += sign * constraint.dual_value
    dual = np.append(margins.dual_value / problem._weights(), dual)
    best = np.clip(x.value, *box)
    b = float(intercept.value) if problem.fit_intercept else 0.0
    return Solution(problem.objective(best, b), best, b, dual)


def _cvxpy_ranges(expression, lower, upper):
    """(constraint, indices, sign of its multiplier in u) for every kind of side that occurs."""
    fixed = lower == upper
    above, below = np.isfinite(upper) & ~fixed, np.isfinite(lower) & ~fixed
    i, j, k = np.flatnonzero(fixed), np.flatnonzero(above), np.flatnonzero(below)
    kinds = [(i, lambda: expression[i] == lower[i], 1.0)]
    kinds += [(j, lambda: expression[j] <= upper[j], 1.0)]
    kinds += [(k, lambda: lower[k] <= expression[k], -1.0)]
    return [(make(), index, sign) for index, make, sign in kinds if len(index)]


def _run_clarabel(cp, program, name):
    for tolerance in TOLERANCES:
        settings = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
        try:
            program.solve(solver=cp.CLARABEL, **settings)
        except cp.SolverError:
            continue
        if program.status == cp.OPTIMAL:
            return
    raise RuntimeError(f"{name}: Clarabel ends with {program.status} at {TOLERANCES[-1]:.0e}")


# ---- the list
def _exact(values):
    """Rounded to multiples of 1/256: sums of a few products stay exact in float32."""
    return np.round(np.asarray(values, float) * 256) / 256


def _make(loss, regularizer, constraints, variant=""):
    """One seeded problem. variant holds any of: weights, intercept, arrays."""
    name = "-".join(filter(None, [loss, regularizer, constraints, variant]))
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    row = np.arange(N_SAMPLES)
    classification = loss in reference.CLASSIFICATION
    size = 1.5 if classification else 1.0  # some margins above 1, some below
    X = _exact(size * rng.standard_normal((N_SAMPLES, N_FEATURES)))
    keep = rng.random(X.shape) < 0.65
    keep[row, row % N_FEATURES] = True  # no empty row, no empty column
    X = np.where(keep, X, 0.0)
    truth = rng.uniform(0.5, 1.5, N_FEATURES) * rng.choice([-1.0, 1.0], N_FEATURES)
    truth[[1, 4]] *= 0.05  # the second group hardly matters
    margins = X @ truth + 0.5 * rng.standard_normal(N_SAMPLES) + 0.75 * ("intercept" in variant)
    margins[::7] += 2.0 * rng.standard_normal(len(margins[::7]))  # outliers
    y = np.where(margins > 0, 1.0, -1.0) if classification else _exact(margins)
    penalty = _penalty(regularizer, "arrays" in variant, rng)
    lower, upper = penalty[1].get("lower", -np.inf), penalty[1].get("upper", np.inf)
    interior = _exact(0.6 * truth + 0.2 * rng.standard_normal(N_FEATURES))
    interior = np.clip(interior, lower + 0.125, upper - 0.125)
    return ReferenceProblem(
        name=name,
        X=X,
        y=y,
        loss=(loss, LOSSES[loss]),
        regularizer=penalty,
        constraints=_constraints(constraints, interior, rng),
        sample_weight=_exact(rng.uniform(0.25, 3.0, N_SAMPLES)) if "weights" in variant else None,
        fit_intercept="intercept" in variant,
    )


def _penalty(kind, arrays, rng):
    if arrays:
        penalty = {
            "l2": _exact(rng.uniform(0.05, 0.3, N_FEATURES)),
            "l1": np.array([0.0, 0.0625, 0.03125, 0.0, 0.125, 0.03125]),
            "lower": np.array([-np.inf, -0.5, 0.0, -np.inf, -0.25, -1.0]),
            "upper": np.array([0.5, np.inf, 0.75, np.inf, 0.25, 1.0]),
            "center": _exact(0.5 * rng.standard_normal(N_FEATURES)),
        }
        return "elastic_net", penalty
    return {
        "l2": ("l2", {"l2": 0.1}),
        "elastic_net": ("elastic_net", {"l2": 0.1, "l1": 0.1}),
        "box": ("elastic_net", {"l2": 0.1, "l1": 0.0, "lower": -0.5, "upper": 0.625}),
        "group": (
            "group_lasso",
            {"l2": 0.1, "group": 0.1, "groups": np.array([2, 1, 0, 2, 1, 2])},
        ),
    }[kind]


def _constraints(kind, interior, rng):
    """Constraints that hold at `interior`, the inequalities with room to spare."""
    B = np.vstack([np.ones(N_FEATURES), _exact(rng.standard_normal(N_FEATURES))])
    equal = ("equal", B, B @ interior)
    J = _exact(rng.standard_normal((5, N_FEATURES)))
    J[1] = [1.0, -1.0, 0.0, 0.0, 0.0, 0.0]  # an order of two coefficients
    J[2] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]  # a bound on one
    lower, upper = J @ interior - 0.125, J @ interior + 0.125
    lower[[1, 3]], upper[2] = -np.inf, np.inf
    lower[4], upper[4] = lower[4] - 4.0, upper[4] + 4.0
    between = ("between", J, lower, upper)
    both = (equal, between) if rng.random() < 0.5 else (between, equal)
    return {"none": (), "equal": (equal,), "between": (between,), "both": both}[kind]


def _all_problems():
    grid = [_make(*key) for key in itertools.product(LOSSES, REGULARIZERS, CONSTRAINTS)]
    extra = []
    for k, loss in enumerate(LOSSES):
        extra.append(_make(loss, REGULARIZERS[k % 4], CONSTRAINTS[(k + k // 4) % 4], "weights"))
        extra.append(_make(loss, REGULARIZERS[k % 4], CONSTRAINTS[(k + k // 4 + 2) % 4], "intercept"))
    for loss in ("hinge", "logistic", "absolute", "squared", "epsilon_insensitive"):
        extra += [_make(loss, "elastic_net", kind, "arrays") for kind in ("none", "both")]
    extra += [_make("hinge", "l2", "none", "intercept")]
    extra += [_make("pinball", "l2", "both", "weights-intercept")]
    extra += [_make("squared_hinge", "group", "equal", "weights-intercept")]
    return tuple(grid + extra)


PROBLEMS = _all_problems()
BY_NAME = {problem.name: problem for problem in PROBLEMS}
