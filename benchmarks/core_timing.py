"""Interleaved timing: the contestants take turns, so that a busy machine slows all of them alike."""

import gc
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np


class Timing(NamedTuple):
    """Seconds over the repeats."""

    least: float
    median: float


class Contestant(NamedTuple):
    """`prepare()` gives the argument of `run`, outside the clock."""

    prepare: Callable[[], object]
    run: Callable[..., object]


def take_turns(contestants: Mapping[str, Contestant], repeats: int) -> dict[str, Timing]:
    """Minimum and median of each contestant's time; one unmeasured turn compiles and warms caches."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    gc.disable()
    try:
        for turn in range(repeats + 1):
            for name, contestant in contestants.items():
                argument = contestant.prepare()
                begun = time.perf_counter()
                contestant.run(argument)
                if turn:
                    seconds[name].append(time.perf_counter() - begun)
    finally:
        gc.enable()
    return {name: Timing(min(times), float(np.median(times))) for name, times in seconds.items()}
