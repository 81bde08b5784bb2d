"""The sequence theta: 1/theta_{k+1} = (1 + sqrt(1 + 4/theta_k^2)) / 2, written so that nothing cancels."""

import math

import numpy as np

from zerogap._jit import kernel
from zerogap.solver.averaging import SUM_INVERSE, SUM_THETA, THETA

Array = np.ndarray


@kernel
def fill_table(table, theta, constant):
    """Fill the pass table from theta_k = `theta` on, with prefix sums; returns the theta after the pass."""
    steps = table.shape[0] - 1
    sum_theta, sum_inverse = 0.0, 0.0
    for k in range(steps):
        table[k, THETA] = theta
        table[k, SUM_THETA] = sum_theta
        table[k, SUM_INVERSE] = sum_inverse
        sum_theta += theta
        sum_inverse += 1.0 / theta
        if not constant:
            theta = 2.0 * theta / (theta + math.sqrt(theta * theta + 4.0))
    table[steps, THETA] = theta
    table[steps, SUM_THETA] = sum_theta
    table[steps, SUM_INVERSE] = sum_inverse
    return theta
