"""
A loss of your own
==================

A loss is a NamedTuple of its parameters and a few scalar functions, in your own file. Here: a Huber loss
whose two sides differ. Small errors are squared; predicting too much costs at most `over` for each unit,
predicting too little at most `under`.

    phi(m, y) = r^2/2                        r = m - y,  -under <= r <= over
                over (r - over/2)            r > over
                under (-r - under/2)         r < -under

    phi*(u) = u y + u^2/2  on  -under <= u <= over
"""

from typing import NamedTuple

import numpy as np

import zerogap as zg

# %%
# The functions are plain Python for one number; they are compiled into the solvers' loops. Each gets the
# NamedTuple first. `y` is the target of the row.


class AsymmetricHuber(NamedTuple):
    """r^2/2 where -under <= r <= over, linear beyond, r = m - y."""

    under: float = 1.0
    over: float = 1.0


def value(loss, m, y):
    r = m - y
    if r > loss.over:
        return loss.over * (r - 0.5 * loss.over)
    if r < -loss.under:
        return loss.under * (-r - 0.5 * loss.under)
    return 0.5 * r * r


def conjugate(loss, u, y):
    return u * y + 0.5 * u * u


def domain(loss, y):
    return -loss.under, loss.over


def prox(loss, v, tau, y):
    """argmin_u tau phi*(u) + (u - v)^2 / 2"""
    return min(max((v - tau * y) / (1.0 + tau), -loss.under), loss.over)


def check(loss):
    """What is wrong with the parameters, or None."""
    return None if loss.under > 0 and loss.over > 0 else "under and over must be > 0"


# %%
# `register` makes the type a loss. Lipschitz constant and smoothness are what Algorithm 4 asks for.

zg.losses.register(
    AsymmetricHuber,
    value=value,
    conjugate=conjugate,
    prox=prox,
    domain=domain,
    lipschitz=lambda loss: max(loss.under, loss.over),
    smoothness=lambda loss: 1.0,
    check=check,
)


# %%
# From here on it is a loss like any other: sparse or dense data, constraints, weights, every algorithm.


def main() -> zg.Result:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    y = X @ np.array([1.0, -2.0, 0.5, 0.0, 3.0]) + rng.exponential(2.0, 200)
    problem = zg.Problem(
        X,
        y,
        loss=AsymmetricHuber(under=0.2, over=2.0),
        regularizer=zg.L2(1e-2),
        constraints=zg.Equal(np.ones((1, 5)), 2.5),
    )
    result = zg.solve(problem, tol=1e-8, random_state=0)
    print(result)
    print("x", np.round(result.x, 4))
    return result


if __name__ == "__main__":
    main()
