"""Slow, plain NumPy versions of the losses, the regularisers and the paper's algorithms.

Nothing here imports the package, and nothing here is fast: every formula is written the way the
paper writes it, with full vectors, so that the package is compared with something easy to check.

    minimise_x  f(x) + sum_i w_i phi_i(r_i . x)
    s(u) = sum_i w_i u_i r_i,   x*(u) = argmin_x f(x) + s(u).x
    D(u) = f*(-s(u)) + sum_i w_i phi_i*(u_i)

phi_i is a loss for a data row and the indicator of [lower_i, upper_i] for a constraint row.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


# ---- losses
def _signed(largest):
    """The dual domain of a classification loss: u = -y a with 0 <= a <= largest."""
    return lambda y: (np.where(y > 0, -largest, 0.0), np.where(y > 0, 0.0, largest))


def _between(lo, hi):
    return lambda y: (np.full(np.shape(y), lo), np.full(np.shape(y), hi))


@dataclass(frozen=True)
class Loss:
    """A loss phi(m, y) whose conjugate is  y u + curvature/2 u^2 + kink |u|  on `interval(y)`.

    That form covers nine of the ten losses; `Logistic` overrides the conjugate and its prox.
    """

    value: Callable[..., np.ndarray]
    interval: Callable[..., tuple]
    curvature: float = 0.0
    kink: float = 0.0

    def domain(self, y):
        """(lo, hi): where the conjugate is finite."""
        return self.interval(np.asarray(y, float))

    def conjugate(self, u, y):
        """sup_m u m - phi(m, y)"""
        u, y = np.broadcast_arrays(np.asarray(u, float), np.asarray(y, float))
        lo, hi = self.domain(y)
        inside = (u >= lo) & (u <= hi)
        return np.where(inside, y * u + self.curvature / 2 * u**2 + self.kink * np.abs(u), np.inf)

    def prox_conjugate(self, v, tau, y):
        """argmin_u tau phi*(u, y) + (u - v)^2 / 2"""
        v, tau, y = np.broadcast_arrays(np.asarray(v, float), tau, np.asarray(y, float))
        centre = v - tau * y
        shrunk = np.sign(centre) * np.maximum(np.abs(centre) - tau * self.kink, 0.0)
        # convex in one variable: the minimiser on an interval is the clipped free minimiser
        return np.clip(shrunk / (1.0 + tau * self.curvature), *self.domain(y))


class Logistic(Loss):
    """log(1 + exp(-y m));  with a = -y u in [0, 1] the conjugate is a log a + (1 - a) log(1 - a)"""

    def conjugate(self, u, y):
        a = -np.asarray(y, float) * np.asarray(u, float)
        inside = (a >= 0) & (a <= 1)
        safe = np.where(inside, a, 0.5)
        return np.where(inside, _x_log_x(safe) + _x_log_x(1.0 - safe), np.inf)

    def prox_conjugate(self, v, tau, y):
        """Bisection on q = log(a / (1 - a)):  tau q + a(q) = -y v,  0 <= a <= 1."""
        y = np.asarray(y, float)
        target, tau = np.broadcast_arrays(-y * np.asarray(v, float), np.asarray(tau, float))
        low, high = (target - 1.0) / tau, target / tau
        for _ in range(2000):
            middle = low + (high - low) / 2
            if np.all((middle <= low) | (middle >= high)):
                break
            too_low = tau * middle + _sigmoid(middle) < target
            low, high = np.where(too_low, middle, low), np.where(too_low, high, middle)
        return -y * _sigmoid(low + (high - low) / 2)


def _x_log_x(a):
    return np.where(a > 0, a * np.log(np.where(a > 0, a, 1.0)), 0.0)


def _sigmoid(q):
    small = np.exp(-np.abs(q))
    return np.where(q >= 0, 1.0, small) / (1.0 + small)


def _smoothed(short, width):
    curved = np.where(short <= width, short**2 / (2 * width), short - width / 2)
    return np.where(short <= 0, 0.0, curved)


def _huber(r, delta):
    return np.where(np.abs(r) <= delta, r**2 / 2, delta * (np.abs(r) - delta / 2))


def make_loss(name, quantile=0.5, width=1.0, delta=1.0, epsilon=0.1):
    """The loss of that name; a parameter that it does not have is ignored."""

    def short(m, y):
        return np.maximum(0.0, 1.0 - y * m)

    def pinball(m, y):
        return np.maximum(quantile * (y - m), (quantile - 1.0) * (y - m))

    def far(m, y):
        return np.maximum(0.0, np.abs(m - y) - epsilon)

    anywhere = _between(-np.inf, np.inf)
    losses = {
        "hinge": Loss(short, _signed(1.0)),
        "squared_hinge": Loss(lambda m, y: short(m, y) ** 2, _signed(np.inf), 0.5),
        "smoothed_hinge": Loss(lambda m, y: _smoothed(1.0 - y * m, width), _signed(1.0), width),
        "logistic": Logistic(lambda m, y: np.logaddexp(0.0, -y * m), _signed(1.0)),
        "absolute": Loss(lambda m, y: np.abs(m - y), _between(-1.0, 1.0)),
        "pinball": Loss(pinball, _between(-quantile, 1.0 - quantile)),
        "squared": Loss(lambda m, y: (m - y) ** 2 / 2, anywhere, 1.0),
        "huber": Loss(lambda m, y: _huber(m - y, delta), _between(-delta, delta), 1.0),
        "epsilon_insensitive": Loss(far, _between(-1.0, 1.0), 0.0, epsilon),
        "squared_epsilon_insensitive": Loss(lambda m, y: far(m, y) ** 2, anywhere, 0.5, epsilon),
    }
    return losses[name]


CLASSIFICATION = ("hinge", "squared_hinge", "smoothed_hinge", "logistic")
REGRESSION = (
    "absolute",
    "pinball",
    "squared",
    "huber",
    "epsilon_insensitive",
    "squared_epsilon_insensitive",
)


# ---- constraint rows
def range_conjugate(u, lower, upper):
    """Conjugate of the indicator of [lower, upper]:  upper max(u, 0) + lower min(u, 0)."""
    u, lower, upper = np.broadcast_arrays(np.asarray(u, float), lower, upper)
    side = np.where(u > 0, upper, lower)
    return np.where(u == 0, 1.0, u) * np.where(u == 0, 0.0, side)  # 0 where u = 0, even if side = inf


def range_prox_conjugate(v, tau, lower, upper):
    """v - tau * (projection of v / tau onto [lower, upper])."""
    above, below = v - tau * np.asarray(upper), v - tau * np.asarray(lower)
    return np.maximum(above, 0.0) + np.minimum(below, 0.0)


def range_domain(lower, upper):
    """All u, but no sign whose side is infinite."""
    return np.where(np.isneginf(lower), 0.0, -np.inf), np.where(np.isposinf(upper), 0.0, np.inf)


# ---- regularisers
class Regularizer:
    """mu (one entry per feature), value(x) = f(x), minimiser(s) = argmin_x f(x) + s.x."""

    def conjugate_neg(self, s):
        """f*(-s) = max_x -s.x - f(x)"""
        x = self.minimiser(s)
        return float(-s @ x) - self.value(x)


@dataclass(frozen=True, eq=False)
class Separable(Regularizer):
    """f(x) = sum_j mu_j/2 (x_j - center_j)^2 + linear_j x_j + l1_j |x_j|,  lower_j <= x_j <= upper_j.

    Every field has one entry per feature.
    """

    mu: np.ndarray
    center: np.ndarray
    l1: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    linear: np.ndarray

    @property
    def pull(self):
        return self.mu * self.center - self.linear

    @classmethod
    def create(cls, n_features, l2, l1=0.0, lower=-np.inf, upper=np.inf, center=0.0, linear=0.0):
        def full(value):
            return np.broadcast_to(np.asarray(value, float), (n_features,)).copy()

        return cls(full(l2), full(center), full(l1), full(lower), full(upper), full(linear))

    def value(self, x):
        if np.any(x < self.lower) or np.any(x > self.upper):
            return np.inf
        smooth = self.mu / 2 * (x - self.center) ** 2 + self.linear * x
        return float(np.sum(smooth + self.l1 * np.abs(x)))

    def minimiser(self, s):
        pull = self.pull - s
        free = np.sign(pull) * np.maximum(np.abs(pull) - self.l1, 0.0) / self.mu
        return np.clip(free, self.lower, self.upper)


@dataclass(frozen=True, eq=False)
class Group(Regularizer):
    """f(x) = l2/2 ||x||^2 + group sum_g sqrt(|g|) ||x_g||_2;  groups: one label per feature."""

    l2: float
    group: float
    groups: np.ndarray

    @property
    def mu(self):
        return np.full(len(self.groups), float(self.l2))

    def value(self, x):
        penalty = 0.0
        for label in np.unique(self.groups):
            member = self.groups == label
            penalty += np.sqrt(np.sum(member)) * np.sqrt(np.sum(x[member] ** 2))
        return float(self.l2 / 2 * np.sum(x**2) + self.group * penalty)

    def minimiser(self, s):
        x = np.zeros(len(self.groups))
        for label in np.unique(self.groups):
            member = self.groups == label
            size, threshold = np.sqrt(np.sum(s[member] ** 2)), self.group * np.sqrt(np.sum(member))
            if size > threshold:
                x[member] = -s[member] / self.l2 * (1.0 - threshold / size)
        return x


# ---- instance
@dataclass(frozen=True, eq=False)
class Instance:
    """All rows, dense and stacked: len(y) data rows first, then len(lower) constraint rows."""

    rows: np.ndarray
    weights: np.ndarray
    loss: Loss
    y: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    f: Regularizer

    @property
    def n_rows(self):
        return len(self.rows)

    @property
    def n_data(self):
        return len(self.y)

    def lipschitz(self):
        """L_i = w_i^2 sum_j r_ij^2 / mu_j."""
        return self.weights**2 * np.sum(self.rows**2 / self.f.mu, axis=1)

    def domain(self):
        data, constraint = self.loss.domain(self.y), range_domain(self.lower, self.upper)
        return np.append(data[0], constraint[0]), np.append(data[1], constraint[1])

    def clip(self, u):
        """The nearest point of the dual domain (removes rounding errors at its boundary)."""
        return np.clip(u, *self.domain())

    def s(self, u):
        return self.rows.T @ (self.weights * u)

    def primal_from_dual(self, u):
        """x*(u)"""
        return self.f.minimiser(self.s(u))

    def primal(self, x):
        """f(x) plus the data term; the constraint rows are reported by `violation` instead."""
        losses = self.loss.value(self.rows[: self.n_data] @ x, self.y)
        return self.f.value(x) + float(self.weights[: self.n_data] @ losses)

    def violation(self, x):
        """The largest violation of a constraint row, in that row's own units."""
        values = self.rows[self.n_data :] @ x
        return float(np.max(np.maximum(self.lower - values, values - self.upper), initial=0.0))

    def dual(self, u):
        """D(u), to be minimised; primal(x) >= -D(u) for every feasible x."""
        data = self.loss.conjugate(u[: self.n_data], self.y)
        constraint = range_conjugate(u[self.n_data :], self.lower, self.upper)
        return self.f.conjugate_neg(self.s(u)) + float(self.weights @ np.append(data, constraint))

    def prox(self, index, v, tau):
        """argmin_u tau phi_i*(u) + (u - v)^2 / 2 for every row i of the array `index`."""
        index, v, tau = np.asarray(index), np.asarray(v, float), np.asarray(tau, float)
        data = index < self.n_data
        constraint = index[~data] - self.n_data
        out = np.empty(len(index))
        out[data] = self.loss.prox_conjugate(v[data], tau[data], self.y[index[data]])
        out[~data] = range_prox_conjugate(
            v[~data], tau[~data], self.lower[constraint], self.upper[constraint]
        )
        return out


# ---- algorithms
class Trace(NamedTuple):
    """Row k of an array belongs to step k.

    v[k] = v^k and x[k] = x*(v^k) are used by the step;  z[k] = z^{k+1}, uhat[k] = uhat^{k+1} and
    u[k] = u^{k+1} are there after it.  x_average is the mean of x[K0:] with the weights 1/theta_k.
    """

    z: np.ndarray
    uhat: np.ndarray
    u: np.ndarray
    v: np.ndarray
    x: np.ndarray
    x_average: np.ndarray
    thetas: np.ndarray


def theta_sequence(n, steps):
    """theta_0 = 1/n,  theta_{k+1} = (sqrt(theta_k^4 + 4 theta_k^2) - theta_k^2) / 2."""
    thetas = np.empty(steps)
    theta = 1.0 / n
    for k in range(steps):
        thetas[k] = theta
        theta = (np.sqrt(theta**4 + 4 * theta**2) - theta**2) / 2
    return thetas


def _step_sizes(instance, theta, step_scale):
    """tau_i of  argmin_u c n theta L_i (u - z_i)^2 - w_i r_i.x (u - z_i) + w_i phi_i*(u)."""
    lipschitz = instance.lipschitz()
    if not np.all(lipschitz > 0):
        raise ValueError("the reference algorithms need nonzero rows and positive weights")
    return instance.weights / (2 * step_scale * instance.n_rows * theta * lipschitz)


def _trace(kept, thetas, average_from):
    z, uhat, u, v, x = (np.array(column) for column in zip(*kept, strict=True))
    late = 1 / thetas[average_from:]
    return Trace(z, uhat, u, v, x, late @ x[average_from:] / np.sum(late), thetas)


def algorithm_1(instance, u0, indices, step_scale=1.0, average_from=0, thetas=None):
    """ARDCA (Algorithm 1), one step per entry of `indices`.

    step_scale is 1 for the paper's step and 1/2 for the long step; average_from is the paper's K0.
    `thetas` replaces the paper's sequence (1/n throughout makes it RDCA).
    """
    n = instance.n_rows
    thetas = theta_sequence(n, len(indices)) if thetas is None else np.asarray(thetas, float)
    step_sizes_at_one = _step_sizes(instance, 1.0, step_scale)
    scaled_rows = instance.weights[:, None] * instance.rows  # the paper's S_i
    z, uhat = np.array(u0, float), np.zeros(n)
    s_z, s_uhat = instance.s(z), np.zeros(instance.rows.shape[1])
    kept = []
    for theta, i in zip(thetas, indices, strict=True):
        s_v = theta**2 * s_uhat + s_z
        x = instance.f.minimiser(s_v)
        v = theta**2 * uhat + z
        tau = step_sizes_at_one[i] / theta
        z_new = instance.prox([i], [z[i] + tau * instance.rows[i] @ x], [tau])[0]
        dz = z_new - z[i]
        duhat = -(1 - n * theta) / theta**2 * dz
        z[i] = z_new
        uhat[i] += duhat
        s_z = s_z + scaled_rows[i] * dz
        s_uhat = s_uhat + scaled_rows[i] * duhat
        kept.append((z.copy(), uhat.copy(), theta**2 * uhat + z, v, x))
    return _trace(kept, thetas, average_from)


def algorithm_2(instance, u0, indices, step_scale=1.0, average_from=0):
    """The equivalent form of ARDCA (Algorithm 2): full vectors u, v, z, all of z~ at every step.

    It has no uhat; the returned one is (u - z) / theta^2, what Algorithm 1 would hold.
    """
    n, thetas = instance.n_rows, theta_sequence(instance.n_rows, len(indices))
    z, u = np.array(u0, float), np.array(u0, float)
    kept = []
    for theta, i in zip(thetas, indices, strict=True):
        v = theta * z + (1 - theta) * u
        x = instance.primal_from_dual(v)
        tau = _step_sizes(instance, theta, step_scale)
        z_tilde = instance.prox(np.arange(n), z + tau * (instance.rows @ x), tau)
        z_new = z.copy()
        z_new[i] = z_tilde[i]
        u = v + n * theta * (z_new - z)
        z = z_new
        kept.append((z, (u - z) / theta**2, u, v, x))
    return _trace(kept, thetas, average_from)


def rdca(instance, u0, indices, step_scale=1.0, average_from=0):
    """Algorithm 1 with theta_k = 1/n throughout: then uhat stays 0 and u = v = z."""
    thetas = np.full(len(indices), 1.0 / instance.n_rows)
    return algorithm_1(instance, u0, indices, step_scale, average_from, thetas)


def sdca(instance, u0, indices):
    """Dual coordinate ascent: one coordinate of D at a time, with s(u) summed anew every step.

    u_i = argmin_u L_i/2 (u - u_i)^2 - w_i r_i.x*(u) (u - u_i) + w_i phi_i*(u);  exact for a
    quadratic f.
    """
    tau = 2 * _step_sizes(instance, 1.0 / instance.n_rows, 1.0)  # w_i / L_i
    u, kept = np.array(u0, float), []
    for i in indices:
        v, x = u.copy(), instance.primal_from_dual(u)
        u[i] = instance.prox([i], [u[i] + tau[i] * instance.rows[i] @ x], [tau[i]])[0]
        kept.append((u.copy(), np.zeros_like(u), u.copy(), v, x))
    return _trace(kept, np.full(len(indices), 1.0 / instance.n_rows), 0)


def cyclic(n, passes):
    """0, 1, ..., n-1, repeated: CDCA is `sdca` with these indices."""
    return np.tile(np.arange(n), passes)
