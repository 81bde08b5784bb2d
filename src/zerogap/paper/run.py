"""Do the jobs that are not done yet, two processes at a time, and keep each as soon as it is finished."""

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

from zerogap.paper.jobs import COSTLY, Count, Job, Optimum, Theory, Trace, all_jobs, key
from zerogap.paper.progress import bar
from zerogap.paper.store import Rows, Store

PROCESSES = 2
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def complete(out: Path, quick: bool, processes: int = PROCESSES) -> tuple[Rows, dict[str, Any]]:
    """All rows of a run and what it cost. KeyboardInterrupt passes through; finished jobs are kept."""
    begun = time.perf_counter()
    store = Store(out)
    jobs = {key(job): job for job in all_jobs(quick)}
    todo = {name: job for name, job in jobs.items() if not store.has(name)}
    total = sum(map(_work, jobs.values()))
    seconds = 0.0
    with bar(total - sum(map(_work, todo.values())), total) as progress, _pool(processes) as pool:
        for name, rows, spent in pool.imap_unordered(_run, todo.items()):
            store.put(name, rows)
            seconds += spent
            progress.advance(_work(jobs[name]), _says(jobs[name]))
    facts = {
        "jobs": len(jobs), "kept": len(jobs) - len(todo), "processor_seconds": seconds,
        "seconds": time.perf_counter() - begun,
    }  # fmt: skip
    return [row for name in jobs for row in store.get(name)], facts


@contextlib.contextmanager
def _pool(processes: int) -> Any:
    """Workers with one thread each, deaf to Ctrl-C (the parent ends them)."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    with _ignoring_interrupts():  # inherited, so that workers are deaf while they still import
        pool = multiprocessing.get_context("spawn").Pool(processes, _deaf)
    try:
        yield pool
    finally:
        pool.terminate()
        pool.join()
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _ignoring_interrupts() -> Any:
    """No Ctrl-C within the block; signals can be set in the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _deaf() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(item: tuple[str, Job]) -> tuple[str, Rows, float]:
    name, job = item
    begun = time.process_time()
    rows = job.run()
    return name, rows, time.process_time() - begun


def _work(job: Job) -> float:
    """About how long a job takes, in passes of ARDCA."""
    if isinstance(job, Theory):
        return (150.0 if job.name == "theorem1" else 50.0) * job.seeds
    if isinstance(job, Optimum):
        return 6000.0
    if isinstance(job, Count) and job.method == COSTLY:
        return 100.0 * job.passes
    slow = isinstance(job, Trace) and "ASDCA" in job.labels
    return 500.0 + (3.0 if slow else 1.0) * job.passes


def _says(job: Job) -> str:
    if isinstance(job, Theory):
        return f"theory: {job.name}"
    where = f"{job.draw.kind} {job.draw.level:g}, seed {job.draw.seed}"
    if isinstance(job, Trace):
        return f"{job.figure}: {where}, {' / '.join(job.labels)}"
    return f"{'optimum' if isinstance(job, Optimum) else job.method}: {where}"
