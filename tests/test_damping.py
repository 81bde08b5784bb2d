"""Curvature lent to features without any of their own."""

import numpy as np

from zerogap.solver.damping import MANY, Damping


def lent(damping, own):
    return [(loan.copy(), more) for loan, more in damping.loans(lambda: own)]


def test_flat_features_are_lent_more_and_more():
    damping = Damping(np.array([1.0, 0.0]))
    damping.lend_from(np.array([2.0, 5.0]))
    loans = lent(damping, np.ones(2))
    assert [more for _, more in loans] == [True, True, True, False]
    assert loans[0][0][1] == 0.0
    assert all(loan[0] == 0.0 for loan, _ in loans)
    assert np.all(np.diff([loan[1] for loan, _ in loans]) > 0)


def test_starved_features_are_held_after_many_short_steps():
    damping = Damping(np.full(10, 1e-9))
    damping.lend_from(np.ones(10))
    own = np.full(10, 0.5)
    own[:3] = 1e-9
    for _ in range(MANY):
        assert not lent(damping, own)[0][0].any()
        damping.note(0.1)
    first = lent(damping, own)[0][0]
    assert (first[:3] > 0).all()
    assert not first[3:].any()
    damping.note(0.1)
    assert (lent(damping, own)[0][0][:3] > first[:3]).all()
    damping.note(1.0)
    damping.note(1.0)
    assert (lent(damping, own)[0][0][:3] < first[:3]).all()


def test_a_rare_starved_feature_is_left_alone():
    damping = Damping(np.full(30, 1e-9))
    damping.lend_from(np.ones(30))
    own = np.full(30, 0.5)
    own[0] = 1e-9
    for _ in range(MANY):
        damping.note(0.1)
    assert not lent(damping, own)[0][0].any()
