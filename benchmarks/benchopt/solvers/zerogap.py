"""zerogap: benchopt hands down a tolerance, and the solver certifies it."""

from benchopt import BaseSolver

import zerogap as zg


class Solver(BaseSolver):
    """`algorithm` as in `zerogap.solve`."""

    name = "zerogap"
    sampling_strategy = "tolerance"
    parameters = {"algorithm": ["auto"]}  # noqa: RUF012 - benchopt's way to declare them

    def set_objective(self, X, y, C):
        self.X, self.y, self.l2 = X, y, 1.0 / (C * X.shape[0])

    def warm_up(self):
        """Compile every phase outside the clock."""
        for algorithm in ("auto", "sdca", "ardca-restart", "newton"):
            problem = zg.Problem(self.X[:100], self.y[:100], loss="hinge", regularizer=zg.L2(1e-3))
            zg.solve(problem, algorithm=algorithm, tol=1e-3, max_time=1.0, warn=False)

    def run(self, tolerance):
        problem = zg.Problem(self.X, self.y, loss="hinge", regularizer=zg.L2(self.l2))
        tol = min(max(tolerance, 1e-12), 0.5)
        self.beta = zg.solve(problem, algorithm=self.algorithm, tol=tol, random_state=0, warn=False).x

    def get_result(self):
        return {"beta": self.beta}
