"""Seeded constrained problems of every loss: `INSTANCES`, each solvable by Clarabel for comparison.

An instance is a `problems.ReferenceProblem` whose constraint rows have unit norms (what Clarabel gets),
and a scale for every row: `build` multiplies each row and its sides by its scale, 1e-4..1e4.
"""

import dataclasses

import numpy as np
import problems
import reference

LOSSES = list(problems.LOSSES)
#: (equalities, ranges): what the seeds cycle through.
COUNTS = [(1, 0), (0, 8), (5, 40), (20, 0), (0, 300), (50, 10), (3, 2000), (50, 400), (0, 2000), (12, 60)]
KINDS = ("dense", "redundant", "single", "order", "mixed", "duplicate")


@dataclasses.dataclass(frozen=True)
class Instance:
    """A described problem with unit constraint rows, and the scale that each row gets."""

    name: str
    described: problems.ReferenceProblem
    scales: tuple

    def build(self):
        constraints = []
        for (kind, J, *sides), scale in zip(self.described.constraints, self.scales, strict=True):
            constraints.append((kind, J * scale[:, None], *(side * scale for side in sides)))
        scaled = dataclasses.replace(self.described, constraints=tuple(constraints))
        return scaled.build(sparse=self.name.endswith("sparse"))

    def multipliers(self, problem, u):
        """The constraint coordinates of u, for the unit rows."""
        tail = u[problem.n_samples :]
        return tail * np.concatenate(self.scales) if self.scales else tail


def _rows(rng, count, t, kind):
    """Unit rows of one kind."""
    dense = rng.standard_normal((count, t))
    pairs = np.zeros((count, t))
    first = rng.integers(0, t - 1, count)
    pairs[np.arange(count), first], pairs[np.arange(count), first + 1] = 1.0, -1.0
    single = np.zeros((count, t))
    single[np.arange(count), rng.integers(0, t, count)] = rng.choice([-1.0, 1.0], count)
    rank = max(1, min(count, t) // 3)
    redundant = rng.standard_normal((count, rank)) @ rng.standard_normal((rank, t))
    if kind == "duplicate":
        dense[count // 2 :] = dense[: count - count // 2]
    which = rng.integers(0, 4, count)[:, None]
    mixed = np.select([which == 0, which == 1, which == 2], [dense, pairs, single], redundant)
    chosen = {"dense": dense, "redundant": redundant, "single": single, "order": pairs, "mixed": mixed}
    rows = chosen.get(kind, dense)
    return rows / np.maximum(np.linalg.norm(rows, axis=1), 1e-12)[:, None]


def make(seed):
    """The instance of a seed; the seed also decides loss, sizes and kinds of rows."""
    rng = np.random.default_rng([20260, seed])
    loss = LOSSES[seed % 10]
    n_equal, n_ranges = COUNTS[(seed + seed // 10) % 10]
    kinds = KINDS[seed % 6], KINDS[(seed // 2 + seed // 6) % 6]
    n = int(rng.choice([40, 200, 600]))
    t = int(rng.choice([6, 20, 45]))
    X = rng.standard_normal((n, t)) * (rng.random((n, t)) < rng.choice([0.3, 1.0]))
    X *= 10 ** rng.uniform(-1, 1, t) if seed % 4 == 3 else 1.0
    truth = rng.standard_normal(t) / np.maximum(np.abs(X).max(axis=0), 0.1)
    m = X @ truth + 0.5 * rng.standard_normal(n) + (1.0 if seed % 3 == 0 else 0.0)
    m[::9] += 3.0 * rng.standard_normal(m[::9].size)
    y = np.where(m > 0, 1.0, -1.0) if loss in reference.CLASSIFICATION else m
    interior = 0.5 * truth + 0.1 * rng.standard_normal(t) * np.abs(truth).mean()
    penalty = {"l2": float(10 ** rng.uniform(-4, 0)), "l1": 0.0}
    if seed % 3 == 1:
        penalty["l1"] = float(10 ** rng.uniform(-3, -1))
    if seed % 5 == 2:
        reach = np.abs(interior).max() * 1.1
        penalty |= {"lower": -reach, "upper": reach}
    constraints, scales = [], []
    if n_equal:
        B = _rows(rng, n_equal, t, "redundant" if n_equal >= t else kinds[0])
        constraints.append(("equal", B, B @ interior))
    if n_ranges:
        J = _rows(rng, n_ranges, t, kinds[1])
        width = np.abs(interior).mean() * 10 ** rng.uniform(-2, 0.5, (2, n_ranges))
        lower, upper = J @ interior - width[0], J @ interior + width[1]
        side = rng.integers(0, 4, n_ranges)
        constraints.append(
            ("between", J, np.where(side == 0, -np.inf, lower), np.where(side == 1, np.inf, upper))
        )
    for row in constraints:
        scales.append(10 ** rng.uniform(-4, 4, len(row[1])) if seed % 2 else np.ones(len(row[1])))
    name = f"{seed}-{loss}-{n}x{t}-{n_equal}e-{n_ranges}r-{kinds[0]}-{kinds[1]}" + "-sparse" * (seed % 4 == 1)
    described = problems.ReferenceProblem(
        name, X, y, (loss, problems.LOSSES[loss]), ("elastic_net", penalty), tuple(constraints),
        rng.uniform(0.5, 2.0, n) if seed % 7 == 0 else None, seed % 3 == 0,
    )  # fmt: skip
    return Instance(name, described, tuple(scales))


INSTANCES = [make(seed) for seed in range(70)]


def unique_multipliers(instance, x, intercept, u, tol=1e-5):
    """Which constraint multipliers the optimality conditions determine (unit rows).

    The active rows are those at a kink of their function; a multiplier is unique when no combination of
    active rows that involves it vanishes.
    """
    described = instance.described
    rows, lower, upper = described._stacked_constraints()
    activity = rows @ x
    size = 1.0 + np.maximum(np.abs(activity), 0.0)
    active = (np.abs(activity - lower) <= tol * size) | (np.abs(activity - upper) <= tol * size)
    active |= np.abs(u) > tol * max(1.0, np.abs(u).max(initial=0.0))
    margins = described.X @ x + intercept
    loss, y = described.loss[0], described.y
    kinks = {
        "hinge": [np.abs(1 - y * margins)],
        "absolute": [np.abs(margins - y)],
        "pinball": [np.abs(margins - y)],
        "epsilon_insensitive": [np.abs(np.abs(margins - y) - described.loss[1].get("epsilon", 0.0))],
    }.get(loss, [np.full(y.size, np.inf)])[0]
    kinked = np.flatnonzero(kinks <= tol * (1 + np.abs(margins)))
    ones = float(described.fit_intercept)
    penalty = described.regularizer[1]
    pinned = np.zeros(x.size, dtype=bool)
    if penalty["l1"] > 0:
        pinned |= np.abs(x) <= tol * max(np.abs(x).max(), 1e-300)
    for side in ("lower", "upper"):
        if side in penalty:
            pinned |= np.abs(x - penalty[side]) <= tol * (1 + abs(penalty[side]))
    blocks = [
        np.hstack([rows[active], np.zeros((active.sum(), 1))]),
        np.hstack([described.X[kinked], np.full((kinked.size, 1), ones)]),
        np.hstack([np.eye(x.size)[pinned], np.zeros((pinned.sum(), 1))]),
    ]
    A = np.vstack(blocks)
    unique = np.ones(len(u), dtype=bool)
    if len(A):
        norms = np.maximum(np.linalg.norm(A, axis=1), 1e-300)
        _, values, right = np.linalg.svd((A / norms[:, None]).T, full_matrices=True)
        rank = int(np.sum(values > 1e-3 * max(values.max(), 1e-300)))
        null = right[rank:, : active.sum()]
        unique[np.flatnonzero(active)] = np.abs(null).max(axis=0, initial=0.0) < 1e-8
    return unique
