"""The finisher's inner minimisation of small problems, compiled as a whole.

Where the arithmetic of a Newton step takes microseconds, calls from Python would take most of the time; where
it takes milliseconds, loops that skip the rows at rest are no slower than whole products. All rows are one
small dense matrix R here (constraint rows and the intercept's column included), so that nothing is compiled
but for another loss, and of this as little as can be. What is minimised, and how a step is judged, is written
in `finisher`.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from zerogap._jit import inline, kernel
from zerogap.data.stacked import StackedRows
from zerogap.problem import terms as row_terms
from zerogap.solver import augmented
from zerogap.solver.line_search import SLACK, TRIALS, narrowed

Array = np.ndarray

#: So many features and entries at most (of a dense copy of the rows); and where most entries are zero, so
#: many multiply-adds to form a matrix of the features.
FEATURES, ENTRIES, WORK = 100, 500_000, 1_000_000
#: Rows with this share of entries are dense.
DENSE = 0.5


class Features(NamedTuple):
    """f with its identity rows, and what a Newton step must know of every feature."""

    mu: Array
    pull: Array
    l1: Array
    lower: Array
    upper: Array
    curvature: Array
    far: Array
    constant: float  # f(0) where nothing but mu and the centre have a say


class Place(NamedTuple):
    """Where Psi is minimised: x and its margins, the dual points and the penalty parameters."""

    x: Array
    m: Array
    u: Array
    v: Array
    sigma: Array
    s: Array


#: The largest sigma that counts when curvature is lent.
STIFFEST = 1e4


class Rules(NamedTuple):
    """When to stop, and how directions are damped."""

    steps: int
    share: float
    tol: float
    damping: Any
    steepest: float  # what counts as sigma where a smooth loss is met as it is (sigma = inf)
    longest: float
    again: bool  # take a step even where the start is good enough
    intercept: bool  # the last column of R
    smooth: bool  # the loss: an intercept may still be far off where all rows are flat


class Room(NamedTuple):
    """Scratch, and what is left there for the caller: forces, slope = R^T (w forces), the rows' h."""

    forces: Array
    slope: Array
    h: Array
    d: Array
    spare: Array
    gradient: Array
    direction: Array
    along: Array
    scale: Array
    matrix: Array
    factor: Array


def fits(rows: Any) -> bool:
    """Are the rows so few and short?"""
    if not isinstance(rows, StackedRows):
        return False
    n, size = rows.shape
    dense = rows.nonzeros >= DENSE * n * size
    return size <= FEATURES and n * size <= ENTRIES and (dense or n * size**2 <= WORK)


def make_room(n: int, size: int) -> Room:
    """Scratch for n rows and `size` features."""
    long, short = np.empty((3, n)), np.empty((6, size))
    return Room(
        long[0], short[0], long[1], short[1], short[2], short[3], short[4], long[2], short[5],
        np.empty((size, size)), np.empty((size, size)),
    )  # fmt: skip


@inline
def feature_point(f, j, x, v, s):
    """prox_{psi/s}(x + v/s): the value of feature j that psi sees."""
    a, width = x + v / s, f.l1[j] / s
    return min(max(max(a - width, 0.0) + min(a + width, 0.0), f.lower[j]), f.upper[j])


@inline
def feature_force(f, j, x, v, s):
    """v_new = v + s (x - point)"""
    return v + s * (x - feature_point(f, j, x, v, s))


@kernel
def _look(R, weight, f, at, room):
    """The gradient of Psi and its second derivatives d, from the rows' forces."""
    size = at.x.size
    for j in range(size):
        room.slope[j] = 0.0
    for i in range(at.m.size):
        push = weight[i] * room.forces[i]
        if push != 0.0:
            for j in range(size):
                room.slope[j] += push * R[i, j]
    for j in range(size):
        x, v, s = at.x[j], at.v[j], at.s[j]
        point = feature_point(f, j, x, v, s)
        free = f.lower[j] < point < f.upper[j] and (f.l1[j] == 0.0 or point != 0.0)
        room.d[j] = f.mu[j] + (0.0 if free else s)
        room.gradient[j] = f.mu[j] * x - f.pull[j] + room.slope[j] + v + s * (x - point)


@kernel
def _spare(R, weight, at, steepest, out):
    """Curvature that all rows together would give, for features that f gives none."""
    for j in range(out.size):
        out[j] = 0.0
    for i in range(at.m.size):
        push = weight[i] * (steepest if at.sigma[i] == np.inf else min(at.sigma[i], STIFFEST))
        for j in range(out.size):
            out[j] += push * R[i, j] ** 2


@kernel
def _gram(R, h, out):
    """Lower triangle of R^T diag(h) R."""
    size = out.shape[0]
    for j in range(size):
        for k in range(j + 1):
            out[j, k] = 0.0
    for i in range(h.size):
        if h[i] > 0.0:
            for j in range(size):
                push = h[i] * R[i, j]
                for k in range(j + 1):
                    out[j, k] += push * R[i, k]


@kernel
def _factorise(matrix, scale, ridge, out):
    """Lower Cholesky factor of the scaled matrix with a ridge; is it positive definite?"""
    for j in range(scale.size):
        for k in range(j + 1):
            total = matrix[j, k] * scale[j] * scale[k] + (ridge if j == k else 0.0)
            for q in range(k):
                total -= out[j, q] * out[k, q]
            if j > k:
                out[j, k] = total / out[k, k]
            elif total > 0.0:
                out[j, j] = math.sqrt(total)
            else:
                return False
    return True


@kernel
def _direction(f, room, damping, ridge):
    """direction = -(gram + diag(d))^-1 gradient, by a Jacobi-scaled factor."""
    scale, factor, x = room.scale, room.factor, room.direction
    size = x.size
    for j in range(size):
        extra = damping * room.spare[j] if f.mu[j] == 0.0 else 0.0
        room.matrix[j, j] += room.d[j] + extra
        scale[j] = 1.0 / math.sqrt(room.matrix[j, j]) if room.matrix[j, j] > 0.0 else 1.0
    while not _factorise(room.matrix, scale, ridge, factor) and ridge < 1e6:
        ridge *= 100.0
    for j in range(size):
        total = -scale[j] * room.gradient[j]
        for q in range(j):
            total -= factor[j, q] * x[q]
        x[j] = total / factor[j, j]
    for j in range(size - 1, -1, -1):
        for q in range(j + 1, size):
            x[j] -= factor[q, j] * x[q]
        x[j] /= factor[j, j]
    for j in range(size):
        x[j] *= scale[j]
        # the next damping starts from the plain matrix again
        room.matrix[j, j] -= room.d[j] + (damping * room.spare[j] if f.mu[j] == 0.0 else 0.0)


@kernel
def search(terms, f, at, direction, along, at_zero, longest):
    """`line_search.descend` on Psi."""
    if not at_zero < 0.0:
        return 0.0
    low, high, step, at_low, at_high = 0.0, 0.0, 1.0, at_zero, 0.0
    for _ in range(TRIALS):
        here = augmented.pull_along(terms, at.m, along, step, at.u, at.sigma)
        for j in range(direction.size):
            x = at.x[j] + step * direction[j]
            slope = f.mu[j] * x - f.pull[j] + feature_force(f, j, x, at.v[j], at.s[j])
            here += slope * direction[j]
        if abs(here) <= SLACK * abs(at_zero) or (here < 0.0 and high == 0.0 and step >= longest):
            return step
        low, high, at_low, at_high, step = narrowed(low, high, at_low, at_high, step, here)
    return low


@kernel
def _excess(terms, f, at, room, rules, gap):
    """What is left of the gradient, as a share of what may be left: of the gap elsewhere, or of tol."""
    left, size, own = 0.0, f.constant + row_terms.loss_sum(terms, at.m), math.inf
    if rules.intercept and rules.smooth:
        own = 0.0
        for i in range(terms.y.size):
            own += room.h[i]
    for j in range(at.x.size):
        metric = f.mu[j] if f.mu[j] > 0.0 else max(room.d[j], f.curvature[j])
        if j == at.x.size - 1:
            metric = min(metric, own)
        left += 0.5 * room.gradient[j] ** 2 / max(metric, 1e-300)
        x = min(max(at.x[j], f.lower[j]), f.upper[j])
        size += 0.5 * f.mu[j] * x * x - f.pull[j] * x + f.l1[j] * abs(x)
    return left / max(rules.share * gap, 0.05 * rules.tol * abs(size), 1e-32)


@kernel
def _lost(f, direction, mean, intercept):
    """Would a flat feature go too far? An intercept moves the mean of the margins by `mean`."""
    last = direction.size - 1
    for j in range(direction.size):
        leap = mean if intercept and j == last else direction[j]
        if f.mu[j] == 0.0 and not abs(leap) <= f.far[j]:
            return True
    return False


@kernel
def _step(R, terms, f, at, room, rules):
    """Move x along a Newton direction; more damped ones follow where the first fails to descend."""
    _gram(R, room.h, room.matrix)
    count = len(rules.damping)
    for k in range(count):
        _direction(f, room, rules.damping[k], 1e-13)
        flat, slope, mean = False, 0.0, 0.0
        for j in range(at.x.size):
            slope += room.gradient[j] * room.direction[j]
            flat = flat or f.mu[j] == 0.0
        for i in range(at.m.size):
            room.along[i] = 0.0
            for j in range(at.x.size):
                room.along[i] += R[i, j] * room.direction[j]
            if i < terms.y.size:
                mean += terms.weight[i] * room.along[i]
        if k < count - 1 and _lost(f, room.direction, mean, rules.intercept):
            continue  # nothing holds the flat features yet: they would leave for good
        length = search(terms, f, at, room.direction, room.along, slope, rules.longest)
        if length > 0.0:
            for j in range(at.x.size):
                at.x[j] += length * room.direction[j]
            for i in range(at.m.size):
                at.m[i] += length * room.along[i]
            return True
        if not flat:
            return False
    return False


@kernel
def minimise(R, terms, f, at, room, rules):
    """Newton steps until what is left of the gradient is allowed: their number, and its excess over that."""
    _spare(R, terms.weight, at, rules.steepest, room.spare)
    excess = math.inf
    for step in range(rules.steps + 1):
        augmented.forces(terms, at.m, at.u, at.sigma, room.forces)
        augmented.stiffness(terms, at.m, at.u, at.sigma, room.h)
        _look(R, terms.weight, f, at, room)
        if step == rules.steps:
            break
        gap = augmented.row_gaps(terms, at.m, room.forces)
        excess = _excess(terms, f, at, room, rules, gap)
        if excess <= 1.0 and (step > 0 or not rules.again):
            return step, excess
        if not _step(R, terms, f, at, room, rules):
            return step + 1, excess
    return rules.steps, excess
