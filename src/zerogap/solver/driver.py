"""The only loop: advance, certify, record, report, check."""

import contextlib
import dataclasses
import math
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from zerogap.exceptions import SettingsError
from zerogap.problem.block_problem import BlockProblem
from zerogap.problem.problem import Problem
from zerogap.result.certificate import Certificate
from zerogap.result.history import History, Record
from zerogap.result.result import Result
from zerogap.result.status import Status
from zerogap.solver import settings
from zerogap.solver.ardca import ArdcaSolver
from zerogap.solver.auto import AutoSolver
from zerogap.solver.block_auto import block_solver
from zerogap.solver.contradiction import Contradiction
from zerogap.solver.incumbent import Incumbent
from zerogap.solver.newton import newton_solver
from zerogap.solver.progress import reporter
from zerogap.solver.sdca import SdcaSolver
from zerogap.solver.solver import Learner, Solver

Array = np.ndarray

#: A check costs a few passes, so the next one waits for this share of the passes done.
CHECK_EVERY = 0.2
#: Checks without a better certificate before the solve counts as stalled, and the progress that counts.
STALL_CHECKS, STALL_PROGRESS = 14, 0.99
ALMOST = 100.0


@dataclasses.dataclass
class Limits:
    """What may end a solve before its tolerance."""

    tol: float
    max_passes: float
    deadline: float
    stopped: threading.Event

    def out_of_time(self) -> bool:
        return time.perf_counter() >= self.deadline

    def stop(self) -> bool:
        """Asked by the solvers once a pass."""
        return self.stopped.is_set() or self.out_of_time()


def solve(
    problem: Problem,
    *,
    algorithm: Any = "auto",
    tol: float = 1e-6,
    max_passes: float = 10_000,
    max_time: float | None = None,
    warm_start: Any = None,
    random_state: Any = None,
    callbacks: Sequence[Callable[[Record], Any]] = (),
    progress: bool = False,
    warn: bool = True,
) -> Result:
    """Minimise the problem's objective and certify the answer.

        f(x) + sum_i w_i loss(a_i.x + b, y_i) / sum_i w_i    s.t. the problem's constraints

    Parameters
    ----------
    algorithm : a name ("auto", "newton", "ardca", "ardca-restart", "ardca-erm", "rdca", "sdca", "cdca") or
        a settings object such as `zg.ARDCA(step="paper")`.
    tol : stop when relative gap <= tol and scaled violation <= tol (see `zg.Certificate`).
    max_passes : limit on passes; a pass is as many coordinate steps as there are rows.
    max_time : limit in seconds; the answer at that time comes with its certificate.
    warm_start : an earlier `Result`, or a dual point.
    random_state : an int or a numpy Generator. Same seed, same bits.
    callbacks : functions of the newest `history` record; a true return value stops the solve.
    progress : print a line a check.
    warn : emit a ConvergenceWarning when the tolerance is not reached.

    Examples
    --------
    >>> import numpy as np, zerogap as zg
    >>> X, y = np.array([[1.0], [2.0], [4.0]]), np.array([1.0, 2.0, 9.0])
    >>> problem = zg.Problem(X, y, loss="absolute", regularizer=zg.L2(0.1), fit_intercept=True)
    >>> result = zg.solve(problem, tol=1e-9, random_state=0)
    >>> print(result.status, result.x.round(3), round(result.intercept, 3))
    SOLVED [2.667] -1.667
    >>> result.certificate.relative_gap <= 1e-9
    True
    """
    _check_settings(tol, max_passes, max_time)
    if not isinstance(callbacks, Sequence) or not all(map(callable, callbacks)):
        raise SettingsError(f"callbacks: expected a list of functions; got {callbacks!r:.80}")
    name, chosen = settings.resolve(algorithm)
    if not isinstance(problem, Problem):
        raise SettingsError(f"problem: expected a zg.Problem; got {problem!r:.80}")
    rng = _generator(random_state)
    begun = time.perf_counter()
    solver = make_solver(problem, chosen, rng, tol)
    solver.start(_starting_dual(problem, warm_start))
    history = History()
    with _interrupts() as stopped:
        limits = Limits(tol, max_passes, begun + (max_time or math.inf), stopped)
        status, best, passes = _loop(
            problem, solver, limits, history, [*callbacks, *reporter(progress)], begun
        )
    x, b = problem.split(best.point)
    result = Result(
        problem, x, b, problem.shape_dual(best.dual), status, best.certificate, history, passes,
        time.perf_counter() - begun, name, best.proof, best.ray,
    )  # fmt: skip
    if warn and status is not Status.SOLVED:
        warnings.warn(complaint(result, tol), ConvergenceWarning, stacklevel=2)
    return result


def make_solver(problem: Problem, chosen: Any, rng: np.random.Generator, tol: float) -> Solver:
    """The solver behind a settings object; settings of other packages make their own."""
    if isinstance(problem, BlockProblem):
        return block_solver(problem, chosen, rng, tol)
    if hasattr(chosen, "make"):
        return chosen.make(problem, rng, tol)
    if isinstance(chosen, settings.SDCA):
        return SdcaSolver(problem, chosen, rng)
    if isinstance(chosen, settings.Auto):
        return AutoSolver(problem, chosen, rng, tol)
    if isinstance(chosen, settings.Newton):
        return newton_solver(problem, tol)
    return ArdcaSolver(problem, chosen, rng, tol)


def _loop(
    problem: Problem,
    solver: Solver,
    limits: Limits,
    history: History,
    callbacks: Sequence[Callable[[Record], Any]],
    begun: float,
) -> tuple[Status, Incumbent, float]:
    best, contradiction = Incumbent(problem), Contradiction(problem)
    passes, progressed = 0.0, 0
    error, bound = math.inf, -math.inf
    learn = solver.learn if isinstance(solver, Learner) else None
    while True:
        phase = solver.phase
        due = max(_due(history, limits.tol), getattr(solver, "stride", 0.0))
        passes += solver.advance(min(due, limits.max_passes - passes), limits.stop)
        own = best.update(solver.candidates())
        if learn is not None:
            learn(own)
        certificate = best.certificate
        record = Record(
            passes, time.perf_counter() - begun, certificate.primal, certificate.dual,
            certificate.gap, certificate.violation, solver.active, phase,
        )  # fmt: skip
        history.append(record)
        wishes = [callback(record) for callback in callbacks]
        # a rising bound is progress too: far from the optimum the primal side may stand still meanwhile
        risen = certificate.dual > bound + (1.0 - STALL_PROGRESS) * abs(bound)
        if certificate.error < STALL_PROGRESS * error or risen:
            error, bound, progressed = certificate.error, certificate.dual, len(history)
        idle = (len(history) - progressed) // getattr(solver, "patience", 1)
        status = _verdict(certificate, limits, passes, any(wishes), idle)
        if status is not Status.SOLVED and contradiction.look(certificate, status is not None):
            best.proof, best.ray, status = contradiction.proof, contradiction.ray, contradiction.status
        if status is not None:
            return status, best, passes


def _due(history: History, tol: float) -> float:
    """Passes until the next check: a share of those done, or what the trend says is left, if more.

    The trend is trusted for at most half of the passes done, and three on top.
    """
    if not history:
        return 1.0
    newest = history[-1]
    due = max(1.0, math.ceil(CHECK_EVERY * newest.pass_))
    if len(history) < 2:
        return due
    older = history[-2]
    errors = [max(r.gap / max(abs(r.primal), abs(r.dual), 1e-300), 1e-300) for r in (older, newest)]
    if not tol < errors[1] < errors[0] < math.inf:
        return due
    rate = math.log(errors[0] / errors[1]) / max(newest.pass_ - older.pass_, 1e-9)
    left = math.log(errors[1] / tol) / rate
    return max(due, math.floor(min(left, 3.0 + 0.5 * newest.pass_)))


def _verdict(
    certificate: Certificate, limits: Limits, passes: float, wished: bool, idle: int
) -> Status | None:
    """The status to end with, or None to go on."""
    if certificate.within(limits.tol):
        return Status.SOLVED
    almost = certificate.within(ALMOST * limits.tol)
    if limits.stopped.is_set() or wished:
        return Status.INTERRUPTED
    if limits.out_of_time():
        return Status.MAX_TIME
    if passes >= limits.max_passes:
        return Status.MAX_PASSES
    if idle >= STALL_CHECKS:
        return Status.ALMOST_SOLVED if almost else Status.STALLED
    return None


def _starting_dual(problem: Problem, warm_start: Any) -> Array:
    if warm_start is None:
        return problem.project_dual(np.zeros(problem.n_rows))
    dual = warm_start.dual if isinstance(warm_start, Result) else warm_start
    return problem.project_dual(problem.check_dual(dual, "warm_start"))


def _generator(random_state: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise SettingsError(
            f"random_state: expected an int >= 0, a numpy Generator or None; got {random_state!r:.80}"
        ) from error


def _check_settings(tol: Any, max_passes: Any, max_time: Any) -> None:
    for name, number in (("tol", tol), ("max_passes", max_passes), ("max_time", max_time)):
        if number is None and name == "max_time":
            continue
        if not isinstance(number, (int, float, np.number)) or not number > 0:
            raise SettingsError(f"{name}: expected a number > 0; got {number!r}")


@contextlib.contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets; the second one raises as usual."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return

    def note(signum: int, frame: Any) -> None:
        event.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)


def complaint(result: Result, tol: float) -> str:
    """What to say about a result that is not SOLVED: why, how far it got, and a remedy."""
    c = result.certificate
    if result.infeasibility is not None or result.ray is not None:
        return f"{result.status}: {result.status.sentence}; {result.infeasibility or result.ray}."
    remedy = {
        Status.MAX_PASSES: "Raise max_passes, or loosen tol",
        Status.MAX_TIME: "Raise max_time, or loosen tol",
        Status.INTERRUPTED: "Continue with warm_start=result",
    }.get(result.status, "Scale the columns of X to a similar size, raise l2, or loosen tol")
    violated = f", violation {c.violation:.3g} (scaled {c.scaled_violation:.3g})" if c.violation else ""
    return (
        f"{result.status}: {result.status.sentence}. Objective {c.primal:.9g}, best bound {c.dual:.9g}, "
        f"gap {c.gap:.3g} (relative {c.relative_gap:.3g}, tol {tol:g}){violated} after "
        f"{result.passes:.4g} passes and {result.seconds:.3g} s of {result.algorithm}. {remedy}."
    )
