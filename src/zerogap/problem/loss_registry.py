"""What a loss is: a NamedTuple of its parameters plus a few scalar functions, registered here.

With m = a_i . x (+ intercept) and y the target (or the label, -1 or +1), a loss phi(m, y) brings

    value(loss, m, y)          phi
    conjugate(loss, u, y)      phi*(u) = sup_m u m - phi(m); only ever asked inside the domain
    prox(loss, v, tau, y)      argmin_u tau phi*(u) + (u - v)^2 / 2
    slope(loss, v, tau, y)     the derivative of prox in v (any element of it at a kink)
    domain(loss, y)            (lowest, highest) u with phi*(u) finite
    lipschitz(loss)            M of Assumption 1.2 (inf when there is none)
    smoothness(loss)           gamma: phi is 1/gamma-smooth (0 when it is not smooth)
    gradient, curvature        d phi/dm and d^2 phi/dm^2 of a smooth loss (optional: Newton steps are
                               cheaper with them)

A loss of your own is the same thing in your own file, handed to `register`.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

from zerogap._jit import carrier, inline, verb
from zerogap.exceptions import ProblemError


@verb
def value(loss, m, y):
    """phi(m, y)"""


@verb
def conjugate(loss, u, y):
    """phi*(u) for u in the domain"""


@verb
def prox(loss, v, tau, y):
    """argmin_u tau phi*(u) + (u - v)^2 / 2"""


@verb
def slope(loss, v, tau, y):
    """d prox(loss, v, tau, y) / dv"""


@verb
def domain(loss, y):
    """(lowest, highest) u where phi* is finite"""


@verb
def gradient(loss, m, y):
    """d phi / dm, for a smooth loss"""


@verb
def curvature(loss, m, y):
    """d^2 phi / dm^2 (any element of it where phi' has a kink), for a smooth loss"""


@dataclasses.dataclass(frozen=True)
class LossTraits:
    """What a loss says about itself outside compiled code."""

    name: str
    lipschitz: Callable[[Any], float]
    smoothness: Callable[[Any], float]
    classification: bool
    differentiable: bool  # brings gradient and curvature
    functions: tuple[Callable[..., Any], ...]
    check: Callable[[Any], str | None]
    outputs: bool = False  # over K outputs: see block_registry


_TRAITS: dict[type, LossTraits] = {}
_BY_NAME: dict[str, Callable[[], Any]] = {}
_CARRIERS: dict[type, Any] = {}


def _accept(loss: Any) -> None:
    return None


def register(
    kind: Any,
    *,
    value: Callable[..., Any],
    conjugate: Callable[..., Any],
    prox: Callable[..., Any],
    domain: Callable[..., Any],
    slope: Callable[..., Any] | None = None,
    gradient: Callable[..., Any] | None = None,
    curvature: Callable[..., Any] | None = None,
    lipschitz: Callable[[Any], float] = lambda loss: math.inf,
    smoothness: Callable[[Any], float] = lambda loss: 0.0,
    classification: bool = False,
    name: str | None = None,
    check: Callable[[Any], str | None] = _accept,
) -> Any:
    """Make the NamedTuple type `kind` a loss. Its functions are compiled into every kernel that meets it.

    `slope` may be left out: a difference quotient of `prox` takes its place (only Newton steps use it).
    `check(loss)` returns what is wrong with the parameters, or None.
    """
    slope = slope or _difference_slope(prox)
    bodies = {
        "value": value,
        "conjugate": conjugate,
        "prox": prox,
        "slope": slope,
        "domain": domain,
    }
    bodies |= {"gradient": gradient or _unknown, "curvature": curvature or _unknown}
    _CARRIERS[kind] = carrier(kind, bodies.values())
    for verb_name, body in bodies.items():
        for carried in {kind, _CARRIERS[kind]}:
            globals()[verb_name].define(carried, body)
    traits = LossTraits(
        name or kind.__name__.lower(),
        lipschitz,
        smoothness,
        classification,
        gradient is not None and curvature is not None,
        tuple(bodies.values()),
        check,
    )
    enter(kind, traits)
    return kind


def enter(kind: Any, traits: LossTraits) -> None:
    """Make the type known, by its name too where its parameters have defaults."""
    _TRAITS[kind] = traits
    if len(kind._field_defaults) == len(kind._fields):
        _BY_NAME[traits.name] = kind


def _unknown(loss, m, y):
    return math.nan


def _difference_slope(prox_body: Callable[..., Any]) -> Callable[..., Any]:
    compiled = inline(getattr(prox_body, "py_func", prox_body))

    def slope_by_difference(loss, v, tau, y):
        step = 1e-6 * (1.0 + abs(v))
        return (compiled(loss, v + step, tau, y) - compiled(loss, v - step, tau, y)) / (2.0 * step)

    return slope_by_difference


def traits(loss: Any) -> LossTraits:
    """The traits of a loss object."""
    return _TRAITS[type(loss)]


def compiled(loss: Any) -> Any:
    """The loss as kernels take it: see `_jit.carrier`."""
    if type(loss) not in _CARRIERS:
        return loss
    return _CARRIERS[type(loss)](*map(compiled, loss))


def names() -> list[str]:
    """Names that `Problem(loss=...)` accepts as strings."""
    return sorted(_BY_NAME)


def resolve(loss: Any) -> Any:
    """A loss object from a name or an object, its parameters checked and made floats."""
    if isinstance(loss, str):
        if loss not in _BY_NAME:
            raise ProblemError(f"loss: expected one of {', '.join(names())}; got {loss!r}")
        loss = _BY_NAME[loss]()
    if type(loss) not in _TRAITS:
        raise ProblemError(
            f"loss: expected a name ({', '.join(names())}) or a registered loss object such as "
            f"zg.losses.Pinball(0.9); got {loss!r}. See zg.losses.register for a loss of your own"
        )
    loss = type(loss)(*(float(p) if isinstance(p, int) else p for p in loss))
    try:
        complaint = traits(loss).check(loss)
    except (TypeError, ValueError):
        complaint = f"expected numbers as parameters; got {loss!r:.80}"
    if complaint:
        raise ProblemError(f"loss {traits(loss).name}: {complaint}")
    return loss
