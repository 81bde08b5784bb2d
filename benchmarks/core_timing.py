"""Interleaved timing: the contestants take turns, so that a busy machine slows all of them alike.

What compares two contestants is the median over the turns of the quotient of their times in one turn. Where
memory and caches are shared with strangers, times come in two sizes a factor of two apart; minima then say
who was lucky, while the two times of one turn are milliseconds apart and meet the same machine.
"""

import gc
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np


class Timing(NamedTuple):
    """Seconds, turn by turn."""

    seconds: np.ndarray

    @property
    def least(self) -> float:
        return float(self.seconds.min())

    @property
    def median(self) -> float:
        return float(np.median(self.seconds))

    def over(self, other: "Timing") -> float:
        """The median of the quotients turn by turn."""
        return float(np.median(self.seconds / other.seconds))


class Contestant(NamedTuple):
    """`prepare()` gives the argument of `run`, outside the clock."""

    prepare: Callable[[], object]
    run: Callable[..., object]


def take_turns(contestants: Mapping[str, Contestant], repeats: int) -> dict[str, Timing]:
    """Each contestant's time in every turn; one unmeasured turn compiles and warms caches.

    Every other turn goes the other way round.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    gc.disable()
    try:
        for turn in range(repeats + 1):
            order = list(contestants.items())
            for name, contestant in order if turn % 2 else reversed(order):
                argument = contestant.prepare()
                begun = time.perf_counter()
                contestant.run(argument)
                if turn:
                    seconds[name].append(time.perf_counter() - begun)
    finally:
        gc.enable()
    return {name: Timing(np.array(times)) for name, times in seconds.items()}
