"""Compilation ahead of the first solve."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from zerogap.exceptions import SettingsError
from zerogap.problem import loss_registry
from zerogap.problem.block_problem import BlockProblem
from zerogap.problem.constraints import Equal
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import L2, ElasticNet
from zerogap.solver import settings
from zerogap.solver.auto import ACCELERATED, PLAIN
from zerogap.solver.driver import solve
from zerogap.solver.settings import Newton

#: What `auto` may turn to.
PHASES = (PLAIN, ACCELERATED, Newton())
COMMON = ("hinge", "logistic", "squared", "absolute", "pinball")
STORAGES = ("dense", "sparse")
#: Checks of a solve: the rows at rest are chosen from the second one on.
PASSES = 4


def warmup(
    losses: Any = COMMON,
    *,
    regularizers: Sequence[Any] = (L2(1.0), ElasticNet(1.0, 1.0)),
    storages: Sequence[str] = STORAGES,
    algorithm: Any = "auto",
    progress: bool = False,
) -> float:
    """Compile the kernels of some kinds of problems ahead of time; returns the seconds that it took.

    Kernels are compiled at the first solve of a kind, which takes seconds, and kept on disk: later processes
    load them in a fraction of a second. This function has them compiled at a time of your choosing, such as
    the build of a container or the start of a service. What is on disk already costs next to nothing.

    A kind is a loss, a storage, and whether the regulariser is an L2 term, one with an l1 term (a number
    each), an array or a box, or a group penalty. Sizes, weights, an intercept, parameters of losses and the
    contents of X make no difference; float32 data, indices of 64 bits and read-only arrays are compiled at
    their first use.

    Parameters
    ----------
    losses : names, or objects of `zg.losses` (your own as well), one or several; `zg.losses.names()` for all.
    regularizers : one for each kind, for three features where it has arrays.
    storages : "dense" (float64) and "sparse" (float64, indices of 32 bits).
    algorithm : what `zg.solve` takes. "auto" compiles everything that it may turn to.
    progress : print a line for each kind.

    Examples
    --------
    >>> import zerogap as zg
    >>> seconds = zg.warmup("squared", regularizers=[zg.L2(1.0)], storages=["dense"], algorithm="sdca")
    >>> seconds > 0
    True
    """
    if isinstance(storages, str) or not all(storage in STORAGES for storage in storages):
        raise SettingsError(f"storages: expected some of {', '.join(STORAGES)}; got {storages!r:.80}")
    settings.resolve(algorithm)
    listed = [losses] if isinstance(losses, str) or hasattr(losses, "_fields") else list(losses)
    chosen = [loss_registry.resolve(loss) for loss in listed]
    phases = PHASES if algorithm == "auto" else (algorithm,)
    begun = time.perf_counter()
    for loss in chosen:
        for storage in storages:
            for regularizer in regularizers:
                for problem in _problems(loss, storage, regularizer):
                    _compile(problem, phases)
                if progress:
                    kind = f"{loss_registry.traits(loss).name}, {storage}, {type(regularizer).__name__}"
                    print(f"{time.perf_counter() - begun:8.1f} s  {kind}")
    return time.perf_counter() - begun


def _problems(loss: Any, storage: str, regularizer: Any) -> Iterator[Problem]:
    """Small problems of a kind, without and with a constraint row and an intercept; tall, as most are."""
    dense = np.tile([[1.0, 0.5, 0.0], [0.0, 1.0, 0.5], [0.5, 0.0, 1.0], [1.0, 1.0, 1.0]], (8, 1))
    y = np.tile([-1.0, 1.0, 1.0, -1.0], 8)
    X = sp.csr_array(dense) if storage == "sparse" else dense
    yield Problem(X, y, loss=loss, regularizer=regularizer)
    row = Equal(np.ones((1, 3)), 0.5)
    yield Problem(X, y, loss=loss, regularizer=regularizer, constraints=row, fit_intercept=True)


def _compile(problem: Problem, phases: Sequence[Any]) -> None:
    for phase in phases:
        if isinstance(phase, Newton) and not problem.penalty.separable:
            continue
        if phase is ACCELERATED and isinstance(problem, BlockProblem):  # which has no accelerated steps
            continue
        solve(problem, algorithm=phase, tol=1e-300, max_passes=PASSES, random_state=0, warn=False)
