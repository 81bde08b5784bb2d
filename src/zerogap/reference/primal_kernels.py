"""Compiled epochs of the methods that move the whole primal vector in every step: O(t) a step."""

from typing import Any, NamedTuple

import numpy as np

from zerogap._jit import inline, kernel, verb
from zerogap.problem import loss_registry as losses
from zerogap.problem.regularizers import Free
from zerogap.problem.terms import prox_row
from zerogap.solver.kernels import add_row, margin
from zerogap.solver.views import Plain, primal_at

Array = np.ndarray

#: prox_{T phi*}(T m) is the gradient of phi at m, up to |u| / (T gamma).
LARGE = 1e15


class Given(NamedTuple):
    """Stands for f where `margin` is wanted at a point that is written out."""

    free: Free


@primal_at.on(Given)
def _(f, view, j):
    return view.s[j]


@inline
def prox_point(f, j, s, x, eta):
    """argmin_v f_j(v) + s v + eta/2 (v - x)^2, for the separable f with one entry per feature."""
    a = f.pull[j] - s + eta * x
    soft = max(a - f.l1[j], 0.0) + min(a + f.l1[j], 0.0)
    return min(max(soft / (f.mu[j] + eta), f.lower[j]), f.upper[j])


@inline
def gradient(terms, i, m):
    """phi_i'(m) of a smooth loss, inside the dual domain."""
    return losses.prox(terms.loss, LARGE * m, LARGE, terms.y[i])


class ProximalDual(NamedTuple):
    """SPDC: u_i <- prox_{sigma_i phi*}(u_i + sigma_i m)."""

    sigma: Array


class BregmanDual(NamedTuple):
    """RPDG: the margin is averaged, m_i <- (m + tau m_i) / (1 + tau), and u_i = phi'(m_i)."""

    margins: Array
    tau: float


@verb
def dual_step(rule, terms, i, u, m):
    """The new u_i from the margin m at the extrapolated point"""


@dual_step.on(ProximalDual)
def _(rule, terms, i, u, m):
    sigma = rule.sigma[i]
    return prox_row(terms, i, u + sigma * m, sigma)


@dual_step.on(BregmanDual)
def _(rule, terms, i, u, m):
    rule.margins[i] = (m + rule.tau * rule.margins[i]) / (1.0 + rule.tau)
    return gradient(terms, i, rule.margins[i])


class Saddle(NamedTuple):
    """u with s = S u, x, and the extrapolated x + theta (x - x_before)."""

    u: Array
    s: Array
    x: Array
    ahead: Array


class SaddleSteps(NamedTuple):
    """The dual rule, 1 / (the primal step), and the extrapolation theta."""

    rule: Any
    eta: float
    theta: float


@kernel
def saddle_epoch(order, rows, terms, f, state, steps):
    """Primal-dual coordinate steps: one dual coordinate, then x against s + n (change of s).

    `order` has one entry for each row of positive weight, which is the n of the formula.
    """
    given = Given(f.free)
    n = order.size
    view = Plain(state.s, 0)
    for k in range(n):
        i = order[k]
        m = margin(rows, i, given, Plain(state.ahead, k))
        u_new = dual_step(steps.rule, terms, i, state.u[i], m)
        change = terms.weight[i] * (u_new - state.u[i])
        state.u[i] = u_new
        add_row(rows, i, f, view, n * change, 0.0)
        for j in range(state.x.size):
            before = state.x[j]
            # x <- argmin  f(x) + <s + n ds, x> + eta/2 ||x - x_before||^2
            x = prox_point(f, j, state.s[j], before, steps.eta)
            state.x[j] = x
            state.ahead[j] = x + steps.theta * (x - before)
        add_row(rows, i, f, view, -(n - 1) * change, 0.0)


class Snapshot(NamedTuple):
    """Katyusha: y, z, the snapshot, phi' at the snapshot with its image s, and the next snapshot's sum."""

    y: Array
    z: Array
    snapshot: Array
    u: Array
    s: Array
    total: Array
    x: Array
    s_step: Array


class KatyushaSteps(NamedTuple):
    """tau_1, tau_2, the z-step alpha, 3 L, and 1 + alpha sigma."""

    tau1: float
    tau2: float
    alpha: float
    curvature: float
    growth: float


@kernel
def katyusha_epoch(order, rows, terms, f, state, steps):
    """The inner loop of m = 2n steps between two snapshots; returns the sum of (1 + alpha sigma)^j."""
    given = Given(f.free)
    n, weight, weights = order.size // 2, 1.0, 0.0
    rest = 1.0 - steps.tau1 - steps.tau2
    for k in range(order.size):
        i = order[k]
        for j in range(state.y.size):
            # x <- tau_1 z + tau_2 snapshot + (1 - tau_1 - tau_2) y
            state.x[j] = steps.tau1 * state.z[j] + steps.tau2 * state.snapshot[j] + rest * state.y[j]
            state.s_step[j] = state.s[j]
        m = margin(rows, i, given, Plain(state.x, k))
        change = n * terms.weight[i] * (gradient(terms, i, m) - state.u[i])
        add_row(rows, i, f, Plain(state.s_step, k), change, 0.0)
        for j in range(state.y.size):
            g = state.s_step[j]
            state.z[j] = prox_point(f, j, g, state.z[j], 1.0 / steps.alpha)
            state.y[j] = prox_point(f, j, g, state.x[j], steps.curvature)
            state.total[j] += weight * state.y[j]
        weights += weight
        weight *= steps.growth
    return weights


@kernel
def gradients(terms, m, out):
    """out_i = phi_i'(m_i) of smooth losses."""
    for i in range(m.size):
        out[i] = gradient(terms, i, m[i])
