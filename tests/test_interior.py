"""Interior point steps before Newton steps: pieces, hard cases for Newton steps alone, and the hand-over."""

import numpy as np
import pytest

import zerogap as zg
from zerogap.problem import loss_registry as verbs
from zerogap.solver import interior
from zerogap.solver.interior import InteriorSolver
from zerogap.solver.newton import newton_solver
from zerogap.solver.pieces import pieces_of

LOSSES = [
    zg.losses.Hinge(), zg.losses.SmoothedHinge(0.7), zg.losses.SquaredHinge(), zg.losses.Absolute(),
    zg.losses.Pinball(0.8), zg.losses.Squared(), zg.losses.Huber(0.9), zg.losses.EpsilonInsensitive(0.3),
    zg.losses.SquaredEpsilonInsensitive(0.2),
]  # fmt: skip
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)


def data(loss, n=40, t=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, t)) * 10.0 ** rng.uniform(-1, 1, t)
    y = X[:, :5] @ rng.standard_normal(5) + rng.standard_t(2, n)
    return X, np.sign(y) if verbs.traits(loss).classification else y


def constraints(t, seed=1):
    J = np.random.default_rng(seed).standard_normal((6, t))
    return [zg.Equal(np.ones(t), 1.0), zg.Between(J, -0.5, [0.5] * 5 + [np.inf])]


def best(piece, m):
    """max_{low <= z <= high} z m - aim z - bend z^2 / 2, for a bend of its own or an end of the interval."""
    low, high, aim, bend = piece
    ends = [z for z in (low, high) if np.isfinite(z)]
    inner = [min(max((m - aim) / bend, low), high)] if bend > 0.0 else []
    return max(z * (m - aim) - 0.5 * bend * z * z for z in [*ends, *inner])


@each_loss
def test_the_pieces_of_a_row_add_up_to_its_loss(loss):
    X, y = data(loss)
    p = pieces_of(zg.Problem(X, y, loss=loss, regularizer=zg.L2(1.0)))
    assert np.bincount(p.of, minlength=len(y)).min() >= 1
    for m in (-3.0, -0.4, 0.0, 0.1, 0.95, 2.0):
        sums = np.zeros(len(y))
        for k, i in enumerate(p.of):
            sums[i] += best((p.low[k], p.high[k], p.aim[k], p.bend[k]), m)
        wanted = [verbs.value(loss, m, target) for target in y]
        np.testing.assert_allclose(sums, wanted, rtol=1e-12, atol=1e-12)


def test_the_pieces_of_ranges_and_boxes():
    regularizer = zg.ElasticNet(1.0, [0.5, 0.0], lower=[-1.0, -np.inf], upper=[np.inf, 2.0])
    rows = zg.Between(np.eye(2)[[0, 1, 0]], [0.0, -np.inf, 1.0], [1.0, 3.0, 1.0])
    p = pieces_of(zg.Problem(regularizer=regularizer, constraints=rows))
    found = sorted(zip(p.of, p.low, p.high, p.aim, strict=True))
    wanted = [
        (0, -np.inf, 0.0, 0.0), (0, 0.0, np.inf, 1.0), (1, 0.0, np.inf, 3.0), (2, -np.inf, np.inf, 1.0),
        (3, -np.inf, 0.0, -1.0), (3, -0.5, 0.5, 0.0), (4, 0.0, np.inf, 2.0),
    ]  # fmt: skip
    assert found == sorted(wanted)


@each_loss
@pytest.mark.parametrize("l2", [1e-3, 0.0])
@pytest.mark.parametrize("constrained", [False, True])
def test_certified_to_a_tight_tolerance(loss, l2, constrained):
    """Interior steps come close, Newton steps end it; what is zero is exactly so, unless rows need it."""
    X, y = data(loss)
    rows = constraints(X.shape[1]) if constrained else []
    weight = np.random.default_rng(2).uniform(0.0, 2.0, len(y)) * (np.arange(len(y)) % 7 > 0)
    p = zg.Problem(
        X, y, loss=loss, regularizer=zg.ElasticNet(l2, 0.03), constraints=rows, fit_intercept=True,
        sample_weight=weight,
    )  # fmt: skip
    squares = isinstance(loss, zg.losses.Squared) and not constrained and l2 > 0.0
    assert isinstance(newton_solver(p, 1e-9), InteriorSolver) is not squares
    result = zg.solve(p, algorithm="newton", tol=1e-9)
    assert result.status is zg.Status.SOLVED
    assert zg.certify(p, result.x, result.dual, result.intercept).within(1e-9)
    nothing = 1e-9 * np.abs(result.x).max() if constrained else 0.0
    assert (np.abs(result.x) <= nothing).sum() >= X.shape[1] - len(y) - 8
    if not squares:
        assert result.history[0].phase == "interior"


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_few_rows_with_constraints_where_newton_steps_alone_stall(loss):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3000)) * 10.0 ** rng.uniform(-1, 1, 3000)
    y = np.sign(X[:, :10].sum(axis=1) + rng.standard_t(2, 60))
    rows = [zg.Equal(np.ones(3000), 1.0), zg.Between(rng.standard_normal((20, 3000)), -1.0, 1.0)]
    p = zg.Problem(
        X, y, loss=loss, regularizer=zg.ElasticNet(1e-5, 1e-2), constraints=rows, fit_intercept=True
    )
    result = zg.solve(p, tol=1e-6)
    assert result.status is zg.Status.SOLVED
    assert len(result.history) == 1  # Newton steps alone take a thousand, or do not end


def test_newton_steps_start_afresh_when_interior_steps_lead_nowhere(monkeypatch):
    X, y = data(LOSSES[3])
    p = zg.Problem(X, y, loss="absolute", regularizer=zg.ElasticNet(1e-2, 0.03), fit_intercept=True)
    reference = zg.solve(p, algorithm="newton", tol=1e-9)
    monkeypatch.setattr(interior, "STEPS", 1)
    result = zg.solve(p, algorithm="newton", tol=1e-9)
    assert [record.phase for record in result.history][:2] == ["interior", "newton"]
    assert result.status is zg.Status.SOLVED
    assert result.certificate.primal == pytest.approx(reference.certificate.primal, rel=2e-9)


def test_a_factor_that_fails_leaves_it_to_newton_steps(monkeypatch):
    X, y = data(LOSSES[3])
    p = zg.Problem(X, y, loss="absolute", regularizer=zg.ElasticNet(1e-2, 0.03), fit_intercept=True)

    def overflow(self):
        raise np.linalg.LinAlgError("not even with a ridge")

    monkeypatch.setattr(InteriorSolver, "_step", overflow)
    result = zg.solve(p, algorithm="newton", tol=1e-9)
    assert result.status is zg.Status.SOLVED


def test_contradictory_rows_are_still_proved_so():
    X, y = data(LOSSES[3])
    rows = [zg.Between(np.ones(90), lower=1.0), zg.Between(np.ones(90), upper=0.0)]
    p = zg.Problem(X, y, loss="absolute", regularizer=zg.ElasticNet(1e-2, 0.03), constraints=rows)
    assert isinstance(newton_solver(p, 1e-6), InteriorSolver)
    result = zg.solve(p, algorithm="newton", warn=False)
    assert result.status is zg.Status.INFEASIBLE
    assert result.infeasibility.verify()
