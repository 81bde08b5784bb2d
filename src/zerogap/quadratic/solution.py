"""The answer of a quadratic program, in the names that the `qpsolvers` package made common."""

import dataclasses
from typing import Any

import numpy as np

from zerogap.quadratic.program import QuadraticProgram
from zerogap.result.certificate import Certificate
from zerogap.result.feasibility import Farkas
from zerogap.result.result import Result
from zerogap.result.status import Status
from zerogap.result.unbounded import Ray

Array = np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class QPSolution:
    """Answer, multipliers and proof; P x + q + G'z + A'y + z_box = 0 at the optimum.

    problem      the program, checked
    x            the point; None when the program is infeasible or unbounded
    y            multipliers of A x = b, either sign
    z            multipliers of G x <= h, >= 0
    z_box        multipliers of the box: > 0 at `ub`, < 0 at `lb`
    obj          1/2 x'Px + q'x
    found        True when the tolerance was certified
    status       a `zg.Status`
    certificate  primal and dual bound, gap and violation
    infeasibility  for INFEASIBLE: a Farkas certificate (`verify()`) on an irreducible set of rows
    ray          for UNBOUNDED: a direction of endless descent (`verify()`)
    extras       the whole `zg.Result` as "result", and "passes", "seconds", "algorithm"
    """

    problem: QuadraticProgram
    x: Array | None
    y: Array | None
    z: Array | None
    z_box: Array | None
    obj: float | None
    found: bool
    status: Status
    certificate: Certificate
    infeasibility: Farkas | None
    ray: Ray | None
    extras: dict[str, Any]

    def is_optimal(self, eps_abs: float) -> bool:
        """Are both residuals and the duality gap below eps_abs?"""
        return max(self.primal_residual(), self.dual_residual(), self.duality_gap()) < eps_abs

    def primal_residual(self) -> float:
        """The largest violation of a row or a bound; inf without a point."""
        if self.x is None:
            return np.inf
        program = self.problem
        inequalities, equalities = program.activities(self.x)
        parts = (
            inequalities - program.h,
            np.abs(equalities - program.b),
            program.lb - self.x,
            self.x - program.ub,
        )
        return max(0.0, *(float(part.max(initial=0.0)) for part in parts))

    def dual_residual(self) -> float:
        """The largest entry of |P x + q + G'z + A'y + z_box|; inf without a point."""
        if self.x is None:
            return np.inf
        slope = stationarity(self.problem, self.x, self.y, self.z) + self.z_box
        return float(np.abs(slope).max(initial=0.0))

    def duality_gap(self) -> float:
        """|x'Px + q'x + h'z + b'y + lb'min(z_box, 0) + ub'max(z_box, 0)|; inf without a point."""
        return np.inf if self.x is None else abs(sum(self._terms()))

    def _terms(self) -> list[float]:
        program, x, y, z, z_box = self.problem, self.x, self.y, self.z, self.z_box
        assert x is not None
        assert y is not None
        assert z is not None
        assert z_box is not None
        return [
            float(x @ (program.P @ x)),
            float(program.q @ x),
            _times(program.h, z),
            float(program.b @ y),
            _times(program.lb, np.minimum(z_box, 0.0)),
            _times(program.ub, np.maximum(z_box, 0.0)),
        ]

    def size(self) -> float:
        """What a gap is small against when the objective is zero: the sum of its absolute terms."""
        return sum(map(abs, self._terms()))

    def __str__(self) -> str:
        lines = [f"{self.status}: {self.status.sentence}"]
        if self.infeasibility is not None:
            lines.append(str(self.infeasibility))
        elif self.ray is not None:
            lines.append(str(self.ray))
        else:
            lines.append(str(self.certificate))
        lines.append(f"{self.extras['passes']:.4g} passes of {self.extras['algorithm']}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"QPSolution({self.status}, obj={self.obj})"


def _times(side: Array, multiplier: Array) -> float:
    used = multiplier != 0.0
    return float(side[used] @ multiplier[used])


def stationarity(program: QuadraticProgram, x: Array, y: Any, z: Any) -> Array:
    """P x + q + G'z + A'y: minus the multipliers of the box at the optimum."""
    return program.P @ x + program.q + program.G.T @ z + program.A.T @ y


def from_result(program: QuadraticProgram, result: Result, tol: float) -> QPSolution:
    """The solution that a result of `program`'s problem stands for."""
    extras = {"result": result, "passes": result.passes, "seconds": result.seconds}
    extras["algorithm"] = result.algorithm
    proofs = result.infeasibility, result.ray
    if any(proof is not None for proof in proofs):
        return QPSolution(
            program, None, None, None, None, None, False, result.status, result.certificate, *proofs, extras
        )
    m = program.b.size
    tail = result.dual[result.problem.n_samples :]
    x, y, z = result.x, tail[:m].copy(), tail[m : m + program.h.size].copy()
    z_box = -stationarity(program, x, y, z)
    np.clip(z_box, np.where(np.isinf(program.lb), 0.0, -np.inf), np.where(np.isinf(program.ub), 0.0, np.inf),
            out=z_box)  # fmt: skip
    status = result.status
    found = status is Status.SOLVED
    solution = QPSolution(
        program, x, y, z, z_box, program.objective(x), found, status, result.certificate, *proofs, extras
    )
    feasible = result.certificate.scaled_violation <= tol
    # an objective of zero leaves nothing for a gap to be relative to but its terms
    if not found and feasible and result.certificate.gap <= tol * solution.size():
        return dataclasses.replace(solution, found=True, status=Status.SOLVED)
    return solution
