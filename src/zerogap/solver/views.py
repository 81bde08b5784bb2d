"""How a coordinate step reads and writes s: plainly, or through the accelerated change of variables."""

import math
from typing import Any, NamedTuple

import numpy as np

from zerogap._jit import verb
from zerogap.problem.regularizers import Grouped, Quadratic, Separable, SoftQuadratic, minimiser

Array = np.ndarray
SEPARABLE = (Quadratic, SoftQuadratic, Separable)


class Plain(NamedTuple):
    """s = S u itself."""

    s: Array
    step: int  # counts the steps of the pass


class Accelerated(NamedTuple):
    """s_v = theta^2 s_uhat + s_z at step k of the pass.

    Two arrays side by side, not one of pairs: interleaved, a pass over dense rows took 2.4 times as long.
    """

    s_z: Array
    s_uhat: Array
    theta: float
    square: float  # theta^2
    step: int
    average: Any


@verb
def slope_at(view, j):
    """s_j of the point where the gradient is taken"""


@slope_at.on(Plain)
def _(view, j):
    return view.s[j]


@slope_at.on(Accelerated)
def _(view, j):
    return view.square * view.s_uhat[j] + view.s_z[j]


@verb
def move(view, j, change_z, change_uhat):
    """Add to s_z (or s) and to s_uhat"""


@move.on(Plain)
def _(view, j, change_z, change_uhat):
    view.s[j] += change_z


@move.on(Accelerated)
def _(view, j, change_z, change_uhat):
    view.s_z[j] += change_z
    view.s_uhat[j] += change_uhat


@verb
def primal_at(f, view, j):
    """x*_j(v) = the j-th entry of grad f*(-s_v)"""


@primal_at.on(*SEPARABLE)
def _(f, view, j):
    return minimiser(f, j, slope_at(view, j))


@primal_at.on(Grouped)
def _(f, view, j):
    g = f.group[j]
    if f.stamp[g] != view.step:  # once a step for each group that the row touches
        square = 0.0
        for p in range(f.starts[g], f.starts[g + 1]):
            s = slope_at(view, f.members[p])
            square += s * s
        norm = math.sqrt(square)
        f.factor[g] = 1.0 - f.width[g] / norm if norm > f.width[g] else 0.0
        f.stamp[g] = view.step
    return -slope_at(view, j) * f.factor[g] * f.scale


@verb
def begin_pass(f):
    """Forget what earlier passes left in the scratch of f"""


@begin_pass.on(*SEPARABLE)
def _(f):
    return


@begin_pass.on(Grouped)
def _(f):
    f.stamp[:] = -1
