"""Many rows: a bound for every intercept, and no copies of the data."""

import tracemalloc

import numpy as np
import pytest

import zerogap as zg
from zerogap.data import rows
from zerogap.linear_model import QuantileRegressor
from zerogap.solver import intercept


def many(count, columns):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((count, columns))
    return X, X[:, 0] + rng.exponential(size=count)


@pytest.mark.parametrize(("alpha", "ratio"), [(1e-3, 0.0), (1e-3, 1.0), (0.0, 1.0)])
def test_a_fit_takes_less_memory_than_its_data(alpha, ratio, monkeypatch):
    # blocks of products have a fixed size: as small beside these data as they are beside a million rows
    monkeypatch.setattr(rows, "_PRODUCT_ENTRIES", 1 << 16)
    X, y = many(50_000, 20)
    model = QuantileRegressor(quantile=0.9, alpha=alpha, l1_ratio=ratio)
    model.fit(X[:2000], y[:2000])  # compiles
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.certificate_.within(1e-6)
    assert peak <= X.nbytes + y.nbytes  # so that both together stay below twice the data


def test_a_million_duals_are_repaired_to_the_sum_that_is_judged():
    """A long dot product rounds a hundred times as much as the pairwise sum in the certificate."""
    X, y = many(1_000_000, 1)
    problem = zg.Problem(X, y, loss="absolute", regularizer=zg.L2(1.0), fit_intercept=True)
    rng = np.random.default_rng(1)
    for _ in range(3):
        u = intercept.repair(problem, rng.uniform(-1.0, 1.0, y.size))
        assert np.isfinite(problem.dual(u))
