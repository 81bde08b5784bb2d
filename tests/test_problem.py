"""The problem: primal, dual and the map between them, against tests/reference.py and by property."""

import dataclasses

import numpy as np
import problems
import pytest
import reference
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from problems import BY_NAME, PROBLEMS
from support import LOSS_CASES, LOSS_IDS, loss_object, random_dual, random_primal

import zerogap as zg

each_loss = pytest.mark.parametrize("loss", problems.LOSSES)
each_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
seeds = st.integers(0, 2**32 - 1)


def of_loss(loss):
    """Names of the reference problems of a loss that have no intercept."""
    return st.sampled_from([p.name for p in PROBLEMS if p.loss[0] == loss and not p.fit_intercept])


# ---- against the reference
@each_loss
@given(data=st.data())
def test_values_are_the_reference(loss, data):
    described, seed = BY_NAME[data.draw(of_loss(loss))], data.draw(seeds)
    problem, instance = described.build(sparse=data.draw(st.booleans())), described.instance()
    rng = np.random.default_rng(seed)
    x, u = random_primal(instance, rng), random_dual(instance, rng)
    assert problem.primal(x) == pytest.approx(instance.primal(x), rel=1e-13)
    assert problem.dual(u) == pytest.approx(instance.dual(u), rel=1e-12, abs=1e-13)
    np.testing.assert_allclose(problem.slope(u), instance.s(u), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        problem.primal_from_dual(u), instance.primal_from_dual(u), rtol=1e-11, atol=1e-13
    )
    violation = np.max(problem.violations(problem.rows.dot(x)), initial=0.0)
    assert violation == pytest.approx(instance.violation(x), rel=1e-13, abs=1e-15)


@each_loss
@given(data=st.data())
def test_the_dual_domain_is_the_reference(loss, data):
    described, seed = BY_NAME[data.draw(of_loss(loss))], data.draw(seeds)
    problem, instance = described.build(), described.instance()
    u = 3.0 * np.random.default_rng(seed).standard_normal(instance.n_rows)
    inside = instance.clip(u)
    np.testing.assert_array_equal(problem.project_dual(u), inside)
    assert np.isfinite(problem.dual(inside))
    assert np.isfinite(problem.dual(u)) == np.array_equal(u, inside)


@each_loss
@given(data=st.data())
def test_weak_duality(loss, data):
    """The Lagrangian at any x is at least -D(u): P(x) plus u times the constraint rows minus their share."""
    described, seed = BY_NAME[data.draw(of_loss(loss))], data.draw(seeds)
    problem, instance = described.build(), described.instance()
    rng = np.random.default_rng(seed)
    x, u = random_primal(instance, rng, 10 ** rng.uniform(-2, 1)), random_dual(instance, rng, 5.0)
    n = instance.n_data
    constraints = u[n:] * problem.rows.dot(x)[n:]
    constraints -= reference.range_conjugate(u[n:], instance.lower, instance.upper)
    room = problem.primal(x) + np.sum(constraints) + problem.dual(u)
    assert room >= -1e-12 * (1 + abs(problem.primal(x)) + abs(problem.dual(u)))


@each_problem
def test_strong_duality_at_the_optimum(problem):
    """Clarabel's x and multipliers, handed to the package, certify each other."""
    solution, built = problem.solution(), problem.build()
    u = built.project_dual(solution.dual)
    assert built.primal(solution.x, solution.intercept) == pytest.approx(solution.objective, rel=1e-13)
    if problem.fit_intercept:  # rounding leaves a little of the dual constraint that a bound needs
        assert abs(built.slope(u)[-1]) < 1e-9
        return
    assert -built.dual(u) == pytest.approx(solution.objective, abs=1e-8)
    np.testing.assert_allclose(built.primal_from_dual(u), solution.x, atol=1e-5)


@each_problem
def test_precision_and_storage_do_not_matter(problem):
    """The data are exact in float32, so all four copies are the same problem."""
    rng = np.random.default_rng(0)
    instance = problem.instance(drop_intercept=True)
    x, u = random_primal(instance, rng), random_dual(instance, rng)
    built = [problem.build(sparse, dtype) for sparse in (False, True) for dtype in (np.float32, np.float64)]
    primal = [copy.primal(x, 0.5 if problem.fit_intercept else 0.0) for copy in built]
    slopes = [copy.slope(u) for copy in built]
    np.testing.assert_allclose(primal, primal[0], rtol=1e-14)
    np.testing.assert_allclose(slopes, np.tile(slopes[0], (4, 1)), rtol=1e-12, atol=1e-14)


# ---- intercept
@pytest.mark.parametrize("case", LOSS_CASES, ids=LOSS_IDS)
@given(seed=seeds)
def test_an_intercept_adds_a_dual_constraint(case, seed):
    """With b free, -D(u) bounds the objective only where sum_i w_i u_i = 0; elsewhere it says inf."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(9) % 2, 1.0, -1.0)
    X, weights = rng.standard_normal((9, 3)), rng.uniform(0.5, 2.0, 9)
    problem = zg.Problem(
        X, y, loss=loss_object(*case), regularizer=zg.L2(0.3), sample_weight=weights, fit_intercept=True
    )
    w = weights / weights.sum()
    low, high = problem.project_dual(np.full(9, -1e9)), problem.project_dual(np.full(9, 1e9))
    u = np.where(rng.random(9) < 0.5, 0.1, 0.5) * np.clip(np.where(y > 0, -1.0, 1.0), low, high)
    positive, negative = w[y < 0] @ u[y < 0], w[y > 0] @ u[y > 0]
    u[y < 0] *= -negative / positive * min(1.0, -positive / negative)
    u[y > 0] *= min(1.0, -positive / negative)
    u = np.clip(u, low, high)
    assert abs(w @ u) < 1e-15
    assert np.isfinite(problem.dual(u))
    for b in (-3.0, 0.0, 2.0):
        x = rng.standard_normal(3)
        assert problem.primal(x, b) >= -problem.dual(u) - 1e-12
    u[0] *= 0.999
    assert problem.dual(u) == np.inf


def test_the_intercept_shifts_the_margins():
    problem = BY_NAME["squared-l2-none"]
    with_b = dataclasses.replace(problem, fit_intercept=True).build()
    shifted = dataclasses.replace(problem, y=problem.y - 0.75).build()
    x = np.linspace(-1, 1, problems.N_FEATURES)
    assert with_b.primal(x, 0.75) == pytest.approx(shifted.primal(x), rel=1e-14)
    assert with_b.split(with_b.join(x, 0.75))[1] == 0.75


# ---- weights
@each_loss
@given(seed=seeds)
def test_weights_count_samples(loss, seed):
    """Weight 0: the row is absent. Weight 2: it is there twice. A common factor does not matter."""
    described = BY_NAME[f"{loss}-elastic_net-both"]
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 3, problems.N_SAMPLES)
    counts[:2] = 1, 2
    rows = np.repeat(np.arange(problems.N_SAMPLES), counts)
    y = described.y.copy()
    repeated = dataclasses.replace(described, X=described.X[rows], y=y[rows])
    instance = repeated.instance()
    if len(set(y[rows])) == 1:
        return  # one class is no classification problem
    x, tail = random_primal(instance, rng), random_dual(instance, rng)[len(rows) :]
    u = random_dual(described.instance(), rng)[: problems.N_SAMPLES]
    small = repeated.build()
    for factor in (1.0, 7.0):
        weighted = dataclasses.replace(described, sample_weight=factor * counts).build()
        assert weighted.primal(x) == pytest.approx(small.primal(x), rel=1e-13)
        ours, theirs = np.append(u, tail), np.append(u[rows], tail)
        assert weighted.dual(ours) == pytest.approx(small.dual(theirs), rel=1e-12, abs=1e-13)
        assert weighted.active_rows.tolist() == [*np.flatnonzero(counts), *range(30, 30 + len(tail))]


def test_an_absent_row_may_have_any_dual():
    problem = zg.Problem(
        np.eye(3), [1.0, 2.0, 3.0], loss="absolute", regularizer=zg.L2(1.0), sample_weight=[1, 0, 1]
    )
    assert problem.dual(np.array([0.5, 77.0, 0.5])) == problem.dual(np.array([0.5, 0.0, 0.5]))


# ---- construction
def test_a_problem_is_frozen():
    problem = BY_NAME["hinge-l2-both"].build()
    for name in ("y", "loss", "weight", "penalty", "n_rows"):
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
            setattr(problem, name, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        del problem.loss


def test_counts_and_repr():
    problem = BY_NAME["pinball-l2-both-weights-intercept"].build()
    assert (problem.n_samples, problem.n_features) == (30, 6)
    assert (problem.n_constraints, problem.n_rows) == (7, 37)
    assert problem.fit_intercept
    assert "30 x 6, pinball" in repr(problem)
    assert "7 constraint rows, intercept" in repr(problem)
    assert repr(problem.constraints[0]) in ("Equal(2 rows, 6 columns)", "Between(5 rows, 6 columns)")


@pytest.mark.parametrize(
    "labels",
    [[0, 1, 1], [-1, 1, 1], [5.0, 7.5, 7.5], ["no", "yes", "yes"], [False, True, True], [[0], [1], [1]]],
    ids=str,
)
def test_the_smaller_label_is_the_negative_class(labels):
    problem = zg.Problem(np.eye(3), labels, loss="hinge", regularizer=zg.L2(1.0))
    assert problem.y.tolist() == [-1.0, 1.0, 1.0]
    assert problem.classes.tolist() == sorted({np.ravel(labels)[0], np.ravel(labels)[1]})


def test_targets_may_be_a_column():
    column = zg.Problem(np.eye(3), [[1.0], [2.0], [3.0]], regularizer=zg.L2(1.0))
    assert column.y.tolist() == [1.0, 2.0, 3.0]


def test_one_constraint_needs_no_list():
    equal = zg.Equal(np.ones(3), 1.0)
    problem = zg.Problem(np.eye(3), np.ones(3), regularizer=zg.L2(1.0), constraints=equal)
    assert problem.constraints == (equal,)
    assert problem.rows.dot(np.array([1.0, 2.0, 4.0]))[-1] == 7.0


def test_a_problem_of_constraints_only():
    """The projection of a point onto a plane."""
    problem = zg.Problem(regularizer=zg.ElasticNet(1.0, center=2.0), constraints=zg.Equal(np.ones(3), 0.0))
    assert (problem.n_samples, problem.n_features, problem.n_rows) == (0, 3, 1)
    assert problem.primal(np.zeros(3)) == 6.0
    assert problem.dual(np.array([2.0])) == -6.0


# ---- constraints and multipliers
def test_ranges_take_scalars_vectors_and_infinities():
    J = np.arange(6.0).reshape(2, 3)
    between = zg.Between(J, upper=[1.0, np.inf])
    assert between.lower.tolist() == [-np.inf, -np.inf]
    assert between.upper.tolist() == [1.0, np.inf]
    assert len(zg.Between(sp.csr_matrix(J), 0.0)) == 2
    assert zg.Equal(J, 3.0).lower.tolist() == zg.Equal(J, [3.0, 3.0]).upper.tolist() == [3.0, 3.0]


def test_a_constraint_may_hold_the_intercept_too():
    """J has one column more than X: its last one multiplies b."""
    X, y = np.eye(3), np.arange(3.0)
    constraints = [zg.Between([[1.0, 0, 0, 2.0]], 0.0, 1.0), zg.Equal([0.0, 1.0, 0.0], 0.0)]
    problem = zg.Problem(X, y, regularizer=zg.L2(1.0), constraints=constraints, fit_intercept=True)
    margins = problem.rows.dot(np.array([1.0, 2.0, 3.0, 10.0]))
    assert margins.tolist() == [11.0, 12.0, 13.0, 21.0, 2.0]
    assert problem.slope(np.array([0.0, 0.0, 3.0, 0.25, 5.0])).tolist() == [0.25, 5.0, 1.0, 1.5]


@pytest.mark.parametrize("order", [1, -1])
def test_multipliers_come_by_constraint_in_the_order_given(order):
    equal, between = zg.Equal(np.eye(3)[:2], 0.0), zg.Between(np.eye(3), -1.0, 1.0)
    problem = zg.Problem(np.eye(3), np.ones(3), regularizer=zg.L2(1.0), constraints=[equal, between][::order])
    u = np.arange(8.0)
    split = [part.tolist() for part in problem.multipliers(u)]
    assert split == ([[3, 4], [5, 6, 7]] if order == 1 else [[3, 4, 5], [6, 7]])
    assert zg.Problem(np.eye(3), np.ones(3), regularizer=zg.L2(1.0)).multipliers(u[:3]) == []
