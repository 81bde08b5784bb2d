"""Adaptive restarts against every fixed period: passes of `ardca-restart` to a certified 1e-6.

    python -m benchmarks.restarts [--only TEXT]   a table; exit code 1 where adaptive needs over 1.5x the best

Eight problems: the paper's two, text, tables that scikit-learn bundles, and seeded ones. Each count is the
median over seeds of the sampling. A period that does not get there within the limit shows as `-`.
"""

import argparse
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import zerogap as zg
from benchmarks.race_data import build

PERIODS = (5, 10, 20, 50, 100, 300)
BOUND = 1.5
TOL, MOST, SEEDS = 1e-6, 20_000, (0, 1, 2)


def paper_lad() -> zg.Problem:
    """LAD with the paper's elastic net, lambda = 1e-4."""
    task = build({"problem": "paper-lad", "data": "seeded:paper", "parameters": {"level": 1e-4}}, None)  # type: ignore[arg-type]
    penalty = zg.ElasticNet(task.l2, task.l1)
    return zg.Problem(task.X, task.y, loss="absolute", regularizer=penalty)


def paper_sup() -> zg.Problem:
    """The paper's sup-norm constrained problem, tau = 1e-3."""
    task = build({"problem": "paper-sup", "data": "seeded:paper", "parameters": {"level": 1e-3}}, None)  # type: ignore[arg-type]
    rows = zg.Between(task.J, task.low, task.high)
    return zg.Problem(regularizer=zg.ElasticNet(task.l2, task.l1), constraints=[rows])


def text_svm() -> zg.Problem:
    """Hinge, C = 100, rows of 60 out of 20,000 columns, popular ones first."""
    rng = np.random.default_rng(0)
    n, t, per_row = 4000, 20_000, 60
    columns = np.minimum((t * rng.random((n, per_row)) ** 3).astype(np.int32), t - 1)
    X = sp.csr_array(
        (np.ones(columns.size), columns.ravel(), np.arange(0, columns.size + 1, per_row)), (n, t)
    )
    X.sum_duplicates()
    X = sp.csr_array(sp.diags_array(1.0 / np.sqrt(X.multiply(X).sum(axis=1))) @ X)
    y = np.sign(X @ rng.standard_normal(t) + 0.2 * rng.standard_normal(n))
    return zg.Problem(X, y, loss="hinge", regularizer=zg.L2(1.0 / (100.0 * n)))


def _standard(bundle: Any) -> tuple[Any, Any]:
    X, y = bundle.data, bundle.target.astype(float)
    return np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0)), y


def cancer_svm() -> zg.Problem:
    """Hinge on breast cancer, C = 1."""
    from sklearn.datasets import load_breast_cancer

    X, y = _standard(load_breast_cancer())
    return zg.Problem(X, y, loss="hinge", regularizer=zg.L2(1.0 / y.size))


def cancer_logistic() -> zg.Problem:
    """Logistic on breast cancer, C = 10."""
    from sklearn.datasets import load_breast_cancer

    X, y = _standard(load_breast_cancer())
    return zg.Problem(X, y, loss="logistic", regularizer=zg.L2(0.1 / y.size))


def diabetes_lad() -> zg.Problem:
    """LAD on diabetes, sum of the coefficients fixed."""
    from sklearn.datasets import load_diabetes

    X, y = _standard(load_diabetes(scaled=False))
    y = (y - y.mean()) / y.std()
    total = zg.Equal(np.ones(X.shape[1]), 0.5)
    return zg.Problem(X, y, loss="absolute", regularizer=zg.L2(1e-2), constraints=[total])


def seeded_pinball() -> zg.Problem:
    """Pinball 0.9, 3000 x 30 dense, C = 1."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 30))
    y = X @ rng.standard_normal(30) + rng.standard_normal(3000)
    return zg.Problem(X, y, loss=zg.losses.Pinball(0.9), regularizer=zg.L2(1.0 / 3000))


def seeded_elastic_net() -> zg.Problem:
    """Squared loss, 150 x 2000, correlated columns."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((150, 40)) @ rng.standard_normal((40, 2000)) + rng.standard_normal((150, 2000))
    y = X[:, :10].sum(axis=1) + rng.standard_normal(150)
    largest = float(np.max(np.abs(X.T @ y))) / y.size
    return zg.Problem(X, y, loss="squared", regularizer=zg.ElasticNet(0.005 * largest, 0.02 * largest))


CASES: tuple[Callable[[], zg.Problem], ...] = (
    paper_lad, paper_sup, text_svm, cancer_svm, cancer_logistic, diabetes_lad, seeded_pinball,
    seeded_elastic_net,
)  # fmt: skip


def passes_to_tolerance(problem: zg.Problem, restart: Any, most: float) -> float:
    """Median over the seeds; inf where most of them do not get there."""
    counts = []
    for seed in SEEDS:
        method = zg.ARDCA(restart=restart)
        result = zg.solve(problem, algorithm=method, tol=TOL, max_passes=most, random_state=seed, warn=False)
        counts.append(result.passes if result.solved else np.inf)
    return float(np.median(counts))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.restarts", description=__doc__)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args(arguments)
    print(
        f"{'problem':<20}" + "".join(f"{period:>8}" for period in PERIODS) + f"{'adaptive':>10}{'/ best':>8}"
    )
    failures = 0
    for make in (case for case in CASES if options.only in case.__name__):
        problem = make()
        adaptive = passes_to_tolerance(problem, "adaptive", MOST)
        most = min(MOST, 2 * adaptive)  # what a period needs beyond that does not matter
        fixed = [passes_to_tolerance(problem, period, most) for period in PERIODS]
        ratio = adaptive / min(fixed) if np.isfinite(adaptive) else np.inf
        failures += not ratio <= BOUND
        shown = "".join(f"{count:8.0f}" if np.isfinite(count) else "       -" for count in fixed)
        note = "" if ratio <= BOUND else "  WORSE"
        print(f"{make.__name__:<20}{shown}{adaptive:10.0f}{ratio:8.2f}{note}", flush=True)
    print(
        f"{failures} problems where adaptive restarts need more than {BOUND} times the best period's passes"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
