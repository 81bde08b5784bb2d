"""liblinear, through scikit-learn."""

import warnings

from benchopt import BaseSolver
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC


class Solver(BaseSolver):
    """Dual coordinate descent without intercept."""

    name = "liblinear"
    sampling_strategy = "iteration"

    def set_objective(self, X, y, C):
        self.X, self.y, self.C = X, y, C

    def run(self, n_iter):
        model = LinearSVC(C=self.C, loss="hinge", tol=1e-12, max_iter=max(n_iter, 1), fit_intercept=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(self.X, self.y)
        self.beta = model.coef_.ravel()

    def get_result(self):
        return {"beta": self.beta}
