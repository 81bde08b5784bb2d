"""Finite but extreme input: a solve ends with a true certificate and a clear status, without a warning."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from problems import BY_NAME

import zerogap as zg

N, T = 24, 5


def plain(rng):
    return rng.standard_normal((N, T))


def column_scales(rng):
    return plain(rng) * 10.0 ** np.linspace(-8, 8, T)


def row_scales(rng):
    return plain(rng) * 10.0 ** np.linspace(-8, 8, N)[:, None]


def tiny(rng):
    return plain(rng) * 1e-160  # squares underflow


def subnormal(rng):
    X = np.where(rng.random((N, T)) < 0.7, 0.0, plain(rng))
    X[::3] = 0.0
    X[::3, 1] = 5e-324
    return X


def large(rng):
    return plain(rng) * 1e28


def one_large(rng):
    X = plain(rng)
    X[3, 2] = 1e30
    return X


def one_direction(rng):
    return np.outer(np.ones(N), plain(rng)[0])


MATRICES = (column_scales, row_scales, tiny, subnormal, large, one_large, one_direction)
PENALTIES = (zg.L2(1e-12), zg.L2(1e12), zg.ElasticNet(1e-4, lower=-1.0, upper=2.0))


@pytest.mark.parametrize("algorithm", ["auto", "newton", "ardca-restart", "sdca"])
@pytest.mark.parametrize("make", MATRICES)
def test_extreme_matrices(make, algorithm):
    X = make(np.random.default_rng(0))
    direction = np.random.default_rng(1).standard_normal(T)
    noise = np.random.default_rng(2).standard_normal(N)
    target = X @ direction
    for k, penalty in enumerate(PENALTIES):
        for loss, y in (
            ("absolute", target + noise),
            ("hinge", np.where(target + (k == 0) * noise > np.median(target), 1.0, -1.0)),
            ("squared", np.zeros(N) if k == 1 else target / max(1.0, np.abs(target).max() / 1e25)),
        ):
            weight = 10.0 ** np.linspace(-12, 0, N) if k == 2 else None
            problem = zg.Problem(
                sp.csr_array(X) if k == 1 else X,
                y if np.unique(y).size > 1 or loss != "hinge" else np.where(np.arange(N) % 2, 1.0, -1.0),
                loss=loss,
                regularizer=penalty,
                sample_weight=weight,
                fit_intercept=k > 0,
            )
            result = zg.solve(
                problem, algorithm=algorithm, max_passes=300, max_time=20, random_state=0, warn=False
            )
            assert np.isfinite(result.x).all()
            assert np.isfinite(result.intercept)
            again = zg.certify(problem, result.x, result.dual, result.intercept)
            assert dataclasses.astuple(again) == pytest.approx(dataclasses.astuple(result.certificate))
            assert not np.isnan(dataclasses.astuple(result.certificate)).any()
            assert result.solved == (result.certificate.error <= 1e-6)


@pytest.mark.parametrize("algorithm", ["auto", "newton", "ardca-restart", "sdca"])
@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_a_constant_target(loss, algorithm):
    """The optimum is zero: Newton steps meet it exactly, coordinate steps to rounding, within ten passes."""
    X = np.random.default_rng(0).standard_normal((N, T))
    for level in (0.1, -7.3, 1e6):
        y = np.full(N, level)
        problem = zg.Problem(X, y, loss=loss, regularizer=zg.L2(0.1), fit_intercept=True)
        result = zg.solve(problem, algorithm=algorithm, random_state=0, max_passes=10, warn=False)
        assert result.intercept == pytest.approx(level, rel=1e-15)
        assert result.certificate.primal <= 1e-15 * problem.primal(np.zeros(T))
        if algorithm in ("auto", "newton"):
            assert result.solved
            assert result.certificate.primal == 0.0


@pytest.mark.parametrize("algorithm", ["auto", "newton", "ardca-restart", "sdca"])
@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_a_far_target_takes_no_longer(loss, algorithm):
    """A million away, the intercept starts there: the same passes, give or take rounding."""
    near = dataclasses.replace(BY_NAME[f"{loss}-l2-none"], fit_intercept=True)
    far = dataclasses.replace(near, y=near.y + 2.0**20)
    base, moved = (
        zg.solve(p.build(), algorithm=algorithm, tol=1e-6, random_state=0, max_passes=20_000)
        for p in (near, far)
    )
    assert moved.passes <= 1.5 * base.passes + 10
    assert moved.certificate.primal == pytest.approx(base.certificate.primal, rel=2e-6)
    np.testing.assert_allclose(moved.x, base.x, atol=1e-2)


def test_a_rare_class_settles_its_intercept():
    """Where nearly all rows are far from the kink, a residual that looks small costs a relative gap."""
    weight = np.array([1e-11, 2e-7, 0.3, 0.4, 4e-6])
    y = np.array([-1.0, 1.0, 1.0, 1.0, -1.0])
    X = 1e-3 * np.random.default_rng(0).standard_normal((5, 3))
    problem = zg.Problem(
        X, y, loss="logistic", regularizer=zg.ElasticNet(1e6, lower=-1.0, upper=2.0), sample_weight=weight,
        fit_intercept=True,
    )  # fmt: skip
    result = zg.solve(problem, algorithm="newton")
    assert result.solved
    share = weight[y < 0].sum() / weight.sum()
    entropy = -share * np.log(share) - (1 - share) * np.log1p(-share)
    assert result.certificate.primal == pytest.approx(entropy, rel=1e-5)


@pytest.mark.parametrize("algorithm", ["auto", "sdca"])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_flat_features_with_empty_columns_and_rows_without_weight(loss, algorithm):
    """No curvature, rows that touch one feature each, one column empty, one row of weight zero."""
    X = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
    y = np.array([1.0, 1.0, 4.0, 4.0, 50.0])
    problem = zg.Problem(
        X, y, loss=loss, regularizer=zg.ElasticNet(0.0, lower=-5.0, upper=5.0), sample_weight=[1, 1, 1, 1, 0]
    )
    result = zg.solve(problem, algorithm=algorithm, random_state=0, max_passes=3000, warn=False)
    assert np.isfinite(result.dual).all()
    np.testing.assert_allclose(result.x[[0, 2]], [1.0, 2.0], atol=1e-4)
    shifted = zg.Problem(
        X, y + np.array([1.0, -1.0, 0.0, 2.0, 0.0]), loss=loss, regularizer=problem.regularizer,
        sample_weight=[3, 1, 1, 4, 0],
    )  # fmt: skip
    assert zg.solve(shifted, algorithm=algorithm, random_state=0, max_passes=3000).solved
