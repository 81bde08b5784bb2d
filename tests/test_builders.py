"""Constraints in the words of the model: rows, signs, names, and errors that say what is wrong."""

import numpy as np
import pytest
import scipy.sparse as sp
from support import refused

import zerogap as zg
from zerogap.problem.builders import bind_all
from zerogap.problem.columns import Columns

NAMES = ("age", "bmi", "blood pressure", "s1")


def columns(fit_intercept=True, names=NAMES, **more):
    return Columns(len(names), fit_intercept, tuple(names), **more)


def bound(recipe, **more):
    """(rows, lower, upper, names) of a single recipe."""
    (c,) = bind_all(recipe, lambda: columns(**more))
    width = len(NAMES) + 1
    rows = c.rows.matrix.toarray()
    return np.hstack([rows, np.zeros((len(rows), width - rows.shape[1]))]), c.lower, c.upper, c.row_names()


def check(recipe, rows, lower, upper, names=None):
    own = bound(recipe)
    np.testing.assert_array_equal(own[0], np.atleast_2d(rows))
    np.testing.assert_array_equal(own[1], np.atleast_1d(lower))
    np.testing.assert_array_equal(own[2], np.atleast_1d(upper))
    if names is not None:
        assert own[3] == names


def problem(constraints, seed=0, n=60, **options):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + 0.5 * rng.standard_normal(n) + 3.0
    settings = {"loss": "squared", "regularizer": zg.L2(0.01), "fit_intercept": True} | options
    return zg.Problem(X, y, constraints=constraints, feature_names=NAMES, **settings)


def solved(constraints, **options):
    result = zg.solve(problem(constraints, **options), tol=1e-10, random_state=0)
    assert result.solved
    return result


# ---- rows
def test_sum_to():
    check(zg.sum_to(2.0), [1, 1, 1, 1, 0], 2.0, 2.0)
    check(zg.sum_to(2.0, ["age", 3]), [1, 0, 0, 1, 0], 2.0, 2.0, ["age + s1 = 2"])
    check(zg.sum_to(0.0, ["s1", "intercept"]), [0, 0, 0, 1, 1], 0.0, 0.0)


def test_order():
    rows = [[1, -1, 0, 0, 0], [0, 1, 0, -1, 0]]
    check(zg.order(["age", "bmi", "s1"]), rows, [-np.inf] * 2, [0, 0], ["age <= bmi", "bmi <= s1"])
    check(zg.order([3, 1], increasing=False), [0, 1, 0, -1, 0], -np.inf, 0.0)


def test_sign_and_bounds():
    check(zg.sign("+", "age"), [1, 0, 0, 0, 0], 0.0, np.inf, ["age >= 0"])
    check(zg.sign(-1, ["age"]), [1, 0, 0, 0, 0], -np.inf, 0.0, ["age <= 0"])
    assert len(bound(zg.sign("-"))[1]) == 4
    rows = [[0, 1, 0, 0, 0], [0, 0, 0, 0, 1]]
    check(zg.bounds([0.0, 1.0], 2.0, ["bmi", "intercept"]), rows, [0, 1], [2, 2])
    check(zg.bounds(None, 5.0, 0), [1, 0, 0, 0, 0], -np.inf, 5.0)


@pytest.mark.parametrize(
    ("text", "row", "lower", "upper"),
    [
        ("2*age - bmi <= 3", [2, -1, 0, 0, 0], -np.inf, 3.0),
        ("2 * age>=bmi + 1", [2, -1, 0, 0, 0], 1.0, np.inf),
        ("age + bmi = 1", [1, 1, 0, 0, 0], 1.0, 1.0),
        ("age == -.5", [1, 0, 0, 0, 0], -0.5, -0.5),
        ("-1 <= age - s1 <= 1e2", [1, 0, 0, -1, 0], -1.0, 100.0),
        ("3 >= age >= 1", [1, 0, 0, 0, 0], 1.0, 3.0),
        ("blood pressure - intercept <= 0", [0, 0, 1, 0, -1], -np.inf, 0.0),
        ("age - - bmi + 2 <= 5 + age + s1", [0, 1, 0, -1, 0], -np.inf, 3.0),
        ("1.5e-1*age + 2*age <= 0", [2.15, 0, 0, 0, 0], -np.inf, 0.0),
    ],
)
def test_text(text, row, lower, upper):
    own = bound(text)
    np.testing.assert_allclose(own[0], [row])
    assert (own[1][0], own[2][0]) == (lower, upper)
    assert own[3] == [" ".join(text.split())]


def test_text_knows_the_longest_name_and_none_by_accident():
    names = ("a", "a b", "ab", "a-b")
    (c,) = bind_all("a b + ab - 2*a-b <= 1", lambda: columns(names=names))
    np.testing.assert_array_equal(c.rows.matrix.toarray()[0, :4], [0, 1, 1, -2])


@pytest.mark.parametrize(
    "text",
    [
        "age", "age <= ", "<= 3", "age < 3", "age <= 1 <= bmi <= 2", "1 <= age >= 0", "weight <= 1",
        "age * bmi <= 1", "2 age <= 1", "age <= inf", "__import__('os') <= 1", "age.real <= 1",
        "(age + bmi) <= 1", "age**2 <= 1", "1 <= 2", "age - age <= 0", "age + bmi <= nan", "1 = age = 2",
        "bmi <= age <= 3", "", "age <= 1; bmi",
    ],
)  # fmt: skip
def test_text_that_states_no_row_is_refused_with_the_text_in_the_message(text):
    refused(zg.DataError, lambda: bound(text), repr(text))


def test_nothing_is_evaluated(monkeypatch):
    import builtins

    def never(*args, **kwargs):
        raise AssertionError("evaluated")

    for name in ("eval", "exec", "compile"):
        monkeypatch.setattr(builtins, name, never)
    assert bound("2*age <= 3")[2] == [3.0]


def test_names_come_from_data_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.eye(4), columns=list(NAMES))
    named = zg.Problem(frame, np.ones(4), regularizer=zg.L2(1.0), constraints="2*bmi <= 3")
    np.testing.assert_array_equal(named.constraints[0].rows.matrix.toarray(), [[0, 2, 0, 0]])
    plain = zg.Problem(np.eye(4), np.ones(4), regularizer=zg.L2(1.0), constraints="2*x1 <= 3")
    np.testing.assert_array_equal(plain.constraints[0].rows.matrix.toarray(), [[0, 2, 0, 0]])


def test_columns_that_are_not_there_are_named():
    for recipe in (zg.sum_to(1.0, ["weight"]), zg.order(["age", "weight"]), zg.sign("+", "weight")):
        refused(zg.DataError, lambda recipe=recipe: bound(recipe), "'weight'", "age", "positions 0 .. 3")
    refused(zg.DataError, lambda: bound(zg.bounds(0, 1, 5)), "5")
    refused(zg.DataError, lambda: bound(zg.bounds(0, 1, True)), "True")
    refused(zg.DataError, lambda: bound(zg.order(["age", "age"])), "twice")
    refused(zg.DataError, lambda: bound(zg.sum_to(1.0, [])), "none")
    refused(zg.DataError, lambda: bound(zg.sign("up")), "'up'")
    refused(zg.DataError, lambda: bound("intercept <= 1", fit_intercept=False), "intercept")
    refused(zg.ProblemError, lambda: bound(3.0), "constraints", "3.0")


# ---- what they do
def test_fairness_limits_the_covariance():
    rng = np.random.default_rng(1)
    group = rng.integers(0, 2, 60).astype(float)
    weight = rng.uniform(0.5, 2.0, 60)
    result = solved(zg.fairness(group, 0.01), sample_weight=weight)
    margins = result.problem.rows.dot(np.append(result.x, result.intercept))[:60]
    w = weight / weight.sum()
    covariance = w @ ((group - w @ group) * margins)
    free = solved((), sample_weight=weight)
    loose = free.problem.rows.dot(np.append(free.x, free.intercept))[:60]
    assert abs(w @ ((group - w @ group) * loose)) > 0.01
    assert abs(covariance) == pytest.approx(0.01, rel=1e-6)
    labels = np.where(group > 0, "b", "a")
    again = solved(zg.fairness(labels, 0.01), sample_weight=weight)
    np.testing.assert_allclose(again.x, result.x, atol=1e-6)
    by_name = solved(zg.fairness("age", 0.0))
    X = by_name.problem.rows.top.dense()
    assert np.cov(X[:, 0], X @ by_name.x)[0, 1] == pytest.approx(0.0, abs=1e-8)


def test_fairness_needs_data_and_a_limit():
    refused(zg.DataError, lambda: problem(zg.fairness("age", -1.0)), "limit", "-1")
    refused(zg.DataError, lambda: problem(zg.fairness(np.ones(3), 1.0)), "60", "(3,)")
    refused(zg.DataError, lambda: bound(zg.fairness("age", 1.0)), "no X")
    refused(zg.DataError, lambda: problem(zg.fairness("intercept", 1.0)), "intercept")


@pytest.mark.parametrize("convert", [np.array, sp.csr_matrix])
def test_predictions_rise_along_the_grid(convert):
    grid = np.linspace(-2, 2, 5)[:, None] * [0.3, 1.0, 0.0, 0.0]
    result = solved(zg.monotone_prediction(convert(grid)))
    assert (np.diff(grid @ result.x) >= -1e-9).all()
    assert (np.diff(grid @ solved(()).x) < 0).all()
    falling = solved(zg.monotone_prediction(convert(-grid), increasing=False))
    np.testing.assert_allclose(falling.x, result.x, atol=1e-7)
    refused(zg.DataError, lambda: problem(zg.monotone_prediction(grid[:1])), "two rows")
    refused(zg.DataError, lambda: problem(zg.monotone_prediction(grid[:, :2])), "4 columns")


def test_the_intercept_may_be_involved():
    result = solved(["intercept <= 1", zg.bounds(None, 0.5, "age")])
    assert result.intercept == pytest.approx(1.0, abs=1e-8)
    assert result.x[0] == pytest.approx(0.5, abs=1e-8)
    assert all(multipliers[0] > 0 for multipliers in result.multipliers)


# ---- what they answer
def test_shadow_prices_are_the_change_of_the_optimum():
    """Signs included: raising a side by d changes the optimum by -multiplier d."""
    pytest.importorskip("pandas")

    def build(shift):
        return [
            zg.sum_to(1.0 + shift[0], ["age", "bmi"]), f"s1 >= {0.2 + shift[1]}",
            f"intercept <= {2.5 + shift[2]}", "blood pressure <= 100",
        ]  # fmt: skip

    at = [solved(build(1e-4 * step)).certificate.primal for step in np.vstack([np.zeros(3), np.eye(3)])]
    frame = solved(build(np.zeros(3))).summary()
    prices = frame["multiplier"].to_numpy()
    np.testing.assert_allclose((np.array(at[1:]) - at[0]) / 1e-4, -prices[:3], rtol=1e-2)
    assert prices[1] < 0 < prices[2]
    assert prices[3] == 0.0
    assert list(frame["name"][1:]) == ["s1 >= 0.2", "intercept <= 2.5", "blood pressure <= 100"]
    assert list(frame["at"]) == ["equal", "lower", "upper", ""]
    np.testing.assert_allclose(frame["slack"][:3], 0.0, atol=1e-8)
    assert frame["slack"][3] > 90


def test_multipliers_have_clarabels_sign():
    cp = pytest.importorskip("cvxpy")
    result = solved(["age + bmi = 1", "s1 >= 0.2", "age <= 0.1"])
    given = result.problem
    X, y = given.rows.top.dense(), given.y
    x, b = cp.Variable(4), cp.Variable()
    rows = [x[0] + x[1] == 1, x[3] >= 0.2, x[0] <= 0.1]
    objective = cp.sum_squares(X @ x + b - y) / (2 * len(y)) + 0.005 * cp.sum_squares(x)
    cp.Problem(cp.Minimize(objective), rows).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11
    )
    own = np.concatenate(result.multipliers)
    theirs = np.array([float(row.dual_value) for row in rows]) * [1, -1, 1]  # ours is <= 0 at a lower side
    np.testing.assert_allclose(own, theirs, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_repaired_point_satisfies_everything_and_its_gap_is_valid(seed):
    rng = np.random.default_rng(seed)
    t = 12
    X, point = rng.standard_normal((80, t)), 0.3 * rng.standard_normal(t)
    y = np.sign(X @ rng.standard_normal(t))
    B, J = rng.standard_normal((3, t)), rng.standard_normal((40, t)) * 10.0 ** rng.uniform(-4, 4, (40, 1))
    rows = [zg.Equal(B, B @ point), zg.Between(J, J @ point - 0.1, J @ point + 0.1), zg.order([0, 1, 2])]
    rows[2:] = [] if (np.diff(point[:3]) < 0).any() else rows[2:]
    box = {"lower": -1.0, "upper": 1.0} if seed % 2 else {}
    given = zg.Problem(X, y, loss="hinge", regularizer=zg.ElasticNet(1e-3, **box), constraints=rows)
    best = zg.solve(given, tol=1e-10, random_state=0).certificate.dual
    rough = zg.solve(given, tol=1e-3, random_state=0)
    repaired = rough.feasible()
    again = zg.certify(given, repaired.x, rough.dual, repaired.intercept)
    assert again.scaled_violation <= 1e-12
    assert repaired.certificate.gap == again.gap
    assert again.primal >= best * (1 - 1e-9)
    assert again.primal - best <= again.gap * (1 + 1e-9)


# ---- degenerate rows
def test_rows_that_say_nothing_or_the_same_change_nothing():
    plain = solved("age + bmi = 1")
    row = np.array([[1.0, 1.0, 0.0, 0.0]])
    for extra in (
        zg.Equal(row, 1.0),
        zg.Equal(2 * row, 2.0),
        zg.Equal(np.vstack([row] * 5), 1.0 + 1e-15 * np.arange(5)),
        zg.Equal(np.zeros((1, 4)), 0.0),
        zg.Between(np.zeros((3, 4)), -1.0, [0.0, 1.0, np.inf]),
        zg.Between(row, -np.inf, np.inf),
        zg.Between(row, 1.0, 1.0),
        zg.Between(np.zeros((0, 4)), np.zeros(0), np.zeros(0)),
        zg.Equal(sp.csr_matrix((0, 4)), np.zeros(0)),
    ):
        result = solved(["age + bmi = 1", extra])
        np.testing.assert_allclose(result.x, plain.x, atol=1e-6)
        assert result.certificate.primal == pytest.approx(plain.certificate.primal, rel=1e-8)
        assert len(result.multipliers[1]) == len(extra)
        assert result.feasible() is not None


def test_open_rows_have_no_price():
    result = solved(zg.Between(np.eye(4), -np.inf, np.inf))
    np.testing.assert_array_equal(result.multipliers[0], 0.0)
    assert np.isinf(result.slack[0]).all()


def test_a_zero_row_that_asks_for_something_is_a_contradiction():
    for row in (zg.Equal(np.zeros((1, 4)), 1.0), zg.Between(np.zeros((1, 4)), 1e-9, 1.0)):
        result = zg.solve(problem(["age + bmi = 1", row]), warn=False)
        assert result.status is zg.Status.INFEASIBLE
        assert result.infeasibility.verify()
        assert result.infeasibility.rows == ((1, 0),)


def test_equalities_that_differ_by_rounding_are_met_and_by_more_are_not():
    rows = np.ones((2, 4))
    close = solved(zg.Equal(rows, [0.3, 0.1 + 0.2]))
    assert close.feasible().certificate.scaled_violation <= 1e-12
    far = zg.solve(problem(zg.Equal(rows, [0.3, 0.301])), warn=False)
    assert far.status is zg.Status.INFEASIBLE
    assert len(far.infeasibility.rows) == 2
