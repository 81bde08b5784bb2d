"""The work of a run, cut into jobs that can be done in any order, each kept on disk when it is finished.

A job is a frozen dataclass with `run()`, which returns rows; its `repr` names it. Results of other settings
or of another version of the code are never picked up: a file is named by a hash of the job and the sources.
"""

import dataclasses
import functools
import hashlib
from pathlib import Path
from typing import Any

from zerogap.paper import curves, theory
from zerogap.paper.optimum import best_certified
from zerogap.paper.problems import LEVELS, Draw
from zerogap.problem.problem import Problem
from zerogap.reference.registry import METHODS, applies

Rows = list[dict[str, Any]]

#: Algorithm 2 computes n full gradients in n steps: fewer passes and one seed in the table of counts.
COSTLY = "algorithm-2"
COSTLY_PASSES = 500
COUNTED = ("squared", "absolute", "sup")
#: Modules of this folder that show results and have no part in them.
PRESENTING = ("claims.py", "command.py", "figures.py", "page.py", "progress.py", "summary.py", "tables.py")


@functools.lru_cache(maxsize=4)
def _problem(draw: Draw) -> Problem:
    return draw.problem()


@dataclasses.dataclass(frozen=True)
class Optimum:
    """F(x*) of one instance, the length of Algorithm 4's first phase on it, and how alike its rows are."""

    draw: Draw

    def run(self) -> Rows:
        problem = _problem(self.draw)
        found = {"first_phase": curves.first_phase(problem), "alignment": curves.alignment(problem)}
        return [{"table": "optima", **_where(self.draw), **best_certified(problem), **found}]


@dataclasses.dataclass(frozen=True)
class Trace:
    """The curves of a figure that come from one run of one method."""

    figure: str
    draw: Draw
    labels: tuple[str, ...]
    settings: str
    passes: int

    def run(self) -> Rows:
        group = curves.grouped(self.figure, self.draw.level)[self.settings]
        picks = tuple(curve.pick for curve in group)
        traced = curves.trace(_problem(self.draw), group[0].settings, picks, self.passes, self.draw.seed)
        return [
            _point(self.figure, self.draw, curve.label, row)
            for curve, rows in zip(group, traced, strict=True)
            for row in rows
        ]


@dataclasses.dataclass(frozen=True)
class Count:
    """One method of the registry on one problem, for the table of counts; its best point counts."""

    draw: Draw
    method: str
    passes: int

    def run(self) -> Rows:
        problem = _problem(self.draw)
        (rows,) = curves.trace(problem, METHODS[self.method], ("best",), self.passes, self.draw.seed)
        return [_point("counts", self.draw, self.method, row) for row in rows]


@dataclasses.dataclass(frozen=True)
class Theory:
    """One check of `theory.CHECKS`."""

    name: str
    seeds: int

    def run(self) -> Rows:
        return [
            {"table": "theory", "check": self.name, **row} for row in theory.CHECKS[self.name](self.seeds)
        ]


Job = Optimum | Trace | Count | Theory


def _where(draw: Draw) -> dict[str, Any]:
    return {"kind": draw.kind, "level": draw.level, "seed": draw.seed}


def _point(figure: str, draw: Draw, method: str, row: curves.Row) -> dict[str, Any]:
    passes, primal, violation, bound = row
    return {
        "table": "series", "figure": figure, **_where(draw), "method": method,
        "pass": passes, "primal": primal, "violation": violation, "bound": bound,
    }  # fmt: skip


def all_jobs(quick: bool) -> list[Job]:
    """Every job of a run, the long ones first."""
    seeds, share = (3, 0.2) if quick else (10, 1.0)
    jobs: list[Job] = [Theory(name, 400 if quick else 2000) for name in theory.CHECKS]
    optima: dict[Draw, Optimum] = {}
    for figure in curves.FIGURES.values():
        for level in figure.levels:
            passes = round(share * figure.passes[level])
            for seed in range(seeds):
                draw = Draw(figure.kind, level, seed)
                optima[draw] = Optimum(draw)
                for settings, group in curves.grouped(figure.name, level).items():
                    labels = tuple(curve.label for curve in group)
                    jobs.append(Trace(figure.name, draw, labels, settings, passes))
    for kind in COUNTED:
        for seed in range(1 if quick else 3):
            draw = Draw(kind, LEVELS[0], seed)
            for name in METHODS:
                if applies(METHODS[name], _problem(draw)) and (name != COSTLY or seed == 0):
                    most = COSTLY_PASSES if name == COSTLY else 10_000
                    jobs.append(Count(draw, name, round(share * most)))
    return [*optima.values(), *jobs]


@functools.cache
def _sources() -> str:
    """A hash of the package's sources."""
    digest = hashlib.sha256()
    here = Path(__file__).parent
    for path in sorted(here.parent.rglob("*.py")):
        if path.parent != here or path.name not in PRESENTING:
            digest.update(path.read_bytes())
    return digest.hexdigest()


def key(job: Job) -> str:
    """The name of the job's file."""
    return hashlib.sha256(f"{job!r} {_sources()}".encode()).hexdigest()[:24]
