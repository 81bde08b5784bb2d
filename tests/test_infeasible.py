"""Contradictory constraints: noticed, named by an irreducible set of rows, and proved."""

import infeasible
import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

import zerogap as zg


def feasible(problem, chosen):
    """Is there a point in the box on these rows? By HiGHS, each row scaled to a largest entry of one."""
    t = problem.n_features
    width = t + problem.fit_intercept
    rows, low, high = [], [], []
    for c, i in chosen:
        constraint = problem.constraints[c]
        row = constraint.rows.matrix[[i]].toarray().ravel()
        size = np.abs(row).max() or 1.0
        rows.append(np.append(row, np.zeros(width - row.size)) / size)
        low.append(constraint.lower[i] / size)
        high.append(constraint.upper[i] / size)
    if not rows:
        return True
    rows, low, high = np.array(rows), np.array(low), np.array(high)
    top, bottom = np.isfinite(high), np.isfinite(low)
    penalty = problem.penalty
    box = list(zip(np.broadcast_to(penalty.lower, t), np.broadcast_to(penalty.upper, t), strict=True))
    answer = linprog(
        np.zeros(width),
        A_ub=np.vstack([rows[top], -rows[bottom]]),
        b_ub=np.append(high[top], -low[bottom]),
        bounds=box + [(None, None)] * problem.fit_intercept,
        method="highs",
    )
    assert answer.status in (0, 2), answer.message
    return answer.status == 0


@pytest.mark.parametrize("seed", range(infeasible.N_INSTANCES))
def test_contradictions_are_proved_on_an_irreducible_set_of_rows(seed):
    problem = infeasible.make(seed)
    with pytest.warns(ConvergenceWarning, match="contradict") as caught:
        result = zg.solve(problem, random_state=0)
    assert result.status is zg.Status.INFEASIBLE
    assert "max_" not in str(caught[0].message)
    proof = result.infeasibility
    assert proof.verify()
    assert not feasible(problem, proof.rows)
    for spared in proof.rows:
        assert feasible(problem, set(proof.rows) - {spared})
    assert result.feasible() is None


def test_the_instances_have_1_to_200_rows_and_every_kind():
    problems = [infeasible.make(seed) for seed in range(infeasible.N_INSTANCES)]
    rows = [problem.n_constraints for problem in problems]
    assert min(rows) == 1
    assert max(rows) == 200
    assert any(problem.fit_intercept for problem in problems)
    assert any(problem.penalty.boxed for problem in problems)
    assert any((p.low == p.high).any() and (p.low < p.high).any() for p in problems)


@pytest.mark.parametrize("seed", range(0, infeasible.N_INSTANCES, 4))
def test_without_the_conflict_they_have_an_answer(seed):
    problem = infeasible.make(seed, conflict=False)
    assert zg.solve(problem, random_state=0).solved


@pytest.mark.parametrize("algorithm", ["newton", "sdca", "ardca-restart"])
def test_every_algorithm_notices(algorithm):
    for seed in (0, 2, 9, 17):
        result = zg.solve(
            infeasible.make(seed), algorithm=algorithm, random_state=0, max_passes=300, warn=False
        )
        assert result.status is zg.Status.INFEASIBLE
        assert result.infeasibility.verify()


def test_a_certificate_with_wrong_multipliers_is_no_proof():
    problem = zg.Problem(
        np.eye(2), [1.0, 2.0], regularizer=zg.L2(1.0),
        constraints=["x0 + x1 <= 1", "x0 + x1 >= 2", "x0 <= 5"],
    )  # fmt: skip
    proof = zg.solve(problem, warn=False).infeasibility
    assert proof.rows == ((0, 0), (1, 0))
    assert "'x0 + x1 <= 1'" in str(proof)
    assert "'x0 + x1 >= 2'" in str(proof)
    wrong = type(proof)(problem, proof.rows, -proof.multipliers, proof.features)
    assert not wrong.verify()
    elsewhere = type(proof)(problem, ((0, 0), (2, 0)), proof.multipliers, proof.features)
    assert not elsewhere.verify()


def test_the_box_is_named_when_it_takes_part():
    problem = zg.Problem(
        np.eye(3), np.ones(3), regularizer=zg.ElasticNet(1.0, lower=0.0, upper=[1.0, 1.0, np.inf]),
        constraints=zg.linear("x0 + x1 >= 3"),
    )  # fmt: skip
    proof = zg.solve(problem, warn=False).infeasibility
    assert proof.verify()
    assert sorted(proof.features) == [0, 1]
    assert "box" in str(proof)
