"""Solves `JointQuantiles` by rows that are made when they are needed.

Every level is solved by itself first. Then a problem with some of the crossing rows gives a bound for all of
them. Its solution, its levels drawn apart so far that nothing crosses anywhere, is feasible for all of them.
Their distance is a certificate over all rows; rows that the solution violates join the problem, and its
tolerance shrinks, until it is small enough. Each problem starts where the one before has ended.
"""

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # comes with scikit-learn

from zerogap.problem.joint_quantiles import NO_ROWS, JointQuantiles, WorkingSet
from zerogap.problem.problem import Problem
from zerogap.result.certificate import Certificate, combine, pair_certificate, primal_side
from zerogap.result.history import History, Record
from zerogap.result.result import Result
from zerogap.result.status import Status
from zerogap.solver.driver import ALMOST, solve
from zerogap.solver.finisher import NewtonSolver
from zerogap.solver.proximal_newton import ProximalNewtonSolver

Array = np.ndarray

#: The first tolerance with crossing rows, and what it shrinks by. The last one is this far below the one
#: asked for.
FIRST_TOL, SHRINK, DEEPEST = 1e-4, 0.1, 1e-5
#: Rows that join at a time, as a share of the points; from so many rows per coefficient on some leave.
MOST, CROWDED = 0.5, 2.0
#: A problem is this much softer at first than the one before was at last: rows that join have to move x.
SOFTER = 125.0
#: What ends a problem from outside.
ENDED = (Status.INTERRUPTED, Status.MAX_TIME, Status.MAX_PASSES)


@dataclasses.dataclass(frozen=True)
class JointResult:
    """x by level, and the last problem's result; the certificate is one over all crossing rows."""

    joint: JointQuantiles
    result: Result
    working: WorkingSet

    @property
    def start(self) -> tuple[WorkingSet, Array]:
        """Where a later solve may start."""
        return self.working, self.result.dual


def solve_joint(
    joint: JointQuantiles,
    *,
    tol: float = 1e-6,
    max_passes: float = 10_000,
    max_time: float | None = None,
    warm_start: Any = None,
    shift: float = 0.0,
    callbacks: Sequence[Callable[[Record], Any]] = (),
    progress: bool = False,
) -> JointResult:
    """Minimise the joint objective; predictions at the joint problem's points do not cross.

    The options are those of `solve`; `warm_start` is an earlier result's `start`, and `shift` what the caller
    will add to every prediction (its rounding counts). Without an intercept, and where no direction of x
    raises every prediction, equal predictions are equal up to the tolerance only.
    """
    with threadpool_limits(1, user_api="blas"):  # its matrices are small: threads only wait for each other
        return _Rounds(joint, tol, shift, warm_start).run(max_passes, max_time, callbacks, progress)


class _Relay:
    """Newton steps that go on where those of the problems before have ended."""

    def __init__(self) -> None:
        self._solvers: list[NewtonSolver] = []
        self._x: Array | None = None
        self._stiffer, self._share = 1.0, 1.0

    def __repr__(self) -> str:
        return "newton"

    def make(self, problem: Problem, rng: object, tol: float) -> NewtonSolver:
        """What `solve` asks of its settings."""
        solver = ProximalNewtonSolver if ProximalNewtonSolver.fits(problem) else NewtonSolver
        made = solver(problem, tol=tol)
        if self._x is not None:
            made.resume(self._x, self._stiffer, self._share)
        self._solvers.append(made)
        return made

    def pass_on(self, x: Array) -> None:
        """The next problem starts at x, about as stiff as the ones since the last call have become."""
        self._x = x
        self._stiffer = max(1.0, min(solver.stiffer for solver in self._solvers) / SOFTER)
        self._share = max(solver.share for solver in self._solvers)
        self._solvers = []


class _Rounds:
    """The working set, the point where the next problem starts, and the best pair so far."""

    def __init__(self, joint: JointQuantiles, tol: float, shift: float, warm_start: Any):
        self.joint, self.tol, self.shift = joint, tol, shift
        self.working: WorkingSet
        self.dual: Array | None
        self.working, self.dual = warm_start or (NO_ROWS, None)
        self.alone = joint.representatives()
        self.dropped = np.zeros((joint.levels.size - 1, self.alone.size), dtype=bool)
        self.inner = max(FIRST_TOL, tol) if warm_start is None else SHRINK * tol
        self.best: JointResult | None = None
        self.relay = _Relay()

    def _solve(self, max_passes: float, deadline: float, progress: bool) -> Result:
        """The next problem's result; the one without crossing rows level by level."""
        options: dict[str, Any] = {"max_passes": max_passes, "progress": progress, "warn": False}
        if self.dual is None:
            levels = self._levels(options, deadline)
            if levels is not None:
                return levels
        return solve(
            self.joint.problem(self.working), algorithm=self.relay, tol=self.inner, warm_start=self.dual,
            max_time=_left(deadline), **options,
        )  # fmt: skip

    def _levels(self, options: dict[str, Any], deadline: float) -> Result | None:
        """All levels, each solved by itself, as a result without crossing rows; None where one cannot be."""
        joint, found = self.joint, []
        for k in range(joint.levels.size):
            result = solve(
                joint.level(k), algorithm=self.relay, tol=self.tol, max_time=_left(deadline), **options
            )
            if result.status is Status.INFEASIBLE:
                return None
            if result.status is Status.INTERRUPTED:
                deadline = 0.0
            found.append(result)
        problem = joint.problem(NO_ROWS)
        x, dual = joint.joined([(r.problem, r.problem.join(r.x, r.intercept), r.dual) for r in found])
        certificate = pair_certificate(problem, x, dual, problem.slope(dual))
        # a level that stalls by itself may do better beside the others
        ended = [r.status for r in found if r.status in ENDED]
        passes = sum(r.passes for r in found) / len(found)
        return dataclasses.replace(
            found[0], problem=problem, x=x, intercept=0.0, dual=dual, certificate=certificate, passes=passes,
            status=ended[0] if ended else Status.SOLVED,
        )  # fmt: skip

    def run(
        self, max_passes: float, max_time: float | None, callbacks: Sequence[Any], progress: bool
    ) -> JointResult:
        begun, passes, history = time.perf_counter(), 0.0, History()
        deadline = np.inf if max_time is None else begun + max_time
        status: Status | None = None
        while status is None:
            result = self._solve(max(max_passes - passes, 1.0), deadline, progress)
            passes += result.passes
            certificate = self._judge(result)
            history.append(
                Record(
                    passes, time.perf_counter() - begun, certificate.primal, certificate.dual,
                    certificate.gap, certificate.violation, self.working.size, "newton",
                )
            )  # fmt: skip
            wished = [callback(history[-1]) for callback in callbacks]
            status = self._verdict(certificate, result, any(wished))
        assert self.best is not None
        final = dataclasses.replace(
            self.best.result, status=status, history=history, passes=passes,
            seconds=time.perf_counter() - begun, infeasibility=result.infeasibility,
        )  # fmt: skip
        return dataclasses.replace(self.best, result=final)

    def _judge(self, result: Result) -> Certificate:
        """The certificate over all crossing rows, in units of the pinball losses; notes the best pair."""
        joint, problem = self.joint, result.problem
        found = joint.apart(result.x, self.shift)
        x = result.x if found is None else found
        own = combine(problem, primal_side(problem, x), result.certificate.dual, result.dual)
        violation, scaled = own.violation, own.scaled_violation
        if found is None:
            crossing = np.maximum(-np.diff(joint.predictions(x), axis=0), 0.0)
            violation = max(violation, float(crossing.max()))
            scaled = max(scaled, float(np.max(crossing / joint.sizes(x, self.shift))))
        primal, dual = own.primal + joint.constant, own.dual + joint.constant
        relative = own.gap / max(abs(primal), abs(dual), 1e-300) if np.isfinite(own.gap) else np.inf
        certificate = Certificate(primal, dual, own.gap, relative, violation, scaled)
        self.lifted = own.primal - result.certificate.primal
        if self.best is None or certificate.error < self.best.result.certificate.error:
            best = dataclasses.replace(result, x=x, certificate=certificate)
            self.best = JointResult(joint, best, self.working)
        return certificate

    def _verdict(self, certificate: Certificate, result: Result, wished: bool) -> Status | None:
        """The status to end with, or None once the next problem is prepared."""
        if certificate.within(self.tol):
            return Status.SOLVED
        if wished:
            return Status.INTERRUPTED
        if result.status in ENDED or result.status is Status.INFEASIBLE:
            return result.status
        changed = self._choose_rows(result)
        stuck = result.status is not Status.SOLVED or self.inner <= DEEPEST * self.tol
        if stuck and not changed:
            assert self.best is not None
            almost = self.best.result.certificate.within(ALMOST * self.tol)
            return Status.ALMOST_SOLVED if almost else Status.STALLED
        return None

    def _choose_rows(self, result: Result) -> bool:
        """The next working set, tolerance and starting point; did rows join?"""
        joint, x, old = self.joint, result.x, self.working
        room = np.diff(joint.predictions(x), axis=0)
        missing = joint.rounding(x, self.shift) - room
        inside = np.zeros(room.shape, dtype=bool)
        inside[old.pair, old.index] = True
        joining = (missing > 0) & ~inside & self.alone
        pair, index = np.nonzero(joining)
        if pair.size > MOST * self.alone.size:
            worst = np.argsort(-missing[pair, index], kind="stable")[: int(MOST * self.alone.size)]
            pair, index = pair[worst], index[worst]
        # rows in the problem are met to its tolerance; the gap of the problem is another reason to shrink it
        known, fresh = (float(np.max(missing[rows], initial=0.0)) for rows in (inside, joining))
        if known >= fresh or self.lifted <= result.certificate.gap:
            self.inner = max(SHRINK * self.inner, DEEPEST * self.tol)
        start = result.dual.size - old.size
        price = result.dual[start:]
        kept = np.ones(old.size, dtype=bool)
        if old.size > CROWDED * x.size:  # rows at rest leave, but only once
            kept = (price != 0.0) | (missing[old.pair, old.index] > 0) | self.dropped[old.pair, old.index]
            self.dropped[old.pair[~kept], old.index[~kept]] = True
        self.working = WorkingSet(np.append(old.pair[kept], pair), np.append(old.index[kept], index))
        self.relay.pass_on(x)
        self.dual = np.concatenate([result.dual[:start], price[kept], np.zeros(pair.size)])
        return pair.size > 0


def _left(deadline: float) -> float | None:
    """Seconds until the deadline, as an option of `solve`."""
    return None if deadline == np.inf else max(deadline - time.perf_counter(), 1e-9)
