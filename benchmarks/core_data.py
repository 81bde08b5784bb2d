"""The seeded data of the core benchmarks."""

from typing import Any

import numpy as np
import scipy.sparse as sp

SPARSE_SHAPE, PER_ROW = (20_000, 47_000), 75
DENSE_SHAPE = (20_000, 500)
PADDING = 1_000_000

#: C = 1 of a support vector machine.
L2 = 1.0 / SPARSE_SHAPE[0]
#: Leaves between a tenth and a half of the features nonzero (the benchmark prints the share).
L1 = {"sparse": 2.5e-5, "dense": 5e-4}


def sparse_data() -> tuple[Any, np.ndarray]:
    """Normalised CSR rows with popular and rare columns, as text has them, and labels."""
    n, t = SPARSE_SHAPE
    rng = np.random.default_rng(0)
    # a third more draws than needed: repeated columns of a row are dropped
    drawn = (t * rng.random((n, 2 * PER_ROW)) ** 1.5).astype(np.int32)
    indices = np.concatenate([_distinct(row) for row in drawn])
    values = rng.random(indices.size) + 0.1
    values /= np.repeat(np.sqrt(np.add.reduceat(values**2, np.arange(0, values.size, PER_ROW))), PER_ROW)
    indptr = np.arange(0, indices.size + 1, PER_ROW, dtype=np.int32)
    X = sp.csr_array((values, indices, indptr), shape=(n, t))
    return X, _labels(X @ rng.standard_normal(t), rng)


def _distinct(columns: np.ndarray) -> np.ndarray:
    """The first PER_ROW distinct columns, in order."""
    _, first = np.unique(columns, return_index=True)
    return np.sort(columns[np.sort(first)[:PER_ROW]])


def dense_data() -> tuple[np.ndarray, np.ndarray]:
    """Normal entries, rows of about unit norm, and labels that half of the columns decide."""
    n, t = DENSE_SHAPE
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, t)) / np.sqrt(t)
    return X, _labels(X[:, ::2] @ rng.standard_normal(t // 2), rng)


def _labels(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Signs of the scores, a tenth of them flipped."""
    flipped = rng.random(scores.size) < 0.1
    return np.where((scores > 0) ^ flipped, 1.0, -1.0)


def padded(X: Any) -> Any:
    """The same rows, with PADDING empty columns behind them."""
    n, t = X.shape
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(n, t + PADDING))
