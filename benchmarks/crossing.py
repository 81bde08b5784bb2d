"""Joint non-crossing quantiles against as many independent fits.

    python -m benchmarks.crossing --data DIR      a line per dataset and penalty

DIR holds engel.npz and bike_sharing_hour.npz (X, or data/indices/indptr/shape; and y). Seconds are the least
of several fits in one process, kernels compiled beforehand; certified means 1e-6 over all rows. The exit
code is 1 when a bound is missed.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from zerogap.linear_model import QuantileRegressor

LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]
DATASETS = ("engel", "bike_sharing_hour")
CASES = ((1e-4, 0.0), (1e-2, 0.0), (1e-4, 0.5), (1e-2, 0.5), (1e-4, 1.0), (1e-2, 1.0))
BOUND, REPEATS, TOL = 10.0, 3, 1e-6
#: Slower fits than this are not repeated.
LONG = 5.0


def load(folder: Path, name: str) -> tuple[Any, Any]:
    with np.load(folder / f"{name}.npz") as kept:
        if "X" in kept:
            return kept["X"], kept["y"]
        parts = (kept["data"], kept["indices"], kept["indptr"])
        return sp.csr_matrix(parts, shape=tuple(kept["shape"])), kept["y"]


def timed(X: Any, y: Any, **options: Any) -> tuple[Any, float]:
    """A fitted model, and the least seconds of its fits."""
    best = np.inf
    for _ in range(REPEATS):
        begun = time.perf_counter()
        model = QuantileRegressor(tol=TOL, random_state=0, **options).fit(X, y)
        best = min(best, time.perf_counter() - begun)
        if best > LONG:
            break
    return model, best


def grid_points(X: Any) -> Any:
    """Points outside the data: a step beyond each column's range, from the mean."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    high = X.max(axis=0).toarray().ravel() if sp.issparse(X) else X.max(axis=0)
    return mean + np.diag(1.1 * (high - mean))


def crossings(model: Any, X: Any) -> int:
    return int((np.diff(model.predict(X), axis=1) < 0).sum())


def line(name: str, X: Any, y: Any, alpha: float, l1_ratio: float) -> bool:
    """Print a line; is everything within its bound?"""
    options = {"quantile": LEVELS, "alpha": alpha, "l1_ratio": l1_ratio}
    alone, seconds = timed(X, y, **options)
    grid = grid_points(X)
    joint, own = timed(X, y, **options, non_crossing=True, X_grid=grid)
    certificate = joint.certificate_
    left = crossings(joint, X) + crossings(joint, grid)
    met = certificate.within(TOL) and left == 0 and own <= BOUND * seconds
    solved = all(status.name == "SOLVED" for status in alone.status_)
    print(
        f"{name:<18} {alpha:<7g} {l1_ratio:<4g} {seconds:8.3f} s {'' if solved else 'NOT SOLVED':<10} "
        f"{crossings(alone, X):>6} {own:8.3f} s x{own / seconds:<5.1f} {certificate.relative_gap:8.1e} "
        f"{certificate.scaled_violation:8.1e} {left:>6}  {'yes' if met else 'NO'}",
        flush=True,
    )
    return bool(met)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crossing", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the datasets")
    parser.add_argument("--only", help="one dataset")
    parser.add_argument("--cases", type=int, default=len(CASES), help="the first so many penalties")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    for kind in (X, sp.csr_matrix(X)):  # compile
        timed(kind, X[:, 0], quantile=[0.3, 0.7], alpha=1e-2, l1_ratio=0.5)
        timed(kind, X[:, 0], quantile=[0.3, 0.7], alpha=1e-2, l1_ratio=0.5, non_crossing=True)
    print(
        f"{'':<18} {'alpha':<7} {'l1':<4} {'independent':>21} {'cross':>6} {'joint':>17} {'gap':>8} "
        f"{'viol':>8} {'cross':>6}  met (<= {BOUND:g}x)"
    )
    met = [
        line(name, *load(options.data, name), *case)
        for name in ([options.only] if options.only else DATASETS)
        for case in CASES[: options.cases]
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
