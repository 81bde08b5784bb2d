"""zerogap as a solver of cvxpy problems: `problem.solve(solver=zerogap.cvxpy.ZEROGAP())`.

For what cvxpy can state as a quadratic program (linear ones included). Needs the extra `zerogap[cvxpy]`.
"""

from typing import Any

import cvxpy.settings as names
import numpy as np
from cvxpy.reductions.solution import Solution, failure_solution
from cvxpy.reductions.solvers import utilities
from cvxpy.reductions.solvers.qp_solvers.qp_solver import QpSolver

from zerogap.exceptions import SettingsError
from zerogap.quadratic.solution import QPSolution
from zerogap.quadratic.solve import solve_qp
from zerogap.result.status import Status

#: cvxpy's word for each outcome.
STATUS = {
    Status.SOLVED: names.OPTIMAL,
    Status.ALMOST_SOLVED: names.OPTIMAL_INACCURATE,
    Status.MAX_PASSES: names.USER_LIMIT,
    Status.MAX_TIME: names.USER_LIMIT,
    Status.INTERRUPTED: names.USER_LIMIT,
    Status.STALLED: names.SOLVER_ERROR,
    Status.INFEASIBLE: names.INFEASIBLE,
    Status.UNBOUNDED: names.UNBOUNDED,
}
OPTIONS = ("tol", "max_time", "max_passes", "algorithm", "random_state", "callbacks")


def _alike(earlier: QPSolution, data: Any) -> bool:
    """Has the earlier solution a point, and the shape of this program?"""
    shapes = [part.size for part in (earlier.problem.q, earlier.problem.b, earlier.problem.h)]
    return earlier.x is not None and shapes == [data[key].size for key in (names.Q, names.B, names.G)]


class ZEROGAP(QpSolver):
    """A cvxpy solver; keywords of `problem.solve` (tol, max_time, algorithm, ...) go to `zg.solve_qp`.

    `problem.solver_stats.extra_stats` is the `zg.QPSolution`, with the certificate.
    """

    MIP_CAPABLE = False
    #: As rows, bounds are what the user gave. To solvers that take bounds as such, cvxpy 1.9 also hands those
    #: it derives for its own variables, and derives wrong ones for sums of terms of both signs.
    BOUNDED_VARIABLES = False

    def name(self) -> str:
        return "ZEROGAP"

    def import_solver(self) -> None:
        """Nothing to import: this module is the solver."""

    def cite(self, data: Any) -> str:
        return ""

    def solve_via_data(
        self, data: Any, warm_start: bool, verbose: bool, solver_opts: Any, solver_cache: Any = None
    ) -> QPSolution:
        unknown = set(solver_opts) - set(OPTIONS)
        if unknown:
            raise SettingsError(
                f"solver option: expected some of {', '.join(OPTIONS)}; got {', '.join(sorted(unknown))}"
            )
        earlier = (solver_cache or {}).get(self.name()) if warm_start else None
        if earlier is not None and not _alike(earlier, data):
            earlier = None
        solution = solve_qp(
            data[names.P], data[names.Q], data[names.F], data[names.G], data[names.A], data[names.B],
            data[names.LOWER_BOUNDS], data[names.UPPER_BOUNDS],
            initvals=earlier, progress=verbose, warn=False, **solver_opts,
        )  # fmt: skip
        if solver_cache is not None:
            solver_cache[self.name()] = solution
        return solution

    def invert(self, solution: QPSolution, inverse_data: Any) -> Solution:
        extras = solution.extras
        attributes = {
            names.SOLVE_TIME: extras["seconds"],
            names.NUM_ITERS: round(extras["passes"]),
            names.EXTRA_STATS: solution,
        }
        status = STATUS[solution.status]
        if status not in names.SOLUTION_PRESENT or solution.x is None or solution.obj is None:
            return failure_solution(status, attributes)
        duals: dict[Any, Any] = {}
        for values, key in ((solution.y, self.EQ_CONSTR), (solution.z, self.NEQ_CONSTR)):
            duals |= utilities.get_dual_values(values, utilities.extract_dual_value, inverse_data[key])
        value = solution.obj + inverse_data[names.OFFSET]
        return Solution(status, value, {self.VAR_ID: np.array(solution.x)}, duals, attributes)
