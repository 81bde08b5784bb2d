"""From the lines of a suite to tasks: reading datasets, drawing the seeded ones, setting the parameters.

A dataset is the name of an .npz file in the folder given by --data (`X y`, or CSR parts `data indices indptr
shape y`; `name:key` takes another target of that file), `sklearn:name` for what scikit-learn carries, or
`seeded:name`.
"""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.race_task import CLASSIFICATION, Task

Array = np.ndarray

BINS = 51
NOISE_VARIANCE, MU = 1e-3, 0.1  # of the paper's problems


def load(name: str, folder: Path) -> tuple[Any, Array]:
    """X (None for a problem of constraints only) and y."""
    kind, _, rest = name.partition(":")
    if kind == "sklearn":
        from sklearn import datasets

        return getattr(datasets, f"load_{rest}")(return_X_y=True)
    if kind == "seeded":
        return {"columns": _columns, "dense": _dense, "paper": _paper_rows, "small": _small}[rest]()
    with np.load(folder / f"{kind}.npz") as file:
        y = file[rest or "y"].astype(np.float64)
        if "X" in file.files:
            return file["X"], y
        parts = (file["data"], file["indices"], file["indptr"])
        X = sp.csr_array(parts, shape=tuple(file["shape"]))
        X.has_canonical_format = True
        return X, y


def _columns() -> tuple[Array, Array]:
    """Dense, 100,000 x 50, column scales from 1e-2 to 1e2."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 50))
    y = np.sign(X @ rng.standard_normal(50) + 2.0 * rng.standard_normal(100_000))
    return X * np.logspace(-2, 2, 50)[rng.permutation(50)], y


def _dense() -> tuple[Array, Array]:
    """20,000 x 100 without a structure that a sparse factorisation could use, for regression."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 100))
    return X, X @ np.sort(rng.random(100) ** 4) / 20.0 + rng.standard_t(2, 20_000)


def _small() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 10))
    return X, np.sign(X @ rng.standard_normal(10) + rng.standard_normal(200))


def _paper_rows(t: int = 1000, n: int = 200) -> tuple[Array, Array]:
    """Rows of norm 1 and A'x of a sparse x, as the paper draws them; `build` adds the noise."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(size=(n, t))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    x = np.zeros(t)
    x[rng.choice(t, t // 10, replace=False)] = rng.standard_normal(t // 10)
    return rows, rows @ x


def build(cell: dict[str, Any], folder: Path) -> Task:
    """The task of a cell: `problem`, `data`, and `parameters`."""
    X, y = load(cell["data"], folder)
    p = cell["parameters"]
    if cell["problem"].startswith("paper"):
        return _paper(cell["problem"], X, y, p["level"])
    loss = cell["problem"].removesuffix("+constraints")
    if loss in CLASSIFICATION:
        y = np.where(y == np.max(y), 1.0, -1.0)
    if p.get("center"):
        y = y - y.mean()
        X = X if sp.issparse(X) else X - X.mean(axis=0)
    if p.get("standard_y"):
        y = (y - y.mean()) / y.std()
    if "lambda_ratio" in p:
        l1, l2 = _elastic_net(X, y, p["lambda_ratio"], p["l1_ratio"])
    else:
        l1, l2 = 0.0, 1.0 / (p["C"] * X.shape[0])
    task = Task(X, y, loss, l2, p.get("parameter", 0.0), l1, bool(p.get("intercept")))
    return _constrained(task) if cell["problem"].endswith("+constraints") else task


def _elastic_net(X: Any, y: Array, ratio: float, l1_ratio: float) -> tuple[float, float]:
    """lambda (l1_ratio |x|_1 + (1 - l1_ratio)/2 |x|^2), lambda = the largest useful one / ratio."""
    largest = float(np.max(np.abs(X.T @ y))) / X.shape[0] / l1_ratio
    return largest / ratio * l1_ratio, largest / ratio * (1.0 - l1_ratio)


def _paper(kind: str, rows: Array, clean: Array, level: float) -> Task:
    """lambda f(x) + 1/n |A'x - b|_1, or f(x) s.t. |A'x - b| <= tau; f = |x|_1 + mu/2 |x|^2."""
    rng = np.random.default_rng(1)
    n = clean.size
    if kind == "paper-sup":
        b = clean + rng.uniform(-level, level, n)
        return Task(None, np.zeros(0), "squared", MU, l1=1.0, J=rows, low=b - level, high=b + level)
    noise = np.zeros(n)
    noise[rng.choice(n, n // 10, replace=False)] = np.sqrt(NOISE_VARIANCE) * rng.standard_normal(n // 10)
    return Task(rows, clean + noise, "absolute", level * MU, l1=level)


def _constrained(task: Task) -> Task:
    """sum(x) = 1, x >= 0, and a response that does not fall along one feature: 50 rows x_k <= x_{k+1}.

    That feature is the one with the most distinct values, replaced by 51 bins (quantiles), which come last.
    """
    X = task.X.toarray() if task.sparse else task.X
    column = int(np.argmax([np.unique(X[:, j]).size for j in range(X.shape[1])]))
    order = np.argsort(np.argsort(X[:, column], kind="stable"), kind="stable")
    bins = np.eye(BINS)[order * BINS // X.shape[0]]
    X = np.hstack([np.delete(X, column, axis=1), bins])
    t = X.shape[1]
    J = np.zeros((BINS, t))
    J[0] = 1.0
    for k in range(BINS - 1):
        J[k + 1, t - BINS + k : t - BINS + k + 2] = (-1.0, 1.0)
    low = np.append(1.0, np.zeros(BINS - 1))
    high = np.append(1.0, np.full(BINS - 1, np.inf))
    matrix = sp.csr_array(X) if task.sparse else X
    return dataclasses.replace(task, X=matrix, J=J, low=low, high=high, lower=0.0)


def miniature(task: Task, rows: int = 60) -> Task:
    """A small task of the same types, to compile kernels on outside the clock; sparse rows are 30 % full."""
    rng = np.random.default_rng(0)
    t = min(task.t, 12)
    if task.X is None:
        J = task.J[:8, :t]
        middle = np.asarray(J @ np.ones(t)).ravel()
        return dataclasses.replace(task, J=J, low=middle - 0.1, high=middle + 0.1)
    n = min(task.n, rows)
    dense = rng.standard_normal((n, t)).astype(task.X.dtype)
    X: Any = dense
    if task.sparse:
        dense *= rng.random(dense.shape) < 0.3
        X = sp.csr_array(dense)
        X.indices = X.indices.astype(task.X.indices.dtype)
        X.indptr = X.indptr.astype(task.X.indptr.dtype)
    elif task.X.flags.f_contiguous and not task.X.flags.c_contiguous:
        X = np.asfortranarray(dense)
    y = rng.standard_normal(n)
    y = np.sign(y) if task.loss in CLASSIFICATION else y
    small = dataclasses.replace(task, X=X, y=y, l2=0.01, l1=0.01 if task.l1 else 0.0)
    if task.J is None:
        return small
    J = np.vstack([np.ones(t), np.eye(t)[1:] - np.eye(t)[:-1]])
    low, high = np.append(1.0, np.zeros(t - 1)), np.append(1.0, np.full(t - 1, np.inf))
    return dataclasses.replace(small, J=J, low=low, high=high)
