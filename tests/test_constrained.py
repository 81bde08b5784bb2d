"""Constrained problems of every loss against Clarabel: value, violation, multipliers."""

import constrained
import numpy as np
import pytest

import zerogap as zg

TOL = 1e-9


@pytest.mark.parametrize("instance", constrained.INSTANCES, ids=lambda instance: instance.name)
def test_value_violation_and_multipliers_are_those_of_clarabel(instance):
    expected = instance.described.solution()
    problem = instance.build()
    result = zg.solve(problem, tol=TOL, random_state=0)
    assert result.solved
    certificate = zg.certify(problem, result.x, result.dual, result.intercept)
    assert certificate.primal == pytest.approx(expected.objective, rel=1e-6)
    assert certificate.dual == pytest.approx(expected.objective, rel=1e-6)
    assert certificate.scaled_violation <= 1e-8
    own = instance.multipliers(problem, result.dual)
    theirs = expected.dual[problem.n_samples :]
    unique = constrained.unique_multipliers(instance, result.x, result.intercept, own)
    assert np.abs(own - theirs)[unique].max(initial=0.0) <= 1e-4 * np.abs(theirs).max()


def test_the_instances_cover_what_they_should():
    losses = {instance.described.loss[0] for instance in constrained.INSTANCES}
    assert losses == set(constrained.LOSSES)
    assert len(constrained.INSTANCES) >= 60
    rows = [[len(part[1]) for part in i.described.constraints] for i in constrained.INSTANCES]
    assert {50, 2000} <= {count for counts in rows for count in counts}
    scales = np.concatenate([np.concatenate(i.scales) for i in constrained.INSTANCES])
    assert scales.min() < 1e-3
    assert scales.max() > 1e3


def test_multipliers_are_unique_in_many_instances():
    """Else the comparison above would hold of itself."""
    known = [
        constrained.unique_multipliers(i, s.x, s.intercept, s.dual[len(i.described.y) :])
        for i, s in ((i, i.described.solution()) for i in constrained.INSTANCES)
    ]
    used = [
        np.abs(i.described.solution().dual[len(i.described.y) :])[unique].max(initial=0.0) > 1e-3
        for i, unique in zip(constrained.INSTANCES, known, strict=True)
    ]
    assert np.mean(used) > 0.5


def test_coordinate_steps_end_at_the_same_point():
    chosen = [i for i in constrained.INSTANCES if i.described.regularizer[1]["l2"] > 0.1][:2]
    for instance in chosen:
        expected = instance.described.solution()
        result = zg.solve(
            instance.build(), algorithm="ardca-restart", tol=1e-6, random_state=0, max_passes=100_000
        )
        assert result.solved
        price = float(np.abs(expected.dual[len(instance.described.y) :]).sum())
        allowed = 1e-5 * max(abs(expected.objective), price)
        assert result.certificate.primal == pytest.approx(expected.objective, abs=allowed)
