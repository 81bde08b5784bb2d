"""What a solver is to the driver: start, advance, candidates."""

import dataclasses
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np

from zerogap.result.certificate import Certificate

Array = np.ndarray


@dataclasses.dataclass
class Candidates:
    """What a solver offers for certification: primal points (with intercept) and a dual point.

    `slope` and `margins` spare products: s(dual), recomputed by `problem.slope` from `dual` itself, and
    `problem.rows.dot` of the last point. `stretch`: a multiple of a point may be better, as it is for
    minimisers x*(u) and averages of such. `stiffness`: sigma of the rows and s of the features, for Newton
    steps on the augmented Lagrangian.
    """

    points: list[Array]
    dual: Array
    slope: Array | None = None
    stretch: bool = False
    margins: Array | None = None
    stiffness: tuple[Array, Array] | None = None


class Solver(Protocol):
    """A solver holds its iterate; the driver owns the loop, the limits and the certificate."""

    @property
    def phase(self) -> str: ...

    @property
    def active(self) -> int: ...

    def start(self, u: Array) -> None:
        """Begin at the dual point u, which lies in its domain."""
        ...

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        """Run about `passes` passes, fewer when stop() says so (asked once a pass); returns how many."""
        ...

    def candidates(self) -> Candidates:
        """The current points."""
        ...


@runtime_checkable
class Learner(Protocol):
    """A solver that wants to know how well it does."""

    def learn(self, certificate: Certificate) -> None:
        """Told after every check: the certificate of the current points (not the best so far)."""
        ...
