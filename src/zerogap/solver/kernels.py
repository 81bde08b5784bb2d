"""Compiled epochs: one visit of the rows in `order`, in place."""

from typing import NamedTuple

import numpy as np

from zerogap._jit import inline, kernel, verb
from zerogap.data.rows import Dense, Sparse, Stacked, column, entry, span
from zerogap.problem.terms import prox_row
from zerogap.solver.averaging import THETA, close, note_step, record, record_free
from zerogap.solver.views import Accelerated, Plain, begin_pass, move, primal_at, slope_at

Array = np.ndarray


class State(NamedTuple):
    """The accelerated iterate: z, uhat and their images s_z = S z, s_uhat = S uhat."""

    z: Array
    uhat: Array
    s_z: Array
    s_uhat: Array


class Schedule(NamedTuple):
    """theta_k of the pass with its prefix sums, and the number n of coordinates drawn from."""

    table: Array
    n: float


class Settle(NamedTuple):
    """When epochs over few rows end, and the seed of their orders."""

    width: float  # the largest move of the epoch before
    first: float  # ... and of the first one
    settled: float
    most: int
    seed: np.uint64


@verb
def margin(rows, i, f, view):
    """r_i . x*(v), recording x*(v) in the average on the way"""


@margin.on(Dense, Sparse)
def _(rows, i, f, view):
    first, stop = span(rows, i)
    total = 0.0
    for p in range(first, stop):
        j = column(rows, p, first)
        x = primal_at(f, view, j)
        note(view, f, j, x)
        total += entry(rows, p) * x
    return total


@verb
def note(view, f, j, x):
    """Record x*_j(v) in an average that takes in every step"""


@note.on(Plain)
def _(view, f, j, x):
    return


@note.on(Accelerated)
def _(view, f, j, x):
    note_step(view.average, view, j, x)


@verb
def settle(view, f, j):
    """Record x*_j of the steps so far, before s_j changes, in an average that waits for changes"""


@settle.on(Plain)
def _(view, f, j):
    return


@settle.on(Accelerated)
def _(view, f, j):
    record(view.average, f, view, j)


@verb
def free_value(view, f):
    """The intercept b(v) = center - s_b / rho"""


@free_value.on(Plain)
def _(view, f):
    return f.free.center - f.free.scale * slope_at(view, view.s.size - 1)


@free_value.on(Accelerated)
def _(view, f):
    t = view.s_z.size - 1
    b = f.free.center - f.free.scale * slope_at(view, t)
    record_free(view.average, f, view, t, b)
    return b


@margin.on(Stacked)
def _(rows, i, f, view):
    if i < rows.n_top:
        total = margin(rows.top, i, f, view)
        constant = rows.constant
    else:
        total = margin(rows.bottom, i - rows.n_top, f, view)
        constant = rows.constants[i - rows.n_top]
    if constant != 0.0:
        total += constant * free_value(view, f)
    return total


@verb
def add_row(rows, i, f, view, change_z, change_uhat):
    """s_z += change_z r_i, s_uhat += change_uhat r_i"""


@add_row.on(Dense, Sparse)
def _(rows, i, f, view, change_z, change_uhat):
    first, stop = span(rows, i)
    for p in range(first, stop):
        j = column(rows, p, first)
        a = entry(rows, p)
        settle(view, f, j)
        move(view, j, a * change_z, a * change_uhat)


@add_row.on(Stacked)
def _(rows, i, f, view, change_z, change_uhat):
    if i < rows.n_top:
        add_row(rows.top, i, f, view, change_z, change_uhat)
        constant = rows.constant
    else:
        add_row(rows.bottom, i - rows.n_top, f, view, change_z, change_uhat)
        constant = rows.constants[i - rows.n_top]
    if constant != 0.0:
        move(view, view[0].size - 1, constant * change_z, constant * change_uhat)


@kernel
def sdca_epoch(order, rows, terms, f, u, s, tau, width=np.inf):
    """Dual coordinate ascent: u_i = prox_{tau phi_i*}(u_i + tau r_i.x*(u)), s = S u.

    tau_i = w_i / L_i is the exact step for quadratic f. A row whose u_i would stay where it is even if its
    margin were `width` off either way is dropped: the others move to the front of `order`. Returns how
    many those are, and the largest move in units of a margin.
    """
    begin_pass(f)
    kept, largest = 0, 0.0
    for k in range(order.size):
        i = order[k]
        view = Plain(s, k)
        # u_i <- argmin_u  L_i/2 (u - u_i)^2 + <grad_i d(u), u - u_i> + h_i(u)
        step = tau[i]
        v = u[i] + step * margin(rows, i, f, view)
        u_new = prox_row(terms, i, v, step)
        change = u_new - u[i]
        if change != 0.0:
            u[i] = u_new
            add_row(rows, i, f, view, terms.weight[i] * change, 0.0)
            largest = max(largest, abs(change) / step)
        elif width < np.inf and rests(terms, i, v, step, width):
            continue
        order[kept] = i
        kept += 1
    return kept, largest


@kernel
def sdca_epochs(order, rows, terms, f, u, s, tau, rule):
    """Epochs over the rows that are not at rest, each in a new order: for rows so few that calls cost more.

    They end once the largest move is at most `rule.settled` times the first, or after `rule.most` steps.
    Returns steps, rows left, the last epoch's largest move, and the first one's.
    """
    kept, largest, first, steps, seed = order.size, rule.width, rule.first, 0, rule.seed
    while steps < rule.most:
        for k in range(kept - 1, 0, -1):  # Fisher and Yates, with Knuth's linear congruences
            seed = seed * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            j = np.int64((seed >> np.uint64(33)) % np.uint64(k + 1))
            order[k], order[j] = order[j], order[k]
        steps += kept
        kept, largest = sdca_epoch(order[:kept], rows, terms, f, u, s, tau, largest)
        first = max(first, largest)
        if kept == 0 or largest <= rule.settled * first:
            break
    return steps, kept, largest, first


@inline
def rests(terms, i, v, tau, width):
    """Does prox_{tau phi_i*} map v and its neighbourhood of `width` margins to one point?"""
    low = prox_row(terms, i, v - tau * width, tau)
    return low == prox_row(terms, i, v + tau * width, tau)


@kernel
def select_live(terms, m, u, tau, width, live):
    """live_i = may u_i move, when its margin is m_i give or take width_i?"""
    for i in range(u.size):
        v = u[i] + tau[i] * m[i]
        stays = prox_row(terms, i, v, tau[i]) == u[i]
        live[i] = not (stays and rests(terms, i, v, tau[i], width[i]))


@kernel
def ardca_epoch(order, rows, terms, f, state, tau, average, schedule):
    """Algorithm 1, one step for each entry of `order`; tau_i = w_i / (2 c L_i); theta from the schedule."""
    begin_pass(f)
    n = schedule.n
    for k in range(order.size):
        theta = schedule.table[k, THETA]
        view = Accelerated(state.s_z, state.s_uhat, theta, theta * theta, k, average)
        i = order[k]
        # z_i <- argmin_u  c n theta L_i (u - z_i)^2 + <grad_i d(v), u - z_i> + h_i(u)
        step = tau[i] / (n * theta)
        z_new = prox_row(terms, i, state.z[i] + step * margin(rows, i, f, view), step)
        change = z_new - state.z[i]
        if change != 0.0:
            change_uhat = -(1.0 - n * theta) / (theta * theta) * change
            state.z[i] = z_new
            state.uhat[i] += change_uhat
            w = terms.weight[i]
            add_row(rows, i, f, view, w * change, w * change_uhat)
    close(average, f, state.s_z, state.s_uhat, order.size)
