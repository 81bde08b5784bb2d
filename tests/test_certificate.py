"""Certificates: any pair (x, u) gets true bounds, and nothing that is not proven is claimed."""

import dataclasses

import numpy as np
import problems
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import BY_NAME, PROBLEMS
from support import random_dual, random_primal

import zerogap as zg

each_loss = pytest.mark.parametrize("loss", problems.LOSSES)
seeds = st.integers(0, 2**32 - 1)
SOLVED = [
    "hinge-l2-none",
    "absolute-elastic_net-both",
    "logistic-group-equal",
    "pinball-l2-both-weights-intercept",
    "squared_hinge-group-equal-weights-intercept",
    "epsilon_insensitive-box-between",
]


@each_loss
@given(data=st.data())
def test_bounds_hold_around_the_optimum(loss, data):
    """For every x and u: dual <= optimum <= P(x) + price of the violation, whatever the multipliers."""
    mine = [p.name for p in PROBLEMS if p.loss[0] == loss and not p.fit_intercept]
    described, rng = BY_NAME[data.draw(st.sampled_from(mine))], np.random.default_rng(data.draw(seeds))
    problem, instance, solution = described.build(), described.instance(), described.solution()
    near = 10 ** rng.uniform(-8, 0)
    x = solution.x + near * rng.standard_normal(len(solution.x))
    if problem.penalty.boxed:
        x = np.clip(x, problem.penalty.lower, problem.penalty.upper)
    u = instance.clip(solution.dual + near * rng.standard_normal(instance.n_rows))
    certificate = zg.certify(problem, x, u)
    assert certificate.primal == pytest.approx(instance.primal(x), rel=1e-13)
    assert certificate.dual == pytest.approx(-instance.dual(u), rel=1e-12)
    # a difference of numbers of size 1 to 10: its rounding is absolute
    assert certificate.violation == pytest.approx(instance.violation(x), rel=1e-12, abs=1e-14)
    assert certificate.dual <= solution.objective + 1e-8
    prices = np.abs(solution.dual[instance.n_data :])
    violations = problem.violations(problem.rows.dot(x))
    assert certificate.primal + prices @ violations >= solution.objective - 1e-7
    # never negative, and P(x) is within `gap` above the optimum
    assert certificate.gap >= 0.0
    assert certificate.primal - certificate.gap <= solution.objective + 1e-8
    charged = certificate.primal + np.abs(u[instance.n_data :]) @ violations - certificate.dual
    assert certificate.gap == pytest.approx(max(charged, 0.0), abs=1e-12)
    size = max(abs(certificate.primal), abs(certificate.dual))
    assert certificate.relative_gap == pytest.approx(certificate.gap / size, rel=1e-12)
    assert (certificate.scaled_violation > 0) == (certificate.violation > 0)


@each_loss
@given(seed=seeds)
def test_an_infeasible_point_is_never_taken_for_optimal(loss, seed):
    """A point outside the constraints with an objective below the bound still shows its violation."""
    described = BY_NAME[f"{loss}-l2-equal"]
    problem, rng = described.build(), np.random.default_rng(seed)
    x = random_primal(described.instance(), rng)
    certificate = zg.certify(problem, x, random_dual(described.instance(), rng))
    _, matrix, e = described.constraints[0]
    missed = np.abs(matrix @ x - e)
    assert certificate.violation == pytest.approx(np.max(missed), rel=1e-12)
    size = np.maximum(np.maximum(np.abs(e), np.abs(matrix) @ np.abs(x)), np.linalg.norm(matrix, axis=1))
    assert certificate.scaled_violation == pytest.approx(np.max(missed / size), rel=1e-12)
    assert certificate.error == max(certificate.relative_gap, certificate.scaled_violation)
    assert certificate.within(certificate.error)
    assert not certificate.within(0.999 * certificate.error)


def test_an_infeasible_point_below_the_bound_has_no_negative_gap():
    """min x^2/2 with x = 1: at x = 0 the objective is below the optimal value 1/2."""
    problem = zg.Problem(regularizer=zg.L2(1.0), constraints=zg.Equal([[1.0]], 1.0))
    certificate = zg.certify(problem, [0.0], [-1.0])
    assert (certificate.primal, certificate.dual) == (0.0, 0.5)
    assert certificate.gap == 0.5  # 0 + 1 * 1 - 0.5
    assert certificate.violation == 1.0
    certificate = zg.certify(problem, [0.0], [0.0])
    assert (certificate.gap, certificate.violation, certificate.scaled_violation) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize("name", SOLVED)
def test_certify_repeats_the_result(name):
    """The numbers a solver reports are those that anyone gets from x and the dual."""
    problem = BY_NAME[name].build()
    result = zg.solve(problem, tol=1e-6, random_state=0)
    again = zg.certify(problem, result.x, result.dual, result.intercept)
    assert dataclasses.asdict(again) == pytest.approx(dataclasses.asdict(result.certificate), rel=1e-12)
    assert again.within(1e-6 * (1 + 1e-12))


def test_the_certificate_does_not_come_from_the_solver():
    """An answer that was tampered with does not keep its certificate."""
    problem = BY_NAME["hinge-l2-none"].build()
    result = zg.solve(problem, random_state=0)
    certificate = zg.certify(problem, result.x + 0.01, result.dual)
    assert certificate.gap > 100 * result.certificate.gap


# ---- no bound
@each_loss
def test_no_bound_outside_the_domain(loss):
    described = BY_NAME[f"{loss}-l2-none"]
    problem, instance = described.build(), described.instance()
    low, high = instance.domain()
    for end, outwards in ((low, -1.0), (high, 1.0)):
        for i in np.flatnonzero(np.isfinite(end))[:3]:
            u = random_dual(instance, np.random.default_rng(0))
            u[i] = end[i] + 1e-12 * outwards
            certificate = zg.certify(problem, np.zeros(6), u)
            assert certificate.dual == -np.inf
            assert certificate.gap == certificate.relative_gap == np.inf
            assert not certificate.within(1e300)
            assert "no finite bound" in str(certificate)


def test_no_bound_for_a_multiplier_of_an_infinite_side():
    problem = zg.Problem(
        np.eye(2),
        [1.0, 2.0],
        regularizer=zg.L2(1.0),
        constraints=zg.Between(np.eye(2), [0.0, -np.inf], np.inf),
    )
    assert zg.certify(problem, [0.0, 0.0], [0.0, 0.0, -1.0, 0.0]).dual > -np.inf
    assert zg.certify(problem, [0.0, 0.0], [0.0, 0.0, 1e-300, 0.0]).dual == -np.inf
    assert zg.certify(problem, [0.0, 0.0], [0.0, 0.0, 0.0, -1e-300]).dual == -np.inf


def test_no_bound_when_the_intercept_is_not_stationary():
    problem = zg.Problem(
        np.eye(4), [0.0, 1.0, 2.0, 3.0], loss="absolute", regularizer=zg.L2(1.0), fit_intercept=True
    )
    assert zg.certify(problem, np.zeros(4), [-1.0, -1.0, 1.0, 1.0], 1.5).dual > -np.inf
    certificate = zg.certify(problem, np.zeros(4), [-1.0, -1.0, 1.0, 1.0 - 1e-9], 1.5)
    assert certificate.dual == -np.inf
    assert certificate.relative_gap == np.inf


def test_no_primal_outside_the_box():
    problem = zg.Problem(np.eye(2), [1.0, 2.0], regularizer=zg.ElasticNet(1.0, lower=0.0))
    certificate = zg.certify(problem, [-1e-9, 0.0], [0.0, 0.0])
    assert certificate.primal == certificate.gap == np.inf


# ---- multipliers
@pytest.mark.parametrize("problem", [p for p in PROBLEMS if p.constraints][::5], ids=lambda p: p.name)
def test_multipliers_are_those_of_the_reference(problem):
    """Order and sign: >= 0 at an upper side, <= 0 at a lower one, by constraint as given."""
    result = zg.solve(problem.build(), tol=1e-8, max_passes=20_000, random_state=0, warn=False)
    expected = np.split(
        problem.solution().dual[problems.N_SAMPLES :],
        np.cumsum([len(constraint[1]) for constraint in problem.constraints])[:-1],
    )
    assert result.certificate.within(1e-7)
    assert len(result.multipliers) == len(problem.constraints)
    for ours, theirs, (kind, matrix, *sides) in zip(
        result.multipliers, expected, problem.constraints, strict=True
    ):
        np.testing.assert_allclose(ours, theirs, atol=2e-4)
        if kind == "between":
            activity = matrix @ result.x
            assert np.all(ours[activity < sides[1] - 1e-4] <= 1e-6)
            assert np.all(ours[activity > sides[0] + 1e-4] >= -1e-6)


def test_a_multiplier_is_the_price_of_its_bound():
    """Raising e by a little changes the optimal value by -u times that (docs/notation.md)."""
    X, y = np.array([[1.0, 0.5], [0.2, 1.0], [1.0, 1.0]]), np.array([1.0, 2.0, 0.5])

    def optimum(e, upper):
        constraints = [zg.Equal([[1.0, 1.0]], e), zg.Between([[1.0, 0.0]], upper=upper)]
        problem = zg.Problem(X, y, regularizer=zg.L2(0.1), constraints=constraints)
        return zg.solve(problem, tol=1e-12, random_state=0)

    base, step = optimum(0.5, -0.5), 1e-5
    (u_equal,), (u_between,) = base.multipliers
    assert u_between > 0.01
    by_e = optimum(0.5 + step, -0.5).certificate.primal - base.certificate.primal
    by_upper = optimum(0.5, -0.5 + step).certificate.primal - base.certificate.primal
    assert by_e / step == pytest.approx(-u_equal, rel=1e-3)
    assert by_upper / step == pytest.approx(-u_between, rel=1e-3)


def test_the_certificate_prints_its_numbers():
    problem = BY_NAME["absolute-l2-equal"].build()
    text = str(zg.certify(problem, np.zeros(6), np.zeros(32)))
    assert "primal" in text
    assert "no feasible point is better" in text
    assert "relative" in text
    assert "violation" in text
