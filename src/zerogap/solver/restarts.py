"""When to restart the acceleration (Algorithm 3). Every rule is asked once a pass."""

import math
import sys
from typing import Any, Protocol

from zerogap.result.certificate import Certificate


class Restart(Protocol):
    """A restart rule."""

    watches: bool  # whether `due` wants the dual value

    def learn(self, certificate: Certificate, constrained: bool) -> None:
        """Take note of a certificate of the current points."""
        ...

    def due(self, passes: int, value: float) -> bool:
        """Restart now, `passes` passes after the last restart, at dual value D(u) = `value`?"""
        ...


class Deaf:
    """A rule that only counts passes."""

    watches = False

    def learn(self, certificate: Certificate, constrained: bool) -> None:
        return


class Never(Deaf):
    """Algorithm 1."""

    def due(self, passes: int, value: float) -> bool:
        return False


class Fixed(Deaf):
    """Algorithm 3 as printed: a fixed period."""

    def __init__(self, period: float):
        self.period = period

    def due(self, passes: int, value: float) -> bool:
        return passes >= self.period


class LogScale(Deaf):
    """Periods 1, 2, 1, 4, 1, 2, 1, 8, ... times `first`: within a logarithm of the best unknown period."""

    def __init__(self, first: int = 5):
        self.first, self.round = first, 1

    def due(self, passes: int, value: float) -> bool:
        if passes < self.first * (self.round & -self.round):
            return False
        self.round += 1
        return True


class Adaptive:
    """Restart when the gap has shrunk enough since the last restart, or when momentum overshoots.

    A period is long enough once the gap is a tenth of what it was: past that, acceleration has done
    most of what it can, and a shorter one loses it. (For an error that falls like (c/K)^2 over a period
    of K passes, the best K has the ratio e^-2, and ratios from 0.03 to 0.3 cost about the same.) Between
    checks the gap is bounded by the best primal value so far plus D(u). With constraints that value is
    no upper bound, so the certificate's own error takes its place, at checks only. Overshooting shows
    as a dual value above the best of the period.
    """

    watches = True
    ENOUGH = 0.1

    def __init__(self) -> None:
        self.upper = math.inf  # best primal value
        self.best = self.first = math.inf  # dual values: the period's best, and at its start
        self.error = math.inf  # at the last check, constrained problems only
        self.first_error = math.inf

    def learn(self, certificate: Certificate, constrained: bool) -> None:
        """Take note of a certificate."""
        if constrained:
            self.error = certificate.error
            if self.first_error == math.inf:
                self.first_error = self.error
        else:
            self.upper = min(self.upper, certificate.primal)

    def due(self, passes: int, value: float) -> bool:
        if passes <= 1:
            self.first = min(self.first, value)
            self.best = value
            return False
        rising = value > self.best + 4 * sys.float_info.epsilon * abs(self.best)
        self.best = min(self.best, value)
        shrunk = self.upper + value <= self.ENOUGH * (self.upper + self.first)
        if self.error < math.inf:
            shrunk = self.error <= self.ENOUGH * self.first_error
        if not (rising or (shrunk and self.first < math.inf)):
            return False
        self.first, self.first_error = value, self.error
        return True


def rule(restart: Any) -> Restart:
    """The rule behind `zg.ARDCA(restart=...)`."""
    if restart is None:
        return Never()
    if restart == "adaptive":
        return Adaptive()
    if restart == "log-scale":
        return LogScale()
    return Fixed(float(restart))
