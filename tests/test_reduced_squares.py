"""A squared loss with constraints: the triangular factor that stands for many rows changes nothing."""

import numpy as np
import pytest
import scipy.sparse as sp

import zerogap as zg
from zerogap.solver import reduced_squares
from zerogap.solver.finisher import NewtonSolver
from zerogap.solver.newton import newton_solver
from zerogap.solver.proximal_newton import ProximalNewtonSolver
from zerogap.solver.reduced_squares import ReducedSquaresSolver


def problem(seed, n=400, t=12, l2=1e-3, l1=0.0, intercept=True, sparse=False, rank=None, scale=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, t))
    if rank is not None:
        X = X[:, :rank] @ rng.standard_normal((rank, t))
    X *= 10.0 ** rng.uniform(-scale, scale, t)
    if sparse:
        X = sp.csr_array(np.where(rng.random(X.shape) < 0.4, X, 0.0))
    y = 3.0 + X @ (rng.standard_normal(t)) + rng.standard_normal(n)
    J = rng.standard_normal((t, t + intercept))
    rows = [zg.Between(J, -0.3 * rng.random(t), 0.3), zg.Equal(np.ones(t), 0.5)]
    return zg.Problem(
        X, y, loss="squared", regularizer=zg.ElasticNet(l2, l1, lower=-2.0, upper=3.0), constraints=rows,
        fit_intercept=intercept, sample_weight=rng.random(n) * (rng.random(n) < 0.9),
    )  # fmt: skip


CASES = {
    "plain": {},
    "no intercept": {"intercept": False},
    "l1": {"l1": 0.05},
    "no strong convexity": {"l2": 0.0},
    "sparse": {"sparse": True},
    "dependent columns": {"rank": 5},
    "dependent columns, no strong convexity": {"rank": 5, "l2": 0.0},
    "column scales": {"scale": 3.0},
}


@pytest.mark.parametrize("case", CASES)
def test_it_ends_where_all_rows_end(case, monkeypatch):
    p = problem(1, **CASES[case])
    assert isinstance(newton_solver(p, 1e-9), ReducedSquaresSolver)
    ours = zg.solve(p, algorithm="newton", tol=1e-9)
    monkeypatch.setattr(reduced_squares, "MANY", 1e9)
    assert isinstance(newton_solver(p, 1e-9), NewtonSolver)
    theirs = zg.solve(p, algorithm="newton", tol=1e-9)
    assert ours.status is theirs.status is zg.Status.SOLVED
    assert zg.certify(p, ours.x, ours.dual, ours.intercept).within(1e-9)
    assert ours.certificate.primal == pytest.approx(theirs.certificate.primal, rel=2e-9)


def test_the_kind_of_inner_solver_follows_the_callers_curvature():
    """An intercept is a feature without curvature there, which alone asks for no proximal loop."""
    assert not isinstance(newton_solver(problem(2), 1e-6)._inner, ProximalNewtonSolver)
    assert isinstance(newton_solver(problem(2, l2=0.0), 1e-6)._inner, ProximalNewtonSolver)


def test_all_rows_take_over_where_the_factor_is_not_enough(monkeypatch):
    p = problem(3)
    reference = zg.solve(p, tol=1e-10).certificate.primal
    factor = reduced_squares._factor

    def poor(gram, pull):
        return factor(gram * (1.0 + 1e-3 * np.eye(len(gram))), pull)

    monkeypatch.setattr(reduced_squares, "_factor", poor)
    result = zg.solve(p, algorithm="newton", tol=1e-9)
    assert result.status is zg.Status.SOLVED
    assert len(result.history) > len(reduced_squares.SHARES)
    assert result.certificate.primal == pytest.approx(reference, rel=2e-9)


def test_a_warm_start_is_used():
    p = problem(4)
    first = zg.solve(p, algorithm="newton", tol=1e-9)
    again = zg.solve(p, algorithm="newton", tol=1e-9, warm_start=first)
    assert again.status is zg.Status.SOLVED
    assert again.passes <= first.passes


@pytest.mark.parametrize("empty", ["rows", "targets"])
def test_nothing_in_the_data(empty):
    X, y = np.random.default_rng(5).standard_normal((50, 3)), np.ones(50)
    X, y = (0.0 * X, y) if empty == "rows" else (X, 0.0 * y)
    p = zg.Problem(X, y, loss="squared", regularizer=zg.L2(1.0), constraints=zg.Equal(np.ones(3), 1.0))
    result = zg.solve(p, algorithm="newton", tol=1e-9)
    assert result.status is zg.Status.SOLVED
    assert result.x.sum() == pytest.approx(1.0, abs=1e-8)
