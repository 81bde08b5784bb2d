"""Which rows a pass visits, in which order. Kernels only see the order."""

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray


def sampler(kind: str, rng: np.random.Generator) -> Callable[[Array], Array]:
    """A function from the active rows to the visiting order of one pass."""

    def permuted(active: Array) -> Array:
        return rng.permutation(active)

    def uniform(active: Array) -> Array:
        return active[rng.integers(0, active.size, size=active.size, dtype=np.int64)]

    def cyclic(active: Array) -> Array:
        return active

    known: dict[str, Any] = {"permuted": permuted, "uniform": uniform, "cyclic": cyclic}
    return known[kind]
