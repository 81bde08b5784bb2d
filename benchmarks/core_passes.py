"""How long a pass takes: against C++, with acceleration and averaging, and with empty columns added."""

import copy
import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import zerogap as zg
from benchmarks import core_data, core_native
from benchmarks.core_table import Line
from benchmarks.core_timing import Contestant, Timing, take_turns
from zerogap.solver import kernels
from zerogap.solver.driver import make_solver

MIDDLE = 5  # passes before the one that counts
REPEATS = 30
SAME = 1e-9  # relative difference of two u that differ in the order of their sums


class Point(NamedTuple):
    """A dual point with s = S u, and the rows that the pass visits."""

    order: np.ndarray
    u: np.ndarray
    s: np.ndarray


def started(X: Any, y: np.ndarray, regularizer: Any, settings: Any, passes: int) -> Any:
    """A solver after some passes."""
    problem = zg.Problem(X, y, loss="hinge", regularizer=regularizer)
    solver = make_solver(problem, settings, np.random.default_rng(0), 1e-6)
    solver.start(problem.project_dual(np.zeros(problem.n_rows)))
    if passes:
        solver.advance(passes, lambda: False)
    return solver


def from_cold(solver: Any) -> Contestant:
    """One more pass of a copy of the solver, drawing of the rows and all other work of a pass included."""

    def prepare() -> Any:
        return copy.deepcopy(solver, {id(solver.work): solver.work})

    return Contestant(prepare, lambda fresh: fresh.advance(1, lambda: False))


def against_cpp(repeats: int = REPEATS) -> Iterator[Line]:
    """The SDCA kernel, hinge loss and L2, against the same loop in C++."""
    library = core_native.build()
    if library is None:
        yield Line("SDCA pass, numba / C++", None, 1.3, note="no g++ found")
        return
    X, y = core_data.sparse_data()
    wide = X.copy()
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    dense, labels = core_data.dense_data()
    cases = {
        "CSR 20000 x 47000": (X, y, 1.3),
        "dense 20000 x 500": (dense, labels, 1.3),
        "CSR, float32": (X.astype(np.float32), y, None),
        "CSR, int64 indices": (wide, y, None),
        "dense, float32": (dense.astype(np.float32), labels, None),
    }
    for name, (matrix, targets, bound) in cases.items():
        for passes in (0, MIDDLE):
            yield _one_against_cpp(library, name, matrix, targets, bound, passes, repeats)


def _one_against_cpp(
    library: ctypes.CDLL, name: str, X: Any, y: Any, bound: float | None, passes: int, repeats: int
) -> Line:
    solver = started(X, y, zg.L2(core_data.L2), zg.SDCA(), passes)
    work = solver.work
    order = np.random.default_rng(1).permutation(work.problem.active_rows)
    native = core_native.sdca_pass(library, X, solver)

    def compiled(point: Point) -> None:
        everything = np.inf  # no row is left out
        kernels.sdca_epoch(point.order, work.rows, work.terms, work.f, point.u, point.s, work.tau, everything)

    def prepare() -> Point:
        return Point(order.copy(), solver.u.copy(), solver.s.copy())

    ours, theirs = prepare(), prepare()
    compiled(ours)
    moved = native(theirs)
    difference = float(np.abs(ours.u - theirs.u).max() / np.abs(theirs.u).max())
    times = take_turns({"ours": Contestant(prepare, compiled), "C++": Contestant(prepare, native)}, repeats)
    note = f"{_shown(times['ours'])} / {_shown(times['C++'])} ms, {moved} of {order.size} rows moved, "
    note += f"u equal to {difference:.0e}"
    if difference > SAME:
        bound, note = 0.0, f"DIFFERENT u: {note}"
    figure = times["ours"].over(times["C++"])
    return Line(f"SDCA pass / C++: {name}, {_when(passes)}", figure, bound, "x", note)


def acceleration(repeats: int = REPEATS) -> Iterator[Line]:
    """A whole ARDCA pass with averaging against a whole SDCA pass, each in its own solve."""
    data = {"CSR": (*core_data.sparse_data(), "sparse"), "dense": (*core_data.dense_data(), "dense")}
    for storage, (X, y, kind) in data.items():
        penalties = {
            "L2": zg.L2(core_data.L2),
            "elastic net": zg.ElasticNet(core_data.L2, core_data.L1[kind]),
        }
        for penalty, regularizer in penalties.items():
            for passes in (MIDDLE, 0):
                solvers = {
                    name: started(X, y, regularizer, settings, passes)
                    for name, settings in (
                        ("sdca", zg.SDCA()),
                        ("ardca", zg.ARDCA()),
                        ("plain", zg.ARDCA(average_from=None)),
                    )
                }
                times = take_turns({name: from_cold(s) for name, s in solvers.items()}, repeats)
                note = f"{_shown(times['ardca'])} / {_shown(times['sdca'])} ms"
                note += f", {times['plain'].over(times['sdca']):.2f}x without averaging"
                if passes and penalty != "L2":
                    share = float((solvers["ardca"].candidates().points[0] != 0).mean())
                    note += f", {share:.0%} of the features nonzero"
                yield Line(
                    f"ARDCA pass / SDCA pass: {storage}, {penalty}, {_when(passes)}",
                    times["ardca"].over(times["sdca"]), 2.5, "x", note,
                )  # fmt: skip


def padding(repeats: int = REPEATS) -> Iterator[Line]:
    """The same rows with a million empty columns behind them."""
    X, y = core_data.sparse_data()
    wide = core_data.padded(X)
    for penalty, regularizer in (
        ("L2", zg.L2(core_data.L2)),
        ("elastic net", zg.ElasticNet(core_data.L2, core_data.L1["sparse"])),
    ):
        contestants = {
            "narrow": from_cold(started(X, y, regularizer, zg.ARDCA(), MIDDLE)),
            "wide": from_cold(started(wide, y, regularizer, zg.ARDCA(), MIDDLE)),
        }
        times = take_turns(contestants, repeats)
        yield Line(
            f"ARDCA pass, t + 1,000,000 empty columns / t: {penalty}",
            times["wide"].over(times["narrow"]), 2.0, "x",
            f"{_shown(times['wide'])} / {_shown(times['narrow'])} ms",
        )  # fmt: skip


def _shown(timing: Timing) -> str:
    """Minimum and median in milliseconds."""
    return f"{1e3 * timing.least:.2f} ({1e3 * timing.median:.2f})"


def _when(passes: int) -> str:
    return f"pass {passes + 1}"
