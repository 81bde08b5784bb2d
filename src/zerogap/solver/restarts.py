"""When to restart the acceleration (Algorithm 3). Every rule is asked once a pass."""

import math
import sys
from typing import Any, Protocol


class Restart(Protocol):
    """A restart rule."""

    watches: bool  # whether `due` wants the dual value

    def due(self, passes: int, value: float) -> bool:
        """Restart now, `passes` passes after the last restart, at dual value D(u) = `value`?"""
        ...


class Never:
    """Algorithm 1."""

    watches = False

    def due(self, passes: int, value: float) -> bool:
        return False


class Fixed:
    """Algorithm 3 as printed: a fixed period."""

    watches = False

    def __init__(self, period: float):
        self.period = period

    def due(self, passes: int, value: float) -> bool:
        return passes >= self.period


class LogScale:
    """Periods 1, 2, 1, 4, 1, 2, 1, 8, ... times `first`: within a logarithm of the best unknown period."""

    watches = False

    def __init__(self, first: int = 5):
        self.first, self.round = first, 1

    def due(self, passes: int, value: float) -> bool:
        if passes < self.first * (self.round & -self.round):
            return False
        self.round += 1
        return True


class Adaptive:
    """Restart when the dual error has shrunk enough since the last restart, or when momentum overshoots.

    Once momentum has built up, the error e_k = D(u_k) - D* of a period falls by a steady factor r whenever
    k doubles (r = 1/4 where it falls like (c/k)^2), so the values themselves tell it (Aitken):

        r = (D(u_{k/2}) - D(u_k)) / (D(u_{k/4}) - D(u_{k/2})),     e_k = (D(u_{k/2}) - D(u_k)) r / (1 - r)

    and e_0 = D(u_0) - D(u_k) + e_k. A period is long enough once e_k is a tenth of e_0: past that,
    acceleration has done most of what it can, and a shorter one loses it. (For errors that fall like (c/k)^2
    the best period has the ratio e^-2, and ratios from 0.03 to 0.3 cost about the same.) While the fall still
    quickens, r >= 1, there is nothing to be said, nor before half of the period before. Nothing but dual
    values is needed, so constraints and a slow primal side make no difference. Overshooting shows as a dual
    value above the best of the period.
    """

    watches = True
    ENOUGH = 0.1
    #: Passes before the trend of a period is believed.
    LEAST = 4

    def __init__(self) -> None:
        self.values: list[float] = []  # the best dual value of the period, after each of its passes
        self.start = math.inf  # the dual value at its start, unknown for the very first
        self.least = self.LEAST

    def due(self, passes: int, value: float) -> bool:
        if passes <= 1:
            self.values = [value]
            return False
        best = self.values[-1]
        self.values.append(min(best, value))
        rising = value > best + 4 * sys.float_info.epsilon * abs(best)
        enough = passes >= self.least and self._long_enough(passes)
        if not enough and not (rising and passes >= self.LEAST):
            return False
        self.least = max(self.LEAST, passes // 2) if enough else self.LEAST
        self.start = self.values[-1]
        return True

    def _long_enough(self, passes: int) -> bool:
        quarter, half, newest = (self.values[passes // part - 1] for part in (4, 2, 1))
        fallen, before = half - newest, quarter - half
        if fallen >= before:
            return False
        left = fallen * fallen / (before - fallen)
        start = self.start if self.start < math.inf else self.values[0]
        return left <= self.ENOUGH * (start - newest + left)


def rule(restart: Any) -> Restart:
    """The rule behind `zg.ARDCA(restart=...)`."""
    if restart is None:
        return Never()
    if restart == "adaptive":
        return Adaptive()
    if restart == "log-scale":
        return LogScale()
    return Fixed(float(restart))
