"""Nonsmooth losses for methods that need smooth ones: the dual gets gamma/2 u^2 in every row."""

from collections.abc import Callable
from typing import Any, NamedTuple

from zerogap.problem import loss_registry as losses
from zerogap.problem.loss_registry import register, traits
from zerogap.problem.problem import Problem
from zerogap.reference.method import Array, Candidates, duality_gap, lipschitz, smoothness, variant
from zerogap.solver.solver import Solver


class Smoothed(NamedTuple):
    """The loss whose conjugate is phi*(u) + gamma/2 u^2: the Moreau envelope of `loss`.

    phi_gamma <= phi <= phi_gamma + gamma M^2 / 2 for an M-Lipschitz loss.
    """

    loss: Any
    gamma: float


def _prox(loss, v, tau, y):
    shrink = 1.0 / (1.0 + tau * loss.gamma)
    return losses.prox(loss.loss, v * shrink, tau * shrink, y)


def _slope(loss, v, tau, y):
    shrink = 1.0 / (1.0 + tau * loss.gamma)
    return shrink * losses.slope(loss.loss, v * shrink, tau * shrink, y)


def _value(loss, m, y):
    u = losses.prox(loss.loss, m / loss.gamma, 1.0 / loss.gamma, y)
    return u * m - losses.conjugate(loss.loss, u, y) - 0.5 * loss.gamma * u * u


register(
    Smoothed,
    value=_value,
    conjugate=lambda loss, u, y: losses.conjugate(loss.loss, u, y) + 0.5 * loss.gamma * u * u,
    prox=_prox,
    slope=_slope,
    domain=lambda loss, y: losses.domain(loss.loss, y),
    lipschitz=lambda loss: traits(loss.loss).lipschitz(loss.loss),
    smoothness=lambda loss: traits(loss.loss).smoothness(loss.loss) + loss.gamma,
    name="smoothed",
)


def smoothed(problem: Problem, gamma: float) -> Problem:
    """The problem with every loss smoothed; its optimal value is lower by at most `bias(problem, gamma)`."""
    return variant(problem, loss=Smoothed(problem.loss, float(gamma)))


def bias(problem: Problem, gamma: float) -> float:
    """gamma M^2 / 2: by how much smoothing may lower the objective."""
    return 0.5 * gamma * lipschitz(problem) ** 2


def with_smooth_loss(
    problem: Problem, epsilon: float | None, tol: float, build: Callable[[Problem], Solver]
) -> Solver:
    """The solver that `build` makes of a smooth problem, for any problem that can be smoothed.

    epsilon, when given, adds epsilon/2 ||u||^2 to the dual objective, once and for all (the paper's
    experiment): gamma = n epsilon. Otherwise the smoothing falls in stages; see `Stages`.
    """
    if smoothness(problem) > 0:
        return build(problem)
    if epsilon is not None:
        return build(smoothed(problem, epsilon * problem.active_rows.size))
    return Stages(problem, build, tol)


class Stages:
    """AdaptSmooth (Allen-Zhu & Hazan 2016): solve with smoothing gamma, lower gamma, go on from there.

    A stage ends when the gap of its smooth problem is at most its own bias gamma M^2/2; the next one has a
    quarter of gamma. The last has bias tol/2 of the objective. The first bias is the starting gap.
    """

    RATIO = 0.25
    #: A new stage begins by giving some of the progress back: the driver waits longer before it says stalled.
    patience = 4
    #: The gap of a stage is looked at again after this share of its passes.
    CHECK_EVERY = 0.05

    def __init__(self, problem: Problem, build: Callable[[Problem], Solver], tol: float):
        self.problem, self.tol, self._build = problem, tol, build
        self.active = problem.active_rows.size
        self.phase = "smoothing stages"

    def start(self, u: Array) -> None:
        x = self.problem.primal_from_dual(u)
        gap = duality_gap(self.problem, x, u)
        self._begin(2.0 * max(gap, 1e-300) / lipschitz(self.problem) ** 2, u, x)

    def _begin(self, gamma: float, u: Array, x: Array) -> None:
        self.gamma = gamma
        self._passes, self._due = 0.0, 1.0
        self._smooth = smoothed(self.problem, gamma)
        self._inner = self._build(self._smooth)
        self._inner.start(u.copy())
        if hasattr(self._inner, "move_to"):
            self._inner.move_to(x.copy())

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        done = 0.0
        while done < passes and not stop():
            due = min(passes - done, max(1.0, self.CHECK_EVERY * self._passes))
            ran = self._inner.advance(due, stop)
            done += ran
            self._passes += ran
            if self._passes < self._due:
                continue
            self._due = self._passes + max(1.0, self.CHECK_EVERY * self._passes)
            offered = self._inner.candidates()
            gap = min(duality_gap(self._smooth, x, offered.dual) for x in offered.points)
            if gap <= bias(self.problem, self.gamma):
                floor = 0.5 * self.tol * abs(self.problem.dual(offered.dual))
                if bias(self.problem, self.gamma) > floor:
                    lower = max(self.RATIO * self.gamma, 2.0 * floor / lipschitz(self.problem) ** 2)
                    self._begin(lower, offered.dual, offered.points[0])
        return done

    def candidates(self) -> Candidates:
        return self._inner.candidates()


__all__ = ["Smoothed", "Stages", "bias", "smoothed", "with_smooth_loss"]
