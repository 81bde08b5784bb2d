"""What a fit costs on small problems: 2,000 different ones of 100 x 5, one after the other.

    python -m benchmarks.small_fits [--fits 2000] [--profile NAME]

For each estimator: milliseconds a fit; the same through `zg.solve`, Problem included; and scikit-learn's
estimator of that objective. Bounds: 3 ms a fit, faster than scikit-learn's QuantileRegressor in the same run,
and at most 5 ms + 5 % over `zg.solve`. Exit code 1 when one is missed. Kernels are compiled outside the
clock, which counts processor seconds of one thread.
"""

import argparse
import cProfile
import pstats
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import sklearn
import sklearn.linear_model
import sklearn.svm
from threadpoolctl import threadpool_limits

import zerogap as zg
from zerogap import linear_model as lm

Array = np.ndarray

ROWS, COLUMNS = 100, 5
MOST, SLACK_SECONDS, SLACK_SHARE = 3e-3, 5e-3, 0.05
#: Fits in a row before the next estimator has its turn: what slows the machine down slows all alike.
BATCH = 50


class Case(NamedTuple):
    """An estimator, the problem that it solves, and scikit-learn's answer to it."""

    name: str
    labels: bool
    ours: Callable[[], Any]
    problem: Callable[[Array, Array], zg.Problem]
    theirs: Callable[[], Any]


def _problem(loss: Any, l2: float, l1: float = 0.0) -> Callable[[Array, Array], zg.Problem]:
    return lambda X, y: zg.Problem(
        X, y, loss=loss, regularizer=zg.ElasticNet(l2=l2, l1=l1), fit_intercept=True
    )


CASES = [
    Case(
        "QuantileRegressor", False, lambda: lm.QuantileRegressor(alpha=0.01),
        _problem(zg.losses.Pinball(0.5), 0.0, 0.01),
        lambda: sklearn.linear_model.QuantileRegressor(alpha=0.01),
    ),
    Case(
        "LinearSVC", True, lambda: lm.LinearSVC(loss="hinge"),
        _problem("hinge", 1.0 / ROWS), lambda: sklearn.svm.LinearSVC(loss="hinge"),
    ),
    Case(
        "LogisticRegression", True, lambda: lm.LogisticRegression(),
        _problem("logistic", 1.0 / ROWS), lambda: sklearn.linear_model.LogisticRegression(),
    ),
    Case(
        "ElasticNet", False, lambda: lm.ElasticNet(alpha=0.1),
        _problem("squared", 0.05, 0.05), lambda: sklearn.linear_model.ElasticNet(alpha=0.1),
    ),
]  # fmt: skip


def data(labels: bool, seed: int) -> tuple[Array, Array]:
    """A problem with an intercept and noise; labels that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((ROWS, COLUMNS))
    y = X @ rng.standard_normal(COLUMNS) + 1.0 + rng.standard_normal(ROWS)
    return X, (np.where(y > 1.0, 1.0, -1.0) if labels else y)


def rivals(case: Case) -> dict[str, Callable[[Array, Array], Any]]:
    """The three ways to the same answer."""
    return {
        "estimator": lambda X, y: case.ours().fit(X, y),
        "zg.solve": lambda X, y: zg.solve(case.problem(X, y)),
        "scikit-learn": lambda X, y: case.theirs().fit(X, y),
    }


def measure(cases: list[Case], fits: int) -> dict[tuple[str, str], list[float]]:
    """Seconds of each batch, in turn over all estimators."""
    ways = [(case, name, way) for case in cases for name, way in rivals(case).items()]
    for case, _, way in ways:
        for seed in range(3):
            way(*data(case.labels, seed))
    seconds: dict[tuple[str, str], list[float]] = {(case.name, name): [] for case, name, _ in ways}
    for first in range(0, fits, BATCH):
        for case, name, way in ways:
            samples = [data(case.labels, seed) for seed in range(first, min(first + BATCH, fits))]
            begun = time.process_time()
            for X, y in samples:
                way(X, y)
            seconds[case.name, name].append((time.process_time() - begun) / len(samples))
    return seconds


def profile(case: Case, fits: int, lines: int) -> None:
    """Where the time of an estimator's fits goes."""
    samples = [data(case.labels, seed) for seed in range(fits)]
    fit = rivals(case)["estimator"]
    for X, y in samples[:3]:
        fit(X, y)
    profiler = cProfile.Profile()
    profiler.enable()
    for X, y in samples:
        fit(X, y)
    profiler.disable()
    pstats.Stats(profiler).sort_stats("tottime").print_stats(lines)


def report(cases: list[Case], seconds: dict[tuple[str, str], list[float]], fits: int) -> bool:
    """Print the table; are all bounds kept?"""
    print(f"{fits} fits of {ROWS} x {COLUMNS}, milliseconds a fit (mean; median of batches of {BATCH})\n")
    mean = {key: statistics.fmean(values) for key, values in seconds.items()}
    middle = {key: statistics.median(values) for key, values in seconds.items()}
    kept = True
    peer = mean.get(("QuantileRegressor", "scikit-learn"), np.inf)
    for case in cases:
        own, alone = mean[case.name, "estimator"], mean[case.name, "zg.solve"]
        for name in ("estimator", "zg.solve", "scikit-learn"):
            key = (case.name, name)
            print(f"{case.name:20s} {name:14s} {1e3 * mean[key]:8.3f} {1e3 * middle[key]:8.3f}")
        over, allowed = own - alone, SLACK_SECONDS + SLACK_SHARE * alone
        fine = [own <= MOST, own < peer, over <= allowed]
        print(
            f"{case.name:20s} over zg.solve  {1e3 * over:8.3f}  (at most {1e3 * allowed:.3f})  "
            f"{'kept' if all(fine) else 'MISSED'}\n"
        )
        kept = kept and all(fine)
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fits", type=int, default=2000)
    parser.add_argument("--only", help="one estimator")
    parser.add_argument("--profile", type=int, default=0, metavar="LINES", help="print a profile instead")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", sklearn.exceptions.ConvergenceWarning)  # liblinear's
    cases = [case for case in CASES if arguments.only in (None, case.name)]
    if arguments.profile:
        for case in cases:
            profile(case, arguments.fits, arguments.profile)
        return 0
    with threadpool_limits(limits=1):
        seconds = measure(cases, arguments.fits)
    return 0 if report(cases, seconds, arguments.fits) else 1


if __name__ == "__main__":
    sys.exit(main())
