"""What a reference method is: settings that make a solver, and a statement of what they need.

    result = zg.solve(problem, algorithm=Adfga())

runs a method through the library's one loop, so that its answer carries the same certificate.
"""

import copy
import dataclasses
from typing import Any, ClassVar

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from zerogap.exceptions import SettingsError
from zerogap.problem import loss_registry
from zerogap.problem import terms as row_terms
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import Free, Separable, SeparablePenalty
from zerogap.solver.solver import Candidates, Solver

Array = np.ndarray

#: For `Checkpoints`: a method whose step moves all coordinates has no 1/n in Theorem 1's bound on K0.
EVERY_STEP = 10**9


@dataclasses.dataclass(frozen=True)
class Needs:
    """What a method asks of a problem. What is left False is not needed."""

    smooth: bool = False  # a loss with Lipschitz gradient (gamma > 0)
    smoothable: bool = False  # gamma > 0, or a finite Lipschitz constant M so that it can be smoothed
    unconstrained: bool = False
    separable: bool = False  # f adds up over the features: no group penalty
    no_intercept: bool = True  # strong convexity in every direction

    def complaint(self, problem: Problem) -> str | None:
        """What is missing, or None."""
        about = loss_registry.traits(problem.loss)
        smooth = about.smoothness(problem.loss) > 0
        if self.unconstrained and problem.n_constraints:
            return "problems without constraints"
        if self.smooth and not smooth:
            return f"a smooth loss; {about.name} is not"
        if self.smoothable and not smooth and not np.isfinite(about.lipschitz(problem.loss)):
            return f"a loss that is smooth or Lipschitz continuous; {about.name} is neither"
        if self.separable and not problem.penalty.separable:
            return "a separable regularizer; the group penalty is not"
        if self.no_intercept and problem.fit_intercept:
            return "a penalty on every coefficient; the intercept has none"
        if problem.penalty.mu_min <= 0:
            return "l2 > 0 for every feature"
        return None


class Method:
    """Base class of the settings objects (frozen dataclasses) of this package."""

    needs: ClassVar[Needs] = Needs()
    #: Passes within which the method certifies a relative 1e-6 on the paper's problems (1), (2) and (3) of
    #: `paper.problems.small`; None where it does not apply, or cannot (the class says why).
    stated: ClassVar[tuple[int | None, int | None, int | None]] = (None, None, None)

    def applies(self, problem: Problem) -> bool:
        """Does the problem have what the method needs?"""
        return self.needs.complaint(problem) is None

    def make(self, problem: Problem, rng: np.random.Generator, tol: float) -> Solver:
        """The solver, after a check of the needs."""
        complaint = self.needs.complaint(problem)
        if complaint:
            raise SettingsError(f"algorithm {type(self).__name__} needs {complaint}; got {problem!r}")
        return self.build(problem, rng, tol)

    def build(self, problem: Problem, rng: np.random.Generator, tol: float) -> Solver:
        raise NotImplementedError


def variant(problem: Problem, **changed: Any) -> Problem:
    """A copy of the problem with another `loss` or `penalty`; rows and targets are shared."""
    other = copy.copy(problem)
    other.__dict__.pop("terms", None)
    for name, value in changed.items():
        object.__setattr__(other, name, value)
    return other


def prox_rows(problem: Problem, v: Array, tau: Array) -> Array:
    """prox_{tau_i phi_i*}(v_i) for all rows at once."""
    out, slopes = np.empty_like(v), np.empty_like(v)
    row_terms.prox_map(problem.terms, v, np.broadcast_to(tau, v.shape).copy(), out, slopes)
    return out


def coordinate_lipschitz(problem: Problem) -> Array:
    """L_i = w_i^2 sum_j r_ij^2 / mu_j (the coordinate Lipschitz lemma)."""
    norms = problem.rows.square_norms(1.0 / np.asarray(problem.penalty.mu))
    floor = 1e-12 * float(norms.max(initial=0.0)) or 1.0
    return problem.weight**2 * np.maximum(norms, floor)


def spread(problem: Problem, sizes: Array) -> float:
    """ell = the largest eigenvalue of L^-1/2 S' diag(1/mu) S L^-1/2, S = (w_i r_i): 1 <= ell <= n.

    d is ell-smooth in the norm ||.||_L. With constraints absent and rows of equal length, ell L_i is the
    paper's constant ||A||_2^2 / (n^2 mu).
    """
    n = problem.n_rows
    safe = np.where(sizes > 0, sizes, 1.0)
    factor = problem.weight / np.sqrt(safe)
    inverse = 1.0 / np.asarray(problem.penalty.mu)

    def apply(v: Array) -> Array:
        return factor * problem.rows.dot(inverse * problem.rows.tdot(factor * np.ravel(v)))

    if n <= 40:
        matrix = np.column_stack([apply(column) for column in np.eye(n)])
        return float(np.linalg.eigvalsh(0.5 * (matrix + matrix.T))[-1])
    start = np.abs(factor) + 1e-3
    top = eigsh(LinearOperator((n, n), matvec=apply, dtype=float), k=1, v0=start, tol=1e-4)[0]
    return 1.0005 * float(top[0])


def step_sizes(problem: Problem) -> Array:
    """tau_i = w_i / (ell L_i); rows of weight zero get a harmless 1."""
    sizes = coordinate_lipschitz(problem)
    ell = spread(problem, sizes)
    active = problem.weight > 0
    return np.where(active, problem.weight / (ell * np.where(active, sizes, 1.0)), 1.0)


def separable_terms(penalty: SeparablePenalty) -> Separable:
    """The compiled f with one entry per feature, whatever the penalty's own compact form."""
    full = [
        np.array(np.broadcast_to(p, (penalty.n_features,)), dtype=np.float64)
        for p in (penalty.mu, penalty.pull, penalty.l1, penalty.lower, penalty.upper)
    ]
    return Separable(full[0], full[1], full[2], full[3], full[4], Free(0.0, 0.0))


def longest_row(problem: Problem) -> float:
    """R^2 = n max_i w_i ||r_i||^2: the squared length of the longest row, for equal weights."""
    n = problem.active_rows.size
    return float(n * np.max(problem.weight * problem.rows.square_norms(1.0)))


def smoothness(problem: Problem) -> float:
    """gamma: every loss is 1/gamma-smooth (0 when it is not smooth)."""
    return float(loss_registry.traits(problem.loss).smoothness(problem.loss))


def lipschitz(problem: Problem) -> float:
    """M: every loss is M-Lipschitz."""
    return float(loss_registry.traits(problem.loss).lipschitz(problem.loss))


def duality_gap(problem: Problem, x: Array, u: Array) -> float:
    """primal(x) + D(u) of an unconstrained problem."""
    return problem.primal(x) + problem.dual(u)


__all__ = [
    "EVERY_STEP",
    "Array",
    "Candidates",
    "Method",
    "Needs",
    "coordinate_lipschitz",
    "duality_gap",
    "lipschitz",
    "longest_row",
    "prox_rows",
    "separable_terms",
    "smoothness",
    "spread",
    "step_sizes",
    "variant",
]
