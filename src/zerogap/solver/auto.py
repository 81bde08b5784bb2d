"""`algorithm="auto"`: coordinate steps, then accelerated ones, then Newton; each while it is the quickest.

The rule is the ski-rental one. A Newton finish costs about a known time, from the sizes of its matrices.
Coordinate passes run until they have spent a share of it; from then on they go on only while their
measured progress per second promises an end sooner than the finish would bring it. Seconds are modelled
(`costs`), not measured: the same seed takes the same way on every run.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from zerogap.problem import loss_registry
from zerogap.problem.problem import Problem
from zerogap.result.certificate import Certificate
from zerogap.solver import costs
from zerogap.solver.ardca import ArdcaSolver
from zerogap.solver.newton import newton_solver
from zerogap.solver.proximal_newton import ProximalNewtonSolver
from zerogap.solver.sdca import SdcaSolver
from zerogap.solver.settings import ARDCA, SDCA
from zerogap.solver.solver import Candidates, Solver

Array = np.ndarray

#: The coordinate phases.
PLAIN = SDCA(shrink=True)
ACCELERATED = ARDCA(restart="adaptive", shrink=True, average_over="passes")
#: Newton steps of a typical finish; an l1 term or a box takes more.
FINISH_STEPS, BROKEN_STEPS = 35, 100
#: A finish that takes so many seconds at most is not worth waiting for anything else.
QUICK = 0.02
#: Matrices up to this size are cheap to factorise.
SMALL = 1000
#: Share of the finish's cost that coordinate passes may spend before they have to promise something.
TRIAL = 0.25
#: Plain passes before acceleration takes over, unless the end is in sight (passes, seconds).
PLAIN_PASSES, IN_SIGHT, SOON = 12, 15, 0.02
#: A Newton phase that is still short of the tolerance after this many times its predicted cost has failed.
PATIENCE = 30.0
#: So many checks without progress, or outer steps in a row that lead nowhere, say the same.
IDLE, ASTRAY = 8, 4
#: Checks of a phase before its trend is believed.
TREND = 3


class AutoSolver:
    """A solver made of solvers. `phase` says which one runs."""

    #: What follows where Newton steps lose their way: those with a proximal term, then coordinates again.
    second = "held"

    def __init__(self, problem: Problem, settings: Any, rng: np.random.Generator, tol: float):
        self.problem, self.rng, self.tol = problem, rng, tol
        penalty = problem.penalty
        self._newton_fits = penalty.separable
        self._coordinates_fit = penalty.mu_min > 0
        self._spent = 0.0  # modelled seconds in the current phase, checks included
        self._passes = 0.0  # of the current phase
        self._trend: list[tuple[float, float]] = []  # passes, log10 error; this phase
        self._bounds: list[float] = []  # with it
        self._retired: set[str] = set()

    @property
    def phase(self) -> str:
        return self._inner.phase

    @property
    def active(self) -> int:
        return self._inner.active

    @property
    def stride(self) -> float:
        """See `NewtonSolver.stride`."""
        return getattr(self._inner, "stride", 0.0)

    def start(self, u: Array) -> None:
        self._dual = u
        self._finish_cost = self._finish_steps * self._newton_step() if self._newton_fits else math.inf
        self._enter("newton" if self._newton_first() else "sdca")

    def _newton_first(self) -> bool:
        """Is there nothing to gain from coordinate passes?

        They cannot run without strong convexity, and an intercept costs them an outer loop. Where the
        matrices are small, Newton steps also come first for smooth losses (few of them are needed) and
        for problems with constraints, an l1 term or a box (a warm start does not make them fewer).
        """
        problem = self.problem
        if not self._newton_fits:
            return False
        if not self._coordinates_fit or problem.fit_intercept:
            return True
        if self._finish_cost <= QUICK:
            return True
        smooth = loss_registry.traits(problem.loss).differentiable
        small = min(problem.rows.shape) <= SMALL
        return small and (smooth or problem.n_constraints > 0 or self.problem.penalty.kinked)

    @property
    def _finish_steps(self) -> int:
        """Newton steps of a finish."""
        return BROKEN_STEPS if self.problem.penalty.kinked else FINISH_STEPS

    def _newton_step(self) -> float:
        """Seconds of a Newton step."""
        return costs.newton_step(self.problem.rows)

    def _enter(self, name: str) -> None:
        self.name = name
        self._spent, self._passes, self._trend, self._bounds = 0.0, 0.0, [], []
        self._inner = self._solver(name)
        self._inner.start(self._dual)

    def _solver(self, name: str) -> Solver:
        if name == "newton":
            return newton_solver(self.problem, self.tol)
        if name == "held":
            return ProximalNewtonSolver(self.problem, self.tol, everything=True)
        if name == "ardca":
            return ArdcaSolver(self.problem, ACCELERATED, self.rng, self.tol)
        return SdcaSolver(self.problem, PLAIN, self.rng)

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        del self._dual  # the next check brings a new one
        done = self._inner.advance(passes, stop)
        self._passes += done
        self._spent += self._price(done) + costs.check(self.problem.rows)
        return done

    def _price(self, passes: float) -> float:
        """Seconds that so many passes of the current phase cost."""
        if self.name in ("newton", "held"):  # which count two passes a step
            return 0.5 * passes * self._finish_cost / self._finish_steps
        pace = costs.coordinate_pass(self.problem.rows)
        return passes * pace * (costs.ACCELERATION if self.name == "ardca" else 1.0)

    def candidates(self) -> Candidates:
        found = self._inner.candidates()
        self._dual = found.dual
        return found

    def learn(self, certificate: Certificate) -> None:
        """Note the progress, and change the phase when another one promises an earlier end."""
        error = min(max(certificate.error, 1e-300), 1e300)
        self._trend.append((self._passes, math.log10(error)))
        self._bounds.append(certificate.dual)
        following = self._following()
        if following != self.name:
            self._enter(following)

    def _following(self) -> str:
        if self.name == "newton":
            late = self._spent > PATIENCE * max(self._finish_cost, 0.05) and len(self._trend) >= TREND
            late = late and self._left()[0] > self._spent
            stuck = self._idle() or late or getattr(self._inner, "astray", 0) >= ASTRAY
            if stuck and self._coordinates_fit and "newton" not in self._retired:
                self._retired.add("newton")
                n, size = self.problem.rows.shape
                return self.second if n >= size else "ardca"  # few rows: their own dual is the small problem
            return "newton"
        if self.name == "held":
            return "ardca" if self._idle() else "held"
        seconds, passes = self._left()
        may_finish = self._newton_fits and "newton" not in self._retired
        may_finish = may_finish and len(self._trend) >= (2 if self.name == "sdca" else TREND)
        if may_finish and self._spent >= TRIAL * self._finish_cost and seconds > self._finish_cost:
            return "newton"
        plain = self.name == "sdca" and self._passes >= PLAIN_PASSES
        if plain and passes > IN_SIGHT and seconds > SOON:
            return "ardca"
        return self.name

    def _idle(self) -> bool:
        """No better error and no better bound in the last IDLE checks of this phase."""
        errors = [error for _, error in self._trend]
        if len(errors) <= IDLE or min(errors[-IDLE:]) < min(errors[:-IDLE]) - 0.005:
            return False
        before, since = max(self._bounds[:-IDLE]), max(self._bounds[-IDLE:])
        return since == before or since < before + 0.01 * abs(before)

    def _left(self) -> tuple[float, float]:
        """Seconds and passes until the tolerance, by the trend of the phase's later half."""
        if len(self._trend) < 2:
            return math.inf, math.inf
        newest = self._trend[-1]
        older = self._trend[len(self._trend) // 2 - 1]
        decades = older[1] - newest[1]
        if decades <= 0:
            return math.inf, math.inf
        passes = max(newest[1] - math.log10(self.tol), 0.0) / decades * (newest[0] - older[0])
        return passes * self._spent / max(self._passes, 1e-9), passes
