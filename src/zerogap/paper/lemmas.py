"""The paper's lemmas as numbers. What the rows mean is said in `theory`."""

import math
from typing import Any

import numpy as np

from zerogap.paper.cases import Rows, case, row, solved
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import L2, ElasticNet
from zerogap.reference.equivalent import Equivalent
from zerogap.reference.method import coordinate_lipschitz
from zerogap.solver import kernels
from zerogap.solver.workspace import Workspace

Array = np.ndarray

#: Rounding of a comparison between quantities that may be equal.
ROUNDING = 1e-12


def theta_sequence(n: int, last: int) -> Array:
    """theta_0 .. theta_last from (1 - theta_k)/theta_k^2 = 1/theta_{k-1}^2."""
    theta = np.empty(last + 1)
    value = 1.0 / n
    for k in range(last + 1):
        theta[k] = value
        value = 2.0 * value / (value + math.sqrt(value * value + 4.0))
    return theta


def theta_lemma(seeds: int) -> Rows:
    """The four properties for several n and all k <= 100 n; `upper` is the worst excess over the bound."""
    rows: Rows = []
    for n in (2, 5, 20, 200, 2000):
        theta = theta_sequence(n, 100 * n)
        k = np.arange(theta.size)
        inverse = 1.0 / theta
        before = np.concatenate([[n * n - n], inverse[:-1] ** 2])  # 1/theta_{k-1}^2
        rows.append(row("1: 0 <= theta_k <= theta_{k-1}", n, np.max(np.diff(theta)), 0.0))
        rows.append(row("1: theta_0 = 1/n", n, abs(theta[0] * n - 1.0), ROUNDING))
        sums = np.cumsum(inverse)
        off = np.abs(sums - (inverse**2 - (n * n - n))) / inverse**2
        rows.append(row("2: the sum telescopes (relative error)", n, np.max(off), 1e-9))
        excess = np.max((inverse - (k / 2 + k / (2 * n) + n)) / inverse)
        rows.append(row("3: 1/theta_k <= k/2 + k/(2n) + n", n, excess, ROUNDING))
        rows.append(row("3: 1/theta_k >= k/2 + n", n, np.max((k / 2 + n - inverse) / inverse), ROUNDING))
        for upsilon in (1.1, 2.0):
            K = k[1:]
            first = np.floor(K / (upsilon * (1 + 1 / n)) + 1).astype(int)
            reach = inverse[K] ** 2 - before[np.minimum(first, K)]
            lack = np.max(((K**2 / 4 + n * K) * (1 - 1 / upsilon) - reach) / inverse[K] ** 2)
            rows.append(row(f"4: the weight of the average, upsilon = {upsilon:g}", n, lack, ROUNDING))
    return rows


def coordinate_lemma(seeds: int) -> Rows:
    """max |grad_j d(u) - grad_j d(v)| / (L_j |u_j - v_j|) over random pairs that differ in one coordinate."""
    rng = np.random.default_rng(5)
    rows: Rows = []
    for name in ("erm", "constrained", "constraints alone"):
        problem = case(name).problem
        sizes = coordinate_lipschitz(problem)
        worst = np.zeros(problem.n_rows)
        for _ in range(200):
            u = rng.standard_normal(problem.n_rows) * 10 ** rng.uniform(-1, 1)
            for j in range(problem.n_rows):
                v = u.copy()
                v[j] += rng.standard_normal() * 10 ** rng.uniform(-3, 1)
                change = _gradient(problem, u)[j] - _gradient(problem, v)[j]
                worst[j] = max(worst[j], abs(change) / (sizes[j] * abs(u[j] - v[j])))
        rows += [row(name, j, worst[j], 1.0 + 1e-7) for j in range(problem.n_rows)]
    return rows


def _gradient(problem: Problem, u: Array) -> Array:
    """grad d(u) = -S' x*(u), the right-hand sides of the constraints aside."""
    return -problem.weight * problem.rows.dot(problem.primal_from_dual(u))


def convex_combination(seeds: int) -> Rows:
    """u^{k+1} as the stated combination of u^1 .. u^k and z^{k+1}; its coefficients positive, their sum 1."""
    problem = case("constrained").problem
    n, last = problem.n_rows, 60 * problem.n_rows
    solver = Equivalent().build(problem, np.random.default_rng(8), 1e-6)
    solver.start(np.zeros(n))
    rng = np.random.default_rng(9)
    theta = theta_sequence(n, last + 1)
    history = np.empty((last + 1, n))  # row t holds u^t
    rows: Rows = []
    for k in range(last):
        solver.one_step(int(rng.integers(n)))
        history[k + 1] = solver.u
        if (k + 1) % (10 * n) == 0:
            t = np.arange(1, k + 1)
            powers = (1.0 - theta[0]) ** (k - t)
            inner = theta[t] * powers / theta[t - 1] ** 2 - powers * (1.0 - theta[0]) / theta[t - 1]
            own = theta[k] / theta[0]
            built = own * solver.z + theta[k] * (inner @ history[1 : k + 1])
            size = np.max(np.abs(solver.u))
            rows.append(
                row("the combination is u (relative error)", k, np.max(np.abs(built - solver.u)) / size, 1e-9)
            )
            rows.append(row("the sum of coefficients is 1", k, abs(own + theta[k] * inner.sum() - 1.0), 1e-9))
            rows.append(row("the coefficients are positive", k, -inner.min(), 0.0))
    return rows


def erm_lemma(seeds: int) -> Rows:
    """Step 1 of Algorithm 4 for K' steps: E D - D* <= 9 max(eps, M^2/(n mu)), E F - F* <= 17 max(...)."""
    rng = np.random.default_rng(6)
    n, t = 40, 20
    A = rng.standard_normal((n, t))
    A /= np.linalg.norm(A, axis=1)[:, None]
    y = 3.0 * (A @ rng.standard_normal(t) + rng.standard_normal(n))
    rows: Rows = []
    for mu, penalty in ((1.0, L2(1.0)), (0.1, L2(0.1)), (0.1, ElasticNet(0.1, 0.02))):
        c = solved("erm", Problem(A, y, loss="absolute", regularizer=penalty))
        zero = np.zeros(n)
        gap = c.problem.dual(zero) + c.problem.primal(c.problem.primal_from_dual(zero))
        for eps in (1.0, 0.1, 0.01):
            reach = min(1.0 / eps, n * mu) * gap
            steps = max(0, math.ceil(n * math.log(reach) - 1)) if reach > 1 else 0
            found = np.array([_plain_steps(c.problem, steps, seed) for seed in range(max(200, seeds // 2))])
            limit = max(eps, 1.0 / (n * mu))
            name = f"mu = {mu:g}, l1 = {getattr(penalty, 'l1', 0.0):g}, eps = {eps:g}"
            more: dict[str, Any] = {"steps": steps}
            rows.append(row(f"dual, {name}", steps, found[:, 0] + c.best, 9 * limit, **more))
            rows.append(row(f"primal, {name}", steps, found[:, 1] - c.best, 17 * limit, **more))
    return rows


def _plain_steps(problem: Problem, steps: int, seed: int) -> tuple[float, float]:
    """D(u^{K'+1}) and F(x*(v^{K'})) of steps 0..K' with theta = 1/n, where v^k = u^k."""
    work = Workspace(problem)
    work.tau /= 2.0
    u = np.zeros(problem.n_rows)
    s = work.slope(u)
    order = np.random.default_rng(seed).integers(0, u.size, size=steps + 1).astype(problem.active_rows.dtype)

    def run(part: Array) -> None:
        kernels.sdca_epoch(part.copy(), work.rows, work.terms, work.f, u, s, work.tau, np.inf)

    if steps:
        run(order[:-1])
    before = problem.primal(problem.primal_from_dual(u))
    run(order[-1:])
    return problem.dual(problem.project_dual(u)), before
