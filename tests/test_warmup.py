"""zg.warmup: what it has compiled is there for later solves, in the same process and in others."""

import pytest
from support import refused, run_python

import zerogap as zg

COUNT = """
import json, sys
import numpy as np
from numba.core import event
import zerogap as zg
from zerogap.solver.auto import ACCELERATED, PLAIN

class Compilations(event.Listener):
    names = []
    def on_start(self, found):
        self.names.append(found.data["dispatcher"].__name__)
    def on_end(self, found):
        pass

event.register("numba:compile", Compilations())
seconds = 0.0
if sys.argv[1] == "warm":
    seconds = zg.warmup("absolute", regularizers=[zg.L2(1.0)], storages=["dense"])
compiled = len(Compilations.names)
Compilations.names.clear()

rng = np.random.default_rng(0)
X = rng.standard_normal((300, 40)) * 10 ** rng.uniform(-2, 2, 40)
y = X @ rng.standard_normal(40) + rng.standard_normal(300)
phases = set()
for settings in (
    {},
    {"fit_intercept": True, "sample_weight": rng.random(300)},
    {"constraints": zg.Between(np.ones((2, 40)), 0.0, 1.0)},
):
    problem = zg.Problem(X, y, loss="absolute", regularizer=zg.L2(1e-6), **settings)
    for algorithm in ("auto", PLAIN, ACCELERATED, "newton"):
        result = zg.solve(problem, algorithm=algorithm, max_passes=200, random_state=0, warn=False)
        phases |= set(result.history.phase)
print(json.dumps([compiled, seconds, Compilations.names, sorted(phases)]))
"""


def test_nothing_is_left_to_compile(tmp_path):
    compiled, seconds, left, phases = run_python(COUNT, "warm", NUMBA_CACHE_DIR=str(tmp_path))
    assert compiled > 10
    assert seconds > 0.1
    assert left == []
    assert phases == ["ardca", "newton", "sdca"]
    # in another process the disk has it all
    _, _, left, _ = run_python(COUNT, "cold", NUMBA_CACHE_DIR=str(tmp_path))
    assert left == []


def test_every_loss_of_the_library_is_taken():
    """Those over all classes as well, which have no accelerated steps."""
    for loss in ("multinomial", "crammer_singer"):
        assert zg.warmup(loss, regularizers=[zg.L2(1.0)], storages=["dense"]) > 0.0


def test_progress_names_the_kinds(capsys):
    zg.warmup(
        [zg.losses.Pinball(0.9), "absolute"],
        regularizers=[zg.L2(1.0)],
        storages=["dense"],
        algorithm="sdca",
        progress=True,
    )
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" s  ")[1] for line in lines] == ["pinball, dense, L2", "absolute, dense, L2"]


@pytest.mark.parametrize("bad", ["dense", ["dens"], [["dense"]]])
def test_unknown_storages(bad):
    refused(
        zg.SettingsError, lambda: zg.warmup(storages=bad), "storages: expected some of dense, sparse; got"
    )


def test_unknown_losses_and_algorithms():
    refused(zg.ProblemError, lambda: zg.warmup("hing"), "loss: expected one of", "'hing'")
    refused(zg.SettingsError, lambda: zg.warmup(algorithm="x"), "algorithm: expected one of", "'x'")
