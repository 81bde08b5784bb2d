"""The averaged primal: the theta schedule, stretches in closed form, checkpoints, and the whole average."""

import math

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from problems import BY_NAME
from stepping import STEP_SCALES, Ardca, draw_from, instance_of
from support import random_dual, relative_difference

import zerogap as zg
from zerogap.problem.regularizers import Free
from zerogap.solver.averaging import (
    SUM_INVERSE,
    SUM_THETA,
    THETA,
    Checkpoints,
    LazyGroups,
    flush_group,
    stretch,
)
from zerogap.solver.schedules import fill_table

seeds = st.integers(0, 2**32 - 1)
UPSILONS = [1.1, 1.5, 2.0, 4.0]


def table_of(n, steps, start=0, constant=False):
    """The pass table of `steps` steps that begins at step `start` of a run over n rows."""
    table = np.empty((steps + 1, 3))
    fill_table(table, reference.theta_sequence(n, start + 1)[start], constant)
    return table


# ---- the schedule
@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_theta_over_many_passes(n):
    """Pass after pass the table continues the paper's sequence, with its prefix sums."""
    expected, theta, k = reference.theta_sequence(n, 4000), 1.0 / n, 0
    for steps in [1, n, 2 * n + 3, 17, 900]:
        table = np.full((steps + 1, 3), np.nan)
        theta = fill_table(table, theta, False)
        np.testing.assert_allclose(table[:, THETA], expected[k : k + steps + 1], rtol=1e-12)
        np.testing.assert_allclose(table[:, SUM_THETA], prefix(table[:-1, THETA]), rtol=1e-13)
        np.testing.assert_allclose(table[:, SUM_INVERSE], prefix(1 / table[:-1, THETA]), rtol=1e-13)
        assert theta == table[-1, THETA]
        k += steps


def prefix(values):
    return np.append(0.0, np.cumsum(values))


@pytest.mark.parametrize("n", [2, 7, 1000])
def test_the_theta_lemma(n):
    """The four properties of the paper's lemma, and the identity that defines the sequence."""
    theta = table_of(n, 20_000)[:-1, THETA]
    k = np.arange(theta.size)
    before = np.append(1 / math.sqrt(n * n - n), theta)  # theta_{-1}, theta_0, ...
    np.testing.assert_allclose((1 - theta) / theta**2, 1 / before[:-1] ** 2, rtol=1e-11)
    # 1. positive, never increasing, at most 1/n
    assert theta[0] == 1 / n
    assert np.all(theta > 0)
    assert np.all(np.diff(theta) <= 0)
    # 2. the weights 1/theta telescope
    for first in (0, 1, 100, 15_000):
        telescoped = 1 / theta[-1] ** 2 - 1 / before[first] ** 2
        assert np.sum(1 / theta[first:]) == pytest.approx(telescoped, rel=1e-11)
    # 3. 1/theta_k lies between two lines
    rounding = 1e-12 * (k + n)
    assert np.all(1 / theta >= k / 2 + n - rounding)
    assert np.all(1 / theta <= k / 2 + k / (2 * n) + n + rounding)
    # 4. the late weights are a share 1 - 1/upsilon of K^2/4 + nK
    for upsilon in UPSILONS:
        for last in (n, 10 * n, 19_999):
            start = math.floor(last / (upsilon * (1 + 1 / n)) + 1)
            late = 1 / theta[last] ** 2 - 1 / before[start] ** 2
            assert late >= (last**2 / 4 + n * last) * (1 - 1 / upsilon) * (1 - 1e-12)


def test_constant_theta():
    table = table_of(5, 40, constant=True)
    np.testing.assert_array_equal(table[:, THETA], 0.2)
    np.testing.assert_allclose(table[:, SUM_INVERSE], 5.0 * np.arange(41), rtol=1e-13)


# ---- stretches
PENALTIES = {
    "l2": zg.L2(0.5),
    "elastic_net": zg.ElasticNet(0.5, 0.4),
    "box": zg.ElasticNet(0.5, lower=-0.3, upper=0.5),
    "everything": zg.ElasticNet(0.5, 0.4, lower=-0.3, upper=0.5, center=0.2),
    "one side": zg.ElasticNet(0.5, 0.4, lower=0.1),
    "fixed": zg.ElasticNet(0.5, 0.4, lower=0.25, upper=0.25),
}


@pytest.mark.parametrize("kind", PENALTIES)
@given(seed=seeds)
def test_a_stretch_is_the_sum_of_its_steps(kind, seed):
    """s = theta^2 uhat + z wanders across one, two or all thresholds while nothing touches the feature."""
    penalty, rng = PENALTIES[kind].bind(1), np.random.default_rng(seed)
    f = penalty.compiled(Free(0.0, 0.0))
    n, length = int(rng.integers(1, 200)), int(rng.integers(1, 400))
    table = table_of(n, length, start=int(rng.integers(0, 3 * n)))
    theta = table[:-1, THETA]
    first = int(rng.integers(0, length))
    stop = int(rng.integers(first + 1, length + 1))
    begin, end = rng.normal(scale=rng.choice([0.01, 0.3, 1.0, 10.0]), size=2)
    square = theta[[first, stop - 1]] ** 2
    uhat = (begin - end) / (square[0] - square[1]) if stop > first + 1 else rng.normal() / square[0]
    z = begin - square[0] * uhat  # so that s runs from `begin` to `end`
    s = theta[first:stop] ** 2 * uhat + z
    terms = np.array([penalty.minimiser(np.array([value]))[0] for value in s]) / theta[first:stop]
    ours = stretch(f, 0, z, uhat, table, first, stop)
    # prefix sums over the whole table lose what they have gained before `first`
    size = np.sum(np.abs(terms)) + (abs(z) + np.max(theta) ** 2 * abs(uhat)) * table[stop, SUM_INVERSE]
    assert abs(ours - np.sum(terms)) <= 1e-14 * (1 + size) * 10


@pytest.mark.parametrize("kind", PENALTIES)
def test_a_stretch_that_ends_on_a_threshold(kind):
    """Thresholds met exactly, at the first step, at the last, and by an s that does not move at all."""
    penalty = PENALTIES[kind].bind(1)
    f, table = penalty.compiled(Free(0.0, 0.0)), table_of(3, 50)
    theta = table[:-1, THETA]
    for threshold in (-0.4, 0.4, -0.3, 0.3, 0.1, 0.5, -0.55, 0.65):
        for uhat in (0.0, 2.0, -2.0, 1e-300):
            for met in (0, 20, 49):
                z = threshold - theta[met] ** 2 * uhat
                s = theta**2 * uhat + z
                terms = [penalty.minimiser(np.array([value]))[0] for value in s] / theta
                assert stretch(f, 0, z, uhat, table, 0, 50) == pytest.approx(np.sum(terms), abs=1e-9)


@given(seed=seeds)
def test_a_group_is_the_sum_of_its_steps(seed):
    rng = np.random.default_rng(seed)
    penalty = zg.GroupLasso(0.5, 0.4, [0, 1, 0, 1, 1]).bind(5)
    f = penalty.compiled(Free(0.0, 0.0))
    length = int(rng.integers(1, 100))
    table = table_of(int(rng.integers(1, 50)), length)
    theta = table[:-1, THETA]
    s_z = rng.standard_normal(6)
    s_uhat = rng.standard_normal(6) / theta[0] ** 2
    average = LazyGroups(np.zeros(6), np.zeros(3, np.uint32), table)
    cut = int(rng.integers(0, length + 1))
    for stop in (cut, length):
        for g in (0, 1):
            flush_group(average, f, g, s_z, s_uhat, stop)
    points = np.array([penalty.minimiser(square * s_uhat[:5] + s_z[:5]) for square in theta**2])
    size = 1 + np.sum(np.abs(points) / theta[:, None]) + np.sum(np.abs(s_z)) * table[-1, SUM_INVERSE]
    assert np.max(np.abs(average.total[:5] - (1 / theta) @ points)) <= 1e-13 * size
    assert average.since[:2].tolist() == [length, length]


# ---- checkpoints
@pytest.mark.parametrize("upsilon", UPSILONS)
@pytest.mark.parametrize("n", [1, 30, 1000])
def test_checkpoints_choose_within_the_theorem(upsilon, n):
    """K0 <= K/(upsilon (1 + 1/n)) + 1 at every K, not much earlier, with O(log K) sums kept."""
    checkpoints = Checkpoints(upsilon, n)
    values = np.random.default_rng(0).standard_normal(3000)  # one number a pass stands for x/theta
    total, weight, most = 0.0, 0.0, 0
    kept = {0: (0.0, 0.0)}
    for p, value in enumerate(values, start=1):
        total, weight, steps = total + value, weight + p, p * n
        kept[steps] = (total, weight)
        checkpoints.keep(steps, np.array([total]), weight)
        mean, start = checkpoints.average(steps, np.array([total]), weight)
        assert start == 0 or start <= checkpoints.latest(steps)
        theorem = math.floor((steps - 1) / (upsilon * (1 + 1 / n)) + 1)
        assert checkpoints.latest(steps) == min(theorem, steps - 1)  # some step must be left
        before, lighter = kept[start]
        assert mean[0] == pytest.approx((total - before) / (weight - lighter), rel=1e-9, abs=1e-12)
        if p > 10 * upsilon:  # the spacing of the checkpoints, and a pass, is all that is lost
            assert start >= (checkpoints.latest(steps) - n) / math.sqrt(upsilon) - 2 * n
        most = max(most, len(checkpoints.kept))
    assert most <= 2 + math.log(values.size, upsilon) * 2


@pytest.mark.parametrize("upsilon", UPSILONS)
def test_checkpoints_do_not_pile_up(upsilon):
    """The number of sums kept does not grow with K: those too early to be chosen are dropped."""
    checkpoints, sizes = Checkpoints(upsilon, 10), []
    for steps in range(10, 200_000, 10):
        checkpoints.keep(steps, np.zeros(1), float(steps))
        sizes.append(len(checkpoints.kept))
    assert max(sizes) <= 6


# ---- the whole average
@pytest.mark.parametrize("upsilon", [1.1, 2.0])
@pytest.mark.parametrize(
    ("name", "sparse"),
    [
        ("absolute-l2-none", False),
        ("hinge-elastic_net-both", True),
        ("absolute-elastic_net-both-arrays", True),
        ("squared-group-none", False),
        ("pinball-l2-both-weights-intercept", True),
    ],
)
def test_the_average_runs_from_a_checkpoint(name, sparse, upsilon):
    """At every pass: the explicit mean of x*(v_k) with weights 1/theta_k, k = K0..K."""
    described = BY_NAME[name]
    problem = described.build(sparse)
    instance = instance_of(described, problem)
    rng, n = np.random.default_rng(1), instance.n_rows
    u0, orders = random_dual(instance, rng), [rng.permutation(n) for _ in range(60)]
    exact = reference.algorithm_1(instance, u0, np.concatenate(orders), STEP_SCALES["long"])
    ours = Ardca(problem, u0, "long", average_from=upsilon)
    draw_from(ours.solver, orders)
    starts = set()
    for p in range(1, 61):
        ours.solver.advance(1, lambda: False)
        _, start = ours.solver._checkpoints.average(p * n, ours.total, ours.weight)
        late = 1 / exact.thetas[start : p * n]
        mean = late @ exact.x[start : p * n] / np.sum(late)
        assert relative_difference(ours.solver._averaged(), mean) <= 1e-10
        starts.add(start)
    assert len(starts) > 3


@pytest.mark.parametrize("name", ["absolute-box-none", "absolute-box-both"])
def test_an_average_stays_in_the_box(name):
    """Rounding could push the mean of points on a bound out of the box, and its value to infinity."""
    problem = BY_NAME[name].build()
    ours = Ardca(problem, np.zeros(problem.n_rows), "long")
    ours.solver.advance(50, lambda: False)
    assert any(np.isfinite(problem.primal(x)) for x in ours.solver.candidates().points)
    for x in ours.solver.candidates().points:
        assert np.all((x >= problem.penalty.lower) & (x <= problem.penalty.upper))


def test_without_an_average():
    """Only the last point is offered, and the iterates are the same."""
    problem, order = BY_NAME["hinge-l2-none"].build(), np.arange(30)
    with_average, without = (Ardca(problem, np.zeros(30), average_from=start) for start in (2.0, None))
    for ours in (with_average, without):
        draw_from(ours.solver, [order] * 5)
        ours.solver.advance(5, lambda: False)
    (averaged, last), (only,) = (ours.solver.candidates().points for ours in (with_average, without))
    np.testing.assert_allclose(only, last, rtol=1e-13)
    assert relative_difference(averaged, last) > 1e-3
