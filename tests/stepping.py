"""Driving the package's coordinate solvers along a given sequence of rows, beside tests/reference.py."""

from dataclasses import dataclass, replace

import numpy as np
import reference

from zerogap.solver.ardca import ArdcaSolver
from zerogap.solver.sdca import SdcaSolver
from zerogap.solver.settings import ARDCA, SDCA

STEP_SCALES = {"paper": 1.0, "long": 0.5}


class Ardca:
    """Algorithm 1 of the package, one piece of the index sequence at a time."""

    def __init__(self, problem, u0, step="paper", center=0.0, **settings):
        self.solver = ArdcaSolver(problem, ARDCA(step=step, **settings), np.random.default_rng(0))
        if problem.fit_intercept:
            self.solver.work.recenter(center)
        self.solver.start(u0)
        self.steps = 0

    def run(self, order, constant_theta=False):
        self.solver.run_steps(np.asarray(order, dtype=np.uint32), constant_theta)
        self.steps += len(order)

    @property
    def z(self):
        return self.solver.state.z

    @property
    def uhat(self):
        return self.solver.state.uhat

    @property
    def u(self):
        return self.solver.dual()

    @property
    def total(self):
        """sum of x*(v_k)/theta_k over all steps so far, the intercept's slot last."""
        return self.solver._total

    @property
    def weight(self):
        """sum of 1/theta_k over all steps so far."""
        return self.solver._weight


def draw_from(solver, orders):
    """Make a solver of the package visit the rows in the given orders, one a pass."""
    remaining = iter(orders)
    solver._draw = lambda rows: np.asarray(next(remaining), dtype=rows.dtype)


def sdca(problem, u0, orders, **settings):
    """The u after each pass of the package's SDCA along `orders`."""
    solver = SdcaSolver(problem, SDCA(**settings), np.random.default_rng(0))
    draw_from(solver, orders)
    solver.start(u0)
    kept = []
    for order in orders:
        solver.advance(len(order) / problem.active_rows.size, lambda: False)
        kept.append(solver.u.copy())
    return np.array(kept)


def pieces(indices, lengths):
    """The index sequence cut into pieces of the given lengths, in turn."""
    start, out = 0, []
    while start < len(indices):
        length = lengths[len(out) % len(lengths)]
        out.append(indices[start : start + length])
        start += length
    return out


# ---- an intercept under a fixed proximal centre is one more feature
@dataclass(frozen=True, eq=False)
class WithFree(reference.Regularizer):
    """f(x) + rho/2 (b - center)^2 for the point (x, b)."""

    f: reference.Regularizer
    rho: float
    center: float

    @property
    def mu(self):
        return np.append(self.f.mu, self.rho)

    def value(self, x):
        return self.f.value(x[:-1]) + self.rho / 2 * (x[-1] - self.center) ** 2

    def minimiser(self, s):
        return np.append(self.f.minimiser(s[:-1]), self.center - s[-1] / self.rho)


def instance_of(described, problem, center=0.0):
    """The `reference.Instance`; with an intercept, under the package's proximal step around `center`."""
    instance = described.instance(drop_intercept=True)
    if not problem.fit_intercept:
        return instance
    scale = ArdcaSolver(problem, ARDCA(), np.random.default_rng(0)).work.free.scale
    columns = [problem.rows.dot(unit) for unit in np.eye(problem.n_features + 1)]
    return replace(instance, rows=np.column_stack(columns), f=WithFree(instance.f, 1.0 / scale, center))
