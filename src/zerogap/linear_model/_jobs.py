"""Several independent solves: in threads (the kernels release the interpreter lock), BLAS kept within."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import joblib
from threadpoolctl import threadpool_limits


def run(jobs: Sequence[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
    """The jobs' results, in order."""
    workers = min(joblib.effective_n_jobs(n_jobs or 1), len(jobs))
    if workers <= 1:
        return [job() for job in jobs]
    with threadpool_limits(limits=max(1, (os.cpu_count() or 1) // workers)):
        return joblib.Parallel(n_jobs=workers, prefer="threads")(joblib.delayed(job)() for job in jobs)
