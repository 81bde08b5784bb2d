"""The race: its judge, its quadratic programs, its table. Peers that are not installed are skipped."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import zerogap as zg

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import race, race_table
from benchmarks.race_data import build, miniature
from benchmarks.race_peers import PEERS
from benchmarks.race_task import CLASSIFICATION, Task, judge, zerogap_problem

LOSSES = {
    "hinge": 0.0, "squared_hinge": 0.0, "logistic": 0.0, "absolute": 0.0, "pinball": 0.8, "squared": 0.0,
    "huber": 0.4, "epsilon_insensitive": 0.2,
}  # fmt: skip
SUITE = {
    "name": "tiny",
    "rows": [
        {"row": "svm", "title": "t", "problem": "hinge", "data": ["seeded:small"], "C": [0.1, 1], "bar": 2,
         "aim": 5, "against": ["clarabel"]},
    ],
}  # fmt: skip


def task_of(loss, *, sparse=False, l1=0.0, intercept=False, constrained=False):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 6))
    y = X @ rng.standard_normal(6) + rng.standard_normal(40)
    y = np.sign(y) if loss in CLASSIFICATION else y
    task = Task(sp.csr_array(X) if sparse else X, y, loss, 0.05, LOSSES[loss], l1, intercept)
    if not constrained:
        return task
    J = np.vstack([np.ones(6), np.eye(6)[1:] - np.eye(6)[:-1]])
    low, high = np.append(1.0, np.zeros(5)), np.append(1.0, np.full(5, np.inf))
    return Task(task.X, y, loss, 0.05, LOSSES[loss], l1, intercept, 0.0, J, low, high)


def optimum(task):
    """By Newton steps alone, which spare the test the compilation of the other phases."""
    result = zg.solve(zerogap_problem(task), algorithm="newton", tol=1e-9)
    prices = np.concatenate(result.multipliers) if result.multipliers else None
    return result, prices


FORMS = {
    "hinge": {"sparse": True},
    "squared_hinge": {"l1": 0.02},
    "logistic": {},
    "absolute": {"l1": 0.02, "intercept": True, "constrained": True},
    "pinball": {"intercept": True},
    "squared": {"constrained": True},
    "huber": {},
    "epsilon_insensitive": {"l1": 0.02},
}


@pytest.mark.parametrize("loss", FORMS)
def test_judge_certificate_and_quadratic_program_agree(loss):
    pytest.importorskip("clarabel")
    importlib.import_module("benchmarks.race_peers_qp")
    task = task_of(loss, **FORMS[loss])
    result, prices = optimum(task)
    best = judge(task, result.x, result.intercept, prices).objective
    assert best == pytest.approx(result.certificate.primal, rel=1e-8)
    peer = PEERS["clarabel"]
    if loss == "logistic":
        assert peer.suits(task) == "not a quadratic program"
        return
    answer = peer.fit(peer.prepare(task), {"tol": 1e-9})
    verdict = judge(task, answer.x, answer.intercept, prices)
    assert verdict.objective == pytest.approx(best, rel=1e-6, abs=1e-9)
    assert verdict.violation < 1e-7


def test_the_judge_charges_for_violations():
    task = task_of("squared", constrained=True)
    result, prices = optimum(task)
    best = judge(task, result.x, 0.0, prices).objective
    cheat = np.linalg.lstsq(task.X, task.y)[0].clip(0.0)
    unpriced, priced = judge(task, cheat), judge(task, cheat, 0.0, prices)
    assert priced.violation > 1e-3
    assert unpriced.objective < priced.objective
    assert priced.objective >= best - 1e-9
    assert judge(task, np.full(6, np.nan)).objective == np.inf


def test_constraints_only_and_miniatures():
    cell = {"problem": "paper-sup", "data": "seeded:paper", "parameters": {"level": 1e-3}}
    task = build(cell, Path())
    assert task.n == 0
    assert task.J.shape == (200, 1000)
    small = miniature(task)
    assert optimum(small)[0].solved


def test_a_suite_is_crossed():
    names = [cell["name"] for cell in race.cells_of(SUITE)]
    assert names == ["svm/seeded:small/C=0.1", "svm/seeded:small/C=1"]


def test_one_cell_in_a_process_of_its_own(tmp_path):
    pytest.importorskip("clarabel")
    options = race.parse(["suite.yaml", "--data", str(tmp_path), "--limit", "20"])
    cell = next(race.cells_of(SUITE))
    best, _ = optimum(build(cell, tmp_path))
    record = race.run_cell(cell, "clarabel", options, best=best.certificate.primal)
    assert record["status"] == ""
    entry = {
        "cell": cell,
        "solvers": {"clarabel": record},
        "reference": {"objective": best.certificate.primal},
    }
    assert 0 < race_table.seconds_to(entry, "clarabel", 1e-6) < 20
    assert race.run_cell(cell, "glum", options, best=1.0)["status"].startswith("not")


def entry_of(ours, theirs):
    def record(seconds, objective):
        rung = {
            "rung": 0,
            "seconds": seconds,
            "objective": objective,
            "violation": 0.0,
            "note": "",
            "warned": [],
        }
        return {"status": "", "rungs": [rung], "limit": 60.0}

    cell = {"name": "svm/d/C=1", "row": "svm", "data": "d"}
    solvers = {"zerogap": record(ours, 1.0), "peer": record(*theirs)}
    return {"cell": cell, "reference": {"objective": 1.0, "bound": 1.0 - 1e-12}, "solvers": solvers}


def test_ratios_bars_and_aims():
    row = {"bar": 2, "aim": 5}
    met = entry_of(0.1, (0.3, 1.0 + 1e-8))
    assert race_table.ratio(met) == (pytest.approx(3.0), False)
    assert race_table.verdicts(met, row) == ("yes", "no")
    never = entry_of(0.1, (0.3, 1.01))
    assert race_table.ratio(never) == (pytest.approx(600.0), True)
    assert "comes to 1.0e-02" in race_table.outcome(never, "peer")
    assert "WRONG" in race_table.outcome(never, "peer")
    short = entry_of(0.008, (0.001, 1.0))
    assert race_table.verdicts(short, row)[0] == "NO"
    assert race_table.verdicts(short, {**row, "rule": "short"})[0] == "yes"
    assert race_table.verdicts(entry_of(20.0, (1.0, 2.0)), {"seconds": [60, 15]}) == ("yes", "no")
    assert "svm/d/C=1" in race_table.full({"rows": [{"row": "svm", "title": "t", **row}]}, {"c": met})
