"""The linear support vector machine in benchopt's form: `benchopt run benchmarks/benchopt`."""

import numpy as np
from benchopt import BaseObjective


class Objective(BaseObjective):
    """1/2 |beta|^2 + C sum_i max(0, 1 - y_i x_i.beta)"""

    name = "Linear SVM"
    min_benchopt_version = "1.6"
    parameters = {"C": [1.0, 100.0]}  # noqa: RUF012 - benchopt's way to declare them

    def set_data(self, X, y):
        self.X, self.y = X, y

    def get_objective(self):
        return {"X": self.X, "y": self.y, "C": self.C}

    def evaluate_result(self, beta):
        losses = np.maximum(1.0 - self.y * (self.X @ beta), 0.0)
        return {"value": 0.5 * float(beta @ beta) + self.C * float(losses.sum())}

    def get_one_result(self):
        return {"beta": np.zeros(self.X.shape[1])}
