"""The frozen result of a solve."""

import dataclasses
from typing import Any

import numpy as np

from zerogap.problem.problem import Problem
from zerogap.result.certificate import Certificate
from zerogap.result.feasibility import Farkas
from zerogap.result.history import History
from zerogap.result.repaired import FeasiblePoint, feasible_point
from zerogap.result.status import Status
from zerogap.result.summary import constraint_frame, slack
from zerogap.result.unbounded import Ray

Array = np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Result:
    """Answer, proof and story.

    x            the features' coefficients; for a loss over K classes a column for each
    intercept    b (0.0 when the problem has none), or K of them
    dual         u, one entry (or a row of K) per data row, then one per constraint row
    status       a `zg.Status`
    certificate  recomputed from the problem data, x and dual
    history      one record per check
    passes       row visits / number of rows
    algorithm    the algorithm that ran
    infeasibility  a Farkas certificate when the constraints contradict each other; see its `verify`
    ray          a direction of endless descent when the objective has no lower bound; see its `verify`
    """

    problem: Problem
    x: Array
    intercept: Any
    dual: Array
    status: Status
    certificate: Certificate
    history: History
    passes: float
    seconds: float
    algorithm: str
    infeasibility: Farkas | None = None
    ray: Ray | None = None

    @property
    def multipliers(self) -> list[Array]:
        """One array per constraint object, in the order given; >= 0 at upper, <= 0 at lower bounds."""
        return self.problem.multipliers(self.dual)

    @property
    def activity(self) -> list[Array]:
        """r_i . x of every constraint row, one array per constraint object."""
        return self.problem.multipliers(self.problem.rows.dot(self._point))

    @property
    def slack(self) -> list[Array]:
        """Distance to the nearer side of every constraint row's range; negative where it is violated."""
        margins = self.problem.rows.dot(self._point)
        n = self.problem.n_data
        return self.problem.multipliers(np.append(margins[:n], slack(self.problem, margins[n:])))

    @property
    def _point(self) -> Array:
        return self.problem.join(self.x, self.intercept)

    def feasible(self) -> FeasiblePoint | None:
        """A point near x that satisfies every constraint to 1e-12 (scaled), with its own valid gap.

        None where no such point was found, as in an infeasible problem.
        """
        return feasible_point(self.problem, self.x, self.intercept, self.dual)

    def summary(self) -> Any:
        """A pandas DataFrame with a line per constraint row (needs pandas).

        `multiplier` is the shadow price: raising `upper` (or the right-hand side of an equality) by a
        small d changes the optimal objective by -multiplier * d; likewise `lower`, whose multiplier is
        negative.
        """
        return constraint_frame(self.problem, self._point, self.dual[self.problem.n_samples :])

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
