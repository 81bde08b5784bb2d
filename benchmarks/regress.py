"""Base revision against this tree, in one run: has anything become slower?

    python -m benchmarks.regress --base HEAD~1    exit code 1 when a case is slower (see below)

Both sides are timed in turns, each turn in a fresh process with one thread, so that a busy machine slows both
alike; the least processor seconds of each side count. A case fails when it is slower by more than 20 % *and*
more than 20 ms. A case that the base cannot run is named and passes.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from io import BytesIO
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
RELATIVE, ABSOLUTE = 0.20, 0.020
PHASES, SOLVES = ("sdca", "ardca-restart", "newton"), 3
#: name: (loss, rows, columns, nonzeros a row or 0 for dense, C, intercept, l1 as a share of the l2)
CASES: dict[str, tuple[str, int, int, int, float, bool, float]] = {
    "svm, sparse, C=1": ("hinge", 20_000, 500, 15, 1.0, False, 0.0),
    "svm, sparse, C=1000": ("hinge", 20_000, 500, 15, 1000.0, False, 0.0),
    "svm, dense": ("hinge", 5_000, 50, 0, 1.0, False, 0.0),
    "svm, text": ("hinge", 5_000, 20_000, 60, 1.0, False, 0.0),
    "logistic, sparse": ("logistic", 20_000, 500, 15, 1.0, False, 0.0),
    "quantile, intercept": ("pinball", 10_000, 20, 0, 1e4, True, 0.0),
    "elastic net": ("squared", 200, 2_000, 0, 10.0, False, 10.0),
    "least absolute deviations": ("absolute", 5_000, 50, 0, 1.0, False, 0.0),
}
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def problem_of(name: str) -> Any:
    """The seeded instance of a case."""
    import numpy as np
    import scipy.sparse as sp

    import zerogap as zg

    loss, n, t, per_row, C, intercept, l1 = CASES[name]
    rng = np.random.default_rng(0)
    if per_row:
        indices = (t / per_row * (np.arange(per_row) + rng.random((n, per_row)))).astype(np.int32).ravel()
        values = rng.standard_normal(indices.size)
        X: Any = sp.csr_array((values, indices, np.arange(0, indices.size + 1, per_row)), shape=(n, t))
    else:
        X = rng.standard_normal((n, t))
    y = X @ rng.standard_normal(t) / np.sqrt(t) + rng.standard_normal(n)
    l2 = 1.0 / (C * n)
    penalty = zg.ElasticNet(l2, l1 * l2) if l1 else zg.L2(l2)
    chosen = zg.losses.Pinball(0.9) if loss == "pinball" else loss
    y = np.sign(y) if loss in ("hinge", "logistic") else y
    return zg.Problem(X, y, loss=chosen, regularizer=penalty, fit_intercept=intercept)


def measure() -> dict[str, Any]:
    """Least seconds of every case (or what went wrong), once each phase has been compiled."""
    import zerogap as zg

    seen: dict[str, Any] = {}
    for name in CASES:
        try:
            problem = problem_of(name)
            for algorithm in PHASES:
                with contextlib.suppress(Exception):  # a phase that cannot do the problem
                    zg.solve(problem, algorithm=algorithm, max_passes=20, tol=1e-12, warn=False)
            times = []
            for _ in range(SOLVES):
                begun = time.process_time()
                result = zg.solve(problem, tol=1e-6, random_state=0, warn=False)
                times.append(time.process_time() - begun)
            seen[name] = min(times) if result.solved else str(result.status)
        except Exception as error:  # an older base may not know an option
            seen[name] = f"{type(error).__name__}: {error}"[:80]
    return seen


def in_a_process(source: Path, cache: Path) -> dict[str, Any]:
    """This file's `measure` with the package found in `source`."""
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    environment["PYTHONPATH"], environment["NUMBA_CACHE_DIR"] = str(source), str(cache)
    command = [sys.executable, str(Path(__file__).resolve()), "--measure"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def unpack(revision: str, folder: Path) -> Path:
    """src/ of a revision, without touching the working tree."""
    packed = subprocess.run(
        ["git", "archive", revision, "src"], cwd=REPOSITORY, check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def compare(base: dict[str, Any], head: dict[str, Any]) -> tuple[list[str], int]:
    """A line a case, and how many have become slower (or fail only now)."""
    lines, failures = [], 0
    for name in CASES:
        before, after = base[name], head[name]
        if isinstance(after, str):
            bad = not isinstance(before, str)
            verdict = f"FAILS NOW: {after}" if bad else f"fails on both sides: {after}"
        elif isinstance(before, str):
            bad, verdict = False, f"new (base: {before})"
        else:
            bad = after > (1 + RELATIVE) * before and after - before > ABSOLUTE
            verdict = f"x{after / before:.2f}" + ("  SLOWER" if bad else "")
        failures += bad
        shown = [f"{t:9.3f} s" if not isinstance(t, str) else f"{'-':>11}" for t in (before, after)]
        lines.append(f"{name:<28} {shown[0]} {shown[1]}  {verdict}")
    return lines, failures


def least(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The least seconds over the turns; a failure in any turn is a failure."""
    out: dict[str, Any] = {}
    for name in CASES:
        seen = [run[name] for run in runs]
        words = [s for s in seen if isinstance(s, str)]
        out[name] = words[0] if words else min(seen)
    return out


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regress", description=__doc__)
    parser.add_argument("--base", default="HEAD", help="git revision to compare the working tree with")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.measure:
        print(json.dumps(measure()))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        head = place / "head"  # a copy, which stays the same while files are edited
        shutil.copytree(REPOSITORY / "src", head, ignore=shutil.ignore_patterns("__pycache__"))
        sides = {"base": unpack(options.base, place), "head": head}
        runs: dict[str, list[dict[str, Any]]] = {"base": [], "head": []}
        for _ in range(options.turns):
            for side, source in sides.items():
                runs[side].append(in_a_process(source, place / f"cache-{side}"))
        lines, failures = compare(least(runs["base"]), least(runs["head"]))
    print(f"{'case':<28} {options.base[:11]:>11} {'working tree':>11}")
    print("\n".join(lines))
    print(f"{failures} slower by more than {RELATIVE:.0%} and {1000 * ABSOLUTE:.0f} ms")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
