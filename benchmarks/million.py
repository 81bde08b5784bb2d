"""Quantile regression on a million rows: seconds, certified gap, and peak memory over the size of the data.

    python -m benchmarks.million [--rows 1000000] [--columns 20] [--quantile 0.9]

The data are X (dense float64) and y; the peak is the growth of the process's resident set since before the
data were made, kernels compiled already. Bounds: a certified relative gap of 1e-6, and a peak of twice the
data. Exit code 1 when one is missed.
"""

import argparse
import gc
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from zerogap.linear_model import QuantileRegressor

Array = np.ndarray

TOL, MOST = 1e-6, 2.0


def data(rows: int, columns: int) -> tuple[Array, Array]:
    """Skewed noise whose size depends on a column; made in blocks, without temporaries of X's size."""
    rng = np.random.default_rng(0)
    X, y = np.empty((rows, columns)), np.empty(rows)
    truth = rng.standard_normal(columns)
    for first in range(0, rows, 10_000):
        part = slice(first, min(first + 10_000, rows))
        X[part] = rng.standard_normal(X[part].shape)
        noise = rng.exponential(size=y[part].size) * (1.0 + 0.5 * np.abs(X[part, 0]))
        y[part] = X[part] @ truth + 2.0 + noise
    return X, y


def resident() -> int:
    """Bytes of the process in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


class Watch:
    """The largest resident set while it is entered: a thread looks every few milliseconds."""

    def __enter__(self) -> "Watch":
        self.peak, self._done = resident(), threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def _look(self) -> None:
        while not self._done.wait(0.002):
            self.peak = max(self.peak, resident())

    def __exit__(self, *unused: Any) -> None:
        self._done.set()
        self._thread.join()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--quantile", type=float, default=0.9)
    parser.add_argument("--alpha", type=float, default=1e-4)
    parser.add_argument("--l1-ratio", type=float, default=0.0)
    wanted = parser.parse_args()
    model = QuantileRegressor(
        quantile=wanted.quantile, alpha=wanted.alpha, l1_ratio=wanted.l1_ratio, tol=TOL, random_state=0
    )
    model.fit(*data(5000, wanted.columns))  # compiles
    gc.collect()
    before = resident()
    with Watch() as watch:
        X, y = data(wanted.rows, wanted.columns)
        made = resident() - before
        begun = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - begun
    size = X.nbytes + y.nbytes
    peak = (watch.peak - before) / size
    certificate = model.certificate_
    print(f"quantile {wanted.quantile:g}, {wanted.rows} x {wanted.columns}, alpha {wanted.alpha:g}")
    print(f"data             {size / 1e6:10.1f} MB (resident {made / 1e6:.1f} MB)")
    print(f"seconds          {seconds:10.2f}")
    print(
        f"status           {model.status_.name:>10s}, phases {', '.join(dict.fromkeys(model.history_.phase))}"
    )
    print(f"primal           {certificate.primal:16.10f}")
    print(f"relative gap     {certificate.relative_gap:10.2e} (at most {TOL:g})")
    print(f"peak over data   {peak:10.3f} (at most {MOST:g})")
    return 0 if certificate.within(TOL) and peak <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
