"""The one loop: what ends a solve, what it reports, and that it repeats itself bit by bit."""

import dataclasses
import os
import signal
import threading
import time

import numpy as np
import pytest
from problems import BY_NAME, N_SAMPLES
from sklearn.exceptions import ConvergenceWarning

import zerogap as zg

#: Far from solved after a hundred passes.
HARD = BY_NAME["absolute-elastic_net-both"]
STEP_BY_STEP = ["ardca", "ardca-restart", "ardca-erm", "rdca", "sdca", "cdca"]
FOREVER = {"tol": 1e-300, "max_passes": 10**9, "warn": False}


def certified(result):
    """The result's certificate is that of its own x and dual."""
    again = zg.certify(result.problem, result.x, result.dual, result.intercept)
    return dataclasses.asdict(again) == pytest.approx(dataclasses.asdict(result.certificate), rel=1e-12)


# ---- limits
@pytest.mark.parametrize("algorithm", STEP_BY_STEP)
def test_max_passes(algorithm):
    """Never exceeded by more than the pass under way; the answer so far has its certificate."""
    for limit in (1, 7, 100):
        result = zg.solve(
            HARD.build(), algorithm=algorithm, tol=1e-300, max_passes=limit, random_state=0, warn=False
        )
        assert result.status is zg.Status.MAX_PASSES
        assert result.passes == limit
        assert certified(result)
        assert np.isfinite(result.certificate.gap)


@pytest.mark.parametrize("algorithm", ["sdca", "ardca-restart"])
def test_max_time(algorithm):
    """A partial answer with its certificate, within the time of a pass and a check."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 100)) * 10 ** rng.uniform(-2, 2, 100)
    problem = zg.Problem(X, rng.standard_normal(2000), loss="absolute", regularizer=zg.L2(1e-8))
    zg.solve(problem, algorithm=algorithm, max_passes=1, warn=False)  # compiles
    begun = time.perf_counter()
    result = zg.solve(problem, algorithm=algorithm, max_time=0.3, random_state=0, **FOREVER)
    assert result.status is zg.Status.MAX_TIME
    assert 0.3 <= result.seconds <= time.perf_counter() - begun < 20.0
    assert result.passes >= 1
    assert certified(result)


def test_the_gap_improves_with_the_limit():
    gaps = [
        zg.solve(
            HARD.build(), algorithm="sdca", max_passes=limit, random_state=0, warn=False
        ).certificate.error
        for limit in (1, 10, 100)
    ]
    assert gaps[0] > gaps[1] > gaps[2]


# ---- callbacks
def test_callbacks_see_every_record():
    seen, other = [], []
    result = zg.solve(HARD.build(), algorithm="sdca", callbacks=[seen.append, other.append], random_state=0)
    assert seen == other == result.history.records
    assert seen[-1].gap == result.certificate.gap


@pytest.mark.parametrize("algorithm", STEP_BY_STEP)
def test_a_true_callback_stops(algorithm):
    result = zg.solve(
        HARD.build(),
        algorithm=algorithm,
        callbacks=[lambda record: record.pass_ >= 5],
        random_state=0,
        **FOREVER,
    )
    assert result.status is zg.Status.INTERRUPTED
    assert 5 <= result.passes < 15
    assert certified(result)


def test_a_wish_to_stop_does_not_hide_success():
    result = zg.solve(BY_NAME["squared-l2-none"].build(), tol=0.9999, callbacks=[lambda record: True])
    assert result.status is zg.Status.SOLVED


def test_an_exception_of_a_callback_comes_through():
    def fails(record):
        raise RuntimeError("mine")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RuntimeError, match="mine"):
        zg.solve(HARD.build(), callbacks=[fails])
    assert signal.getsignal(signal.SIGINT) is before


# ---- Ctrl-C
def press_by_signal(record):
    signal.raise_signal(signal.SIGINT)


def press_by_kill(record):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)


@pytest.mark.parametrize("algorithm", STEP_BY_STEP)
@pytest.mark.parametrize("press", [press_by_signal, press_by_kill])
def test_ctrl_c_returns_a_certified_answer(algorithm, press):
    before = signal.getsignal(signal.SIGINT)
    result = zg.solve(HARD.build(), algorithm=algorithm, callbacks=[press], random_state=0, **FOREVER)
    assert result.status is zg.Status.INTERRUPTED
    assert certified(result)
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_reaches_a_running_epoch():
    """From another thread, while the compiled loop holds no lock: it ends within a pass."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 100)) * 10 ** rng.uniform(-2, 2, 100)
    problem = zg.Problem(X, rng.standard_normal(2000), loss="absolute", regularizer=zg.L2(1e-8))
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    begun = time.perf_counter()
    result = zg.solve(problem, algorithm="sdca", random_state=0, **FOREVER)
    timer.join()
    assert result.status is zg.Status.INTERRUPTED
    assert time.perf_counter() - begun < 20.0  # compilation included
    assert certified(result)


@pytest.fixture
def interruptible():
    """Python's own answer to SIGINT; a process started in the background may have been told to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_a_second_ctrl_c_raises():
    presses = []

    def press_twice(record):
        for _ in range(2):
            presses.append(record)
            signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        zg.solve(HARD.build(), callbacks=[press_twice], **FOREVER)
    assert len(presses) == 2
    assert signal.getsignal(signal.SIGINT) is before


def test_solving_in_a_thread_leaves_signals_alone():
    """Python lets only the main thread set handlers."""
    results = []
    thread = threading.Thread(
        target=lambda: results.append(zg.solve(BY_NAME["squared-l2-none"].build(), random_state=0))
    )
    thread.start()
    thread.join()
    assert results[0].solved


# ---- warm starts
@pytest.mark.parametrize("algorithm", STEP_BY_STEP)
def test_a_warm_start_saves_passes(algorithm):
    problem = BY_NAME["hinge-elastic_net-none"].build()
    settings = {"algorithm": algorithm, "random_state": 0, "max_passes": 100_000}
    rough = zg.solve(problem, tol=1e-3, **settings)
    fine = zg.solve(problem, tol=1e-6, **settings)
    for start in (fine, fine.dual, fine.dual.tolist()):
        again = zg.solve(problem, tol=1e-6, warm_start=start, **settings)
        assert again.solved
        assert again.passes < 0.3 * fine.passes
    assert rough.passes < fine.passes


def test_a_warm_start_is_brought_into_the_domain():
    problem = BY_NAME["hinge-l2-none"].build()
    result = zg.solve(problem, warm_start=np.full(N_SAMPLES, 7.0), random_state=0)
    assert result.solved


def test_a_solve_leaves_its_warm_start_alone():
    problem = BY_NAME["hinge-l2-none"].build()
    start = np.where(problem.y > 0, -0.5, 0.5)
    kept = start.copy()
    for algorithm in STEP_BY_STEP:
        zg.solve(problem, algorithm=algorithm, warm_start=start, random_state=0)
        assert np.array_equal(start, kept)


# ---- what is said
def test_progress_prints_a_line_a_check(capsys):
    result = zg.solve(HARD.build(), algorithm="ardca-erm", progress=True, random_state=0)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(result.history) + 1
    assert lines[0].split() == ["pass", "seconds", "primal", "dual", "gap", "violation", "phase"]
    last = lines[-1].split()
    assert float(last[0]) == pytest.approx(result.passes, rel=1e-4)
    assert float(last[4]) == pytest.approx(result.certificate.gap, rel=1e-2, abs=1e-300)
    assert last[-1] == "ardca"


def test_silence_is_the_default(capsys):
    zg.solve(BY_NAME["squared-l2-none"].build(), random_state=0)
    assert capsys.readouterr() == ("", "")


def test_not_reaching_the_tolerance_warns():
    """With the gap, the best bound, the passes used and a remedy."""
    with pytest.warns(ConvergenceWarning) as caught:
        result = zg.solve(HARD.build(), algorithm="sdca", tol=1e-12, max_passes=9, random_state=0)
    (text,) = [str(warning.message) for warning in caught]
    certificate = result.certificate
    for part in (
        "MAX_PASSES",
        f"gap {certificate.gap:.3g}",
        f"relative {certificate.relative_gap:.3g}",
        f"best bound {certificate.dual:.9g}",
        f"Objective {certificate.primal:.9g}",
        f"violation {certificate.violation:.3g}",
        "tol 1e-12",
        "9 passes",
        "sdca",
        "Raise max_passes",
    ):
        assert part in text
    assert caught[0].filename == __file__  # the caller's line, not ours


@pytest.mark.parametrize(
    ("limits", "remedy"),
    [
        ({"max_passes": 3}, "Raise max_passes"),
        ({"max_time": 1e-9}, "Raise max_time"),
        ({"callbacks": [lambda record: True]}, "warm_start=result"),
    ],
)
def test_every_early_end_has_a_remedy(limits, remedy):
    with pytest.warns(ConvergenceWarning, match=remedy):
        zg.solve(HARD.build(), algorithm="sdca", tol=1e-12, random_state=0, **limits)


def test_warnings_can_be_left_out():
    assert not zg.solve(HARD.build(), algorithm="sdca", max_passes=2, warn=False).solved


def test_a_stall_is_told_from_a_limit():
    """Rounding leaves a gap: more passes would not help, and the status says so."""
    result = zg.solve(BY_NAME["squared-l2-none"].build(), algorithm="sdca", random_state=0, **FOREVER)
    assert result.status in (zg.Status.STALLED, zg.Status.ALMOST_SOLVED, zg.Status.SOLVED)
    assert result.certificate.relative_gap < 1e-12
    for status in zg.Status:
        assert len(status.sentence) > 20
        assert str(status) == status.name


def test_the_result_prints_its_certificate():
    result = zg.solve(BY_NAME["squared-l2-none"].build(), algorithm="sdca", random_state=0)
    text = str(result)
    assert text.startswith("SOLVED: the certified gap")
    assert f"{result.certificate.primal:.12g}" in text
    assert "passes of sdca in" in text
    assert "Result(SOLVED, primal=" in repr(result)
    assert result.algorithm == "sdca"
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.x = None
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.certificate.gap = 0.0
