"""Algorithm 3 (restarts), Algorithm 4 (plain steps first), and the orders in which rows are drawn."""

import math
from dataclasses import replace

import numpy as np
import pytest
import reference
from problems import BY_NAME, N_SAMPLES
from stepping import STEP_SCALES, Ardca, draw_from
from support import random_dual, relative_difference

import zerogap as zg
from zerogap.solver import restarts
from zerogap.solver.ardca import lemma_steps
from zerogap.solver.sampling import sampler
from zerogap.solver.workspace import Workspace

#: n mu / M^2 is large enough for a first phase of some passes.
WELL_CONDITIONED = replace(BY_NAME["hinge-l2-none"], regularizer=("l2", {"l2": 4.0}))


def periods(name, rng, passes, **settings):
    """The package's solver beside the index sequence that it will follow."""
    described = BY_NAME[name]
    problem, instance = described.build(), described.instance()
    u0 = random_dual(instance, rng)
    ours = Ardca(problem, u0, **settings)
    orders = [rng.permutation(instance.n_rows) for _ in range(passes)]
    draw_from(ours.solver, orders)
    return ours, instance, u0, orders


# ---- Algorithm 3
@pytest.mark.parametrize("step", STEP_SCALES)
@pytest.mark.parametrize("name", ["hinge-l2-both", "absolute-elastic_net-none"])
def test_a_fixed_period_is_algorithm_3(name, step):
    """Run Algorithm 1 for a period, begin again from its u with theta = 1/n; u and the last average agree."""
    ours, instance, u, orders = periods(name, np.random.default_rng(0), 12, step=step, restart=4)
    for begin in (0, 4, 8):
        indices = np.concatenate(orders[begin : begin + 4])
        exact = reference.algorithm_1(instance, u, indices, STEP_SCALES[step])
        n = instance.n_rows
        for p in range(1, 5):
            ours.solver.advance(1, lambda: False)
            expected = exact.u[p * n - 1]
            assert relative_difference(ours.u, instance.clip(expected)) <= 1e-10
        u = instance.clip(exact.u[-1])


def test_log_scale_periods():
    """1, 2, 1, 4, 1, 2, 1, 8, ...: each length gets the same share of all passes, up to the longest."""
    rule, lengths = restarts.rule("log-scale"), []
    for _ in range(31):
        passes = 1
        while not rule.due(passes, 0.0):
            passes += 1
        lengths.append(passes)
    unit = lengths[0]
    assert [length // unit for length in lengths[:15]] == [1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1]
    shares = [sum(length for length in lengths if length == unit * 2**k) for k in range(5)]
    assert set(shares) == {16 * unit}


def test_never():
    assert not any(restarts.rule(None).due(passes, -1.0) for passes in range(1, 1000))


@pytest.mark.parametrize("restart", ["adaptive", "log-scale", 50])
def test_restarts_help(restart):
    """From sublinear to linear: far fewer passes to a tight tolerance than without."""
    problem = BY_NAME["pinball-elastic_net-none"].build()
    settings = {"tol": 1e-9, "max_passes": 100_000, "random_state": 0, "warn": False}
    plain = zg.solve(problem, algorithm=zg.ARDCA(), **settings)
    restarted = zg.solve(problem, algorithm=zg.ARDCA(restart=restart), **settings)
    assert restarted.solved
    assert restarted.passes < 0.5 * plain.passes


@pytest.mark.parametrize("restart", [0, -3, "often", float("nan"), [5]])
def test_impossible_restarts_are_refused(restart):
    with pytest.raises(zg.SettingsError, match=r"restart: expected .*adaptive.*; got"):
        zg.ARDCA(restart=restart)


# ---- Algorithm 4
def test_the_length_of_the_first_phase_is_the_lemma():
    """K' = ceil(n log(min(1/eps, n mu / M^2) (D(u0) + F(x*(u0)))) - 1), for rows of norm 1."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y, n = np.where(rng.random(400) < 0.5, -1.0, 1.0), 400
    for l2, tol in [(0.1, 1e-6), (0.1, 0.5), (0.001, 1e-6), (3.0, 1e-3)]:
        problem = zg.Problem(X, y, loss="hinge", regularizer=zg.L2(l2))
        u0 = problem.project_dual(np.zeros(n))
        x0 = problem.primal_from_dual(u0)
        distance = problem.dual(u0) + problem.primal(x0)
        eps = tol * problem.primal(x0)
        expected = math.ceil(n * math.log(max(min(1 / eps, n * l2) * distance, 1e-300)) - 1)
        # rows of norm 1: n mu / M^2 = n l2, M = 1
        assert lemma_steps(Workspace(problem), u0, tol) == max(expected, 0)


def test_no_lipschitz_constant_no_first_phase():
    """M is infinite for the squared loss: the reach n mu / M^2 is 0."""
    problem = BY_NAME["squared-l2-none"].build()
    assert lemma_steps(Workspace(problem), np.zeros(N_SAMPLES), 1e-6) == 0


def test_algorithm_4_is_plain_steps_then_algorithm_1():
    problem, instance = WELL_CONDITIONED.build(), WELL_CONDITIONED.instance()
    u0, n = np.zeros(N_SAMPLES), N_SAMPLES
    first = lemma_steps(Workspace(problem), u0, 1e-6)
    passes = math.ceil(first / n)
    assert passes >= 1
    rng = np.random.default_rng(2)
    orders = [rng.permutation(n) for _ in range(passes + 10)]
    ours = Ardca(problem, u0, "paper", erm=True)
    draw_from(ours.solver, orders)
    plain = reference.rdca(instance, u0, np.concatenate(orders[:passes]))
    assert ours.solver.phase == "rdca"
    ours.solver.advance(passes, lambda: False)
    assert ours.solver.phase == "ardca"
    assert relative_difference(ours.u, plain.u[-1]) <= 1e-10
    accelerated = reference.algorithm_1(instance, instance.clip(plain.u[-1]), np.concatenate(orders[passes:]))
    ours.solver.advance(10, lambda: False)
    assert relative_difference(ours.u, accelerated.u[-1]) <= 1e-10


def test_the_history_names_the_phases():
    limits = {"tol": 1e-300, "max_passes": 60, "warn": False}  # long enough for the second phase
    problem = replace(WELL_CONDITIONED, regularizer=("l2", {"l2": 2.0})).build()  # the first does not end it
    result = zg.solve(problem, algorithm="ardca-erm", random_state=0, **limits)
    phases = result.history.phase.tolist()
    assert set(phases) == {"rdca", "ardca"}
    assert phases == sorted(phases, reverse=True)  # first one, then the other


# ---- drawing
def test_samplers():
    active = np.array([2, 3, 5, 7, 11, 13], dtype=np.uint32)
    rng = np.random.default_rng(3)
    permuted, uniform, cyclic = (sampler(kind, rng) for kind in ("permuted", "uniform", "cyclic"))
    for _ in range(5):
        assert sorted(permuted(active)) == active.tolist()
    drawn = np.concatenate([uniform(active) for _ in range(2000)])
    assert drawn.dtype == np.uint32
    assert set(drawn) == set(active)
    counts = np.array([np.sum(drawn == row) for row in active])
    assert np.all(np.abs(counts - 2000) < 5 * np.sqrt(2000))
    assert cyclic(active).tolist() == active.tolist()
    repeats = [len(set(uniform(active))) for _ in range(50)]
    assert min(repeats) < active.size  # with replacement


@pytest.mark.parametrize(
    "algorithm", [zg.ARDCA(), zg.ARDCA(sampling="uniform"), zg.SDCA(), zg.SDCA("uniform")]
)
def test_rows_of_weight_zero_are_not_drawn(algorithm):
    """Their dual stays where it was, and n in theta counts the others only."""
    described = BY_NAME["squared-l2-none"]
    weights = np.where(np.arange(N_SAMPLES) % 3, 1.0, 0.0)
    problem = zg.Problem(described.X, described.y, regularizer=zg.L2(0.1), sample_weight=weights)
    kept = zg.Problem(described.X[weights > 0], described.y[weights > 0], regularizer=zg.L2(0.1))
    result, smaller = (zg.solve(p, algorithm=algorithm, random_state=0) for p in (problem, kept))
    assert np.all(result.dual[weights == 0] == 0.0)
    assert result.history.active[0] == smaller.history.active[0] == 20
    np.testing.assert_allclose(result.x, smaller.x, rtol=1e-9)
