"""Line search on a convex, once differentiable function of one variable, by its derivative alone."""

from collections.abc import Callable

from zerogap._jit import inline

#: The derivative may keep this share of its size at zero.
SLACK = 0.5
TRIALS = 40


@inline
def narrowed(low, high, at_low, at_high, step, here):
    """The bracket (low, high), the derivatives there, and the next step, after `here` was found at step."""
    if here > 0:
        high, at_high = step, here
    else:
        low, at_low = step, here
    if high == 0.0:
        return low, high, at_low, at_high, 2.0 * step
    secant = low + (high - low) * at_low / (at_low - at_high)
    step = min(max(secant, low + 0.1 * (high - low)), high - 0.1 * (high - low))
    return low, high, at_low, at_high, step


def descend(derivative: Callable[[float], float], at_zero: float, longest: float = 1.0) -> float:
    """A step > 0 where the derivative has lost most of its size, or 0.0 where there is no way down.

    Convexity lets the sign of the derivative bracket the minimum; rounding of values plays no part. Steps
    start at 1 and double up to `longest` where the function keeps falling.
    """
    if not at_zero < 0:
        return 0.0
    low, high, step, at_low, at_high = 0.0, 0.0, 1.0, at_zero, 0.0
    for _ in range(TRIALS):
        here = derivative(step)
        if abs(here) <= SLACK * abs(at_zero) or (here < 0 and high == 0.0 and step >= longest):
            return step
        low, high, at_low, at_high, step = narrowed.py_func(low, high, at_low, at_high, step, here)
    return low
