"""Small problems with known solutions, and the rows that the checks of `theory` and `lemmas` return."""

import dataclasses
import math
from typing import Any

import numpy as np

from zerogap.paper.optimum import solved_tightly
from zerogap.problem.constraints import Between, Equal
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import ElasticNet
from zerogap.reference.method import coordinate_lipschitz

Array = np.ndarray
Rows = list[dict[str, Any]]

#: Standard errors above the mean: a 99.9 % upper confidence limit.
CONFIDENCE = 3.1


@dataclasses.dataclass(frozen=True)
class Case:
    """A small problem with its solution and the constants of the theorems."""

    name: str
    problem: Problem
    best: float  # F(x*) = -D(u*)
    u: Array  # u*
    sizes: Array  # L_i

    @property
    def n(self) -> int:
        return self.problem.n_rows

    def norm(self, u: Array) -> float:
        """||u||_L^2"""
        return float(self.sizes @ u**2)

    @property
    def start(self) -> float:
        """(1 - theta_0)(D(u0) - D(u*)) + ||u0 - u*||_L^2 at u0 = 0"""
        return (1.0 - 1.0 / self.n) * self.excess(np.zeros(self.n)) + self.norm(self.u)

    def excess(self, u: Array) -> float:
        """D(u) - D(u*)"""
        return self.problem.dual(u) + self.best

    def violation(self, x: Array, dual_norm: bool = True) -> float:
        """||(B x + b, max(0, g(x)))|| in the norm ||.||_L^* or the Euclidean one"""
        violations = self.problem.violations(self.problem.rows.dot(x))
        sizes = self.sizes[self.problem.n_samples :] if dual_norm else 1.0
        return math.sqrt(float(np.sum(violations**2 / sizes)))


def case(name: str) -> Case:
    """One of the small problems: "erm", "constrained" (all of problem (1.1)) and "constraints alone"."""
    rng = np.random.default_rng(12)
    t, n = 6, 0 if name == "constraints alone" else 8
    rows = rng.standard_normal((n, t))
    x = rng.standard_normal(t)
    y = rows @ x + rng.standard_normal(n)
    constraints: list[Between] = []
    if name != "erm":
        B, J = rng.standard_normal((1, t)), rng.standard_normal((3, t))
        inside = 0.5 * x
        constraints = [Equal(B, B @ inside), Between(J, upper=J @ inside + np.array([0.05, 0.1, 1.0]))]
    problem = Problem(
        rows if n else None, y if n else None, loss="absolute" if n else "squared",
        regularizer=ElasticNet(0.3, 0.05, center=0.0 if n else x), constraints=constraints,
    )  # fmt: skip
    return solved(name, problem)


def solved(name: str, problem: Problem) -> Case:
    result = solved_tightly(problem, 1e-12)
    best = 0.5 * (result.certificate.primal + result.certificate.dual)
    return Case(name, problem, best, result.dual, coordinate_lipschitz(problem))


def row(name: str, x: float, values: Any, bound: float, **more: Any) -> dict[str, Any]:
    """One row from the values of all seeds (or from one number)."""
    values = np.atleast_1d(np.asarray(values, dtype=float))
    measured = float(values.mean())
    spread = float(values.std(ddof=1)) / math.sqrt(values.size) if values.size > 1 else 0.0
    upper = measured + CONFIDENCE * spread
    return {
        "case": name, "x": float(x), "seeds": values.size,
        "measured": measured, "upper": upper, "bound": float(bound), **more,
    }  # fmt: skip


def signed_row(name: str, x: float, values: Array, bound: float) -> dict[str, Any]:
    """The same for |E[.]|, whose sign is not known."""
    out = row(name, x, values, bound)
    return {
        **out,
        "measured": abs(out["measured"]),
        "upper": abs(out["measured"]) + out["upper"] - out["measured"],
    }
