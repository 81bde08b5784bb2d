"""The ten losses of one margin. Each is a NamedTuple of its parameters; its scalar functions stand below it.

m is the margin or fitted value a_i . x (+ intercept), y the target or the label (-1 or +1). What each
function means is written in `loss_registry`, where a loss of your own is registered as well. Losses over all
classes at once are in `block_losses`.

>>> import zerogap as zg
>>> zg.losses.Pinball(0.9), zg.losses.Huber()  # what Problem(loss=...) takes; a name has the defaults
(Pinball(quantile=0.9), Huber(delta=1.35))
>>> zg.Problem([[1.0]], [3.0], loss=zg.losses.Huber(2.0), regularizer=zg.L2(1.0)).primal([0.0])
4.0
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from zerogap._jit import inline
from zerogap.problem.block_losses import CrammerSinger, Multinomial
from zerogap.problem.loss_registry import names, register, traits

__all__ = [
    "Absolute",
    "CrammerSinger",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Multinomial",
    "Pinball",
    "SmoothedHinge",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "names",
    "register",
    "traits",
]


def _positive(field: str, zero_too: bool = False) -> Callable[[Any], str | None]:
    def check(loss):
        number = getattr(loss, field)
        if math.isfinite(number) and (number > 0 or (zero_too and number == 0)):
            return None
        return f"{field} must be {'>= 0' if zero_too else '> 0'} and finite; got {number!r}"

    return check


@inline
def _clip(v, low, high):
    return min(max(v, low), high)


@inline
def _shrink(v, width):
    return max(v - width, 0.0) + min(v + width, 0.0)


class Hinge(NamedTuple):
    """max(0, 1 - y m). Dual domain: -1 <= u y <= 0, phi* = u y."""


class SmoothedHinge(NamedTuple):
    """0 if y m >= 1; 1 - y m - width/2 if y m <= 1 - width; (1 - y m)^2 / (2 width) between.

    Dual domain: -1 <= u y <= 0, phi* = u y + width u^2 / 2.
    """

    width: float = 1.0


def _smoothed_hinge_value(loss, m, y):
    missing = 1.0 - y * m
    if missing <= 0.0:
        return 0.0
    if missing >= loss.width:
        return missing - 0.5 * loss.width
    return missing * missing / (2.0 * loss.width)


def _hinge_prox(loss, v, tau, y):
    return y * _clip((v - tau * y) * y, -1.0, 0.0)


def _hinge_slope(loss, v, tau, y):
    return 1.0 if -1.0 < (v - tau * y) * y < 0.0 else 0.0


def _smoothed_hinge_prox(loss, v, tau, y):
    return y * _clip((v - tau * y) / (1.0 + tau * loss.width) * y, -1.0, 0.0)


def _smoothed_hinge_slope(loss, v, tau, y):
    u = (v - tau * y) / (1.0 + tau * loss.width) * y
    return 1.0 / (1.0 + tau * loss.width) if -1.0 < u < 0.0 else 0.0


def _smoothed_hinge_curvature(loss, m, y):
    return 1.0 / loss.width if 0.0 < 1.0 - y * m < loss.width else 0.0


def _hinge_domain(loss, y):
    return min(-y, 0.0), max(-y, 0.0)


def _one(loss):
    return 1.0


register(
    Hinge,
    value=lambda loss, m, y: max(0.0, 1.0 - y * m),
    conjugate=lambda loss, u, y: u * y,
    prox=_hinge_prox,
    slope=_hinge_slope,
    domain=_hinge_domain,
    lipschitz=_one,
    classification=True,
    name="hinge",
)
register(
    SmoothedHinge,
    value=_smoothed_hinge_value,
    conjugate=lambda loss, u, y: u * y + 0.5 * loss.width * u * u,
    prox=_smoothed_hinge_prox,
    slope=_smoothed_hinge_slope,
    domain=_hinge_domain,
    lipschitz=_one,
    smoothness=lambda loss: loss.width,
    classification=True,
    gradient=lambda loss, m, y: -y * _clip((1.0 - y * m) / loss.width, 0.0, 1.0),
    curvature=_smoothed_hinge_curvature,
    name="smoothed_hinge",
    check=_positive("width"),
)


class SquaredHinge(NamedTuple):
    """max(0, 1 - y m)^2. Dual domain: u y <= 0."""


def _squared_hinge_slope(loss, v, tau, y):
    return 1.0 / (1.0 + 0.5 * tau) if (v - tau * y) * y < 0.0 else 0.0


register(
    SquaredHinge,
    value=lambda loss, m, y: max(0.0, 1.0 - y * m) ** 2,
    conjugate=lambda loss, u, y: u * y + 0.25 * u * u,
    prox=lambda loss, v, tau, y: y * min((v - tau * y) * y, 0.0) / (1.0 + 0.5 * tau),
    slope=_squared_hinge_slope,
    domain=lambda loss, y: (-math.inf if y > 0 else 0.0, 0.0 if y > 0 else math.inf),
    smoothness=lambda loss: 0.5,
    classification=True,
    gradient=lambda loss, m, y: -2.0 * y * max(0.0, 1.0 - y * m),
    curvature=lambda loss, m, y: 2.0 if y * m < 1.0 else 0.0,
    name="squared_hinge",
)


class Logistic(NamedTuple):
    """log(1 + exp(-y m)). Dual domain: -1 <= u y <= 0, phi* = p log p + (1-p) log(1-p) with p = -u y."""


@inline
def _sigmoid(t):
    if t >= 0.0:
        return 1.0 / (1.0 + math.exp(-t))
    e = math.exp(t)
    return e / (1.0 + e)


def _logistic_value(loss, m, y):
    margin = y * m
    if margin > 0.0:
        return math.log1p(math.exp(-margin))
    return -margin + math.log1p(math.exp(margin))


def _logistic_conjugate(loss, u, y):
    p = -u * y
    if p <= 0.0 or p >= 1.0:
        return 0.0
    return p * math.log(p) + (1.0 - p) * math.log1p(-p)


@inline
def _logistic_root(q, tau):
    """t with sigmoid(t) - q + tau t = 0: Newton in the logit, kept inside a shrinking bracket."""
    low, high = (q - 1.0) / tau, q / tau
    t = _clip(0.0, low, high)
    for _ in range(100):
        p = _sigmoid(t)
        h = p - q + tau * t
        if h > 0.0:
            high = t
        else:
            low = t
        following = t - h / (p * (1.0 - p) + tau)
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - t) <= 4e-16 * max(1.0, abs(t)):
            return following
        t = following
    return t


def _logistic_prox(loss, v, tau, y):
    return -y * _sigmoid(_logistic_root(-y * v, tau))


def _logistic_curvature(loss, m, y):
    p = _sigmoid(-y * m)
    return p * (1.0 - p)


def _logistic_slope(loss, v, tau, y):
    p = _sigmoid(_logistic_root(-y * v, tau))
    curvature = p * (1.0 - p)
    return curvature / (curvature + tau)


register(
    Logistic,
    value=_logistic_value,
    conjugate=_logistic_conjugate,
    prox=_logistic_prox,
    slope=_logistic_slope,
    domain=_hinge_domain,
    lipschitz=_one,
    smoothness=lambda loss: 4.0,
    classification=True,
    gradient=lambda loss, m, y: -y * _sigmoid(-y * m),
    curvature=_logistic_curvature,
    name="logistic",
)


class Absolute(NamedTuple):
    """|m - y|. Dual domain: |u| <= 1, phi* = u y."""


def _unit_interval(loss, y):
    return -1.0, 1.0


register(
    Absolute,
    value=lambda loss, m, y: abs(m - y),
    conjugate=lambda loss, u, y: u * y,
    prox=lambda loss, v, tau, y: _clip(v - tau * y, -1.0, 1.0),
    slope=lambda loss, v, tau, y: 1.0 if abs(v - tau * y) < 1.0 else 0.0,
    domain=_unit_interval,
    lipschitz=_one,
    name="absolute",
)


class EpsilonInsensitive(NamedTuple):
    """max(0, |m - y| - epsilon). Dual domain: |u| <= 1, phi* = u y + epsilon |u|."""

    epsilon: float = 0.1


def _tube_slope(loss, v, tau, y):
    outside = abs(v - tau * y) - tau * loss.epsilon
    return 1.0 if (outside > 0.0 or loss.epsilon == 0.0) and outside < 1.0 else 0.0


register(
    EpsilonInsensitive,
    value=lambda loss, m, y: max(0.0, abs(m - y) - loss.epsilon),
    conjugate=lambda loss, u, y: u * y + loss.epsilon * abs(u),
    prox=lambda loss, v, tau, y: _clip(_shrink(v - tau * y, tau * loss.epsilon), -1.0, 1.0),
    slope=_tube_slope,
    domain=_unit_interval,
    lipschitz=_one,
    name="epsilon_insensitive",
    check=_positive("epsilon", zero_too=True),
)


class SquaredEpsilonInsensitive(NamedTuple):
    """max(0, |m - y| - epsilon)^2. Dual: phi* = u y + epsilon |u| + u^2 / 4."""

    epsilon: float = 0.1


def _squared_tube_prox(loss, v, tau, y):
    return _shrink(v - tau * y, tau * loss.epsilon) / (1.0 + 0.5 * tau)


def _squared_tube_slope(loss, v, tau, y):
    outside = abs(v - tau * y) > tau * loss.epsilon or loss.epsilon == 0.0
    return 1.0 / (1.0 + 0.5 * tau) if outside else 0.0


def _everywhere(loss, y):
    return -math.inf, math.inf


register(
    SquaredEpsilonInsensitive,
    value=lambda loss, m, y: max(0.0, abs(m - y) - loss.epsilon) ** 2,
    conjugate=lambda loss, u, y: u * y + loss.epsilon * abs(u) + 0.25 * u * u,
    prox=_squared_tube_prox,
    slope=_squared_tube_slope,
    domain=_everywhere,
    smoothness=lambda loss: 0.5,
    gradient=lambda loss, m, y: 2.0 * _shrink(m - y, loss.epsilon),
    curvature=lambda loss, m, y: 2.0 if abs(m - y) >= loss.epsilon else 0.0,
    name="squared_epsilon_insensitive",
    check=_positive("epsilon", zero_too=True),
)


class Pinball(NamedTuple):
    """max(q (y - m), (q - 1)(y - m)), q the quantile. Dual domain: -q <= u <= 1 - q, phi* = u y."""

    quantile: float = 0.5


def _pinball_slope(loss, v, tau, y):
    return 1.0 if -loss.quantile < v - tau * y < 1.0 - loss.quantile else 0.0


def _quantile_check(loss):
    if 0.0 < loss.quantile < 1.0:
        return None
    return f"quantile must lie strictly between 0 and 1; got {loss.quantile!r}"


register(
    Pinball,
    value=lambda loss, m, y: max(loss.quantile * (y - m), (loss.quantile - 1.0) * (y - m)),
    conjugate=lambda loss, u, y: u * y,
    prox=lambda loss, v, tau, y: _clip(v - tau * y, -loss.quantile, 1.0 - loss.quantile),
    slope=_pinball_slope,
    domain=lambda loss, y: (-loss.quantile, 1.0 - loss.quantile),
    lipschitz=lambda loss: max(loss.quantile, 1.0 - loss.quantile),
    name="pinball",
    check=_quantile_check,
)


class Squared(NamedTuple):
    """(m - y)^2 / 2. Dual: phi* = u^2 / 2 + u y."""


register(
    Squared,
    value=lambda loss, m, y: 0.5 * (m - y) * (m - y),
    conjugate=lambda loss, u, y: 0.5 * u * u + u * y,
    prox=lambda loss, v, tau, y: (v - tau * y) / (1.0 + tau),
    slope=lambda loss, v, tau, y: 1.0 / (1.0 + tau),
    domain=_everywhere,
    smoothness=_one,
    gradient=lambda loss, m, y: m - y,
    curvature=lambda loss, m, y: 1.0,
    name="squared",
)


class Huber(NamedTuple):
    """r^2/2 if |r| <= delta, else delta (|r| - delta/2), r = m - y. Dual: |u| <= delta, u^2/2 + u y."""

    delta: float = 1.35


def _huber_value(loss, m, y):
    r = abs(m - y)
    return 0.5 * r * r if r <= loss.delta else loss.delta * (r - 0.5 * loss.delta)


def _huber_slope(loss, v, tau, y):
    return 1.0 / (1.0 + tau) if abs(v - tau * y) < loss.delta * (1.0 + tau) else 0.0


register(
    Huber,
    value=_huber_value,
    conjugate=lambda loss, u, y: 0.5 * u * u + u * y,
    prox=lambda loss, v, tau, y: _clip((v - tau * y) / (1.0 + tau), -loss.delta, loss.delta),
    slope=_huber_slope,
    domain=lambda loss, y: (-loss.delta, loss.delta),
    lipschitz=lambda loss: loss.delta,
    smoothness=_one,
    gradient=lambda loss, m, y: _clip(m - y, -loss.delta, loss.delta),
    curvature=lambda loss, m, y: 1.0 if abs(m - y) < loss.delta else 0.0,
    name="huber",
    check=_positive("delta"),
)
