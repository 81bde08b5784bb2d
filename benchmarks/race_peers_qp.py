"""General QP solvers on the hand-written programs of race_qp. Building the program is outside their clock."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.race_peers import PEERS, Answer, Peer, Setting, tolerances
from benchmarks.race_qp import EQUAL, HINGES, Program, conic, program, stacked
from benchmarks.race_task import Task

ACCURACIES = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)
BIG = 1e30


def _quadratic(task: Task) -> str | None:
    known = task.X is None or task.loss in EQUAL | HINGES
    return None if known else "not a quadratic program"


def _gram(task: Task) -> str | None:
    if task.loss != "squared" or task.X is None or task.l1 or task.intercept:
        return "needs the squared loss without L1 term and intercept"
    return "t is too large for a t x t matrix" if task.t > 5000 else None


def _piqp_settings(solver: Any, tol: float) -> None:
    solver.settings.eps_abs = solver.settings.eps_rel = tol
    solver.settings.check_duality_gap = True
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = tol
    solver.settings.max_iter = 1000


def _bounded(values: np.ndarray) -> np.ndarray:
    return np.clip(values, -BIG, BIG)


def _piqp(qp: Program, setting: Setting) -> Answer:
    import piqp

    solver = piqp.SparseSolver()
    _piqp_settings(solver, setting["tol"])
    solver.setup(
        qp.P, qp.c, qp.A, qp.b, qp.G, _bounded(qp.h_low), _bounded(qp.h_high), _bounded(qp.z_low),
        _bounded(qp.z_high),
    )  # fmt: skip
    status = solver.solve()
    note = "" if status == piqp.PIQP_SOLVED else status.name
    return Answer(*qp.point(solver.result.x), note)


PEERS["piqp"] = Peer("piqp", _quadratic, program, _piqp, tolerances(*ACCURACIES))


def _piqp_dense(qp: Program, setting: Setting) -> Answer:
    import piqp

    solver = piqp.DenseSolver()
    _piqp_settings(solver, setting["tol"])
    P, A, G = (np.asfortranarray(M.toarray()) for M in (qp.P, qp.A, qp.G))
    solver.setup(
        P, qp.c, A, qp.b, G, _bounded(qp.h_low), _bounded(qp.h_high), _bounded(qp.z_low), _bounded(qp.z_high)
    )
    status = solver.solve()
    note = "" if status == piqp.PIQP_SOLVED else status.name
    return Answer(*qp.point(solver.result.x), note)


def _with_gram(fit: Callable[[Program, Setting], Answer]) -> Callable[[Task, Setting], Answer]:
    """X'X is part of the work, so it is formed inside the clock."""
    return lambda task, setting: fit(program(task, gram=True), setting)


PEERS["piqp-gram"] = Peer("piqp", _gram, lambda task: task, _with_gram(_piqp_dense), tolerances(*ACCURACIES))


def _daqp(qp: Program, setting: Setting) -> Answer:
    import daqp

    rows = np.ascontiguousarray(sp.vstack([qp.A, qp.G]).toarray())
    lower = np.concatenate([qp.z_low, qp.b, qp.h_low])
    upper = np.concatenate([qp.z_high, qp.b, qp.h_high])
    sense = np.zeros(lower.size, dtype=np.int32)
    sense[qp.c.size : qp.c.size + qp.b.size] = 5
    z, _, flag, _ = daqp.solve(
        np.ascontiguousarray(qp.P.toarray()), qp.c, rows, _bounded(upper), _bounded(lower), sense,
        primal_tol=setting["tol"], iter_limit=100_000,
    )  # fmt: skip
    return Answer(*qp.point(z), "" if flag == 1 else f"exit flag {flag}")


PEERS["daqp-gram"] = Peer("daqp", _gram, lambda task: task, _with_gram(_daqp), tolerances(1e-6, 1e-9, 1e-12))


def _clarabel_data(task: Task) -> tuple[Program, Any, np.ndarray, int]:
    qp = program(task)
    return qp, *conic(qp)


def _clarabel(data: Any, setting: Setting) -> Answer:
    import clarabel

    qp, M, r, equal = data
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, 1000
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = setting["tol"]
    settings.max_threads = 1
    cones = [clarabel.ZeroConeT(equal)] if equal else []
    cones.append(clarabel.NonnegativeConeT(r.size - equal))
    solution = clarabel.DefaultSolver(sp.csc_matrix(sp.triu(qp.P)), qp.c, M, r, cones, settings).solve()
    note = "" if str(solution.status) == "Solved" else str(solution.status)
    return Answer(*qp.point(np.array(solution.x)), note)


PEERS["clarabel"] = Peer("clarabel", _quadratic, _clarabel_data, _clarabel, tolerances(*ACCURACIES))


def _scs(data: Any, setting: Setting) -> Answer:
    import scs

    qp, M, r, equal = data
    solver = scs.SCS(
        {"P": sp.csc_matrix(sp.triu(qp.P)), "A": M, "b": r, "c": qp.c}, {"z": equal, "l": r.size - equal},
        eps_abs=setting["tol"], eps_rel=setting["tol"], max_iters=10_000_000, verbose=False,
    )  # fmt: skip
    solution = solver.solve()
    status = solution["info"]["status"]
    return Answer(*qp.point(solution["x"]), "" if status == "solved" else status)


PEERS["scs"] = Peer("scs", _quadratic, _clarabel_data, _scs, tolerances(*ACCURACIES))


def _osqp_data(task: Task) -> tuple[Program, Any, np.ndarray, np.ndarray]:
    qp = program(task)
    return qp, *stacked(qp)


def _osqp(data: Any, setting: Setting) -> Answer:
    import osqp

    qp, M, l, u = data  # noqa: E741
    solver = osqp.OSQP()
    solver.setup(
        P=sp.csc_matrix(sp.triu(qp.P)), q=qp.c, A=sp.csc_matrix(M), l=l, u=u, verbose=False, polishing=True,
        eps_abs=setting["tol"], eps_rel=setting["tol"], max_iter=10_000_000,
    )  # fmt: skip
    result = solver.solve(raise_error=False)
    status = str(result.info.status)
    return Answer(*qp.point(result.x), "" if status == "solved" else status)


PEERS["osqp"] = Peer("osqp", _quadratic, _osqp_data, _osqp, tolerances(*ACCURACIES))
