"""Start-up: `import zerogap` and the first solve in a process that finds the compiled kernels on disk."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.core_table import Line


class Cost(NamedTuple):
    """Seconds of a process."""

    wall: float
    processor: float


REPEATS = 7
BOUND = 1.0

_DATA = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.standard_normal((500, 30))
y = X @ rng.standard_normal(30) + rng.standard_normal(500)
"""
#: A first solve of three kinds. The data takes no time worth mentioning, NumPy's import aside.
SOLVES = {
    "SVM": 'problem = zg.Problem(X, np.sign(y), loss="hinge", regularizer=zg.L2(1e-3))',
    "lasso": 'problem = zg.Problem(X, y, loss="squared", regularizer=zg.ElasticNet(1e-3, 1e-2))',
    "constrained LAD": (
        'problem = zg.Problem(X, y, loss="absolute", regularizer=zg.L2(1e-3), fit_intercept=True,'
        " constraints=[zg.Equal(np.ones((1, 30)), 1.0)])"
    ),
}
_IMPORTS = {"import sklearn": "import sklearn", "import sklearn.linear_model": "import sklearn.linear_model"}


def startup(repeats: int = REPEATS) -> Iterator[Line]:
    """Seconds beyond `import sklearn`; the processes take turns."""
    programs = {**_IMPORTS, "import zerogap": "import zerogap"}
    for name, statement in SOLVES.items():
        programs[name] = f"import zerogap as zg\n{_DATA}\n{statement}\nzg.solve(problem)"
        _seconds(programs[name])  # compiles what this solve needs, or finds it compiled
    costs: dict[str, list[Cost]] = {name: [] for name in programs}
    for _ in range(repeats):
        for name, program in programs.items():
            costs[name].append(_seconds(program))
    wall = {name: min(cost.wall for cost in times) for name, times in costs.items()}
    cpu = {name: min(cost.processor for cost in times) for name, times in costs.items()}
    base = "import sklearn"
    alone = f"import sklearn.linear_model {wall['import sklearn.linear_model']:.2f} s, "
    alone += f"import zerogap {wall['import zerogap']:.2f} s"
    for name in SOLVES:
        note = (
            f"{wall[name]:.2f} - {wall[base]:.2f} s; {cpu[name] - cpu[base]:.2f} s of processor time; {alone}"
        )
        yield Line(f"import zerogap + first {name} - {base}", wall[name] - wall[base], BOUND, "s", note)


def _seconds(program: str) -> Cost:
    before = _processor_time()
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)
    return Cost(time.perf_counter() - begun, _processor_time() - before)


def _processor_time() -> float:
    """Seconds that finished child processes have used."""
    spent = os.times()
    return spent.children_user + spent.children_system
