"""Which curves each figure has, with which parameters, and how one curve is traced.

A pass is n coordinate steps or one full gradient, for every method alike. Reading off a point and computing
its objective is not counted, except APCG's extra full-gradient step, which is part of its answer: one pass.
"""

import dataclasses
import math
from typing import Any

import numpy as np

from zerogap.paper.problems import LEVELS, MU, N
from zerogap.problem.problem import Problem
from zerogap.reference.registry import METHODS
from zerogap.result.certificate import primal_side
from zerogap.solver.ardca import lemma_steps
from zerogap.solver.driver import make_solver
from zerogap.solver.settings import ARDCA, SDCA
from zerogap.solver.solver import Candidates
from zerogap.solver.workspace import Workspace

Array = np.ndarray

#: How many passes are looked at, evenly spaced on a logarithmic axis.
LOOKS = 48
#: The relative accuracy that the methods are told to aim at.
ACCURACY = 1e-9


@dataclasses.dataclass(frozen=True)
class Curve:
    """A legend entry: settings to run, and which of the offered points is plotted."""

    label: str
    settings: Any
    pick: str = "only"  # "averaged", "last", "best" or "only"


@dataclasses.dataclass(frozen=True)
class Figure:
    """A row of panels, one for each level."""

    name: str
    kind: str
    passes: dict[float, int]
    title: str
    levels: tuple[float, ...] = LEVELS


FIGURES = {
    "figure1": Figure(
        "figure1", "squared", {1e-3: 1000, 1e-4: 3000, 1e-5: 10_000}, "Problem (1): squared loss"
    ),
    "figure2": Figure("figure2", "absolute", dict.fromkeys(LEVELS, 10_000), "Problem (2): absolute loss"),
    "figure3": Figure(
        "figure3", "sup", dict.fromkeys(LEVELS, 10_000), "Problem (3): a bound on every residual"
    ),
    "figure4": Figure(
        "figure4", "absolute-dense", dict.fromkeys(LEVELS, 10_000), "Problem (2) with smooth f and dense x"
    ),
}


def restart_period(level: float) -> int:
    """K of Appendix F in passes: 2 (sqrt(2/kappa + 4 (1 - 1/n)) - 1) with kappa = n gamma mu lambda."""
    kappa = N * MU * level
    return math.ceil(2.0 * (math.sqrt(2.0 / kappa + 4.0 * (1.0 - 1.0 / N)) - 1.0))


def first_phase(problem: Problem) -> int:
    """K' of the ERM lemma in steps, as Figure 2 runs it; 0 where the lemma does not apply."""
    if problem.n_constraints:
        return 0
    return lemma_steps(Workspace(problem), np.zeros(problem.n_rows), ACCURACY)


def alignment(problem: Problem) -> float:
    """The mean cosine between two different rows: how much alike the columns of the paper's A are."""
    lengths = np.sqrt(problem.rows.square_norms(1.0))
    n = lengths.size
    total = problem.rows.tdot(1.0 / lengths)
    return float((total @ total - n) / (n * (n - 1)))


def curves(figure: str, level: float) -> list[Curve]:
    """The paper's legend. Steps and sampling are the paper's: c = 1, i.i.d. uniform rows, upsilon = 1.1."""
    ardca = ARDCA(step="paper", sampling="uniform", average_from=1.1, erm=figure == "figure2")
    sdca = Curve("SDCA", SDCA(step="long", sampling="uniform", shrink=False))
    adfga = Curve("ADFGA", METHODS["adfga"], "last")
    if figure == "figure1":
        restarted = dataclasses.replace(ardca, restart=restart_period(level))
        return [
            Curve("ARDCA-restart", restarted, "best"),
            Curve("ASDCA", METHODS["asdca"], "averaged"),
            Curve("APCG", METHODS["apcg"]),
            sdca,
            adfga,
        ]
    if figure == "figure4":
        periods = [
            Curve(f"ARDCA-restart K={k}n", dataclasses.replace(ardca, restart=k), "best")
            for k in (2, 10, 40, 80)
        ]
        return [*periods, sdca, Curve("CDCA", METHODS["cdca"]), adfga]
    both = [Curve("ARDCA-a", ardca, "averaged"), Curve("ARDCA-na", ardca, "last")]
    if figure == "figure2":
        both.append(Curve("ASDCA", METHODS["asdca"], "averaged"))
    return [*both, sdca, adfga]


def looks(passes: int) -> Array:
    """The passes at which a curve is looked at."""
    return np.unique(np.round(np.geomspace(1, passes, LOOKS)).astype(int))


Row = tuple[float, float, float, float]  # passes, primal value, violation, dual value -D(u)


def trace(problem: Problem, settings: Any, picks: tuple[str, ...], passes: int, seed: int) -> list[list[Row]]:
    """Run the method once from u = 0; one list of rows for each pick."""
    rng = np.random.default_rng(seed)
    solver = make_solver(problem, settings, rng, ACCURACY)
    solver.start(problem.project_dual(np.zeros(problem.n_rows)))
    extra = getattr(solver, "extra_passes", 0)
    done = 0.0
    rows: list[list[Row]] = [[] for _ in picks]
    for due in looks(passes):
        if done < due:
            done += solver.advance(due - done, _never)
        offered = solver.candidates()
        bound = -problem.dual(offered.dual)
        for pick, out in zip(picks, rows, strict=True):
            side = min((primal_side(problem, x) for x in _picked(offered, pick)), key=_order)
            out.append((done + extra, side.value, float(np.max(side.violations, initial=0.0)), bound))
    return rows


def _never() -> bool:
    return False


def _order(side: Any) -> tuple[float, float]:
    return side.scaled, side.value


def _picked(offered: Candidates, pick: str) -> list[Array]:
    if pick == "averaged":
        return offered.points[:1]
    return offered.points if pick == "best" else offered.points[-1:]


def grouped(figure: str, level: float) -> dict[str, list[Curve]]:
    """The curves by run: those with the same settings come from one run."""
    groups: dict[str, list[Curve]] = {}
    for curve in curves(figure, level):
        groups.setdefault(repr(curve.settings), []).append(curve)
    return groups
