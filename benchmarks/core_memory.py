"""Memory beyond the caller's data: one solve in a process of its own, after a small one has compiled it.

python -m benchmarks.core_memory sparse sdca L2        prints what one case needed, as JSON
"""

import gc
import json
import subprocess
import sys
import tracemalloc
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import zerogap as zg
from benchmarks.core_table import Line

#: Large enough that vectors dwarf Python objects: one of length n + t has 4.8 MB.
SPARSE_SHAPE, PER_ROW = (200_000, 400_000), 20
DENSE_SHAPE = (20_000, 500)
VECTORS = 12.0
PASSES = 25
CASES = [
    (storage, algorithm, penalty)
    for storage in ("sparse", "dense")
    for algorithm in ("sdca", "ardca", "ardca-restart", "auto")
    for penalty in ("L2", "elastic net")
]


def memory() -> Iterator[Line]:
    """A line for each kind of input, algorithm and penalty."""
    for storage, algorithm, penalty in CASES:
        seen = _in_a_process(storage, algorithm, penalty, "float64")
        unit = 8 * (seen["n"] + seen["t"])
        figure, size = seen["peak"] / unit, seen["size_of_X"] / unit
        note = f"float64 vectors of length n + t; X alone is {size:.1f} of them"
        if "resident" in seen:
            note += f"; resident set grew by {seen['resident'] / unit:.1f}"
        note += "; X was copied" if seen["copied"] else "; X was not copied"
        bound = VECTORS if storage == "sparse" else None
        if seen["copied"]:
            bound = 0.0
        yield Line(f"memory beyond the data: {storage}, {algorithm}, {penalty}", figure, bound, "", note)
    for storage in ("sparse", "dense"):
        seen = _in_a_process(storage, "ardca-restart", "L2", "float32")
        unit = 8 * (seen["n"] + seen["t"])
        note = f"X stays {seen['dtype']}" + (", but was copied" if seen["copied"] else ", not copied")
        kept = seen["dtype"] == "float32" and not seen["copied"]
        bound = (VECTORS if storage == "sparse" else None) if kept else 0.0
        yield Line(f"memory beyond the data: {storage} float32", seen["peak"] / unit, bound, "", note)


def _in_a_process(*case: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.core_memory", *case]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def _data(storage: str, dtype: str, small: bool) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(0)
    if storage == "dense":
        n, t = (50, DENSE_SHAPE[1]) if small else DENSE_SHAPE
        X: Any = rng.standard_normal((n, t)).astype(dtype)
    else:
        n, t = (50, 100) if small else SPARSE_SHAPE
        # column k of a row comes from the k-th of PER_ROW equal stretches: sorted, without repeats
        width = t // PER_ROW
        indices = rng.integers(0, width, (n, PER_ROW), dtype=np.int32) + width * np.arange(PER_ROW)
        indptr = np.arange(0, n * PER_ROW + 1, PER_ROW, dtype=np.int32)
        values = rng.standard_normal(indices.size).astype(dtype)
        X = sp.csr_array((values, indices.astype(np.int32).ravel(), indptr), shape=(n, t))
        X.has_canonical_format = True
    return X, np.sign(rng.standard_normal(n))


def _regularizer(penalty: str, storage: str) -> Any:
    l1 = 1e-6 if storage == "sparse" else 1e-4
    return zg.L2(1e-6) if penalty == "L2" else zg.ElasticNet(1e-6, l1)


def _solve(X: Any, y: np.ndarray, regularizer: Any, algorithm: str) -> Any:
    problem = zg.Problem(X, y, loss="hinge", regularizer=regularizer)
    return zg.solve(problem, algorithm=algorithm, max_passes=PASSES, tol=1e-12, random_state=0, warn=False)


def measure(storage: str, algorithm: str, penalty: str, dtype: str) -> dict[str, Any]:
    """The peak of traced memory (and of the resident set, where the system tells) during one solve."""
    regularizer = _regularizer(penalty, storage)
    _solve(*_data(storage, dtype, True), regularizer, algorithm)
    X, y = _data(storage, dtype, False)
    gc.collect()
    resident = _peak_of_resident_set(reset=True)
    tracemalloc.start()
    result = _solve(X, y, regularizer, algorithm)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    kept = result.problem.rows.top.matrix
    mine, theirs = (X, kept) if storage == "dense" else (X.data, kept.data)
    seen = {
        "n": X.shape[0], "t": X.shape[1], "peak": peak, "dtype": str(kept.dtype),
        "size_of_X": X.nbytes if storage == "dense" else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes,
        "copied": not np.shares_memory(mine, theirs),
    }  # fmt: skip
    if resident is not None:
        after = _peak_of_resident_set(reset=False)
        seen["resident"] = (after or resident) - resident
    return seen


def _peak_of_resident_set(reset: bool) -> int | None:
    """Largest resident set since the last reset, in bytes; None where the system does not tell."""
    status = Path("/proc/self/status")
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return None
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(measure(*sys.argv[1:])))
