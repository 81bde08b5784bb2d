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
        """Take in what a solver offers; returns the certificate of its own best pair."""
        problem, u = self.problem, candidates.dual
        slope = candidates.slope
        if self.repair.any:
            u, slope = self.repair(u, candidates.points[0], candidates.stiffness), None
        slope = problem.slope(u) if slope is None else slope
        bound = -problem.dual_from_slope(u, slope)
        sides = [(point, primal_side(problem, point)) for point in candidates.points]
        own, point = min(
            ((combine(problem, side, bound, u), p) for p, side in sides), key=lambda e: _order(e[0])
        )
        if candidates.stretch and 0.0 < own.relative_gap < np.inf and not problem.n_constraints:
            longer = stretched(problem, point, own.relative_gap)
            if longer is not None:
                sides.append((longer, primal_side(problem, longer)))
                own = min(own, combine(problem, sides[-1][1], bound, u), key=_order)
        if bound > self.bound or not self.known:
            self.dual, self.bound = u, bound
        if self.known:
            sides.append((self.point, self.side))
        judged = [(combine(problem, side, self.bound, self.dual), p, side) for p, side in sides]
        self.certificate, self.point, self.side = min(judged, key=lambda entry: _order(entry[0]))
        self.known = True
        return own


def _order(certificate: Certificate) -> tuple[float, float]:
    return certificate.error, certificate.primal
