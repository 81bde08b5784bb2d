"""Impossible parameters and unknown names: the exception names them, what was expected and what came."""

import numpy as np
import pytest
from support import refused

import zerogap as zg

X = np.arange(12.0).reshape(4, 3) + np.eye(4, 3)
Y = np.array([1.0, 2.0, 3.0, 4.0])
LABELS = np.array([-1, 1, 1, -1])


def problem(X=X, y=Y, **settings):
    return zg.Problem(X, y, **{"regularizer": zg.L2(0.1), **settings})


# ---- impossible bounds, parameters and names
def test_reversed_bounds():
    refused(
        zg.ProblemError,
        lambda: zg.Between(np.eye(3), [0, 1, 0], [1, 0, 1]),
        "Between: expected lower <= upper; row 1 has 1.0 > 0.0",
    )
    for lower, upper in ((np.inf, np.inf), (-np.inf, -np.inf)):
        refused(zg.ProblemError, lambda b=(lower, upper): zg.Between(np.eye(3), *b), "lower may be -inf")
        net = zg.ElasticNet(1.0, lower=lower, upper=upper)
        refused(zg.ProblemError, lambda net=net: problem(regularizer=net), "lower may be -inf")
    net = zg.ElasticNet(1.0, lower=[0, 2, 0], upper=1.0)
    refused(zg.ProblemError, lambda: problem(regularizer=net), "expected lower <= upper; feature 1")


def test_regularisers():
    for name, bad in (
        ("l2", zg.L2(-1.0)),
        ("l1", zg.ElasticNet(1.0, -1.0)),
        ("l1", zg.ElasticNet(1, [1, -1, 1])),
    ):
        refused(
            zg.ProblemError,
            lambda bad=bad: problem(regularizer=bad),
            f"regularizer {name}: expected >= 0",
            "-1",
        )
    for bad, name in (
        (zg.GroupLasso(-1, 1, [0, 1, 1]), "l2"),
        (zg.GroupLasso(1, np.nan, [0, 1, 1]), "group"),
    ):
        expected = f"regularizer {name}: expected a number >= 0; got"
        refused(zg.ProblemError, lambda bad=bad: problem(regularizer=bad), expected)
    refused(
        zg.ProblemError, lambda: problem(regularizer=zg.L2("a")), "regularizer l2: expected numbers; got 'a'"
    )
    for bad in (0.1, zg.L2, None):
        refused(
            zg.ProblemError,
            lambda bad=bad: problem(regularizer=bad),
            "regularizer: expected zg.L2(l2)",
            "got",
        )


def test_losses():
    for bad in ("hing", zg.losses.Huber, None, (1.0,)):
        refused(
            zg.ProblemError,
            lambda bad=bad: problem(loss=bad),
            "loss: expected",
            ", ".join(zg.losses.names()),
            "got",
        )
    for bad, text in (
        (zg.losses.Pinball(1.0), "loss pinball: quantile must lie strictly between 0 and 1; got 1.0"),
        (zg.losses.Huber(0), "loss huber: delta must be > 0 and finite; got 0.0"),
        (zg.losses.Huber(np.nan), "loss huber: delta must be > 0 and finite; got nan"),
        (
            zg.losses.EpsilonInsensitive(-1),
            "loss epsilon_insensitive: epsilon must be >= 0 and finite; got -1.0",
        ),
        (zg.losses.SmoothedHinge(np.inf), "loss smoothed_hinge: width must be > 0 and finite; got inf"),
        (zg.losses.Huber("a"), "loss huber: expected numbers as parameters; got Huber(delta='a')"),
        (zg.losses.Pinball(None), "loss pinball: expected numbers as parameters"),
        (zg.losses.Pinball(np.ones(2)), "loss pinball: expected numbers as parameters"),
    ):
        refused(zg.ProblemError, lambda bad=bad: problem(y=LABELS, loss=bad), text)


def test_constraints():
    for bad in ([np.eye(3)], [(np.eye(3), 0.0)], [None], None, 3, np.eye(3)):
        refused(
            zg.ProblemError,
            lambda bad=bad: problem(constraints=bad),
            "constraints: expected zg.Equal or zg.Between objects, builders such as",
            "or a list of these; got",
        )


# ---- settings
def test_algorithms():
    refused(
        zg.SettingsError,
        lambda: zg.solve(problem(), algorithm="sdac"),
        "algorithm: expected one of",
        "ardca-erm",
    )
    for name in ("auto", "ardca", "ardca-restart", "rdca", "sdca", "cdca", "newton"):
        refused(zg.SettingsError, lambda: zg.solve(problem(), algorithm="x"), name)
    for bad in (None, zg.ARDCA, 3):
        refused(
            zg.SettingsError,
            lambda bad=bad: zg.solve(problem(), algorithm=bad),
            "algorithm: expected a name or",
        )
    refused(zg.SettingsError, lambda: zg.solve(X), "problem: expected a zg.Problem; got")
    refused(zg.DataError, lambda: zg.certify(X, Y, Y), "problem: expected a zg.Problem; got")


@pytest.mark.parametrize("algorithm", ["ardca", "ardca-restart", "ardca-erm", "rdca", "sdca", "cdca"])
def test_no_strong_convexity_under_a_group_penalty(algorithm):
    groups = problem(regularizer=zg.GroupLasso(0.0, 1.0, [0, 1, 1]))
    refused(
        zg.SettingsError, lambda: zg.solve(groups, algorithm=algorithm), "regularizer l2", "l2 > 0", "got 0"
    )


@pytest.mark.parametrize("algorithm", ["newton", "auto"])
def test_no_strong_convexity_is_no_obstacle_to_newton_steps(algorithm):
    flat = problem(regularizer=zg.L2(0.0))
    result = zg.solve(flat, algorithm=algorithm, random_state=0)
    residuals = X @ np.linalg.lstsq(X, Y)[0] - Y
    assert result.solved
    assert result.certificate.primal == pytest.approx(residuals @ residuals / 8, rel=1e-6)


@pytest.mark.parametrize("name", ["tol", "max_passes", "max_time"])
def test_limits(name):
    for bad in (0, -1, np.nan, "a", [1]):
        refused(
            zg.SettingsError,
            lambda bad=bad: zg.solve(problem(), **{name: bad}),
            f"{name}: expected a number > 0; got",
            repr(bad),
        )


def test_callbacks_and_seeds():
    for bad in ([3], print, None, "ab"):
        refused(
            zg.SettingsError,
            lambda bad=bad: zg.solve(problem(), callbacks=bad),
            "callbacks: expected a list of",
        )
    for bad in ("a", -1, 0.5):
        refused(
            zg.SettingsError,
            lambda bad=bad: zg.solve(problem(), random_state=bad),
            "random_state: expected an int",
        )


def test_settings_objects():
    for action, text in (
        (lambda: zg.ARDCA(step="short"), "step: expected one of paper, long; got 'short'"),
        (lambda: zg.ARDCA(sampling="cyclic"), "sampling: expected one of uniform, permuted; got 'cyclic'"),
        (lambda: zg.ARDCA(average_from=1.0), "average_from: expected a number > 1 or None; got 1.0"),
        (lambda: zg.ARDCA(average_from="a"), "average_from: expected a number > 1 or None; got 'a'"),
        (
            lambda: zg.SDCA(sampling="random"),
            "sampling: expected one of permuted, uniform, cyclic; got 'random'",
        ),
        (lambda: zg.SDCA(step=2), "step: expected one of paper, long; got 2"),
    ):
        refused(zg.SettingsError, action, text)
