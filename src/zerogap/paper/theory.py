"""The paper's theorems, propositions and lemmas as numbers: what was measured beside what is promised.

Every check returns rows with `case`, `x` (K or another abscissa), `measured`, `upper` and `bound`; what is
stated holds where upper <= bound. `upper` is the 99.9 % upper confidence limit of a mean over the seeds
(mean + 3.1 standard errors), or `measured` itself where nothing is random.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from zerogap.paper.cases import Case, Rows, case, row, signed_row, solved
from zerogap.paper.lemmas import convex_combination, coordinate_lemma, erm_lemma, theta_lemma
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import L2
from zerogap.reference.method import lipschitz
from zerogap.solver.ardca import ArdcaSolver
from zerogap.solver.settings import ARDCA

Array = np.ndarray

#: K + 1 in passes: two decades.
PASSES = (1, 2, 5, 10, 20, 50, 100)
UPSILONS = (1.1, 2.0)


def runs(case: Case, upsilon: float, seeds: int, step: str = "paper") -> Iterator[tuple[int, Any]]:
    """Algorithm 1 from u0 = 0 for every seed, stopped after each of PASSES: (passes, candidates)."""
    settings = ARDCA(step=step, sampling="uniform", average_from=upsilon)
    for seed in range(seeds):
        solver = ArdcaSolver(case.problem, settings, np.random.default_rng(seed))
        solver.start(np.zeros(case.n))
        done = 0
        for passes in PASSES:
            solver.advance(passes - done, lambda: False)
            done = passes
            yield passes, solver.candidates()


def collected(
    case: Case, upsilon: float, seeds: int, measure: Callable[[Case, Any], tuple], step: str = "paper"
) -> dict:
    """measure(case, candidates) of all seeds, as an array (seeds, measures) for each number of passes."""
    found: dict[int, list[tuple]] = {passes: [] for passes in PASSES}
    for passes, offered in runs(case, upsilon, seeds, step):
        found[passes].append(measure(case, offered))
    return {passes: np.array(values) for passes, values in found.items()}


def _averaged(c: Case, offered: Any) -> tuple:
    x = offered.points[0]
    return c.problem.primal(x), c.violation(x)


def _dual(c: Case, offered: Any) -> tuple:
    return (c.excess(offered.dual),)


def theorem1(seeds: int) -> Rows:
    """Both bounds of Theorem 1: |E F(xhat) - F*|, and E of the violation in ||.||_L^*."""
    rows: Rows = []
    for which in ("erm", "constrained"):
        c = case(which)
        n, data = c.n, c.sizes[: c.problem.n_samples]
        slack = lipschitz(c.problem) ** 2 * float(data.sum())
        for upsilon in UPSILONS:
            values = collected(c, upsilon, seeds, _averaged)
            for passes, found in values.items():
                K = passes * n - 1
                reach = (K**2 / 4 + n * K) * (1 - 1 / upsilon)
                name = f"{which}, upsilon = {upsilon:g}"
                bound = 9 * n**2 * (c.start + c.norm(c.u) + slack) / reach
                rows.append(signed_row(f"objective, {name}", K, found[:, 0] - c.best, bound))
                if which == "constrained":
                    bound = 7 * n**2 / reach * math.sqrt(c.start)
                    rows.append(row(f"violation, {name}", K, found[:, 1], bound))
    return rows


def dual_rate(seeds: int) -> Rows:
    """The first proposition: E D(u^{K+1}) - D* against 4 / (2 + K / sqrt(n^2-1))^2 (...)."""
    rows: Rows = []
    for which in ("erm", "constrained"):
        c = case(which)
        n = c.n
        first = c.excess(np.zeros(n)) + n**2 / (2 * (n**2 - 1)) * c.norm(c.u)
        for step in ("paper", "long"):
            values = collected(c, 2.0, seeds, _dual, step)
            for passes, found in values.items():
                K = passes * n - 1
                bound = (2 * n / (2 * n + K * n / math.sqrt(n**2 - 1))) ** 2 * first
                rows.append(row(f"{which}, {step} step", K, found[:, 0], bound))
    return rows


def not_averaged(seeds: int) -> Rows:
    """The second proposition: x*(u^{K+1}) without averaging, on problem (1.3)."""
    c = case("constraints alone")
    L = _constant(c)

    def measure(c: Case, offered: Any) -> tuple:
        u, x = offered.dual, offered.points[-1]
        error, largest = c.problem.primal(x) - c.best, np.abs(u).max()
        return error, c.violation(x), c.violation(x, False), c.excess(u), largest**2

    rows: Rows = []
    for passes, found in collected(c, 2.0, seeds, measure).items():
        K, excess = passes * c.n - 1, found[:, 3].mean()
        root = math.sqrt(2 * L * excess)
        largest = math.sqrt(found[:, 4].mean())
        above = (largest * math.sqrt(2 * L * c.n) + math.sqrt(excess)) * math.sqrt(excess)
        below = float(np.linalg.norm(c.u)) * root
        rows.append(row("objective, from above", K, found[:, 0], above))
        rows.append(row("objective, from below", K, -found[:, 0], below))
        rows.append(row("violation, Euclidean norm", K, found[:, 2], root))
        rows.append(row("violation, norm ||.||_L^* as printed", K, found[:, 1], root))
    return rows


def _constant(c: Case) -> float:
    """The paper's L of (1.14) for one equality row and m linear inequalities."""
    p = c.problem
    norms = np.sqrt(p.rows.square_norms(1.0))
    equal = p.low == p.high
    B = float(np.linalg.norm(norms[equal]))
    g = norms[~equal]
    return math.sqrt(g.size + 1) * max(B, g.max()) / p.penalty.mu_min * math.sqrt(B**2 + float(g @ g))


def theorem2(seeds: int) -> Rows:
    """(47): the left side after N restarts against the N-th power of the contraction factor."""
    rng = np.random.default_rng(3)
    n, t, mu = 8, 6, 0.05
    A = rng.standard_normal((n, t))
    A /= np.linalg.norm(A, axis=1)[:, None]
    problem = Problem(A, A @ rng.standard_normal(t) + 0.3 * rng.standard_normal(n), regularizer=L2(mu))
    c = solved("squared", problem)
    S = A.T / n
    hessian = S.T @ S / mu + np.eye(n) / n
    scale = 1 / np.sqrt(c.sizes)
    kappa = 0.5 * float(np.linalg.eigvalsh(scale[:, None] * hessian * scale)[0])
    share = 1.0 - 1.0 / n
    rows: Rows = []
    for period in (n, 2 * n, 10 * n, 40 * n):
        found = np.array([_restarted(c, period, seed) for seed in range(max(200, seeds // 5))])
        first = share * c.excess(np.zeros(n)) + c.norm(c.u)
        factor = (1 + share * kappa) / (1 + 0.5 * kappa * (period / (2 * n) + 1) ** 2)
        for outer in range(found.shape[1]):
            bound = first * factor ** (outer + 1)
            if bound > 1e-13 * first:
                name = f"K = {period // n if period > n else ''}n, factor {factor:.3g}"
                rows.append(row(name, outer + 1, found[:, outer], bound, kappa=kappa, factor=factor))
    return rows


def _restarted(c: Case, period: int, seed: int, outer: int = 6) -> list[float]:
    """(1 - theta_0)(D(u) - D*) + ||u - u*||_L^2 after each of `outer` runs of steps 0..K."""
    solver = ArdcaSolver(
        c.problem, ARDCA(step="paper", sampling="uniform", average_from=None), np.random.default_rng(seed)
    )
    rng = np.random.default_rng([seed, 1])
    u, found = np.zeros(c.n), []
    for _ in range(outer):
        solver.start(u)
        for first in range(0, period + 1, c.n):
            count = min(c.n, period + 1 - first)
            solver.run_steps(rng.integers(0, c.n, size=count).astype(c.problem.active_rows.dtype))
        u = solver.dual()
        found.append((1.0 - 1.0 / c.n) * c.excess(u) + c.norm(u - c.u))
    return found


CHECKS: dict[str, Callable[[int], Rows]] = {
    "theorem1": theorem1,
    "dual_rate": dual_rate,
    "not_averaged": not_averaged,
    "theorem2": theorem2,
    "theta_lemma": theta_lemma,
    "coordinate_lemma": coordinate_lemma,
    "convex_combination": convex_combination,
    "erm_lemma": erm_lemma,
}
