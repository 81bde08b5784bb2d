"""Seeded data that the tests of the estimators share."""

import numpy as np


def regression(n=80, t=6, seed=0, noise=0.5):
    """X, y with a sparse truth, an intercept, unequal columns and a few outliers; weights of 0, 1, 2, 3."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, t)) * np.linspace(0.5, 2.0, t)
    truth = np.where(np.arange(t) % 3 == 0, 0.0, np.linspace(-1.0, 2.0, t))
    y = X @ truth + 3.0 + noise * rng.standard_normal(n)
    y[:: n // 5] += 6.0 * rng.standard_normal(y[:: n // 5].size)
    return X, y, rng.integers(0, 4, n).astype(float)


def labels(n=90, t=5, classes=2, seed=0):
    """X, labels 0 .. classes - 1 that overlap, and weights of 0, 1, 2, 3."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.standard_normal((n, t)) + 1.2 * rng.standard_normal((classes, t))[y] + 0.3
    return X, y, rng.integers(0, 4, n).astype(float)
