"""When to restart the acceleration (Algorithm 3). Every rule is asked once a pass."""

import math
from typing import Any, Protocol

import numpy as np


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
    """Restart when the dual objective has stopped falling: D(u) above its best of this period."""

    watches = True

    def __init__(self) -> None:
        self.best = math.inf

    def due(self, passes: int, value: float) -> bool:
        if passes <= 1:
            self.best = value
            return False
        rising = value > self.best + 4 * np.finfo(np.float64).eps * abs(self.best)
        self.best = min(self.best, value)
        return rising


def rule(restart: Any) -> Restart:
    """The rule behind `zg.ARDCA(restart=...)`."""
    if restart is None:
        return Never()
    if restart == "adaptive":
        return Adaptive()
    if restart == "log-scale":
        return LogScale()
    return Fixed(float(restart))
