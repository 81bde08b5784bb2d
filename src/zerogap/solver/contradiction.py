"""Notices that the constraints may contradict each other, and has it proved."""

from zerogap.problem.problem import Problem
from zerogap.result.certificate import Certificate
from zerogap.result.feasibility import Farkas, obvious_contradiction, prove_infeasible

#: The bound of an infeasible problem grows without end. From this multiple of the objective on it is asked
#: for a proof, then at every tenfold of that.
SUSPICIOUS, NEXT = 3.0, 10.0
#: Scaled violations below this are a matter of tolerance, not of contradiction.
VIOLATED = 1e-9


class Contradiction:
    """`proof` is a Farkas certificate once one is found."""

    def __init__(self, problem: Problem):
        self.problem = problem = problem.one_output
        self.proof: Farkas | None = obvious_contradiction(problem) if problem.n_constraints else None
        self._size = 0.0
        self._level = SUSPICIOUS
        self._feasible = False

    def look(self, certificate: Certificate, ended: bool) -> bool:
        """Is the problem known to be infeasible? `ended`: the solve is about to end without success."""
        if self.proof is not None or not self.problem.n_constraints:
            return self.proof is not None
        if self._feasible or certificate.scaled_violation <= VIOLATED:
            return False
        self._size = max(self._size, abs(certificate.primal))
        far = certificate.dual > self._level * self._size
        if far or ended:
            self._level *= NEXT
            self.proof = prove_infeasible(self.problem)
            self._feasible = self.proof is None
        return self.proof is not None
