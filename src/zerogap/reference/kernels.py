"""Compiled epochs of the reference methods: one visit of the rows in `order`, in place.

They reuse the verbs of the library's own kernels, so storages, losses and penalties need nothing new.
"""

from typing import NamedTuple

import numpy as np

from zerogap._jit import inline, kernel
from zerogap.problem.terms import prox_row
from zerogap.solver.averaging import NoAverage
from zerogap.solver.kernels import add_row, margin
from zerogap.solver.views import Accelerated, Plain, begin_pass

Array = np.ndarray


class Apcg(NamedTuple):
    """APCG's strongly convex form: y = power a + b and (1-alpha) z + alpha y = b - power a."""

    a: Array
    b: Array
    s_a: Array
    s_b: Array


class ApcgSteps(NamedTuple):
    """rho = (1-alpha)/(1+alpha), n alpha, L_i / (1 - mu), and mu L_i / (1 - mu) moved from h_i into d."""

    rho: float
    momentum: float
    size: Array
    moved: Array


@kernel
def apcg_strong_epoch(order, rows, terms, f, state, steps):
    """APCG with alpha = sqrt(mu)/n in O(entries of a row) a step; returns the power after the pass."""
    begin_pass(f)
    none = NoAverage()
    power = steps.rho
    for k in range(order.size):
        i = order[k]
        view = Accelerated(state.s_b, state.s_a, 0.0, power, k, none)
        w, moved = terms.weight[i], steps.moved[i]
        y = power * state.a[i] + state.b[i]
        center = state.b[i] - power * state.a[i]
        slope = moved * y - w * margin(rows, i, f, view)
        # h <- argmin_u  n alpha L'/2 (u - center)^2 + slope u + w phi*(u) - moved/2 u^2
        curvature = steps.momentum * steps.size[i] - moved
        v = (steps.momentum * steps.size[i] * center - slope) / curvature
        change = prox_row(terms, i, v, w / curvature) - center
        change_a = -(1.0 - steps.momentum) / (2.0 * power) * change
        change_b = 0.5 * (1.0 + steps.momentum) * change
        state.a[i] += change_a
        state.b[i] += change_b
        add_row(rows, i, f, view, w * change_b, w * change_a)
        power *= steps.rho
    return power


class Full(NamedTuple):
    """Iterates written out: x and z with their images, and scratch for y and its image."""

    x: Array
    z: Array
    s_x: Array
    s_z: Array
    y: Array
    s_y: Array


@kernel
def apcg_general_epoch(order, rows, terms, f, state, steps, gamma):
    """APCG's general form with convexity parameter mu = steps.rho; O(n + t) a step; returns gamma.

    `order` has one entry for each row of positive weight, which is the n of the formulas.
    """
    n, mu = order.size, steps.rho
    for k in range(n):
        i = order[k]
        alpha = 2.0 * gamma / ((gamma - mu) + np.sqrt((gamma - mu) ** 2 + 4.0 * n * n * gamma))
        following = (1.0 - alpha) * gamma + alpha * mu
        beta, share = alpha * mu / following, alpha * gamma / (alpha * gamma + following)
        for p in range(state.x.size):
            state.y[p] = share * state.z[p] + (1.0 - share) * state.x[p]
            state.z[p] = (1.0 - beta) * state.z[p] + beta * state.y[p]
            # x <- y + (mu/n)(z_old - y) + n alpha (z_new - z_old), z_old = (z - beta y) / (1 - beta)
        for p in range(state.s_x.size):
            state.s_y[p] = share * state.s_z[p] + (1.0 - share) * state.s_x[p]
            state.s_z[p] = (1.0 - beta) * state.s_z[p] + beta * state.s_y[p]
        pull = mu / n - n * alpha * beta
        _follow(state.x, state.y, state.z, beta, pull)
        _follow(state.s_x, state.s_y, state.s_z, beta, pull)
        w, moved = terms.weight[i], steps.moved[i]
        begin_pass(f)
        slope = moved * state.y[i] - w * margin(rows, i, f, Plain(state.s_y, k))
        curvature = n * alpha * steps.size[i] - moved
        v = (n * alpha * steps.size[i] * state.z[i] - slope) / curvature
        change = prox_row(terms, i, v, w / curvature) - state.z[i]
        state.z[i] += change
        state.x[i] += n * alpha * change
        add_row(rows, i, f, Plain(state.s_z, k), w * change, 0.0)
        add_row(rows, i, f, Plain(state.s_x, k), w * n * alpha * change, 0.0)
        gamma = following
    return gamma


@inline
def _follow(x, y, z, beta, pull):
    """x <- y + pull (z_old - y): what APCG's fourth line adds before the drawn coordinate moves."""
    for p in range(x.size):
        x[p] = y[p] + pull * (z[p] - y[p]) / (1.0 - beta)


class Blocks(NamedTuple):
    """APPROX: theta_k of the epoch, n / block, and scratch for the changes of one block."""

    theta: Array
    ratio: float
    change: Array


@kernel
def approx_epoch(order, rows, terms, f, state, tau, blocks):
    """APPROX: all rows of a block move from the same point. `order` has one row of indices a block."""
    none = NoAverage()
    for k in range(order.shape[0]):
        theta = blocks.theta[k]
        view = Accelerated(state.s_z, state.s_uhat, theta, theta * theta, k, none)
        begin_pass(f)
        for p in range(order.shape[1]):
            i = order[k, p]
            # z_i <- argmin_u  n theta v_i/(2 block) (u - z_i)^2 + <grad_i d(v), u - z_i> + h_i(u)
            step = tau[i] / (blocks.ratio * theta)
            z_new = prox_row(terms, i, state.z[i] + step * margin(rows, i, f, view), step)
            blocks.change[p] = z_new - state.z[i]
        share = -(1.0 - blocks.ratio * theta) / (theta * theta)
        for p in range(order.shape[1]):
            i, change = order[k, p], blocks.change[p]
            w = terms.weight[i]
            state.z[i] += change
            state.uhat[i] += share * change
            add_row(rows, i, f, view, w * change, w * share * change)
