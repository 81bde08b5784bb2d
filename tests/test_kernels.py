"""The compiled epochs, iterate by iterate, against Algorithms 1 and 2 and SDCA in slow NumPy."""

from dataclasses import replace

import numpy as np
import problems
import pytest
import reference
from problems import BY_NAME
from stepping import STEP_SCALES, Ardca, instance_of, pieces, sdca
from support import random_dual, relative_difference

import zerogap as zg
from zerogap.solver import kernels
from zerogap.solver.workspace import Workspace

STEPS = 2000
EXACT = 1e-10

#: (problem, sparse, step): both steps, every kind of f, dense rows with and without constraint rows.
CASES = [
    ("absolute-l2-none", False, "paper"),
    ("hinge-l2-none", True, "long"),
    ("hinge-l2-both", False, "long"),
    ("pinball-l2-equal", True, "paper"),
    ("smoothed_hinge-elastic_net-none", False, "long"),
    ("huber-elastic_net-none", True, "paper"),
    ("epsilon_insensitive-elastic_net-both", False, "paper"),
    ("absolute-elastic_net-between", True, "long"),
    ("squared-box-none", False, "paper"),
    ("squared_hinge-box-both", True, "long"),
    ("hinge-elastic_net-none-arrays", False, "long"),
    ("absolute-elastic_net-both-arrays", True, "paper"),
    ("squared-group-none", False, "long"),
    ("hinge-group-none", True, "paper"),
    ("squared_epsilon_insensitive-group-both", True, "long"),
    ("pinball-elastic_net-between-weights", True, "paper"),
    # with an intercept, whose proximal centre stands still here
    ("hinge-l2-none-intercept", False, "paper"),
    ("pinball-l2-both-weights-intercept", True, "long"),
    ("squared_hinge-group-equal-weights-intercept", True, "paper"),
    ("absolute-l2-both-intercept", False, "long"),
    ("squared-box-equal-intercept", True, "long"),
]
CASE_IDS = [f"{name}-{'sparse' if sparse else 'dense'}-{step}" for name, sparse, step in CASES]
CENTER = 0.375


class Run:
    """A case with a random dual start, a random index sequence, and what Algorithm 1 makes of them."""

    def __init__(self, case, steps=STEPS, dtype=np.float64):
        name, sparse, self.step = case
        described = BY_NAME[name]
        self.problem = described.build(sparse, dtype)
        self.instance = instance_of(described, self.problem, CENTER)
        rng = np.random.default_rng(0)
        self.u0 = random_dual(self.instance, rng)
        self.indices = rng.integers(self.instance.n_rows, size=steps)
        self.scale = STEP_SCALES[self.step]
        self.exact = reference.algorithm_1(self.instance, self.u0, self.indices, self.scale)

    def start(self):
        return Ardca(self.problem, self.u0, self.step, CENTER)

    def point(self, total):
        """A recorded sum without the intercept's slot, when there is no intercept."""
        return total if self.problem.fit_intercept else total[:-1]


def sums(trace):
    """sum of x*(v_k)/theta_k up to each step."""
    return np.cumsum(trace.x / trace.thetas[:, None], axis=0)


@pytest.fixture(scope="module", params=CASES, ids=CASE_IDS)
def run(request):
    return Run(request.param)


def test_algorithm_1_step_by_step(run):
    """z, uhat, u and the sum behind the averaged primal after each of 2,000 steps."""
    ours, exact, exact_sums = run.start(), run.exact, sums(run.exact)
    for k, i in enumerate(run.indices):
        ours.run([i])
        assert relative_difference(ours.z, exact.z[k]) <= EXACT
        assert relative_difference(ours.uhat, exact.uhat[k]) <= EXACT
        assert relative_difference(ours.u, exact.u[k]) <= EXACT
        assert relative_difference(run.point(ours.total), exact_sums[k]) <= EXACT
    assert np.max(np.abs(ours.z - run.u0)) > 0.1  # something happened


def test_algorithm_2_step_by_step(run):
    """The equivalent full form, which keeps z and u themselves and computes all coordinates of z~."""
    exact = reference.algorithm_2(run.instance, run.u0, run.indices, run.scale)
    ours, exact_sums = run.start(), sums(exact)
    for k, i in enumerate(run.indices):
        ours.run([i])
        assert relative_difference(ours.z, exact.z[k]) <= EXACT
        assert relative_difference(ours.u, exact.u[k]) <= EXACT
        assert relative_difference(run.point(ours.total), exact_sums[k]) <= EXACT


@pytest.mark.parametrize("lengths", ["passes", "odd"])
def test_algorithm_1_in_longer_orders(run, lengths):
    """Orders of one pass, and of odd lengths: what is due lazily is there at the end of each."""
    n, exact = run.instance.n_rows, run.exact
    ours, exact_sums = run.start(), sums(exact)
    for order in pieces(run.indices, [n] if lengths == "passes" else [7, 1, n, 13, n - 1, 2]):
        ours.run(order)
        k = ours.steps - 1
        assert relative_difference(ours.z, exact.z[k]) <= EXACT
        assert relative_difference(ours.uhat, exact.uhat[k]) <= EXACT
        assert relative_difference(ours.u, exact.u[k]) <= EXACT
        assert relative_difference(run.point(ours.total), exact_sums[k]) <= EXACT
        assert ours.weight == pytest.approx(np.sum(1 / exact.thetas[: k + 1]), rel=1e-12)


def test_constant_theta_is_rdca(run):
    indices = run.indices[:500]
    exact, ours = reference.rdca(run.instance, run.u0, indices, run.scale), run.start()
    for order in pieces(indices, [run.instance.n_rows, 3]):
        ours.run(order, constant_theta=True)
        assert relative_difference(ours.u, exact.u[ours.steps - 1]) <= EXACT
    mean = run.point(ours.total) / ours.weight
    assert relative_difference(mean, np.mean(exact.x, axis=0)) <= EXACT


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", ["hinge-elastic_net-both", "squared-group-none"])
def test_single_precision_rows_give_the_same_iterates(name, sparse):
    """The data are exact in float32 and accumulators are float64, so nothing may differ."""
    run = Run((name, sparse, "long"), dtype=np.float32)
    assert run.problem.rows.compiled().top[0].dtype == np.float32
    ours = run.start()
    for order in pieces(run.indices, [run.instance.n_rows]):
        ours.run(order)
    assert ours.solver.state.s_z.dtype == np.float64
    assert relative_difference(ours.u, run.exact.u[-1]) <= EXACT


def test_the_intercept_of_a_constraint_row():
    """J has one column more than X: constraint rows with any coefficient of the intercept."""
    described = BY_NAME["squared-l2-none"]
    rng = np.random.default_rng(1)
    J, lower, upper = rng.standard_normal((3, problems.N_FEATURES + 1)), -0.5, 0.25
    J[1, -1] = 0.0
    without = (("between", J[:, :-1], np.full(3, lower), np.full(3, upper)),)
    between = zg.Between(J, lower, upper)
    problem = zg.Problem(
        described.X, described.y, regularizer=zg.L2(0.1), constraints=between, fit_intercept=True
    )
    instance = instance_of(replace(described, constraints=without, fit_intercept=True), problem, CENTER)
    np.testing.assert_allclose(instance.rows[-3:], J, atol=1e-15)
    u0, indices = random_dual(instance, rng), rng.integers(instance.n_rows, size=STEPS)
    exact = reference.algorithm_1(instance, u0, indices, 1.0)
    ours = Ardca(problem, u0, "paper", CENTER)
    for order in pieces(indices, [instance.n_rows, 5]):
        ours.run(order)
        assert relative_difference(ours.u, exact.u[ours.steps - 1]) <= EXACT
    mean = np.sum(exact.x / exact.thetas[:, None], axis=0) / np.sum(1 / exact.thetas)
    assert relative_difference(ours.total / ours.weight, mean) <= EXACT


# ---- without acceleration
SDCA_CASES = CASES[::2]


@pytest.mark.parametrize("case", SDCA_CASES, ids=CASE_IDS[::2])
def test_sdca_step_by_step(case):
    """No intercept here: its centre moves at every check of the solver."""
    name, sparse, _ = case
    described = replace(BY_NAME[name], fit_intercept=False)
    problem, instance = described.build(sparse), described.instance()
    rng = np.random.default_rng(2)
    u0, indices = random_dual(instance, rng), rng.integers(instance.n_rows, size=600)
    exact = reference.sdca(instance, u0, indices)
    ours = sdca(problem, u0, indices[:, None])
    for k in range(len(indices)):
        assert relative_difference(ours[k], exact.u[k]) <= EXACT


@pytest.mark.parametrize("name", ["hinge-l2-both", "absolute-elastic_net-equal", "squared-group-both"])
@pytest.mark.parametrize("sparse", [False, True])
def test_rdca_cdca_and_the_short_step(name, sparse):
    described = BY_NAME[name]
    problem, instance = described.build(sparse), described.instance()
    rng, n = np.random.default_rng(3), instance.n_rows
    u0, orders = random_dual(instance, rng), rng.integers(n, size=(20, n))
    for step, scale in STEP_SCALES.items():
        exact = reference.rdca(instance, u0, orders.ravel(), scale)
        ours = sdca(problem, u0, orders, sampling="uniform", step=step)
        assert relative_difference(ours, exact.u[n - 1 :: n]) <= EXACT
    cycles = reference.cyclic(n, 20).reshape(20, n)
    exact = reference.sdca(instance, u0, cycles.ravel())
    assert relative_difference(sdca(problem, u0, cycles, sampling="cyclic"), exact.u[n - 1 :: n]) <= EXACT


def test_a_step_touches_nothing_else():
    """Only z_i and uhat_i of the visited row change, and s only at that row's nonzeros."""
    described = BY_NAME["hinge-elastic_net-both"]
    problem, instance = described.build(sparse=True), described.instance()
    ours = Ardca(problem, random_dual(instance, np.random.default_rng(4)), "long")
    ours.run(range(5))
    before = [array.copy() for array in ours.solver.state]
    ours.run([11])
    z, uhat, s_z, s_uhat = (
        np.flatnonzero(new != old) for new, old in zip(ours.solver.state, before, strict=True)
    )
    assert z.tolist() == uhat.tolist() == [11]
    assert set(s_z) == set(s_uhat) == set(np.flatnonzero(instance.rows[11]))


def test_epochs_at_once_are_epochs_one_by_one():
    """Same rows, same widths: only the order of visits is drawn inside. Both end where the moves settle."""
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((60, 8)), np.sign(rng.standard_normal(60))
    problem = zg.Problem(X, y, loss="hinge", regularizer=zg.L2(0.05))
    work = Workspace(problem)
    ends = []
    for seed in (1, 2):
        u, s = np.zeros(60), work.slope(np.zeros(60))
        order = problem.active_rows.copy()
        rule = kernels.Settle(np.inf, 0.0, 1e-9, 60_000, np.uint64(seed))
        steps, kept, largest, first = kernels.sdca_epochs(
            order, work.rows, work.terms, work.f, u, s, work.tau, rule
        )
        assert 0 < kept < 60 <= steps < 60_000
        assert len(set(order[:kept])) == kept
        assert largest <= 1e-9 * first
        np.testing.assert_allclose(s, work.slope(u), atol=1e-12)
        ends.append(problem.dual(u))
    assert ends[0] == pytest.approx(ends[1], rel=1e-6)
    best = zg.solve(problem, tol=1e-10).certificate
    assert -ends[0] == pytest.approx(best.dual, rel=1e-3)  # rows dropped at rest are not looked at again


def test_epochs_at_once_stop_at_their_limit():
    X, y = np.random.default_rng(6).standard_normal((30, 4)), np.ones(30)
    problem = zg.Problem(X, y, loss="absolute", regularizer=zg.L2(1e-3))
    work = Workspace(problem)
    rule = kernels.Settle(np.inf, 0.0, 0.0, 70, np.uint64(0))
    u, s = np.zeros(30), work.slope(np.zeros(30))
    steps, *_ = kernels.sdca_epochs(
        problem.active_rows.copy(), work.rows, work.terms, work.f, u, s, work.tau, rule
    )
    assert 70 <= steps <= 90
