"""The frozen result of a solve."""

import dataclasses

import numpy as np

from zerogap.problem.problem import Problem
from zerogap.result.certificate import Certificate
from zerogap.result.history import History
from zerogap.result.status import Status

Array = np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Result:
    """Answer, proof and story.

    x            the features' coefficients
    intercept    b (0.0 when the problem has none)
    dual         u, one entry per data row, then one per constraint row
    status       a `zg.Status`
    certificate  recomputed from the problem data, x and dual
    history      one record per check
    passes       row visits / number of rows
    algorithm    the algorithm that ran
    """

    problem: Problem
    x: Array
    intercept: float
    dual: Array
    status: Status
    certificate: Certificate
    history: History
    passes: float
    seconds: float
    algorithm: str

    @property
    def multipliers(self) -> list[Array]:
        """One array per constraint object, in the order given; >= 0 at upper, <= 0 at lower bounds."""
        return self.problem.multipliers(self.dual)

    @property
    def solved(self) -> bool:
        return self.status is Status.SOLVED

    def __str__(self) -> str:
        head = f"{self.status}: {self.status.sentence}"
        tail = f"{self.passes:.4g} passes of {self.algorithm} in {self.seconds:.3g} s"
        return f"{head}\n{self.certificate}\n{tail}"

    def __repr__(self) -> str:
        c = self.certificate
        return f"Result({self.status}, primal={c.primal:.9g}, relative_gap={c.relative_gap:.2g})"
