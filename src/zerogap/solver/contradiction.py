"""Notices that there may be no answer, and has it proved: no feasible point, or no lower bound."""

from zerogap.problem.problem import Problem
from zerogap.result.certificate import Certificate
from zerogap.result.feasibility import Farkas, obvious_contradiction, prove_infeasible
from zerogap.result.status import Status
from zerogap.result.unbounded import Ray, prove_unbounded

#: The bound of an infeasible problem grows without end. From this multiple of the objective on it is asked
#: for a proof, then at every tenfold of that.
SUSPICIOUS, NEXT = 3.0, 10.0
#: Checks before the bound may arouse suspicion: the first points, x = 0 say, tell nothing of the objective.
EARLY = 5
#: Scaled violations below this are a matter of tolerance, not of contradiction.
VIOLATED = 1e-9
#: Checks outside the constraints after which the proof is tried once anyhow, if it is as small as this.
PATIENT, SMALL = 20, 1_000_000
#: Checks without any finite bound before the objective is suspected to have none.
BOUNDLESS = 5


class Contradiction:
    """`proof` is a Farkas certificate, or `ray` a direction of endless descent, once one is found."""

    def __init__(self, problem: Problem):
        self.problem = problem = problem.one_output
        self.proof: Farkas | None = obvious_contradiction(problem) if problem.n_constraints else None
        self.ray: Ray | None = None
        self._size = 0.0
        self._level = SUSPICIOUS
        self._feasible = not problem.n_constraints
        self._boundless = 0
        self._outside = 0

    @property
    def status(self) -> Status:
        """What has been proved."""
        return Status.INFEASIBLE if self.proof is not None else Status.UNBOUNDED

    def look(self, certificate: Certificate, ended: bool) -> bool:
        """Is the problem known to have no answer? `ended`: the solve is about to end without success."""
        if self.proof is None:
            self._look_for_contradiction(certificate, ended)
        if self.proof is None and self.ray is None and certificate.dual == -float("inf"):
            self._look_for_ray(ended)
        return self.proof is not None or self.ray is not None

    def _look_for_contradiction(self, certificate: Certificate, ended: bool) -> None:
        if self._feasible or certificate.scaled_violation <= VIOLATED:
            return
        self._size = max(self._size, abs(certificate.primal))
        self._outside += 1
        far = self._outside >= EARLY and certificate.dual > self._level * self._size
        late = self._outside == PATIENT and self.problem.rows.bottom.nonzeros <= SMALL
        if far or late or ended:
            self._level *= NEXT
            self._prove_infeasible()

    def _look_for_ray(self, ended: bool) -> None:
        self._boundless += 1
        if self.problem.bounded_below:
            return
        if self._boundless == BOUNDLESS or (ended and self._boundless < BOUNDLESS):
            ray = prove_unbounded(self.problem)
            if ray is not None and not self._feasible:  # without a feasible point, a ray says nothing
                self._prove_infeasible()
            self.ray = ray if self.proof is None else None

    def _prove_infeasible(self) -> None:
        self.proof = prove_infeasible(self.problem)
        self._feasible = self.proof is None
