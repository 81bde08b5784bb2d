"""Shapes and contents that must just work: certified, and with the objective that Clarabel finds."""

from dataclasses import replace

import numpy as np
import pandas as pd
import problems
import pytest
import scipy.sparse as sp
from problems import ReferenceProblem

import zerogap as zg
from zerogap.solver.settings import ALGORITHMS

TOL = 1e-6
LOSSES = ("hinge", "logistic", "absolute", "squared")


def labelled(X, seed=0):
    """Targets for the rows of X: a noisy linear function of them."""
    rng = np.random.default_rng(seed)
    return X @ rng.standard_normal(X.shape[1]) + 0.3 * rng.standard_normal(len(X))


def with_zero_rows():
    X = np.random.default_rng(1).standard_normal((20, 4))
    X[::3] = 0.0
    return X


def with_constant_columns():
    X = np.random.default_rng(2).standard_normal((20, 5))
    X[:, 1], X[:, 3] = 1.0, 0.0
    return X


SHAPES = {
    "zero rows": with_zero_rows(),
    "all zero": np.zeros((6, 3)),
    "duplicate rows": np.repeat(np.random.default_rng(3).standard_normal((5, 4)), 4, axis=0),
    "duplicate columns": np.repeat(np.random.default_rng(4).standard_normal((20, 2)), 3, axis=1),
    "constant columns": with_constant_columns(),
    "one sample": np.random.default_rng(5).standard_normal((1, 5)),
    "one feature": np.random.default_rng(6).standard_normal((30, 1)),
    "one number": np.array([[2.0]]),
    "wide": np.random.default_rng(7).standard_normal((5, 80)),
    "tall": np.random.default_rng(8).standard_normal((600, 3)),
}


def described(shape, loss, regularizer=("elastic_net", {"l2": 0.1, "l1": 0.05}), constraints=()):
    X = SHAPES[shape]
    y = labelled(X)
    if loss in ("hinge", "logistic"):
        y = np.where(y > 0, 1.0, -1.0)
        if len(X) > 1:
            y[:2] = -1.0, 1.0
    return ReferenceProblem(
        name=f"{loss}-{shape}",
        X=X,
        y=y,
        loss=(loss, problems.LOSSES[loss]),
        regularizer=regularizer,
        constraints=constraints,
    )


def check(problem, optimum, algorithm, tol=TOL):
    """Solved, with a certificate that holds, and within `tol` of the known optimum from above."""
    result = zg.solve(problem, algorithm=algorithm, tol=tol, max_passes=200_000, random_state=0)
    certificate = zg.certify(problem, result.x, result.dual, result.intercept)
    assert result.status is zg.Status.SOLVED
    assert certificate.within(tol * (1 + 1e-9))
    assert np.all(np.isfinite(result.x))
    assert certificate.dual <= optimum + 1e-8 * (1 + abs(optimum))
    assert abs(certificate.primal - optimum) <= tol * abs(optimum) + 1e-7
    return result


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape, loss, sparse):
    """Algorithms take turns over the cases, so that each meets most of them."""
    case = described(shape, loss)
    turn = list(SHAPES).index(shape) + LOSSES.index(loss) + 4 * sparse
    for k in (0, 3):
        algorithm = list(ALGORITHMS)[(turn + k) % len(ALGORITHMS)]
        check(case.build(sparse), case.optimum()[0], algorithm)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("shape", ["zero rows", "one sample", "one number", "one feature"])
def test_shapes_that_divide_by_little(shape, algorithm):
    """n = 1 makes theta_0 = 1 and the average empty; a zero row has no step size."""
    case = described(shape, "absolute", ("l2", {"l2": 0.1}))
    check(case.build(), case.optimum()[0], algorithm)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_intercept_with_zero_rows(algorithm):
    """With X = 0 the intercept is all there is: the median."""
    y = np.array([1.0, 5.0, 2.0, 9.0, 3.0])
    problem = zg.Problem(np.zeros((5, 2)), y, loss="absolute", regularizer=zg.L2(0.1), fit_intercept=True)
    result = check(problem, np.mean(np.abs(y - 3.0)), algorithm)
    assert result.intercept == pytest.approx(3.0, abs=1e-4)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_dependent_constraint_rows(algorithm):
    """A zero row, a row twice, and one that follows from others."""
    B = np.array([[1.0, 1.0, 0.0, 0.0], [0.0] * 4, [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [1.0] * 4])
    e = np.array([0.5, 0.0, 0.5, 0.25, 0.75])
    ranges = (
        "between",
        np.array([[0.0] * 4, [1.0, 0.0, 0.0, 0.0]]),
        np.array([-1.0, -0.2]),
        np.array([1.0, 0.2]),
    )
    case = described("zero rows", "squared", ("l2", {"l2": 0.1}), (("equal", B, e), ranges))
    check(case.build(), case.optimum()[0], algorithm)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_constraints_without_data(algorithm):
    """The point of a plane and a box nearest to a given one."""
    center = np.array([1.0, -2.0, 3.0])
    regularizer = zg.ElasticNet(1.0, center=center, lower=-1.0)
    problem = zg.Problem(regularizer=regularizer, constraints=zg.Equal(np.ones(3), 0.0))
    result = check(problem, 2.75, algorithm)
    np.testing.assert_allclose(result.x, [-0.5, -1.0, 1.5], atol=5e-3)


def test_features_fixed_by_their_box():
    X = SHAPES["tall"]
    net = zg.ElasticNet(0.1, lower=[0.5, -np.inf, 0.0], upper=[0.5, np.inf, 0.0])
    problem = zg.Problem(X, labelled(X), loss="absolute", regularizer=net)
    for algorithm in ALGORITHMS:
        result = zg.solve(problem, algorithm=algorithm, random_state=0)
        assert result.solved
        assert result.x[[0, 2]].tolist() == [0.5, 0.0]


# ---- containers
def test_read_only_arrays():
    """As joblib maps them into its workers."""
    case = described("duplicate rows", "hinge")
    X, y = case.X.copy(), case.y.copy()
    for matrix in (X, sp.csr_array(X)):
        for array in (y, X) if matrix is X else (matrix.data, matrix.indices, matrix.indptr):
            array.flags.writeable = False
        problem = zg.Problem(matrix, y, loss="hinge", regularizer=zg.ElasticNet(0.1, 0.05))
        check(problem, case.optimum()[0], "auto")


def test_data_frames():
    case = described("tall", "hinge")
    frame = pd.DataFrame(case.X, columns=list("abc"))
    labels = pd.Series(np.where(case.y > 0, "yes", "no"))
    net = zg.ElasticNet(0.1, 0.05)
    problem = zg.Problem(frame, labels, loss="hinge", regularizer=net, sample_weight=pd.Series(np.ones(600)))
    assert problem.classes.tolist() == ["no", "yes"]
    check(problem, case.optimum()[0], "sdca")


def test_byte_order_and_strides():
    case = described("tall", "absolute")
    strided_y = np.repeat(case.y, 2)[::2]
    for X in (case.X.astype(">f8"), case.X[:, ::-1][:, ::-1], np.asfortranarray(case.X)):
        problem = zg.Problem(X, strided_y, loss="absolute", regularizer=zg.ElasticNet(0.1, 0.05))
        check(problem, case.optimum()[0], "sdca")


def test_integer_data():
    X, y = np.arange(12).reshape(6, 2) % 5, np.array([0, 1, 0, 1, 1, 0])
    by_integers, by_floats = (
        zg.solve(zg.Problem(a, b, loss="hinge", regularizer=zg.L2(1)), algorithm="sdca", random_state=0)
        for a, b in ((X, y), (X.astype(float), y.astype(float)))
    )
    np.testing.assert_array_equal(by_integers.x, by_floats.x)


def test_weights_that_leave_one_row():
    case = described("tall", "absolute")
    weights = np.zeros(600)
    weights[7] = 3.0
    one = replace(case, X=case.X[7:8], y=case.y[7:8], name="absolute-row 7")
    problem = zg.Problem(
        case.X, case.y, loss="absolute", regularizer=zg.ElasticNet(0.1, 0.05), sample_weight=weights
    )
    for algorithm in ALGORITHMS:
        check(problem, one.optimum()[0], algorithm)
