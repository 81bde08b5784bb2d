"""The best point and the best bound so far, each certified from the problem data."""

import numpy as np

from zerogap.problem.block_problem import BlockProblem
from zerogap.problem.problem import Problem
from zerogap.result.certificate import Certificate, PrimalSide, combine, primal_side
from zerogap.result.feasibility import Farkas
from zerogap.result.unbounded import Ray
from zerogap.solver.block_repair import BlockRepair
from zerogap.solver.dual_repair import DualRepair
from zerogap.solver.solver import Candidates
from zerogap.solver.stretch import stretched

Array = np.ndarray


class Incumbent:
    """Point and bound need not come from the same check: any feasible pair is a certificate."""

    point: Array
    side: PrimalSide
    dual: Array
    certificate: Certificate

    def __init__(self, problem: Problem):
        self.problem = problem
        self.repair = BlockRepair(problem) if isinstance(problem, BlockProblem) else DualRepair(problem)
        self.bound = -np.inf
        self.known = False
        self.proof: Farkas | None = None
        self.ray: Ray | None = None

    def update(self, candidates: Candidates) -> Certificate:
        """Take in what a solver offers; returns the certificate of its own best pair.

        Long vectors are few at a time: the offer is emptied, and a point goes once another one beats it.
        """
        problem = self.problem
        reference = candidates.points[0] if self.repair.any else None
        judged, margins = self._judged(candidates)
        u, bound = self._bound(candidates, reference)
        if bound > self.bound or not self.known:
            self.dual, self.bound = u, bound
        if self.known:
            self.certificate = combine(problem, self.side, self.bound, self.dual)
        own, point = min(((combine(problem, side, bound, u), x) for x, side in judged), key=_order)
        if candidates.stretch and 0.0 < own.relative_gap < np.inf and not problem.n_constraints:
            longer = stretched(problem, point, own.relative_gap, margins=margins)
            if longer is not None:
                judged = [(longer, primal_side(problem, longer))]
                own = combine(problem, judged[0][1], bound, u)
        for x, side in judged:
            certificate = combine(problem, side, self.bound, self.dual)
            if not self.known or _order((certificate, x)) < _order((self.certificate, self.point)):
                self.certificate, self.point, self.side, self.known = certificate, x, side, True
        return own

    def _judged(self, candidates: Candidates) -> tuple[list[tuple[Array, PrimalSide]], Array | None]:
        """The points with their primal sides; without constraints, only the one of the least value.

        And the margins of the last of these, if they are known.
        """
        judged: list[tuple[Array, PrimalSide]] = []
        known: Array | None = None
        points, margins = candidates.points, candidates.margins
        candidates.margins = None
        while points:
            point = points.pop(0)
            own = None if points else margins
            entry = point, primal_side(self.problem, point, own)
            if not judged or self.problem.n_constraints:
                judged.append(entry)
                known = own
            elif entry[1].value < judged[0][1].value:
                judged, known = [entry], own
        return judged, known

    def _bound(self, candidates: Candidates, reference: Array | None) -> tuple[Array, float]:
        """u, repaired where it has to be, and -D(u)."""
        u, slope = candidates.dual, candidates.slope
        candidates.slope = None
        if reference is not None:
            u, slope = self.repair(u, reference, candidates.stiffness), None
        slope = self.problem.slope(u) if slope is None else slope
        return u, -self.problem.dual_from_slope(u, slope)


def _order(judged: tuple[Certificate, Array]) -> tuple[float, float]:
    return judged[0].error, judged[0].primal
