"""The averaged primal  xhat = sum_k x*(v_k)/theta_k / sum_k 1/theta_k  at O(entries of one row) a step.

Between two touches of feature j its s_z and s_uhat stand still while theta decreases, so the terms of the
untouched stretch add up in closed form, from prefix sums of theta and 1/theta over the current pass:

    x = -slope s + offset   gives
    sum x/theta = -slope (s_uhat sum theta + s_z sum 1/theta) + offset sum 1/theta

Thresholds (an l1 term, a box) cut the stretch into at most a few such pieces: s is monotone in theta^2.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from zerogap._jit import inline, kernel, verb
from zerogap.problem.regularizers import Grouped, piece
from zerogap.solver.views import SEPARABLE

Array = np.ndarray

#: Columns of the pass table.
THETA, SUM_THETA, SUM_INVERSE = 0, 1, 2


class NoAverage(NamedTuple):
    """Nothing is recorded."""


class Eager(NamedTuple):
    """Every step touches every feature: add x/theta as it is computed."""

    total: Array


class Lazy(NamedTuple):
    """Stretches are added when a feature is touched; `since` is the first step not yet added."""

    total: Array
    since: Array
    table: Array


class LazyGroups(NamedTuple):
    """The same for the group penalty, whose norm has no closed form: groups are flushed step by step."""

    total: Array
    since: Array  # per group, the intercept's last
    table: Array


@verb
def note_step(average, view, j, x):
    """Account for x*_j(v_k) = x of the step that `view` stands at"""


@note_step.on(NoAverage, Lazy, LazyGroups)
def _(average, view, j, x):
    return


@note_step.on(Eager)
def _(average, view, j, x):
    average.total[j] += x / view.theta


@verb
def record(average, f, view, j):
    """Account for x*_j(v_k) of all steps up to the one that `view` stands at, before s_j changes"""


@record.on(NoAverage, Eager)
def _(average, f, view, j):
    return


@record.on(Lazy)
def _(average, f, view, j):
    first, stop = np.int64(average.since[j]), view.step + 1
    average.since[j] = stop
    average.total[j] += stretch(f, j, view.s_z[j], view.s_uhat[j], average.table, first, stop)


@record.on(LazyGroups)
def _(average, f, view, j):
    flush_group(average, f, f.group[j], view.s_z, view.s_uhat, view.step + 1)


@inline
def _crossing(table, z, uhat, boundary, first):
    """First step after `first` at which theta^2 uhat + z may lie beyond `boundary`.

    1/theta grows by 1/2 + theta/8 + ... a step, by less than 1/8 more than that over a whole pass, so the
    guess is at most one step late.
    """
    theta = table[first, THETA]
    square = (boundary - z) / uhat
    if square <= 0.0:
        return table.shape[0] - 1
    guess = 2.0 * (1.0 / math.sqrt(square) - 1.0 / theta)
    return first + max(1, np.int64(min(guess, 4e9)))


@inline
def affine_sum(slope, offset, z, uhat, table, first, stop):
    """sum of (-slope s_k + offset)/theta_k over steps first..stop-1."""
    sum_theta = table[stop, SUM_THETA] - table[first, SUM_THETA]
    sum_inverse = table[stop, SUM_INVERSE] - table[first, SUM_INVERSE]
    return offset * sum_inverse - slope * (uhat * sum_theta + z * sum_inverse)


@inline
def stretch(f, j, z, uhat, table, first, stop):
    """sum of x*_j(v_k)/theta_k over steps first..stop-1 with s_z = z and s_uhat = uhat fixed."""
    theta, last = table[first, THETA], table[stop - 1, THETA]
    slope, offset, _, _ = piece(f, j, last * last * uhat + z)
    slope_before, offset_before, _, _ = piece(f, j, theta * theta * uhat + z)
    # x*_j is monotone in s: on the same line at both ends, it has not left the line
    if slope == slope_before and offset == offset_before:
        return affine_sum(slope, offset, z, uhat, table, first, stop)
    return broken_stretch(f, j, z, uhat, table, first, stop)


@inline
def broken_stretch(f, j, z, uhat, table, first, stop):
    """The same where s crosses a threshold."""
    last = table[stop - 1, THETA]
    s_last = last * last * uhat + z
    total = 0.0
    while first < stop:
        theta = table[first, THETA]
        slope, offset, lowest, highest = piece(f, j, theta * theta * uhat + z)
        end = stop
        if not lowest <= s_last <= highest:
            boundary = highest if s_last > highest else lowest
            end = min(_crossing(table, z, uhat, boundary, first), stop)
            # the guess may be off by a step either way: settle it
            while end < stop:
                theta = table[end, THETA]
                if not lowest <= theta * theta * uhat + z <= highest:
                    break
                end += 1
            while end > first + 1:
                theta = table[end - 1, THETA]
                if lowest <= theta * theta * uhat + z <= highest:
                    break
                end -= 1
        total += affine_sum(slope, offset, z, uhat, table, first, end)
        first = end
    return total


@inline
def flush_group(average, f, g, s_z, s_uhat, stop):
    """Add the steps since group g was last added, up to stop - 1."""
    first = np.int64(average.since[g])
    if first >= stop:
        return
    zz, zu, uu = 0.0, 0.0, 0.0
    for p in range(f.starts[g], f.starts[g + 1]):
        z, uhat = s_z[f.members[p]], s_uhat[f.members[p]]
        zz, zu, uu = zz + z * z, zu + z * uhat, uu + uhat * uhat
    along_z, along_uhat = 0.0, 0.0
    for k in range(first, stop):
        theta = average.table[k, THETA]
        square = theta * theta
        norm = math.sqrt(max(zz + square * (2.0 * zu + square * uu), 0.0))
        if norm > f.width[g]:
            factor = (1.0 - f.width[g] / norm) / theta
            along_z += factor
            along_uhat += factor * square
    for p in range(f.starts[g], f.starts[g + 1]):
        j = f.members[p]
        average.total[j] -= f.scale * (s_z[j] * along_z + s_uhat[j] * along_uhat)
    average.since[g] = stop


@verb
def record_free(average, f, view, t, b):
    """Account for the intercept's value b at this step"""


@record_free.on(NoAverage)
def _(average, f, view, t, b):
    return


@record_free.on(Eager)
def _(average, f, view, t, b):
    average.total[t] += b / view.theta


@record_free.on(Lazy, LazyGroups)
def _(average, f, view, t, b):
    slot = average.since.size - 1
    first, stop = np.int64(average.since[slot]), view.step + 1
    average.total[t] += free_stretch(f, view.s_z[t], view.s_uhat[t], average.table, first, stop)
    average.since[slot] = stop


@inline
def free_stretch(f, z, uhat, table, first, stop):
    """sum of b(v_k)/theta_k over steps first..stop-1, b = center - scale s_b."""
    sum_theta = table[stop, SUM_THETA] - table[first, SUM_THETA]
    sum_inverse = table[stop, SUM_INVERSE] - table[first, SUM_INVERSE]
    return f.free.center * sum_inverse - f.free.scale * (uhat * sum_theta + z * sum_inverse)


@verb
def flush_features(f, average, s_z, s_uhat, stop):
    """Add what is missing of every feature up to step stop - 1"""


@flush_features.on(*SEPARABLE)
def _(f, average, s_z, s_uhat, stop):
    for j in range(average.since.size - 1):
        first = np.int64(average.since[j])
        if first < stop:
            average.total[j] += stretch(f, j, s_z[j], s_uhat[j], average.table, first, stop)


@flush_features.on(Grouped)
def _(f, average, s_z, s_uhat, stop):
    for g in range(average.since.size - 1):
        flush_group(average, f, g, s_z, s_uhat, stop)


@verb
def close(average, f, s_z, s_uhat, stop):
    """End the pass of `stop` steps: everything is added, and counting starts again at step 0"""


@close.on(NoAverage, Eager)
def _(average, f, s_z, s_uhat, stop):
    return


@close.on(Lazy, LazyGroups)
def _(average, f, s_z, s_uhat, stop):
    flush_features(f, average, s_z, s_uhat, stop)
    slot = average.since.size - 1
    first, t = np.int64(average.since[slot]), s_z.size - 1
    average.total[t] += free_stretch(f, s_z[t], s_uhat[t], average.table, first, stop)
    average.since[:] = 0


@kernel
def close_pass(average, f, s_z, s_uhat, stop, salt):
    """`close`, compiled."""
    close(average, f, s_z, s_uhat, stop)


class Checkpoints:
    """Appendix A: sums kept at geometrically spaced steps, so that K0 may be chosen when K is known.

    The average then runs over steps K0..K with K0 the latest checkpoint that is at most
    K / (upsilon (1 + 1/n)) + 1 (Theorem 1). Spacing the checkpoints by sqrt(upsilon) keeps K0 close to
    that bound; only those that can still be chosen are kept.
    """

    def __init__(self, upsilon: float, n: int):
        self.upsilon, self.n = upsilon, n
        self.kept: list[tuple[int, Array | None, float]] = [(0, None, 0.0)]
        self.following = 1.0

    def latest(self, steps: int) -> int:
        """The largest K0 <= K that Theorem 1 allows after steps 0..K = steps - 1."""
        return min(steps - 1, int((steps - 1) / (self.upsilon * (1.0 + 1.0 / self.n)) + 1.0))

    def keep(self, steps: int, total: Array, weight: float) -> None:
        """Offer the sums over steps 0..steps-1."""
        if steps < self.following:
            return
        self.kept.append((steps, total.copy(), weight))
        self.following = steps * math.sqrt(self.upsilon)
        allowed = self.latest(steps)
        while len(self.kept) > 1 and self.kept[1][0] <= allowed:
            self.kept.pop(0)

    def average(self, steps: int, total: Array, weight: float) -> tuple[Array, int]:
        """xhat over steps K0..steps-1, and K0."""
        allowed = self.latest(steps)
        start, before, lighter = max(c for c in _usable(self.kept, allowed))
        mean = total.copy() if before is None else total - before
        mean /= weight - lighter
        return mean, start


def _usable(kept: list[tuple[int, Any, float]], allowed: int) -> list[tuple[int, Any, float]]:
    usable = [c for c in kept if c[0] <= allowed]
    return usable[-1:] or kept[:1]
