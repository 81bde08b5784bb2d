"""Bad input: an exception that names the argument, what was expected and what came; nothing computed."""

import numpy as np
import pytest
import scipy.sparse as sp
from support import refused

import zerogap as zg

X = np.arange(12.0).reshape(4, 3) + np.eye(4, 3)
Y = np.array([1.0, 2.0, 3.0, 4.0])


def problem(X=X, y=Y, **settings):
    return zg.Problem(X, y, **{"regularizer": zg.L2(0.1), **settings})


def spoiled(values, by):
    values = np.array(values, dtype=float)
    values.flat[1] = by
    return values


def test_every_error_is_a_value_error():
    for error in (zg.DataError, zg.ProblemError, zg.SettingsError):
        assert issubclass(error, zg.ZeroGapError)
    assert issubclass(zg.ZeroGapError, ValueError)


# ---- NaN and infinity, wherever numbers come in
@pytest.mark.parametrize("by", [np.nan, np.inf, -np.inf])
def test_non_finite_numbers(by):
    eye, shown = np.eye(3), str(by)
    for bad in (spoiled(X, by), spoiled(X, by).astype(np.float32), np.asfortranarray(spoiled(X, by))):
        refused(zg.DataError, lambda bad=bad: problem(bad), "X: expected finite numbers; got", shown)
        refused(zg.DataError, lambda bad=bad: problem(sp.csr_array(bad)), "X: expected finite", shown)
    refused(zg.DataError, lambda: problem(y=spoiled(Y, by)), "y: expected finite numbers; got", shown)
    weights = spoiled(Y, by)
    refused(zg.DataError, lambda: problem(sample_weight=weights), "sample_weight: expected finite", shown)
    refused(zg.DataError, lambda: zg.Between(spoiled(eye, by)), "Between matrix: expected finite", shown)
    refused(zg.DataError, lambda: zg.Equal(sp.csr_array(spoiled(eye, by))), "Equal matrix: expected", shown)
    refused(zg.DataError, lambda: zg.Equal(eye, spoiled(np.zeros(3), by)), "Equal e: expected")
    refused(
        zg.DataError, lambda: zg.solve(problem(), warm_start=spoiled(Y, by)), "warm_start: expected finite"
    )
    for x, u, name in ((spoiled(np.zeros(3), by), np.zeros(4), "x"), (np.zeros(3), spoiled(Y, by), "dual")):
        refused(zg.DataError, lambda x=x, u=u: zg.certify(problem(), x, u), f"{name}: expected finite", shown)
    with_b = problem(fit_intercept=True)
    refused(
        zg.DataError, lambda: zg.certify(with_b, np.zeros(3), np.zeros(4), by), "intercept: expected a finite"
    )


def test_infinities_of_both_signs():
    """Their sum is NaN, which must not be all that is said."""
    bad = X.copy()
    bad[0, 0], bad[1, 1] = np.inf, -np.inf
    refused(zg.DataError, lambda: problem(bad), "X: expected finite numbers; got inf")


def test_large_numbers_are_not_taken_for_infinite():
    """Their sum overflows, they themselves do not."""
    assert problem(y=np.full(4, 1e30)).y[0] == 1e30
    assert problem(np.full((4, 3), -1e30)).rows.top.matrix[0, 0] == -1e30
    weights = problem(sample_weight=np.full(4, 1e308)).weight
    np.testing.assert_array_equal(weights, np.full(4, 0.25))
    np.testing.assert_array_equal(problem(sample_weight=np.full(4, 5e-324)).weight, np.full(4, 0.25))


@pytest.mark.parametrize("by", [1.1e30, -1e300])
def test_numbers_whose_products_overflow(by):
    """Refused, with the number and a way out: a solve could only end in infinities."""
    eye, shown = np.eye(3), f"got {by:g}"
    for bad in (spoiled(X, by), sp.csr_array(spoiled(X, by)), np.asfortranarray(spoiled(X, by))):
        refused(
            zg.DataError,
            lambda bad=bad: problem(bad),
            "X: expected numbers up to 1e+30",
            shown,
            "other units",
        )
    refused(zg.DataError, lambda: problem(y=spoiled(Y, by)), "y: expected numbers up to 1e+30", shown)
    refused(zg.DataError, lambda: zg.Equal(spoiled(eye, by)), "Equal matrix: expected numbers up to", shown)
    refused(zg.DataError, lambda: zg.Equal(eye, by), "Equal e: expected numbers up to 1e+30", shown)
    refused(zg.DataError, lambda: zg.Between(eye, by, by), "Between lower: expected", shown, "np.inf")
    for name in ("l1", "center", "lower", "upper"):
        net = zg.ElasticNet(**{"l2": 1.0, name: abs(by) if name == "l1" else by})
        expected = f"regularizer {name}: expected numbers up to 1e+30"
        refused(zg.ProblemError, lambda net=net: problem(regularizer=net), expected)
    for l2 in (abs(by), 1.0 / abs(by)):
        for penalty in (zg.L2(l2), zg.GroupLasso(l2, 1.0, [0, 1, 1])):
            refused(
                zg.ProblemError,
                lambda penalty=penalty: problem(regularizer=penalty),
                "regularizer l2: expected 0, or numbers from 1e-30 to 1e+30; got",
            )


@pytest.mark.parametrize("name", ["l2", "l1", "center", "lower", "upper"])
def test_non_finite_regularisers(name):
    for by in (np.nan, [1.0, np.nan, 1.0]):
        net = zg.ElasticNet(**{"l2": 1.0, name: by})
        refused(
            zg.ProblemError, lambda net=net: problem(regularizer=net), f"regularizer {name}: expected", "nan"
        )
    if name in ("l2", "l1", "center"):
        net = zg.ElasticNet(**{"l2": 1.0, name: np.inf})
        refused(
            zg.ProblemError, lambda: problem(regularizer=net), f"regularizer {name}: expected finite", "inf"
        )


def test_nan_in_bounds_and_groups():
    refused(zg.DataError, lambda: zg.Between(np.eye(3), np.nan), "Between lower: expected numbers; got NaN")
    refused(zg.DataError, lambda: zg.Between(np.eye(3), 0, [1, np.nan, 1]), "Between upper: expected numbers")
    groups = zg.GroupLasso(1.0, 1.0, [0.0, np.nan, 1.0])
    refused(
        zg.ProblemError, lambda: problem(regularizer=groups), "regularizer groups: expected labels; got NaN"
    )


# ---- shapes
@pytest.mark.parametrize(
    ("bad", "got"),
    [
        (Y, "1 dimension"),
        (np.zeros((4, 3, 1)), "3 dimension"),
        (3.0, "0 dimension"),
        (sp.coo_array(Y), "1 dim"),
    ],
)
def test_x_must_be_a_matrix(bad, got):
    refused(zg.DataError, lambda: problem(bad), "X: expected a 2-D matrix; got", got)


def test_a_vector_for_x_comes_with_advice():
    refused(zg.DataError, lambda: problem(Y), "Reshape it with X.reshape(-1, 1)")


def test_one_entry_per_row():
    for bad, got in ((Y[:3], "(3,)"), (np.zeros((4, 2)), "(4, 2)"), (1.0, "()")):
        refused(zg.DataError, lambda bad=bad: problem(y=bad), "y: expected shape (4,)", f"got {got}")
        refused(
            zg.DataError,
            lambda bad=bad: problem(sample_weight=bad),
            "sample_weight: expected shape (4,)",
            got,
        )
        refused(
            zg.DataError, lambda bad=bad: problem(y=bad, loss="hinge"), "y: expected shape (4,)", f"got {got}"
        )
    refused(zg.DataError, lambda: problem(y=None), "y: expected one target per row of X; got None")


def test_one_entry_per_feature():
    for name in ("l2", "l1", "lower", "upper", "center"):
        net = zg.ElasticNet(**{"l2": 1.0, name: [1.0, 1.0]})
        expected = f"regularizer {name}: expected a number or shape (3,)"
        refused(zg.ProblemError, lambda net=net: problem(regularizer=net), expected, "got shape (2,)")
    groups = zg.GroupLasso(1.0, 1.0, [0, 1])
    refused(
        zg.ProblemError,
        lambda: problem(regularizer=groups),
        "regularizer groups: expected shape (3,)",
        "(2,)",
    )


def test_constraint_shapes():
    for width, settings in ((4, {}), (2, {}), (5, {"fit_intercept": True})):
        for constraint in (zg.Equal(np.ones((1, width)), 0.0), zg.Between(sp.csr_array(np.ones((1, width))))):
            refused(
                zg.DataError,
                lambda c=constraint, s=settings: problem(constraints=[c], **s),
                f"{type(constraint).__name__} matrix: expected 3 columns",
                f"got {width}",
            )
    with_b = zg.Equal(np.ones((1, 5)), 0.0)
    refused(
        zg.DataError, lambda: problem(constraints=with_b, fit_intercept=True), "(or 4, the intercept last)"
    )
    refused(zg.DataError, lambda: zg.Between(np.eye(3), [0, 1]), "Between lower: expected shape (3,)", "(2,)")
    refused(zg.DataError, lambda: zg.Equal(np.eye(3), [0, 1]), "Equal e: expected shape (3,)", "(2,)")
    refused(
        zg.DataError, lambda: zg.Equal(np.zeros((1, 2, 3))), "Equal matrix: expected a 2-D matrix", "3 dim"
    )


def test_dual_shapes():
    solved = zg.solve(problem(X[:3], Y[:3]), algorithm="sdca", max_passes=1, warn=False)
    for start, got in ((Y[:2], "(2,)"), (solved, "(3,)")):
        refused(
            zg.DataError,
            lambda start=start: zg.solve(problem(), warm_start=start),
            "warm_start: expected shape (4,)",
            got,
        )
    refused(zg.DataError, lambda: zg.certify(problem(), Y[:2], Y), "x: expected shape (3,)", "got (2,)")
    refused(
        zg.DataError, lambda: zg.certify(problem(), Y[:3], Y[:2]), "dual: expected shape (4,)", "got (2,)"
    )
    refused(zg.DataError, lambda: zg.certify(problem(), Y[:3], Y, 1.0), "intercept", "expected 0")


@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (0, 0)])
def test_empty_x(shape):
    for bad in (np.zeros(shape), sp.csr_array(shape)):
        refused(
            zg.DataError,
            lambda bad=bad: problem(bad, np.zeros(shape[0])),
            "X: expected at least one row and one column; got shape",
            str(shape),
        )


@pytest.mark.parametrize(
    "bad",
    [sp.coo_array((2**33, 3)), sp.csr_array((3, 2**33)), np.broadcast_to(1.0, (2**33, 1))],
    ids=["tall", "wide", "dense"],
)
def test_sizes_beyond_32_bits(bad):
    """Refused before anything of that size is allocated."""
    refused(zg.DataError, lambda: problem(bad), "X: expected at most 2^32 - 1 rows and columns", "8589934592")


def test_no_data_and_no_constraints():
    refused(zg.DataError, lambda: problem(None, None), "X: expected a matrix")
    refused(zg.DataError, lambda: problem(None, Y, constraints=zg.Equal(np.eye(3))), "X: expected a matrix")


# ---- sparse matrices that point outside themselves
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize(
    ("name", "by"),
    [("indices", [0, 3, 1]), ("indices", [0, -1, 1]), ("indptr", [0, 2, 1, 3]), ("indptr", [0, 1, 2, 9])],
)
def test_unsound_sparse_matrices(form, name, by):
    """scipy accepts them; a compiled loop would write wherever they point."""
    matrix = sp.csr_array((np.ones(3), [0, 1, 2], [0, 1, 2, 3]), shape=(3, 3)).asformat(form)
    setattr(matrix, name, np.array(by, dtype=np.int32))
    refused(
        zg.DataError, lambda: problem(matrix, Y[:3]), "X: expected rising pointers and indices from 0 to 2"
    )
    refused(zg.DataError, lambda: zg.Equal(matrix), "Equal matrix: expected rising pointers")


# ---- not numbers
@pytest.mark.parametrize(
    "bad",
    [[["a"] * 3] * 4, [[1, 2], [3]], {"a": 1}, "abc", X * 1j, [[10**400] * 3] * 4, X.astype("M8[s]")],
    ids=["text", "ragged", "dict", "string", "complex", "huge integers", "dates"],
)
def test_not_numbers(bad):
    refused(zg.DataError, lambda: problem(bad), "X: expected real numbers; got")
    refused(zg.DataError, lambda: problem(y=bad), "y: expected real numbers; got")
    refused(zg.DataError, lambda: problem(sample_weight=bad), "sample_weight: expected real numbers; got")
    refused(zg.DataError, lambda: zg.Equal(bad), "Equal matrix: expected real numbers; got")
    refused(zg.DataError, lambda: zg.Between(np.eye(3), bad), "Between lower: expected real numbers; got")
    refused(
        zg.DataError, lambda: zg.solve(problem(), warm_start=bad), "warm_start: expected real numbers; got"
    )


def test_complex_sparse_matrices():
    refused(zg.DataError, lambda: problem(sp.csr_array(X * 1j)), "X: expected real numbers; got complex128")
    refused(zg.DataError, lambda: zg.Equal(sp.csr_array(X * 1j)), "Equal matrix: expected real numbers")


def test_missing_values_as_objects():
    bad = X.astype(object)
    bad[0, 0] = None
    refused(zg.DataError, lambda: problem(bad), "X: expected finite numbers; got nan")


# ---- labels and weights
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "smoothed_hinge", "logistic"])
def test_labels_of_two_classes(loss):
    for bad, got in (
        ([0, 1, 2, 1], "got 3 (0, 1, 2)"),
        ([7, 7, 7, 7], "got 1 (7)"),
        (Y + 0.5, "got 4 (1.5, 2.5, 3.5, 4.5)"),
        (["a", "b", "c", "a"], "got 3 (a, b, c)"),
    ):
        expected = f"y: the {loss} loss needs labels of exactly two classes; "
        refused(zg.DataError, lambda bad=bad: problem(y=bad, loss=loss), expected + got)
    refused(zg.DataError, lambda: problem(y=[1, np.nan, 0, 1], loss=loss), "y: expected finite labels")
    refused(zg.DataError, lambda: problem(y=[1, None, 0, 1], loss=loss), "y: expected labels of one type")


def test_weights():
    refused(
        zg.DataError,
        lambda: problem(sample_weight=[1, -2, 1, 1]),
        "sample_weight: expected weights >= 0",
        "-2",
    )
    refused(
        zg.DataError,
        lambda: problem(sample_weight=np.zeros(4)),
        "at least one positive weight",
        "all are zero",
    )
