"""Real datasets that come with scikit-learn, with their columns standardised."""

from typing import Any, NamedTuple

import numpy as np


class Dataset(NamedTuple):
    """Features with mean 0 and variance 1, the target, and the features' names."""

    X: np.ndarray
    y: np.ndarray
    names: list[str]


def _standardised(bundle: Any) -> Dataset:
    X = np.ascontiguousarray((bundle.data - bundle.data.mean(0)) / bundle.data.std(0))
    return Dataset(X, bundle.target.astype(np.float64), [str(name) for name in bundle.feature_names])


def diabetes() -> Dataset:
    """442 patients, 10 measurements, disease progression after a year."""
    from sklearn.datasets import load_diabetes

    return _standardised(load_diabetes(scaled=False))


def breast_cancer() -> Dataset:
    """569 tumours, 30 measurements, 1 = benign."""
    from sklearn.datasets import load_breast_cancer

    return _standardised(load_breast_cancer())
