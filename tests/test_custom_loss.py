"""examples/custom_loss.py: a loss in the user's own file, compiled, cached, and never stale."""

import json
import re
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from support import run_file, run_python

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "custom_loss.py"

#: Appended to the user's file in the place of its main(): one solve, its answer and what was compiled for it.
REPORT = """
import gc, json, sys
import numba.core.dispatcher

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 3))
y = X @ np.array([1.0, -2.0, 0.5]) + rng.exponential(2.0, 40)
loss = AsymmetricHuber(under=0.2, over=1.0)
problem = zg.Problem(X, y, loss=loss, regularizer=zg.L2(0.1))
result = zg.solve(problem, algorithm="sdca", tol=1e-9, random_state=0)
misses = 0
for found in gc.get_objects():
    if isinstance(found, numba.core.dispatcher.Dispatcher) and found.__module__.startswith("zerogap"):
        misses += sum(found.stats.cache_misses.values())
print(json.dumps({"x": result.x.tolist(), "primal": result.certificate.primal, "misses": misses}))
"""


def asymmetric_huber(r, under, over):
    """As the infimal convolution of a square and an asymmetric absolute value, for cvxpy."""
    plus, minus = cp.Variable(r.shape[0], nonneg=True), cp.Variable(r.shape[0], nonneg=True)
    return 0.5 * cp.square(r - plus + minus) + over * plus + under * minus


def optimum(X, y, under, over, l2, total=None):
    x = cp.Variable(X.shape[1])
    losses = asymmetric_huber(X @ x - y, under, over)
    objective = l2 / 2 * cp.sum_squares(x) + cp.sum(losses) / len(y)
    program = cp.Problem(cp.Minimize(objective), [] if total is None else [cp.sum(x) == total])
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return program.value, x.value


def test_the_example_finds_the_optimum():
    printed = run_file(EXAMPLE)
    assert printed.startswith("SOLVED")
    primal, dual = (float(re.search(rf"^{name} +(\S+)", printed, re.M)[1]) for name in ("primal", "dual"))
    x = np.array(re.search(r"^x \[(.*)\]", printed, re.M)[1].split(), dtype=float)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    y = X @ np.array([1.0, -2.0, 0.5, 0.0, 3.0]) + rng.exponential(2.0, 200)
    best, at = optimum(X, y, 0.2, 2.0, 1e-2, total=2.5)
    assert primal == pytest.approx(best, rel=1e-7)
    assert dual <= best * (1 + 1e-8)
    np.testing.assert_allclose(x, at, atol=1e-3)


def users_file(path, edit=lambda source: source):
    source = EXAMPLE.read_text().partition("def main()")[0]
    path.write_text(edit(source) + REPORT)
    return path


def swap_sides(source):
    """An edit of the functions' bodies that keeps names, fields, parameters and the size of the file."""
    return re.sub(r"loss\.(under|over)", lambda m: {"under": "loss.over", "over": "loss.under"}[m[1]], source)


def test_the_cache_serves_the_second_process_and_no_edited_file(tmp_path):
    path, cache = tmp_path / "mine.py", {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(edit=lambda source: source):
        return json.loads(run_file(users_file(path, edit), **cache))

    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = X @ np.array([1.0, -2.0, 0.5]) + rng.exponential(2.0, 40)
    (value, x), (other_value, other_x) = optimum(X, y, 0.2, 1.0, 0.1), optimum(X, y, 1.0, 0.2, 0.1)
    assert abs(value - other_value) > 0.01

    first = run()
    assert first["primal"] == pytest.approx(value, rel=1e-8)
    np.testing.assert_allclose(first["x"], x, atol=1e-4)
    assert first["misses"] > 0

    second = run()
    assert second == {**first, "misses": 0}  # same bits, nothing compiled

    edited = run(swap_sides)
    assert edited["primal"] == pytest.approx(other_value, rel=1e-8)
    np.testing.assert_allclose(edited["x"], other_x, atol=1e-4)
    assert edited["misses"] > 0

    # imported from a module instead of run as a script: the same kernels
    imported = "import sys; sys.path.insert(0, sys.argv[1]); import mine"
    again = run_python(imported, tmp_path, **cache)
    assert again == {**edited, "misses": 0}

    # a program that cannot import the user's file reads the same cache
    path.unlink()
    source = """
import json, numpy as np, zerogap as zg
problem = zg.Problem(np.eye(3), [1.0, 2.0, 3.0], loss="squared", regularizer=zg.L2(0.1))
print(json.dumps(zg.solve(problem, algorithm="sdca", random_state=0).solved))
"""
    assert run_python(source, **cache) is True


def test_a_loss_must_be_registered():
    source = """
import json, typing, numpy as np, zerogap as zg

class Mine(typing.NamedTuple):
    width: float = 1.0

try:
    zg.Problem(np.eye(3), [1.0, 2.0, 3.0], loss=Mine(), regularizer=zg.L2(0.1))
except zg.ProblemError as error:
    print(json.dumps(str(error)))
"""
    message = run_python(source)
    assert "zg.losses.register" in message
    assert "Mine(width=1.0)" in message
