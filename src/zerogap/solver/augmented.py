"""The augmented Lagrangian of the rows, for compiled code.

With u and sigma fixed, a row adds  w max_v (v m - phi*(v) - (v - u)^2 / (2 sigma))  to the objective.
Its derivative in m is w u_new with u_new = prox_{sigma phi*}(u + sigma m), and its second derivative
w sigma slope, where slope is the derivative of the prox. At sigma = inf a smooth loss is met as it is:
u_new = phi'(m), second derivative w phi''(m).
"""

import numpy as np

from zerogap._jit import inline, kernel
from zerogap.problem import loss_registry as losses
from zerogap.problem.terms import range_prox

Array = np.ndarray


@inline
def force(terms, i, m, u, sigma):
    """u_new of data row i at the margin m."""
    if sigma == np.inf:
        return losses.gradient(terms.loss, m, terms.y[i])
    return losses.prox(terms.loss, u + sigma * m, sigma, terms.y[i])


@kernel
def forces(terms, m, u, sigma, out):
    """out = u_new at the margins m."""
    n = terms.y.size
    for i in range(n):
        out[i] = force(terms, i, m[i], u[i], sigma[i])
    for i in range(n, m.size):
        v = u[i] + sigma[i] * m[i]
        out[i] = range_prox(v, sigma[i], terms.low[i - n], terms.high[i - n])


@kernel
def stiffness(terms, m, u, sigma, out):
    """out = w sigma slope, the second derivatives at the margins m."""
    n = terms.y.size
    for i in range(n):
        if sigma[i] == np.inf:
            out[i] = terms.weight[i] * losses.curvature(terms.loss, m[i], terms.y[i])
            continue
        slope = losses.slope(terms.loss, u[i] + sigma[i] * m[i], sigma[i], terms.y[i])
        out[i] = terms.weight[i] * sigma[i] * slope
    for i in range(n, m.size):
        v = u[i] + sigma[i] * m[i]
        low, high = terms.low[i - n], terms.high[i - n]
        inside = sigma[i] * low <= v <= sigma[i] * high and low != high
        out[i] = 0.0 if inside else terms.weight[i] * sigma[i]


@kernel
def pull_along(terms, m, direction, step, u, sigma):
    """sum_i w_i u_new_i direction_i at the margins m + step direction."""
    n = terms.y.size
    total = 0.0
    for i in range(n):
        pull = force(terms, i, m[i] + step * direction[i], u[i], sigma[i])
        total += terms.weight[i] * pull * direction[i]
    for i in range(n, m.size):
        v = u[i] + sigma[i] * (m[i] + step * direction[i])
        pull = range_prox(v, sigma[i], terms.low[i - n], terms.high[i - n])
        total += terms.weight[i] * pull * direction[i]
    return total


@kernel
def row_gaps(terms, m, u):
    """sum_i w_i (phi(m) + phi*(u) - u m) over the data rows: their share of the duality gap."""
    total = 0.0
    for i in range(terms.y.size):
        gap = losses.value(terms.loss, m[i], terms.y[i])
        gap += losses.conjugate(terms.loss, u[i], terms.y[i]) - u[i] * m[i]
        if terms.weight[i] > 0.0:
            total += terms.weight[i] * max(gap, 0.0)
    return total
