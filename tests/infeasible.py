"""Seeded problems whose constraints contradict each other: `INSTANCES`, of 1 to 200 rows.

The rows that cause a contradiction lie anywhere among others that hold at a known point with room to spare.
"""

import numpy as np

import zerogap as zg

LOSSES = ("hinge", "absolute", "squared", "logistic", "pinball")
COUNTS = (1, 2, 3, 8, 25, 60, 200)


def _conflict(kind, rng, point, size):
    """Rows and sides without a common point, `size` of them at most; each kind in another way.

    Without the amount by which they miss each other, `point` would satisfy them.
    """
    t = point.size
    if kind == "box":  # one row beyond what the box -1 <= x <= 1 allows
        row = rng.standard_normal((1, t))
        return row, [np.abs(row).sum() * 1.01], [np.inf]
    if kind == "parallel":
        row = rng.standard_normal(t)
        side = row @ point
        return np.array([row, -3.0 * row]), [-np.inf, -np.inf], [side, -3.0 * (side + 0.2)]
    if kind == "cycle":  # x_a + 1 <= x_b, x_b + 1 <= x_c, ..., back to x_a
        size = min(size, t)
        steps = np.eye(t)[:size] - np.eye(t)[np.roll(np.arange(size), -1)]
        return steps, np.full(size, -np.inf), np.full(size, -1.0)
    size = min(max(size, 2), t + 1)
    rows = rng.standard_normal((size, t))
    y = rng.uniform(0.5, 2.0, size)
    rows[-1] = -(y[:-1] @ rows[:-1]) / y[-1]  # R'y = 0
    side = rows @ point
    miss = (NEARLY if kind == "near" else 0.3) / y
    if kind == "equal":
        side[0] += miss[0]
        return rows, side, side
    if kind == "mixed":  # the first row an equality, the others one-sided
        upper = side - miss
        return rows, np.where(np.arange(size) == 0, upper, -np.inf), upper
    return rows, np.full(size, -np.inf), side - miss / size


#: How far apart the rows of a nearly feasible conflict are: more than the tolerance of a solve.
NEARLY = 1e-4
KINDS = ("box", "parallel", "cycle", "farkas", "equal", "mixed", "near")


def make(seed, conflict=True):
    """The problem of a seed: kind, number of rows, loss, penalty and scales all follow from it.

    Without the conflict, only the rows that hold at a known point are left.
    """
    rng = np.random.default_rng([606, seed])
    kind, count = KINDS[seed % 7], COUNTS[(seed + seed // 7) % 7]
    t = int(rng.choice([3, 8, 20]))
    point = np.clip(0.3 * rng.standard_normal(t), -0.9, 0.9)
    rows, lower, upper = (np.asarray(part) for part in _conflict(kind, rng, point, count))
    intercept = seed % 3 == 0
    fill = max(count - len(rows), 0)
    others = rng.standard_normal((fill, t)) * (rng.random((fill, t)) < 0.6)
    rows = np.vstack([rows, others])
    lower = np.append(lower, others @ point - rng.uniform(0.5, 2.0, fill))
    upper = np.append(upper, others @ point + rng.uniform(0.5, 2.0, fill))
    if intercept and kind != "box":  # b = x . shift more or less: R x + c b with c = R shift
        rows = np.hstack([rows, (rows @ rng.standard_normal(t))[:, None]])
    scale = 10.0 ** rng.uniform(-4, 4, len(rows)) if seed % 2 else np.ones(len(rows))
    order = rng.permutation(len(rows))
    rows, lower, upper = rows[order] * scale[:, None], lower[order] * scale, upper[order] * scale
    if not conflict:
        others = order >= len(rows) - fill
        rows, lower, upper = rows[others], lower[others], upper[others]
    equal = lower == upper
    constraints = []
    if equal.any():
        constraints.append(zg.Equal(rows[equal], upper[equal]))
    if (~equal).any():
        constraints.append(zg.Between(rows[~equal], lower[~equal], upper[~equal]))
    n = int(rng.choice([20, 150]))
    X = rng.standard_normal((n, t))
    loss = LOSSES[seed % 5]
    y = X @ rng.standard_normal(t) + 0.3 * rng.standard_normal(n)
    y = np.where(y > 0, 1.0, -1.0) if loss in ("hinge", "logistic") else y
    boxed = {"lower": -1.0, "upper": 1.0} if kind == "box" or seed % 4 == 1 else {}
    penalty = zg.ElasticNet(10.0 ** rng.uniform(-4, 0), 0.01 * (seed % 2), **boxed)
    return zg.Problem(
        X, y, loss=zg.losses.Pinball(0.8) if loss == "pinball" else loss, regularizer=penalty,
        constraints=constraints, fit_intercept=intercept,
    )  # fmt: skip


N_INSTANCES = 30
