"""Same seed, same bits: the answers of two processes, byte by byte.

python -m benchmarks.core_bits        prints a digest of the answer of every algorithm, as JSON
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator

import numpy as np

import zerogap as zg
from benchmarks import core_data
from benchmarks.core_table import Line

ALGORITHMS = ("ardca", "ardca-restart", "ardca-erm", "rdca", "sdca", "cdca", "newton", "auto")
ROWS, COLUMNS, PASSES = 2_000, 3_000, 30


def digests() -> dict[str, str]:
    """A digest of coefficients and dual point for each algorithm."""
    X, y = core_data.sparse_data()
    X = X[:ROWS, :COLUMNS]
    problem = zg.Problem(X, y[:ROWS], loss="hinge", regularizer=zg.ElasticNet(1e-4, 1e-5))
    found = {}
    for algorithm in ALGORITHMS:
        result = zg.solve(
            problem, algorithm=algorithm, tol=1e-9, max_passes=PASSES, random_state=7, warn=False
        )
        content = np.concatenate([result.x, result.dual]).tobytes()
        found[algorithm] = hashlib.blake2b(content, digest_size=8).hexdigest()
    return found


def bits() -> Iterator[Line]:
    """How many algorithms gave other bits in the second process."""
    runs = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.core_bits"], check=True, capture_output=True, text=True
        )
        runs.append(json.loads(done.stdout))
    differing = [name for name in ALGORITHMS if runs[0][name] != runs[1][name]]
    note = f"differing: {', '.join(differing) or 'none'} of {', '.join(ALGORITHMS)}"
    yield Line("same seed, two processes: algorithms with other bits", float(len(differing)), 0.0, "", note)


if __name__ == "__main__":
    print(json.dumps(digests()))
