"""Race zerogap against its peers, all judged by one evaluator.

    python -m benchmarks.race benchmarks/suites/dev.yaml --data DIR --out race.json

Every cell (problem, dataset, parameters, solver) runs in a process of its own with one thread. Kernels are
compiled outside the clock. Each solver climbs a ladder of tightening settings, every rung a fresh fit; its
time to a target is that of the quickest rung that reaches it. Targets are relative suboptimalities (1e-3,
1e-6, 1e-9) against the best certified value; violated constraints are charged at their multipliers. zerogap's
rungs are tol = target, Problem construction and certificate included. Cells found in --out are not run again.

    --only TEXT     cells whose name, row/data/parameters/solver, contains TEXT; A|B: either. Repeated: all
    --limit 60      seconds for a rung, and for the rungs before the last
    --targets ...   stop at the last of these (a quicker look: --targets 1e-3 1e-6 --reference-tol 1e-9)
    --clock cpu     processor seconds, for a machine that others use too
    --repeats 3     then time zerogap and the best peer of a cell so many times in turns, and keep the minima
    --table         print the table of --out, run nothing
"""

import argparse
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import race_table

THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS", "RAYON_NUM_THREADS", "POLARS_MAX_THREADS",
)  # fmt: skip
#: Seconds for imports, reading and compiling, before the first rung begins.
PREPARATION = 180.0
#: Seconds beyond the limit, so that a solver that keeps to it can end by itself.
GRACE = 3.0
HEADS = {"row", "title", "problem", "data", "against", "bar", "aim", "bars", "aims", "seconds", "rule"}
#: Switches that a row has once and for all: not part of a cell's name.
FIXED = {"intercept", "center", "standard_y"}


def cells_of(suite: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every combination of a row's lists: dataset and parameters."""
    for row in suite["rows"]:
        names = [name for name in row if name not in HEADS]
        choices = [row[name] if isinstance(row[name], list) else [row[name]] for name in names]
        for data in row["data"]:
            for values in itertools.product(*choices):
                parameters = dict(zip(names, values, strict=True))
                shown = ",".join(
                    f"{name}={value:g}" for name, value in parameters.items() if name not in FIXED
                )
                yield {
                    "row": row["row"],
                    "problem": row["problem"],
                    "data": data,
                    "parameters": parameters,
                    "name": f"{row['row']}/{data}/{shown}",
                    "solvers": ["zerogap", *row["against"]],
                }


def run_cell(cell: dict[str, Any], solver: str, options: Any, **more: Any) -> dict[str, Any]:
    """One process; what it measured, and how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        spec_path, out = Path(folder) / "spec.json", Path(folder) / "events"
        spec = {
            "cell": cell, "solver": solver, "data": str(options.data), "limit": options.limit,
            "memory": options.memory, "clock": options.clock, "out": str(out), "targets": options.targets,
            "reference_tol": options.reference_tol, **more,
        }  # fmt: skip
        spec_path.write_text(json.dumps(spec), encoding="utf-8")
        out.touch()
        command = [sys.executable, "-m", "benchmarks.race_worker", str(spec_path)]
        environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
        errors = Path(folder) / "errors"
        with errors.open("w") as stream:
            child = subprocess.Popen(
                command, env=environment, stdout=subprocess.DEVNULL, stderr=stream, start_new_session=True
            )
            overtime = _wait(child, out, spec)
        events = [json.loads(line) for line in out.read_text().splitlines() if line.endswith("}")]
        return _summary(events, overtime, child.returncode, errors.read_text()[-300:])


def _clock(kind: str, process: int) -> float:
    """Seconds on the wall, or those that a process has computed."""
    if kind == "wall":
        return time.monotonic()
    import psutil

    try:
        return sum(psutil.Process(process).cpu_times()[:2])
    except psutil.Error:
        return 0.0


def _wait(child: Any, out: Path, spec: dict[str, Any]) -> str:
    """Until the process ends, or for as long as its current rung may take; returns why it was ended."""
    allowed = PREPARATION
    seen, since = 0, _clock(spec["clock"], child.pid)
    while child.poll() is None:
        time.sleep(0.02)
        size = out.stat().st_size
        if size != seen:
            seen, since = size, _clock(spec["clock"], child.pid)
            allowed = spec["limit"] + GRACE if '"begin"' in out.read_text().splitlines()[-1] else PREPARATION
        elif _clock(spec["clock"], child.pid) - since > allowed:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return "time limit" if allowed < PREPARATION else "time limit before the first fit"
    return ""


def _summary(events: list[dict[str, Any]], overtime: str, code: int, errors: str) -> dict[str, Any]:
    record: dict[str, Any] = {"rungs": [], "status": overtime}
    for event in events:
        kind = event.pop("event")
        if kind == "rung":
            record["rungs"].append(event)
        elif kind == "reference":
            record["reference"] = event
        elif kind == "ready":
            record |= event
        elif kind == "end":
            record["status"] = event["status"] or record["status"]
            record["peak"] = event.get("peak")
    if not overtime and code != 0:
        record["status"] = f"process ended with {code}: {errors.strip().splitlines()[-1:]}"
    return record


class Book:
    """race.json: {cell name: {"cell", "reference", "solvers": {name: record}}}"""

    def __init__(self, path: Path, fresh: bool):
        self.path = path
        self.cells: dict[str, Any] = {}
        if path.exists() and not fresh:
            self.cells = json.loads(path.read_text(encoding="utf-8"))["cells"]

    def save(self, suite: str, limit: float) -> None:
        text = json.dumps({"suite": suite, "limit": limit, "cells": self.cells}, indent=1)
        partial = self.path.with_suffix(".partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(self.path)


def race(suite: dict[str, Any], options: Any) -> Book:
    """Run what is missing in the book."""
    book = Book(options.out, options.fresh)
    for cell in cells_of(suite):
        wanted = [s for s in cell["solvers"] if race_table.chosen(f"{cell['name']}/{s}", options.only)]
        if not wanted:
            continue
        entry = book.cells.setdefault(cell["name"], {"cell": cell, "solvers": {}})
        if "reference" not in entry:
            record = run_cell(cell, "reference", options, limit=3 * options.limit)
            entry["reference"] = record.get("reference", {"status": record["status"]})
            book.save(suite["name"], options.limit)
        best = entry["reference"].get("objective", float("inf"))
        more = {"best": best, "prices": entry["reference"].get("prices", [])}
        for solver in wanted:
            if solver in entry["solvers"]:
                continue
            entry["solvers"][solver] = run_cell(cell, solver, options, **more)
            entry["solvers"][solver]["limit"] = options.limit
            book.save(suite["name"], options.limit)
            print(race_table.solver_line(entry, solver), flush=True)
        if options.repeats and not entry.get("repeats"):
            repeat(cell, entry, options, more)
            book.save(suite["name"], options.limit)
        print(race_table.cell_line(entry, _row_of(suite, entry)), flush=True)
    return book


def repeat(cell: dict[str, Any], entry: dict[str, Any], options: Any, more: dict[str, Any]) -> None:
    """zerogap and the best peer in turns, each in fresh processes; the minima replace the first times."""
    contestants = {}
    for name in ("zerogap", race_table.best_peer(entry)):
        rung = race_table.rung_reaching(entry, name, race_table.MAIN) if name else None
        if rung is not None:
            contestants[name] = rung
    done = 0
    for _ in range(options.repeats):
        for name, rung in contestants.items():
            again = run_cell(cell, name, options, rungs=[rung["rung"]], **more)
            if again["rungs"]:
                rung["seconds"] = min(rung["seconds"], again["rungs"][0]["seconds"])
        done += 1
    entry["repeats"] = done


def _row_of(suite: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    return next(row for row in suite["rows"] if row["row"] == entry["cell"]["row"])


def parse(arguments: list[str] | None) -> Any:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.race", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("suite", type=Path)
    parser.add_argument("--data", type=Path, default=Path(), help="folder of the .npz files")
    parser.add_argument("--out", type=Path, default=Path("race.json"))
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--targets", type=float, nargs="+", default=list(race_table.TARGETS))
    parser.add_argument("--reference-tol", type=float, default=1e-11)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--memory", type=float, default=16.0, help="GiB of address space of a cell")
    parser.add_argument("--repeats", type=int, default=0)
    parser.add_argument("--fresh", action="store_true", help="forget what --out holds")
    parser.add_argument("--table", action="store_true")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    import yaml

    options = parse(arguments)
    suite = yaml.safe_load(options.suite.read_text(encoding="utf-8"))
    book = Book(options.out, False) if options.table else race(suite, options)
    print(race_table.full(suite, book.cells, options.only))
    return 0


if __name__ == "__main__":
    sys.exit(main())
