"""Joint non-crossing quantiles against as many independent fits.

    python -m benchmarks.crossing [--data DIR]      a line per dataset and penalty

DIR holds engel.npz and bike_sharing_hour.npz (X, or data/indices/indptr/shape; and y); without it, seeded
data and scikit-learn's diabetes alone. Seconds are the least of several fits in one process, kernels compiled
beforehand; certified means 1e-6 over all rows. The exit code is 1 when a bound is missed.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_diabetes

from zerogap.linear_model import QuantileRegressor

LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]
NINE = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
DATASETS = ("engel", "bike_sharing_hour")
#: alpha and l1_ratio. Without l2 (alpha = 0, or l1_ratio = 1) nothing but the rows holds a coefficient.
CASES = ((0.0, 0.0), *((alpha, ratio) for alpha in (1e-6, 1e-4, 1e-2) for ratio in (0.0, 0.5, 1.0)))
BOUND, REPEATS, TOL = 10.0, 3, 1e-6
#: Slower fits than this are not repeated.
LONG = 5.0


class Data(NamedTuple):
    """Rows, targets, weights."""

    X: Any
    y: Any
    weight: Any = None


def load(folder: Path, name: str) -> Data:
    with np.load(folder / f"{name}.npz") as kept:
        if "X" in kept:
            return Data(kept["X"], kept["y"])
        parts = (kept["data"], kept["indices"], kept["indptr"])
        return Data(sp.csr_matrix(parts, shape=tuple(kept["shape"])), kept["y"])


def diabetes() -> Data:
    return Data(*load_diabetes(return_X_y=True, scaled=False))


def houses() -> Data:
    """Many rows, skewed columns on scales of their own, heavy tails."""
    rng = np.random.default_rng(0)
    n = 20_000
    X = np.column_stack([
        rng.lognormal(1.0, 0.6, n), rng.integers(1, 52, n), rng.lognormal(1.6, 0.5, n),
        rng.lognormal(7.0, 1.0, n), rng.uniform(32, 42, n), rng.uniform(-124, -114, n),
    ])  # fmt: skip
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    return Data(X, 2.0 + z @ rng.standard_normal(6) + (0.2 + np.abs(z[:, 0])) * rng.standard_t(2.5, n))


def categories() -> Data:
    """Three whole categories beside the intercept, their rarest classes a row or two."""
    rng = np.random.default_rng(1)
    n = 5000
    dummies = [np.eye(k)[np.minimum(rng.geometric(0.2, n) - 1, k - 1)] for k in (4, 12, 30)]
    X = np.hstack([rng.standard_normal((n, 4)), *dummies])
    spread = 0.2 + np.abs(X[:, 0]) + 2.0 * X[:, 5]
    return Data(sp.csr_matrix(X), X @ rng.standard_normal(X.shape[1]) + spread * rng.standard_t(3, n))


def ties() -> Data:
    """Few values, of features and targets: many rows are equal."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, (4000, 6)).astype(float)
    return Data(X, np.round(X @ np.arange(1, 7) / 2.0 + X[:, 0] * rng.standard_t(3, 4000)))


def weighted() -> Data:
    """Noise that grows with a feature; a tenth of the rows weigh nothing."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((2000, 12))
    weight = rng.exponential(1.0, 2000) * (rng.random(2000) > 0.1)
    return Data(X, X @ rng.standard_normal(12) + np.abs(X[:, 0]) * rng.standard_t(3, 2000), weight)


def wide() -> Data:
    """Few rows to a coefficient: most levels cross somewhere."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((300, 60))
    return Data(X, X[:, :5].sum(axis=1) + np.abs(X[:, 0]) * rng.standard_t(3, 300))


SEEDED: dict[str, Callable[[], Data]] = {
    made.__name__: made for made in (diabetes, houses, categories, ties, weighted, wide)
}


def timed(data: Data, **options: Any) -> tuple[Any, float]:
    """A fitted model, and the least seconds of its fits."""
    best = np.inf
    for _ in range(REPEATS):
        begun = time.perf_counter()
        model = QuantileRegressor(tol=TOL, random_state=0, **options).fit(
            data.X, data.y, sample_weight=data.weight
        )
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


def line(name: str, data: Data, levels: list[float], alpha: float, l1_ratio: float) -> bool:
    """Print a line; is everything within its bound?"""
    options = {"quantile": levels, "alpha": alpha, "l1_ratio": l1_ratio}
    alone, seconds = timed(data, **options)
    grid = grid_points(data.X)
    joint, own = timed(data, **options, non_crossing=True, X_grid=grid)
    certificate = joint.certificate_
    left = crossings(joint, data.X) + crossings(joint, grid)
    met = certificate.within(TOL) and left == 0 and own <= BOUND * seconds
    solved = all(status.name == "SOLVED" for status in alone.status_)
    print(
        f"{name:<18} {len(levels)} {alpha:<7g} {l1_ratio:<4g} {seconds:8.3f} s "
        f"{'' if solved else 'NOT SOLVED':<10} {crossings(alone, data.X):>6} {own:8.3f} s "
        f"x{own / seconds:<5.1f} {certificate.relative_gap:8.1e} {certificate.scaled_violation:8.1e} "
        f"{left:>6}  {'yes' if met else 'NO'}",
        flush=True,
    )
    return bool(met)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crossing", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the datasets")
    parser.add_argument("--only", help="one dataset")
    parser.add_argument("--cases", type=int, default=len(CASES), help="the first so many penalties")
    parser.add_argument("--nine", action="store_true", help="nine levels instead of five")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    for t in (3, 45):  # compile, for small problems and others
        X = rng.standard_normal((20 * t, t))
        for kind in (X, sp.csr_matrix(X)):
            for ratio in (0.5, 1.0):
                compiled: dict[str, Any] = {"quantile": [0.3, 0.7], "alpha": 1e-2, "l1_ratio": ratio}
                timed(Data(kind, X[:, 0]), **compiled)
                timed(Data(kind, X[:, 0]), **compiled, non_crossing=True)
    names = [*(DATASETS if options.data else ()), *SEEDED]
    print(
        f"{'':<18} K {'alpha':<7} {'l1':<4} {'independent':>21} {'cross':>6} {'joint':>17} {'gap':>8} "
        f"{'viol':>8} {'cross':>6}  met (<= {BOUND:g}x)"
    )
    met = []
    for name in [options.only] if options.only else names:
        data = SEEDED[name]() if name in SEEDED else load(options.data, name)
        for case in CASES[: options.cases]:
            met.append(line(name, data, NINE if options.nine else LEVELS, *case))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
