"""The strongly convex part f: separable (elastic net, box, centre) or group-separable.

    ElasticNet   f(x) = sum_j l2_j/2 (x_j - c_j)^2 + q_j x_j + l1_j |x_j| + indicator[lower_j, upper_j]
    L2           f(x) = l2/2 ||x||^2
    GroupLasso   f(x) = l2/2 ||x||^2 + group * sum_g sqrt(|g|) ||x_g||_2

A specification is what users write. `bind(n_features)` checks it against the data and gives a penalty:
value, minimiser(s) = argmin_x f(x) + s.x = grad f*(-s), conjugate(s) = f*(-s), and the compiled terms.
"""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from zerogap._jit import verb
from zerogap.data.numbers import LARGEST
from zerogap.exceptions import ProblemError
from zerogap.problem.absolute import soften, weighted_l1

Array = np.ndarray

_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)

_RANGE = (
    f"expected numbers up to {LARGEST:g} in size (or infinite, for an open side of the box)",
    f"expected 0, or numbers from {1 / LARGEST:g} to {LARGEST:g}",
)


class Free(NamedTuple):
    """The intercept under its outer proximal step: b = center - scale * s_b, scale = 1 / rho."""

    scale: float
    center: float


class Quadratic(NamedTuple):
    """mu/2 x^2 with one mu."""

    scale: float  # 1 / mu
    free: Free


class SoftQuadratic(NamedTuple):
    """mu/2 x^2 + l1 |x| with one mu and one l1."""

    scale: float  # 1 / mu
    l1: float
    free: Free


class Separable(NamedTuple):
    """mu_j/2 (x_j - c_j)^2 + q_j x_j + l1_j |x_j| on [lower_j, upper_j]; pull = mu c - q."""

    mu: Array
    pull: Array
    l1: Array
    lower: Array
    upper: Array
    free: Free


class Grouped(NamedTuple):
    """mu/2 ||x||^2 + sum_g width_g ||x_g||; members[starts[g]:starts[g+1]] are the features of g."""

    scale: float  # 1 / mu
    width: Array
    group: Array
    members: Array
    starts: Array
    factor: Array  # scratch: 1 - width_g / ||s_g|| of the step in `stamp`
    stamp: Array  # scratch
    free: Free


@verb
def minimiser(f, j, s):
    """x_j = argmin f_j(x) + s x, for separable f"""


@verb
def piece(f, j, s):
    """Where x_j(s) = -slope s + offset holds around s: (slope, offset, lowest s, highest s)"""


@minimiser.on(Quadratic)
def _(f, j, s):
    return -s * f.scale


@minimiser.on(SoftQuadratic)
def _(f, j, s):
    return (max(-s - f.l1, 0.0) + min(f.l1 - s, 0.0)) * f.scale


@minimiser.on(Separable)
def _(f, j, s):
    a, l1 = f.pull[j] - s, f.l1[j]
    x = (max(a - l1, 0.0) + min(a + l1, 0.0)) / f.mu[j]
    return min(max(x, f.lower[j]), f.upper[j])


@piece.on(Quadratic)
def _(f, j, s):
    return f.scale, 0.0, -np.inf, np.inf


@piece.on(SoftQuadratic)
def _(f, j, s):
    # conditional expressions become selections: signs are hard to predict
    slope = f.scale if abs(s) > f.l1 else 0.0
    lowest = f.l1 if s > f.l1 else (-np.inf if s < -f.l1 else -f.l1)
    highest = -f.l1 if s < -f.l1 else (np.inf if s > f.l1 else f.l1)
    return slope, (f.l1 if s > 0.0 else -f.l1) * slope, lowest, highest


@piece.on(Separable)
def _(f, j, s):
    mu, l1, lower, upper, pull = f.mu[j], f.l1[j], f.lower[j], f.upper[j], f.pull[j]
    a = pull - s
    at_upper = mu * upper + (l1 if upper > 0.0 else -l1)  # a from which x = upper
    at_lower = mu * lower - (l1 if lower < 0.0 else -l1)  # a up to which x = lower
    if a >= at_upper:
        return 0.0, upper, -np.inf, pull - at_upper
    if a <= at_lower:
        return 0.0, lower, pull - at_lower, np.inf
    if a > l1:
        return 1.0 / mu, (pull - l1) / mu, pull - at_upper, pull - max(l1, at_lower)
    if a < -l1:
        return 1.0 / mu, (pull + l1) / mu, pull - min(-l1, at_upper), pull - at_lower
    return 0.0, 0.0, pull - min(l1, at_upper), pull - max(-l1, at_lower)


class SeparablePenalty:
    """A bound separable f: scalars where one number serves all features, arrays otherwise."""

    def __init__(
        self, n_features: int, mu: Any, l1: Any, lower: Any, upper: Any, center: Any, linear: Any = 0.0
    ):
        self.n_features = n_features
        self.mu, self.l1, self.lower, self.upper, self.center = mu, l1, lower, upper, center
        self.linear = linear
        # minus the gradient of the smooth part at zero: mu c - q
        self.pull = mu * center - linear
        self.value_of_center = 0.5 * float(np.sum(mu * np.square(center) + np.zeros(n_features)))
        # the modulus of strong convexity
        self.mu_min = float(np.min(mu))
        self.boxed = bool(np.any(np.isfinite(lower)) or np.any(np.isfinite(upper)))
        # is there an l1 term; or a box
        self._soft = bool(np.any(l1))
        self.kinked = self.boxed or self._soft
        self._centered, self._tilted = bool(np.any(center)), bool(np.any(linear))

    @property
    def separable(self) -> bool:
        return True

    def flat(self) -> tuple[Array, Array, Array]:
        """Features with mu_j = 0, and the interval of s_j where f_j*(-s_j) is finite."""
        full = np.zeros(self.n_features)
        index = np.flatnonzero(self.mu + full == 0.0)
        parts = (self.l1, self.lower, self.upper, self.linear)
        l1, lower, upper, q = ((p + full)[index] for p in parts)
        low, high = np.where(upper == np.inf, -l1, -np.inf), np.where(lower == -np.inf, l1, np.inf)
        return index, low - q, high - q

    def value(self, x: Array) -> float:
        """f(x), inf outside the box."""
        if self.boxed and (np.any(x < self.lower) or np.any(x > self.upper)):
            return np.inf
        return self._quadratic(x) + (weighted_l1(x, self.l1) if self._soft else 0.0)

    def _quadratic(self, x: Array) -> float:
        """sum_j mu_j/2 (x_j - c_j)^2 + q_j x_j, without a temporary where c = 0."""
        d = x - self.center if self._centered else x
        first = float(np.sum(self.linear * x)) if self._tilted else 0.0
        if np.ndim(self.mu) == 0:
            return 0.5 * float(self.mu * np.einsum("j,j->", d, d)) + first
        return 0.5 * float(np.einsum("j,j,j->", self.mu, d, d)) + first

    def minimiser(self, s: Array) -> Array:
        """argmin_x f(x) + s.x; where mu_j = 0, any finite element of it."""
        x = self.pull - s
        if self._soft:
            soften(x, self.l1)
        if self.mu_min > 0.0:
            x /= self.mu
        else:
            # at the ends of the slopes that a feature without curvature allows, rounding may be left
            x[np.abs(x) <= _ROUNDING * (np.abs(self.pull) + np.abs(s))] = 0.0
            with np.errstate(divide="ignore", invalid="ignore"):
                np.divide(x, self.mu, out=x, where=x != 0.0)
        return np.clip(x, self.lower, self.upper, out=x) if self.boxed else x

    def conjugate(self, s: Array) -> float:
        """f*(-s) = max_x -s.x - f(x); inf where a direction without curvature escapes."""
        x = self.minimiser(s)
        if not np.isfinite(x).all():
            return np.inf
        total = -float(np.einsum("j,j->", s, x)) - self._quadratic(x)
        return total - weighted_l1(x, self.l1) if self._soft else total

    def compiled(self, free: Free) -> Any:
        uniform = all(np.ndim(p) == 0 for p in (self.mu, self.l1, self.pull))
        if not self.boxed and uniform and self.pull == 0.0:
            if self.l1 == 0.0:
                return Quadratic(1.0 / self.mu, free)
            return SoftQuadratic(1.0 / self.mu, float(self.l1), free)
        full = [
            np.array(np.broadcast_to(p, (self.n_features,)), dtype=np.float64)
            for p in (self.mu, self.pull, self.l1, self.lower, self.upper)
        ]
        return Separable(full[0], full[1], full[2], full[3], full[4], free)


class GroupPenalty:
    """A bound group penalty."""

    def __init__(self, n_features: int, mu: float, width: Array, group: Array):
        self.n_features = n_features
        self.mu, self.width, self.group = mu, width, group

    @property
    def separable(self) -> bool:
        return False

    @property
    def mu_min(self) -> float:
        return float(self.mu)

    @property
    def kinked(self) -> bool:
        return True

    @property
    def boxed(self) -> bool:
        return False

    def _norms(self, x: Array) -> Array:
        return np.sqrt(np.bincount(self.group, x * x, minlength=self.width.size))

    def flat(self) -> tuple[Array, Array, Array]:
        """None: a group penalty has curvature everywhere."""
        return np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros(0)

    def value(self, x: Array) -> float:
        return float(0.5 * self.mu * (x @ x) + self.width @ self._norms(x))

    def minimiser(self, s: Array) -> Array:
        norms = self._norms(s)
        factor = 1.0 - np.minimum(self.width, norms) / np.where(norms > 0.0, norms, 1.0)
        return -s * factor[self.group] / self.mu

    def conjugate(self, s: Array) -> float:
        x = self.minimiser(s)
        return float(-s @ x) - self.value(x)

    def compiled(self, free: Free) -> Grouped:
        count = self.width.size
        starts = np.zeros(count + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.group, minlength=count), out=starts[1:])
        members = np.argsort(self.group, kind="stable").astype(np.int64)
        return Grouped(
            1.0 / self.mu,
            self.width,
            self.group,
            members,
            starts,
            np.zeros(count),
            np.full(count, -1, dtype=np.int64),
            free,
        )


Penalty = SeparablePenalty | GroupPenalty


@dataclasses.dataclass(frozen=True)
class ElasticNet:
    """f(x) = sum_j l2/2 (x_j - center_j)^2 + linear_j x_j + l1 |x_j|, with lower <= x <= upper.

    Every parameter is a number or an array with one entry per feature.

    Examples
    --------
    >>> import numpy as np, zerogap as zg
    >>> net = zg.ElasticNet(l2=1.0, l1=[0.5, 0.5, 0.0], lower=0.0)
    >>> result = zg.solve(zg.Problem(np.eye(3), [3.0, 0.5, -6.0], regularizer=net), tol=1e-9)
    >>> result.x.round(6) + 0.0  # max(0, y_j/3 - l1_j) / (1 + 1/3)
    array([0.375, 0.   , 0.   ])
    """

    l2: Any
    l1: Any = 0.0
    lower: Any = -np.inf
    upper: Any = np.inf
    center: Any = 0.0
    linear: Any = 0.0

    def bind(self, n_features: int) -> SeparablePenalty:
        l2, l1 = (self._parameter(name, n_features) for name in ("l2", "l1"))
        center, linear = (self._parameter(name, n_features) for name in ("center", "linear"))
        lower, upper = (self._parameter(name, n_features, True) for name in ("lower", "upper"))
        for name, values in (("l2", l2), ("l1", l1)):
            if np.any(np.less(values, 0)):
                raise ProblemError(f"regularizer {name}: expected >= 0; got {np.min(values)}")
        if np.any(np.greater(lower, upper)):
            j = int(np.flatnonzero(np.broadcast_to(np.greater(lower, upper), (n_features,)))[0])
            raise ProblemError(f"regularizer box: expected lower <= upper; feature {j} has it reversed")
        if np.any(np.equal(lower, np.inf)) or np.any(np.equal(upper, -np.inf)):
            raise ProblemError("regularizer box: lower may be -inf and upper +inf, not the reverse")
        return SeparablePenalty(n_features, l2, l1, lower, upper, center, linear)

    def _parameter(self, name: str, n_features: int, infinite: bool = False) -> Any:
        raw = getattr(self, name)
        try:
            values = np.asarray(raw, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ProblemError(f"regularizer {name}: expected numbers; got {raw!r:.80}") from error
        if values.ndim and values.shape != (n_features,):
            raise ProblemError(
                f"regularizer {name}: expected a number or shape ({n_features},), one entry per "
                f"feature; got shape {values.shape}"
            )
        if np.isnan(values).any() or (not infinite and np.isinf(values).any()):
            raise ProblemError(f"regularizer {name}: expected finite numbers; got {raw!r:.80}")
        sizes = np.abs(values[np.isfinite(values)])
        if (sizes > LARGEST).any() or (name == "l2" and ((sizes > 0) & (sizes < 1.0 / LARGEST)).any()):
            raise ProblemError(f"regularizer {name}: {_RANGE[name == 'l2']}; got {raw!r:.80}")
        return float(values) if values.ndim == 0 else values


class L2(ElasticNet):
    """f(x) = l2/2 ||x||^2 (l2 a number, or one per feature).

    Examples
    --------
    >>> import numpy as np, zerogap as zg
    >>> result = zg.solve(zg.Problem([[1.0], [1.0]], [1.0, 3.0], regularizer=zg.L2(1.0)), tol=1e-9)
    >>> result.x.round(6)  # the mean of y, halved
    array([1.])
    """

    def __init__(self, l2: Any):
        super().__init__(l2)

    def __repr__(self) -> str:
        return f"L2(l2={self.l2!r})"


@dataclasses.dataclass(frozen=True)
class GroupLasso:
    """f(x) = l2/2 ||x||^2 + group * sum_g sqrt(|g|) ||x_g||_2; `groups` holds one label per feature.

    Examples
    --------
    >>> import numpy as np, zerogap as zg
    >>> penalty = zg.GroupLasso(l2=1.0, group=0.5, groups=["a", "a", "b"])
    >>> result = zg.solve(zg.Problem(np.eye(3), [3.0, 4.0, 1.0], regularizer=penalty), tol=1e-9)
    >>> result.x.round(3) + 0.0  # the group of the last feature is out
    array([0.432, 0.576, 0.   ])
    """

    l2: float
    group: float
    groups: Any

    def bind(self, n_features: int) -> GroupPenalty:
        labels = np.asarray(self.groups)
        if labels.shape != (n_features,):
            raise ProblemError(
                f"regularizer groups: expected shape ({n_features},), one label per feature; "
                f"got {labels.shape}"
            )
        if labels.dtype.kind == "f" and np.isnan(labels).any():
            raise ProblemError("regularizer groups: expected labels; got NaN")
        for name in ("l2", "group"):
            number: Any = getattr(self, name)
            if not isinstance(number, (int, float, np.number)) or not 0 <= number < np.inf:
                raise ProblemError(f"regularizer {name}: expected a number >= 0; got {number!r:.80}")
            if number > LARGEST or (name == "l2" and 0 < number < 1.0 / LARGEST):
                raise ProblemError(f"regularizer {name}: {_RANGE[name == 'l2']}; got {number!r:.80}")
        _, group = np.unique(labels, return_inverse=True)
        sizes = np.bincount(group)
        width = float(self.group) * np.sqrt(sizes)
        return GroupPenalty(n_features, float(self.l2), width, group.astype(np.int64))
