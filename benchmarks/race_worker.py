"""One cell of a race, in a process of its own: `python -m benchmarks.race_worker SPEC.json`.

Appends one JSON line per event to the file that the specification names, so that what was measured
survives when the parent ends this process at the time limit.
"""

import contextlib
import gc
import importlib
import json
import resource
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.race_data import build, miniature
from benchmarks.race_peers import PEERS, Peer
from benchmarks.race_task import Task, judge, zerogap_problem

#: Rows of a task that is not tiny.
TALL = 45_000


class Log:
    """Lines of JSON."""

    def __init__(self, path: str):
        self.path = Path(path)

    def write(self, event: str, **fields: Any) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event, **fields}) + "\n")


def peak_bytes() -> int:
    """Largest resident set of this process."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def run(spec: dict[str, Any], log: Log) -> None:
    """The whole cell."""
    begun = time.perf_counter()
    # the modules register their peers
    importlib.import_module("benchmarks.race_peers_glm")
    importlib.import_module("benchmarks.race_peers_qp")
    name = "zerogap" if spec["solver"] == "reference" else spec["solver"]
    if name not in PEERS:
        return log.write("end", status="unknown solver")
    peer = PEERS[name]
    try:
        importlib.import_module(peer.module)
    except Exception as error:  # a peer may fail in any way; it stays in the table
        return log.write("end", status=f"not installable: {_one_line(error)}")
    importing = time.perf_counter() - begun
    task = build(spec["cell"], Path(spec["data"]))
    reason = peer.suits(task)
    if reason:
        return log.write("end", status=f"not applicable: {reason}")
    warming = time.perf_counter()
    _warm(peer, task)
    warming = time.perf_counter() - warming
    prepared = peer.prepare(task)
    log.write("ready", n=task.n, t=task.t, bytes=task.bytes, importing=importing, warming=warming)
    if spec["solver"] == "reference":
        _reference(task, spec, log)
    else:
        _climb(peer, task, prepared, spec, log)
    log.write("end", status="", peak=peak_bytes())
    return None


def _warm(peer: Peer, task: Task) -> None:
    """Compile on problems of the same types, a tiny one and a tall one: what is quickest depends on the size.

    What fails here will say so on the clock.
    """
    for rows in (60, TALL):
        small = miniature(task, rows)
        with warnings.catch_warnings(), contextlib.suppress(Exception):
            warnings.simplefilter("ignore")
            if peer.suits(small) is None:
                _warm_on(peer, small, 200 if rows < TALL else 10)


def _warm_on(peer: Peer, small: Task, passes: int) -> None:
    rungs, prepared = peer.ladder(small), peer.prepare(small)
    for algorithm in ("auto", "sdca", "ardca-restart", "newton") if peer.module == "zerogap" else (None,):
        extra = {} if algorithm is None else {"algorithm": algorithm, "max_passes": passes, "tol": 1e-12}
        with contextlib.suppress(Exception):
            peer.fit(prepared, {**rungs[min(1, len(rungs) - 1)], **extra})


def _reference(task: Task, spec: dict[str, Any], log: Log) -> None:
    """The certified optimum: the best primal value, the bound, and the multipliers of the rows."""
    import zerogap as zg

    log.write("begin", rung=0)
    result = zg.solve(
        zerogap_problem(task), tol=spec["reference_tol"], max_time=spec["limit"], max_passes=10**9,
        warn=False, random_state=0,
    )  # fmt: skip
    c = result.certificate
    prices = np.concatenate(result.multipliers) if result.multipliers else np.zeros(0)
    verdict = judge(task, result.x, result.intercept, prices if prices.size else None)
    log.write(
        "reference", objective=verdict.objective, bound=c.dual, gap=c.relative_gap,
        violation=verdict.violation, certified=c.primal, prices=prices.tolist(), status=str(result.status),
    )  # fmt: skip


def _climb(peer: Peer, task: Task, prepared: Any, spec: dict[str, Any], log: Log) -> None:
    """Rung after rung, each a fresh fit, until the last target is reached or the time is up."""
    prices = np.array(spec["prices"]) if spec.get("prices") else None
    best, spent = spec["best"], 0.0
    tightest = spec["targets"][-1]
    for rung, setting in enumerate(peer.ladder(task)):
        if spec.get("rungs") is not None and rung not in spec["rungs"]:
            continue
        if peer.module == "zerogap":
            setting = {**setting, "max_time": spec["limit"]}
        log.write("begin", rung=rung)
        gc.collect()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            begun, computed = time.perf_counter(), time.process_time()
            answer = peer.fit(prepared, setting)
            wall, computed = time.perf_counter() - begun, time.process_time() - computed
        seconds = computed if spec.get("clock") == "cpu" else wall
        verdict = judge(task, answer.x, answer.intercept, prices, not peer.drops_l2)
        about_code = (DeprecationWarning, FutureWarning)
        warned = [_one_line(w.message) for w in caught if not issubclass(w.category, about_code)]
        shown = {key: value for key, value in setting.items() if key != "max_time"}
        log.write(
            "rung", rung=rung, setting=shown, seconds=seconds, wall=wall, objective=verdict.objective,
            violation=verdict.violation, note=answer.note, warned=warned[:1],
        )  # fmt: skip
        spent += seconds
        reached = verdict.objective - best <= tightest * abs(best) and verdict.violation <= tightest
        # a rung of one ladder may be another algorithm, so an exact answer does not end it for LP solvers
        if spent > spec["limit"] or (reached and spec.get("rungs") is None and not peer.drops_l2):
            return


def _one_line(error: Any) -> str:
    text = " ".join(str(error).split())
    return (f"{type(error).__name__}: {text}" if isinstance(error, Exception) else text)[:160]


def main(path: str) -> None:
    spec = json.loads(Path(path).read_text(encoding="utf-8"))
    with contextlib.suppress(ValueError, OSError):
        cap = int(spec["memory"] * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (cap, cap))
    log = Log(spec["out"])
    try:
        run(spec, log)
    except MemoryError:
        log.write("end", status=f"out of memory ({spec['memory']:g} GiB)", peak=peak_bytes())
    except Exception as error:  # whatever a peer raises becomes its row
        log.write("end", status=f"failed: {_one_line(error)}", peak=peak_bytes())


if __name__ == "__main__":
    main(sys.argv[1])
