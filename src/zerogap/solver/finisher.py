"""The finisher: semismooth Newton steps on the augmented Lagrangian of all rows.

With dual points u (rows) and v (features with an l1 term or a box) fixed, minimise over x

    Psi(x) = sum_j mu_j/2 (x_j - c_j)^2 + sum_i w_i max_a (a m_i - phi_i*(a) - (a - u_i)^2 / (2 sigma_i))
             + sum_j max_a (a x_j - psi_j*(a) - (a - v_j)^2 / (2 s_j)),      m = R x

where psi_j(x) = l1_j |x| + indicator[lower_j, upper_j] stands for an identity row. Then u and v move to the
maximisers and sigma, s grow. Nothing needs mu_j > 0.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from zerogap.exceptions import SettingsError
from zerogap.problem import loss_registry
from zerogap.problem import terms as row_terms
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import SeparablePenalty
from zerogap.solver import augmented, newton_system, small_newton
from zerogap.solver.damping import SHARES, Damping
from zerogap.solver.identity import IdentityRows
from zerogap.solver.line_search import descend
from zerogap.solver.sigma import GROWTH, constraint_sigma, data_sigma, grow, spread_of
from zerogap.solver.solver import Candidates
from zerogap.solver.stretch import stretched

Array = np.ndarray

#: Newton steps of one inner minimisation, and the share of the gap that its residual may keep.
STEPS, SHARE = 60, 0.1
LARGEST_SIGMA = 1e12
#: An inner minimisation that ends with so many times the residual it may keep has lost its way.
LOST = 100.0
#: Margins further away than this, relative to those at the start, are no step's aim while a flat feature
#: has no curvature.
FAR = 1e3
#: A column this much smaller than the largest counts as this large when sigma and s are chosen.
_RARE = 1e-30
#: Steps after which families that look settled have been both stiffened and softened.
SETTLED = 8
#: Newton steps are lengthened up to this factor where Psi keeps falling.
LONGEST = 2.0**20
#: A smooth loss lends so many times its steepest curvature: less leaves what all outputs share to rounding.
SMOOTH = 1e3
#: Newton corrections of the dual point on its way to the certificate.
REFINEMENTS = 2
#: A dual point is worth refining once the rows' share of the gap is within so many times the tolerance.
NEAR = 100.0
#: Passes between checks of a small problem that is known not to be solved.
STRIDE = 40.0


class NewtonSolver:
    """State: x and its margins, u, v, and the penalty parameters sigma (rows) and s (features)."""

    phase = "newton"
    #: The rows' functions, and the linear systems.
    augmented: Any = augmented
    system: Any = newton_system

    def __init__(self, problem: Problem, settings: object = None, rng: object = None, tol: float = 1e-6):
        if not isinstance(problem.penalty, SeparablePenalty):
            raise SettingsError(
                "algorithm: 'newton' needs a separable regularizer; for GroupLasso take 'ardca-restart'"
            )
        self.problem, self.tol = problem, tol
        self.active = problem.n_rows
        t = problem.penalty.n_features
        extra = problem.rows.shape[1] - t
        self.mu, self.pull = np.zeros(t + extra), np.zeros(t + extra)
        self.mu[:t] = problem.penalty.mu
        self.pull[:t] = problem.penalty.pull
        self.damping = Damping(self.mu)
        self.identity = IdentityRows(problem.penalty, extra)
        about = loss_registry.traits(problem.loss)
        self._smooth = about.differentiable
        gamma = about.smoothness(problem.loss)
        self._steepest = SMOOTH / gamma if gamma else small_newton.STIFFEST
        self.small = small_newton.fits(problem.rows) and self.augmented is augmented
        self.excess = 0.0
        self.astray = 0  # outer steps in a row that did not get to the minimum of Psi
        self.near = True
        self.settled = 0
        self.repeated = False
        self.share = 1.0  # of a proximal term, where there is one
        self._origin: Array | None = None
        self._resumed = 1.0

    def start(self, u: Array) -> None:
        problem = self.problem
        self.u = u.copy()
        self.slope = problem.slope(u)
        self.x = self._first_x() if self._origin is None else self._origin.copy()
        self.v = np.zeros_like(self.x)
        if self.identity.any:
            v = -(self.mu * self.x - self.pull) - self.slope
            self.v = np.where(
                np.isfinite(self.identity.lower) | np.isfinite(self.identity.upper),
                v,
                np.clip(v, -self.identity.l1, self.identity.l1),
            )
        self.m = problem.rows.dot(self.x)
        self._scale()
        self._sigma = self.sigma[:1].copy()
        self.sigma *= self._resumed
        self.s *= self._resumed
        if self.small:
            self.matrix = problem.rows.dense()
            self.room = small_newton.make_room(*problem.rows.shape)

    def resume(self, x: Array, stiffer: float, share: float) -> None:
        """Begin at x, with sigma and s so many times what they would be, and this `share`."""
        self._origin, self._resumed, self.share = x, stiffer, share

    @property
    def stiffer(self) -> float:
        """How many times as stiff as a solver is at first the first row has become."""
        return float(self.sigma[0] / self._sigma[0])

    def _first_x(self) -> Array:
        """x*(u), zero where the dual does not determine it."""
        x = self.problem.penalty.minimiser(self.slope[: self.problem.penalty.n_features])
        return self._in_reach(np.where(np.isfinite(x), x, 0.0))

    def _in_reach(self, x: Array) -> Array:
        """The best multiple of x*(u): a dual point of another problem may be far too long for this one."""
        problem = self.problem
        point = problem.join(x, problem.level)
        if problem.n_constraints or not problem.n_samples or not x.any():
            return point
        longer = stretched(problem, point, 1.0, problem.join(np.zeros_like(x), problem.level))
        return point if longer is None else longer

    def _scale(self) -> None:
        """Initial sigma and s, per family of rows, from the sizes of dual and primal values there."""
        problem = self.problem
        n = problem.n_data
        self.sigma = np.ones(problem.n_rows)
        self.far = np.full(self.x.size, np.inf)
        curvature, reach = self.mu.copy(), 1.0 + np.abs(self.x)  # of a typical feature value
        if n:
            about, spread = loss_registry.traits(problem.loss), spread_of(problem)
            sigma = data_sigma(problem, spread)
            self.sigma[:n] = np.inf if about.differentiable else sigma
            only_data = np.where(np.arange(problem.n_rows) < n, problem.weight, 0.0)
            columns = problem.rows.square_columns(only_data)
            gamma = about.smoothness(problem.loss)
            curvature += columns * (1.0 / gamma if gamma else sigma)
            aim = 0.0 if about.classification else problem.y
            far = FAR * max(spread, float(np.max(np.abs(self.m[:n] - aim))))
            self.far = far / np.sqrt(np.maximum(columns, 1e-300))
            usual = spread / np.sqrt(np.maximum(columns, max(_RARE * columns.max(), 1e-300)))
            reach = np.maximum(usual / math.sqrt(self.x.size), np.abs(self.x))
        known = curvature[curvature > 0]
        curvature[curvature == 0] = float(np.median(known)) if known.size else 1.0
        self.curvature = curvature
        t = problem.penalty.n_features
        norms = problem.rows.square_norms(1.0 / curvature[:t], 1.0 / curvature[-1])[n:]
        self.sigma[n:] = constraint_sigma(norms)
        self.s = np.where(self.identity.l1 > 0, 0.3 * self.identity.l1 / reach, 0.3 * curvature)

    def take_up(self, x: Array, v: Array, stiffer: float) -> None:
        """Go on from where another method has come close: at x, with the forces v of the features."""
        self.x, self.m = x.copy(), self.problem.rows.dot(x)
        if self.identity.any:
            self.v = v.copy()
        self.sigma *= stiffer
        self.s *= stiffer

    @property
    def stride(self) -> float:
        """Passes worth waiting for between checks: on small problems a check costs more than steps."""
        return STRIDE if self.small else 0.0

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        """One outer step, or several within the stride while there is work to do for sure."""
        done = self._outer_step(stop)
        while self.working and done < min(passes, self.stride) and not stop():
            done += self._outer_step(stop)
        return done

    def _outer_step(self, stop: Callable[[], bool]) -> float:
        """Minimise Psi, then move u and v, then raise sigma."""
        self.working = False
        self.m[:] = self.problem.rows.dot(self.x)  # steps leave the rounding of the longest
        steps = self._minimise(stop)
        self.astray = self.astray + 1 if self.excess > LOST or steps == STEPS else 0
        if self.excess > LOST:  # rounding in the stiff rows hides the way down
            self._soften(GROWTH**2)
            return 2.0 * max(steps, 1)
        self.augmented.forces(self.problem.terms, self.m, self.u, self.sigma, self.forces)
        self.u[:] = self.forces
        before = self.v
        self.v = self.identity.force(self.x, self.v, self.s) if self.identity.any else self.v
        if steps < STEPS // 3:
            self._stiffen(before)
        elif steps == STEPS:  # Psi has too many kinks in reach: soften it
            self._soften(GROWTH)
        self.repeated = bool(np.isinf(self.sigma).all()) and not self.identity.any
        return 2.0 * max(steps, 1)

    def _soften(self, factor: float) -> None:
        self.sigma /= factor
        self.s /= factor

    def _stiffen(self, before: Array) -> None:
        """Raise sigma for each family of rows that is not settled yet; needless stiffness costs digits."""
        n = self.problem.n_data
        gap = self.augmented.row_gaps(self.problem.terms, self.m, self.u)
        violations = self.problem.violations(self.m)
        size = self._size()
        goal = 0.1 * self.tol
        data = n > 0 and gap > goal * size
        violated = violations / np.maximum(self.problem.constraint_norms * self._reach(), 1e-300)
        rows = bool(violated.max(initial=0.0) > goal or float(np.abs(self.u[n:]) @ violations) > goal * size)
        off = np.abs(self.v - before) / self.s
        features = self.identity.any and bool(
            np.max(off, initial=0.0) > goal * self._reach() or float(np.abs(self.v) @ off) > goal * size
        )
        self.working = data or rows or features
        if not self.working:
            self.settled += 1
            if self.settled % SETTLED < SETTLED // 2:
                data = rows = features = True
            else:  # but for the digits that stiffness has cost
                self._soften(GROWTH**2)
        if data:
            grow(self.sigma[:n], LARGEST_SIGMA)
        if rows:
            self.sigma[n:] *= GROWTH
        if features:
            grow(self.s, LARGEST_SIGMA * self.curvature)

    def _reach(self) -> float:
        return float(np.max(np.abs(self.x), initial=1e-300))

    def _size(self) -> float:
        """About the size of the objective; x may still be outside its box."""
        penalty: Any = self.problem.penalty
        x = np.clip(self.x[: penalty.n_features], penalty.lower, penalty.upper)
        return abs(self.problem.primal_from_margins(x, self.m))

    def _gradient(self) -> Array:
        """grad Psi = mu x - pull + R^T (w u_new) + v_new."""
        problem = self.problem
        self.forces = np.empty(problem.n_rows)
        self.augmented.forces(problem.terms, self.m, self.u, self.sigma, self.forces)
        self.slope = problem.slope(self.forces)
        self.own = self.mu * self.x - self.pull
        if self.identity.any:
            self.own += self.identity.force(self.x, self.v, self.s)
        return self.own + self.slope

    def _parts(self) -> tuple[Array, Array]:
        """- grad Psi, as what the features have of their own, and the rows' share w u_new."""
        return -self.own, -self.problem.weight * self.forces

    def _minimise_small(self) -> int:
        """`_minimise` in compiled code."""
        identity, room = self.identity, self.room
        penalty: Any = self.problem.penalty
        features = small_newton.Features(
            self.mu, self.pull, identity.l1, identity.lower, identity.upper, self.curvature, self.far,
            penalty.value_of_center,
        )  # fmt: skip
        at = small_newton.Place(self.x, self.m, self.u, self.v, self.sigma, self.s)
        rules = small_newton.Rules(
            STEPS, SHARE, self.tol, SHARES, self._steepest, LONGEST, self.repeated,
            self.problem.fit_intercept, self._smooth,
        )  # fmt: skip
        steps, self.excess = small_newton.minimise(self.matrix, self.problem.terms, features, at, room, rules)
        self.active = int(np.count_nonzero(room.h))
        self.forces, self.slope = room.forces, room.slope
        pinned = identity.stiffness(self.x, self.v, self.s) if identity.any else 0.0
        self.curvatures = self.mu + pinned, room.h
        return steps

    def _minimise(self, stop: Callable[[], bool]) -> int:
        if self.small:
            return self._minimise_small()
        problem = self.problem
        self._lend()
        h = np.empty(problem.n_rows)
        gradient = self._gradient()
        for step in range(STEPS):
            d = self.mu + (self.identity.stiffness(self.x, self.v, self.s) if self.identity.any else 0.0)
            self.augmented.stiffness(problem.terms, self.m, self.u, self.sigma, h)
            self.active = int(np.count_nonzero(h))
            self.curvatures = d, h
            settled = self._small(gradient, d, h)
            # asked again with nothing else to change, a flat feature's residual was too costly a leftover
            if (settled and (step > 0 or not self.repeated)) or stop():
                return step
            if not self._newton_step(gradient, d, h):
                return step + 1
            gradient = self._gradient()
        return STEPS

    def _lend(self) -> None:
        push = np.minimum(self.sigma, small_newton.STIFFEST)
        push[np.isinf(self.sigma)] = self._steepest
        push *= self.problem.weight
        self.damping.lend_from(self.problem.rows.square_columns(push))

    def _newton_step(self, gradient: Array, d: Array, h: Array) -> bool:
        """Move x along a Newton direction; more damped ones follow where the first fails to descend."""
        rows = self.problem.rows
        flat = self.damping.flat
        for lent, more in self.damping.loans(lambda: d + rows.square_columns(h)):
            direction = self.system.solve(rows, d + lent, h, -gradient, 1e-3, self._parts)
            along = rows.dot(direction)
            if more and np.any(self._leaps(direction, along)[flat] > self.far[flat]):
                continue  # nothing holds the flat features yet: they would leave for good
            derivative = functools.partial(self._derivative, direction, along)
            length = descend(derivative, float(gradient @ direction), LONGEST)
            if length > 0.0:
                self.x += length * direction
                self.m += length * along
                self.damping.note(length)
                return True
        return False

    def _leaps(self, direction: Array, along: Array) -> Array:
        """How far each feature would move; an intercept by what it does to the mean of the margins.

        Where columns are far from zero, an intercept makes up for them, and has a long way to go itself.
        """
        leaps = np.abs(direction)
        n, t = self.problem.n_data, self.problem.penalty.n_features
        if n and leaps.size > t:
            moves = (self.problem.weight[:n] * along[:n]).reshape(-1, leaps.size - t)
            leaps[t:] = np.abs(moves.sum(axis=0))
        return leaps

    def _small(self, gradient: Array, d: Array, h: Array) -> bool:
        """Does what is left of the gradient cost less than a share of the gap elsewhere, or of tol?"""
        metric = np.where(self.mu > 0, self.mu, np.maximum(d, self.curvature))
        if self._smooth and self.problem.fit_intercept:  # where all rows are flat, b may still be far off
            width = self.x.size - self.problem.penalty.n_features
            own = h[: self.problem.n_data].reshape(-1, width).sum(axis=0)
            metric[-width:] = np.minimum(metric[-width:], own)
        with np.errstate(over="ignore"):
            left = 0.5 * float(np.sum(gradient**2 / np.maximum(metric, 1e-300)))
        gap = self.augmented.row_gaps(self.problem.terms, self.m, self.forces)
        size = self._size()
        self.near = gap <= NEAR * self.tol * size
        allowed = max(SHARE * gap, 0.05 * self.tol * size, 1e-32)
        self.excess = left / allowed
        return left <= allowed

    def _derivative(self, direction: Array, along: Array, step: float) -> float:
        x = self.x + step * direction
        total = float((self.mu * x - self.pull) @ direction)
        total += self.augmented.pull_along(self.problem.terms, self.m, along, step, self.u, self.sigma)
        if self.identity.any:
            total += float(self.identity.force(x, self.v, self.s) @ direction)
        return total

    def candidates(self) -> Candidates:
        problem = self.problem
        t = problem.penalty.n_features
        x = self.x.copy()
        if self.identity.any:
            x[:t] = self.identity.point(self.x, self.v, self.s)[:t]
        points = [x]
        if problem.penalty.mu_min > 0:
            points.append(np.append(problem.penalty.minimiser(self.slope[:t]), self.x[t:]))
        lost = self.excess > 1.0  # in rounding, which misses a kink by a hair
        return Candidates(points, self._refined(), stretch=lost, stiffness=(self.sigma, self.s))

    def _refined(self) -> Array:
        """u, moved along its free coordinates to where grad Psi vanishes to the last digit.

        Forces read off the margins carry their rounding times sigma. Where a feature has no curvature, that
        rounding must not reach the repair of the dual, which would push it into any free coordinate.
        """
        problem = self.problem
        (d, h), self.curvatures = self.curvatures, (np.zeros(0), np.zeros(0))  # long vectors, used once
        if self.system is not newton_system:
            return problem.project_dual(self.u)
        u = np.empty_like(self.u) if self.small else self.forces  # which the next step makes anew
        u[:] = self.u
        row_terms.project(problem.terms, u)
        if not (self.near and (self.mu == 0.0).any() and h.any()):
            return u
        x, v = self.x, self.v
        for _ in range(REFINEMENTS):
            left = self.mu * x - self.pull + problem.slope(u) + v
            change = self.system.solve(problem.rows, d, h, -left, 1e-12)
            moved = problem.rows.dot(change)
            moved *= h
            u += np.divide(moved, problem.weight, out=moved, where=h > 0.0)
            row_terms.project(problem.terms, u)
            x, v = x + change, v + np.where(d > self.mu, d - self.mu, 0.0) * change
        return u
