"""How the time to a certified 1e-6 grows: with twice the rows, and with twice the nonzeros a row.

    python -m benchmarks.growth --out growth.png     a table, a plot, exit code 1 beyond 2.3x a doubling

The same distribution at every size (seeded, sparse, 200 columns) and the same l2, so that only the size
changes. Each size is a process of its own with one thread; kernels are compiled outside the clock, which
counts processor seconds; Problem construction and certificate are included.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

BOUND = 2.3
COLUMNS, L2, TOL = 200, 1e-5, 1e-6
LOSSES = ("hinge", "logistic", "absolute")
ROWS = (10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000, 1_000_000)
PER_ROW = 14
WIDTHS, WIDTH_ROWS = (7, 14, 28, 56), 100_000
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def draw(rows: int, per_row: int, loss: str) -> tuple[Any, Any]:
    """Rows of `per_row` entries in distinct columns, popular and rare ones, and noisy targets."""
    import numpy as np
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    width = COLUMNS / per_row
    steps = width * (np.arange(per_row) + rng.random((rows, per_row)) ** 2)
    indices = np.minimum(steps.astype(np.int32), COLUMNS - 1).ravel()
    values = rng.standard_normal(indices.size) / np.sqrt(per_row)
    X = sp.csr_array((values, indices, np.arange(0, indices.size + 1, per_row)), shape=(rows, COLUMNS))
    scores = X @ np.random.default_rng(1).standard_normal(COLUMNS)
    y = scores + 0.5 * rng.standard_normal(rows)
    return X, y if loss == "absolute" else np.sign(y)


def measure(loss: str, rows: int, per_row: int, repeats: int) -> dict[str, Any]:
    """Least seconds of a fresh solve."""
    import zerogap as zg

    def solve(data: tuple[Any, Any], **more: Any) -> Any:
        problem = zg.Problem(*data, loss=loss, regularizer=zg.L2(L2))
        return zg.solve(problem, random_state=0, warn=False, **{"tol": TOL, **more})

    for algorithm in ("auto", "sdca", "ardca-restart", "newton"):
        solve(draw(300, per_row, loss), algorithm=algorithm, max_passes=30, tol=1e-12)
    data = draw(rows, per_row, loss)
    seconds = []
    for _ in range(repeats):
        begun = time.process_time()
        result = solve(data)
        seconds.append(time.process_time() - begun)
    phases = "+".join(dict.fromkeys(result.history.phase.tolist()))
    return {"seconds": min(seconds), "solved": result.solved, "phases": phases}


def in_a_process(*case: Any) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.growth", "--case", *map(str, case)]
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def sweep(loss: str, cases: list[tuple[int, int]], repeats: int) -> tuple[list[tuple[int, float]], int]:
    """Prints a line a size; returns (nonzeros, seconds) and the number of doublings beyond the bound."""
    import math

    points: list[tuple[int, float]] = []
    failures = 0
    for rows, per_row in cases:
        seen = in_a_process(loss, rows, per_row, repeats)
        size, note = rows * per_row, ""
        if points:
            doublings = math.log2(size / points[-1][0])
            factor = (seen["seconds"] / points[-1][1]) ** (1 / doublings)
            note = f"x{factor:.2f} a doubling"
            if factor > BOUND:
                failures, note = failures + 1, f"{note}, BEYOND {BOUND}"
        if not seen["solved"]:
            failures, note = failures + 1, f"{note}, NOT SOLVED"
        points.append((size, seen["seconds"]))
        print(
            f"{loss:<10} {rows:>9} rows x {per_row:>3}  {seen['seconds']:9.3f} s  {note:<30} {seen['phases']}"
        )
        sys.stdout.flush()
    return points, failures


def plot(curves: dict[str, list[tuple[int, float]]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
    for label, points in curves.items():
        ax.loglog(*zip(*points, strict=True), ".-", label=label)
    start = min(points[0] for points in curves.values())
    end = max(points[-1][0] for points in curves.values())
    ax.loglog([start[0], end], [start[1], start[1] * end / start[0]], "k:", label="proportional")
    ax.set(xlabel="nonzeros", ylabel="processor seconds to a certified 1e-6")
    ax.legend()
    figure.savefig(path, dpi=150)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("growth.png"))
    parser.add_argument("--largest", type=int, default=ROWS[-1], help="rows of the largest problem")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--case", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.case:
        loss, *numbers = options.case
        print(json.dumps(measure(loss, *map(int, numbers))))
        return 0
    curves, failures = {}, 0
    rows = [(n, PER_ROW) for n in ROWS if n <= options.largest]
    widths = [(min(WIDTH_ROWS, options.largest), width) for width in WIDTHS]
    for loss in LOSSES:
        for name, cases in (("rows", rows), ("nonzeros a row", widths)):
            curves[f"{loss}, {name}"], wrong = sweep(loss, cases, options.repeats)
            failures += wrong
    plot(curves, options.out)
    print(f"{failures} doublings beyond {BOUND}x; plotted in {options.out}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
