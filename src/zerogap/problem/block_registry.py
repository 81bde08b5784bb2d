"""Losses over K outputs: a margin for each class, and a dual block u_i in R^K for each data row.

With m the K margins of a row and y the number of its class, such a loss is

    phi(m, y) = max over p in the simplex of (p - e_y).m - psi(p, y)

so that phi*(u) = psi(u + e_y, y) on the domain {u : u + e_y in the simplex}: u_k >= 0 but for k = y,
u_y >= -1, and sum_k u_k = 0. Where u_y is needed to full accuracy it is minus the sum of the others.
A loss brings

    value(loss, M, i, y)              phi of row i of M
    conjugate(loss, U, i, y)          phi* of row i of U; only ever asked inside the domain
    prox(loss, V, i, tau, y, out, o)  row o of out = argmin_u tau phi*(u) + ||u - v||^2 / 2, v row i of V
    spread(loss, u, tau)              g_k >= 0 of an output with u_k + [k = y] = u: the prox at v has the
                                      derivative diag(g) - g g^T / sum(g); tau = 0 asks for psi'' in its place
    gradient(loss, M, i, y, out, o)   row o of out = d phi / dm (a smooth loss only)
    rests(loss, V, i, tau, y, width)  does the prox stay at its vertex while all margins move by `width`?

Rows are named by matrix and number, for kernels may not make views.
"""

import math
from collections.abc import Callable
from typing import Any

from zerogap._jit import inline, verb
from zerogap.problem import loss_registry

#: sum_k u_k up to this counts as zero in a block of K entries: the rounding of numbers up to one.
BLOCK_ROUNDING = 8 * 2.220446049250313e-16


@verb
def value(loss, M, i, y):
    """phi at row i of M"""


@verb
def conjugate(loss, U, i, y):
    """phi* at row i of U, inside the domain"""


@verb
def prox(loss, V, i, tau, y, out, o):
    """row o of out = argmin_u tau phi*(u) + ||u - v||^2 / 2"""


@verb
def spread(loss, p, tau):
    """g of one output with the probability p"""


@verb
def gradient(loss, M, i, y, out, o):
    """row o of out = d phi / dm at row i of M"""


@verb
def rests(loss, V, i, tau, y, width):
    """does the prox stay where it is while the margins move by up to width?"""


@inline
def close_block(out, o, y):
    """u_y = minus the sum of the others, which are scaled down where rounding put their sum above one."""
    total = 0.0
    for k in range(out.shape[1]):
        if k != y:
            total += out[o, k]
    if total > 1.0:
        for k in range(out.shape[1]):
            out[o, k] /= total
        total = 1.0
    out[o, y] = -total


@inline
def project_block(out, o, y):
    """Row o of out moves to the nearest point with out + e_y in the simplex (Michelot's algorithm)."""
    outputs = out.shape[1]
    out[o, y] += 1.0
    count, level = 0, -math.inf
    while True:
        total, above = 0.0, 0
        for k in range(outputs):
            if out[o, k] > level:
                total += out[o, k]
                above += 1
        if above == count or above == 0:
            break
        count, level = above, (total - 1.0) / above
    for k in range(outputs):
        out[o, k] = max(out[o, k] - level, 0.0)
    away = out[o, y] == 0.0
    close_block(out, o, y)
    if away:  # on the side p_y = 0, exactly
        total = -out[o, y]
        for k in range(outputs):
            out[o, k] = -1.0 if k == y else out[o, k] / total


def register(
    kind: Any,
    *,
    name: str,
    value: Callable[..., Any],
    conjugate: Callable[..., Any],
    prox: Callable[..., Any],
    spread: Callable[..., Any],
    gradient: Callable[..., Any] | None = None,
    rests: Callable[..., Any] = lambda loss, V, i, tau, y, width: False,
    smoothness: float = 0.0,
) -> None:
    """Make the NamedTuple type `kind` a loss over K outputs."""
    bodies = {
        "value": value,
        "conjugate": conjugate,
        "prox": prox,
        "spread": spread,
        "gradient": gradient or _no_gradient,
        "rests": rests,
    }
    for verb_name, body in bodies.items():
        globals()[verb_name].define(kind, body)
    traits = loss_registry.LossTraits(
        name=name,
        lipschitz=lambda loss: math.sqrt(2.0),  # the diameter of the simplex
        smoothness=lambda loss: smoothness,
        classification=True,
        differentiable=gradient is not None,
        functions=tuple(bodies.values()),
        check=lambda loss: None,
        outputs=True,
    )
    loss_registry.enter(kind, traits)


def _no_gradient(loss, M, i, y, out, o):
    out[o, y] = math.nan
