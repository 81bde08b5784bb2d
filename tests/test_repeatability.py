"""Same seed, same bits: in one process, in another, compiled or not; and what must not change an answer."""

import dataclasses
import hashlib

import numpy as np
import pytest
from problems import BY_NAME
from support import run_python

import zerogap as zg
from zerogap.solver.settings import ALGORITHMS

NAMES = ["hinge-elastic_net-both", "logistic-group-none", "pinball-l2-both-weights-intercept"]
LIMITS = {"max_passes": 40, "warn": False}


def digest(result):
    """A hash of all bits of the answer and of the story that led to it, times aside."""
    content = [
        result.x,
        result.dual,
        np.array([result.intercept]),
        result.history.primal,
        result.history.dual,
    ]
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in content)).hexdigest()


def digests(algorithm, seed):
    return {
        f"{name}-{sparse}": digest(
            zg.solve(BY_NAME[name].build(sparse), algorithm=algorithm, random_state=seed, **LIMITS)
        )
        for name in NAMES
        for sparse in (False, True)
        if algorithm != "newton" or "group" not in name
    }


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_same_seed_same_bits(algorithm):
    assert digests(algorithm, 7) == digests(algorithm, 7)


def test_same_seed_same_bits_in_another_process():
    source = """
import json, test_repeatability as tests
print(json.dumps({name: tests.digests(name, 7) for name in tests.ALGORITHMS}))
"""
    assert run_python(source) == {name: digests(name, 7) for name in ALGORITHMS}


@pytest.mark.parametrize("algorithm", ["ardca", "ardca-restart", "rdca", "sdca"])
def test_another_seed_another_path(algorithm):
    first, second = digests(algorithm, 7), digests(algorithm, 8)
    assert all(first[name] != second[name] for name in first)


def test_a_generator_is_a_seed_too():
    problem = BY_NAME[NAMES[0]].build()
    by_number, by_generator = (
        zg.solve(problem, algorithm="sdca", random_state=seed, **LIMITS)
        for seed in (7, np.random.default_rng(7))
    )
    assert digest(by_number) == digest(by_generator)


def test_the_global_generator_is_left_alone():
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    zg.solve(BY_NAME[NAMES[0]].build(), algorithm="rdca", **LIMITS)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


UNCOMPILED = """
import json, numba, sys, zerogap as zg
from problems import BY_NAME

answers = {}
for name, algorithm in (("hinge-elastic_net-equal", "sdca"), ("absolute-group-none", "ardca")):
    result = zg.solve(BY_NAME[name].build(), algorithm=algorithm, max_passes=20, random_state=0, warn=False)
    answers[name] = [result.x.tolist(), result.dual.tolist(), result.certificate.gap]
print(json.dumps([bool(numba.config.DISABLE_JIT), answers]))
"""


def test_uncompiled_code_gives_the_same_answer():
    """Reassociated sums may differ in the last bits, nothing more after twenty passes."""
    disabled, slow = run_python(UNCOMPILED, NUMBA_DISABLE_JIT="1")
    enabled, fast = run_python(UNCOMPILED)
    assert disabled
    assert not enabled
    for name, (x, dual, gap) in slow.items():
        np.testing.assert_allclose(fast[name][0], x, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(fast[name][1], dual, rtol=1e-9, atol=1e-12)
        assert fast[name][2] == pytest.approx(gap, rel=1e-6)


# ---- what must not change the answer
@pytest.mark.parametrize("loss", ["absolute", "pinball", "huber", "squared"])
@pytest.mark.parametrize("shift", [-3.0, 1000.0])
def test_an_intercept_takes_up_a_shift_of_y(loss, shift):
    described = dataclasses.replace(BY_NAME[f"{loss}-l2-none"], fit_intercept=True)
    shifted = dataclasses.replace(described, y=described.y + shift)
    base, moved = (zg.solve(p.build(), tol=1e-9, random_state=0) for p in (described, shifted))
    assert moved.certificate.primal == pytest.approx(base.certificate.primal, rel=1e-8)
    np.testing.assert_allclose(moved.x, base.x, atol=1e-3)
    assert moved.intercept - shift == pytest.approx(base.intercept, abs=1e-3)


def test_an_intercept_is_not_penalised():
    """A constant target costs nothing, however large."""
    X = np.random.default_rng(0).standard_normal((20, 3))
    problem = zg.Problem(X, np.full(20, 1e6), loss="squared", regularizer=zg.L2(0.1), fit_intercept=True)
    result = zg.solve(problem, tol=1e-6, random_state=0, warn=False)
    assert result.certificate.primal <= 1e-4
    assert result.intercept == pytest.approx(1e6, abs=0.1)
