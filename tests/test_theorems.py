"""The paper's theorems, propositions and lemmas, by numbers. `zerogap.paper.theory` says what a row is."""

import numpy as np
import pytest

from zerogap.paper import cases, lemmas, theory

SEEDS = 220


@pytest.mark.parametrize("name", theory.CHECKS)
def test_what_the_paper_states_holds(name):
    rows = theory.CHECKS[name](SEEDS)
    assert len(rows) >= 18
    for row in rows:
        assert row["measured"] <= row["upper"] <= row["bound"], row


def test_the_checks_cover_what_they_should():
    assert SEEDS >= 200
    assert theory.UPSILONS == (1.1, 2.0)
    assert theory.PASSES[-1] >= 100 * theory.PASSES[0]  # two decades
    rows = theory.theorem2(200)
    assert {row["case"].split(",")[0] for row in rows} == {"K = n", "K = 2n", "K = 10n", "K = 40n"}
    assert {row["seeds"] for row in rows} == {200}


def test_a_false_statement_fails():
    """The bounds say something: a tenth of the dual rate is violated, a smaller Lipschitz constant too."""
    rows = theory.dual_rate(200)
    assert any(row["upper"] > 0.1 * row["bound"] for row in rows)
    assert any(row["measured"] > 0.999 for row in lemmas.coordinate_lemma(1))


def test_upper_confidence_limits():
    rng = np.random.default_rng(0)
    covered = [cases.row("", 0, rng.exponential(size=400), 0)["upper"] >= 1.0 for _ in range(500)]
    assert np.mean(covered) > 0.99
    one = cases.signed_row("", 0, np.array([-2.0, -2.2]), 0.0)
    assert one["measured"] == pytest.approx(2.1)
    assert one["upper"] == pytest.approx(2.1 + cases.CONFIDENCE * 0.1)


def test_the_averaging_interval_is_the_theorems():
    """K_0 <= K / (upsilon (1 + 1/n)) + 1, and not much smaller."""
    from zerogap.solver.averaging import Checkpoints

    n = 10
    for upsilon in theory.UPSILONS:
        kept = Checkpoints(upsilon, n)
        for passes in range(1, 200):
            kept.keep(passes * n, np.zeros(1), float(passes * n))
            _, first = kept.average(passes * n + n, np.ones(1), float(passes * n + n))
            allowed = (passes * n + n - 1) / (upsilon * (1 + 1 / n)) + 1
            assert first <= allowed
