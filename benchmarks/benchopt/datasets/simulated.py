"""Two noisy classes, with columns of the same or of very different sizes."""

import numpy as np
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """`spread`: decades between the smallest and the largest column."""

    name = "Simulated"
    parameters = {  # noqa: RUF012 - benchopt's way to declare them
        "n_samples, n_features": [(2_000, 30)],
        "spread": [0.0, 3.0],
    }
    test_parameters = {"n_samples, n_features": [(100, 5)], "spread": [0.0]}  # noqa: RUF012

    def get_data(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((self.n_samples, self.n_features))
        scores = X @ rng.standard_normal(self.n_features)
        y = np.sign(scores + rng.standard_normal(self.n_samples))
        half = 0.5 * self.spread
        return {"X": X * np.logspace(-half, half, self.n_features), "y": y}
