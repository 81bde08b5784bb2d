"""Regularisers against tests/reference.py, and the compiled verbs against the NumPy methods."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from support import EPS

import zerogap as zg
from zerogap._jit import kernel
from zerogap.problem.regularizers import Free, Quadratic, Separable, SoftQuadratic, minimiser, piece

T = 6
seeds = st.integers(0, 2**32 - 1)

#: kind -> (the compiled type, a function of a generator that draws the parameters)
SEPARABLE = {
    "l2": (Quadratic, lambda rng: {"l2": rng.uniform(0.01, 2.0)}),
    "elastic_net": (SoftQuadratic, lambda rng: {"l2": rng.uniform(0.01, 2.0), "l1": rng.uniform(0, 1)}),
    "box": (Separable, lambda rng: {"l2": 0.5, "lower": -rng.uniform(0, 1), "upper": rng.uniform(0, 1)}),
    "nonnegative": (Separable, lambda rng: {"l2": 0.5, "l1": rng.uniform(0, 1), "lower": 0.0}),
    "off_zero": (Separable, lambda rng: {"l2": 0.5, "l1": rng.uniform(0, 1), "lower": 0.5, "upper": 2.0}),
    "center": (Separable, lambda rng: {"l2": 0.5, "l1": 0.25, "center": rng.standard_normal()}),
    "linear": (Separable, lambda rng: {"l2": 0.5, "l1": 0.25, "linear": rng.standard_normal()}),
    "arrays": (Separable, lambda rng: array_parameters(rng)),
}
each_kind = pytest.mark.parametrize("kind", SEPARABLE)


def array_parameters(rng):
    lower = np.where(rng.random(T) < 0.3, -np.inf, rng.standard_normal(T))
    width = np.where(rng.random(T) < 0.2, 0.0, rng.exponential(size=T))  # some features are fixed
    return {
        "l2": 10 ** rng.uniform(-3, 1, T),
        "l1": np.where(rng.random(T) < 0.4, 0.0, rng.exponential(size=T)),
        "lower": lower,
        "upper": np.where(np.isinf(lower), rng.standard_normal(T), lower + width),
        "center": rng.standard_normal(T),
        "linear": rng.standard_normal(T),
    }


def separable(kind, seed):
    """A random penalty of that kind: the package's, the reference's, and points s worth trying."""
    rng = np.random.default_rng(seed)
    parameters = SEPARABLE[kind][1](rng)
    penalty = zg.ElasticNet(**parameters).bind(T)
    expected = reference.Separable.create(T, **parameters)
    return penalty, expected, slopes_to_try(expected, rng)


def slopes_to_try(f, rng):
    """Random slopes, and those at which a coordinate meets a threshold."""
    random = rng.standard_normal((20, T)) * 10 ** rng.uniform(-3, 3, (20, 1))
    pull = f.pull
    at_upper = pull - f.mu * f.upper - f.l1 * np.sign(f.upper)
    at_lower = pull - f.mu * f.lower - f.l1 * np.sign(f.lower)
    thresholds = [pull - f.l1, pull + f.l1, at_upper, at_lower]
    finite = [np.where(np.isfinite(s), s, 0.0) for s in thresholds]
    around = [np.nextafter(s, way) for s in finite for way in (-np.inf, np.inf)]
    return np.vstack([random, finite, around, np.zeros((1, T))])


# ---- against the reference
@each_kind
@given(seed=seeds)
def test_separable_is_the_reference(kind, seed):
    penalty, expected, slopes = separable(kind, seed)
    assert penalty.mu_min == np.min(expected.mu)
    for s in slopes:
        x = expected.minimiser(s)
        np.testing.assert_allclose(penalty.minimiser(s), x, rtol=1e-13, atol=1e-13)
        assert penalty.value(x) == pytest.approx(expected.value(x), rel=1e-13)
        size = abs(expected.conjugate_neg(s)) + np.abs(s) @ np.abs(x)
        assert penalty.conjugate(s) == pytest.approx(expected.conjugate_neg(s), abs=1e-13 * (1 + size))


@given(seed=seeds)
def test_group_is_the_reference(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, T)
    l2, width = rng.uniform(0.01, 2.0), rng.choice([0.0, 0.3, 2.0])
    expected = reference.Group(l2, width, labels)
    penalty = zg.GroupLasso(l2, width, np.array(["a", "b", "c"])[labels]).bind(T)
    for s in rng.standard_normal((20, T)) * 10 ** rng.uniform(-2, 2, (20, 1)):
        x = expected.minimiser(s)
        np.testing.assert_allclose(penalty.minimiser(s), x, rtol=1e-13, atol=1e-14)
        assert penalty.value(x) == pytest.approx(expected.value(x), rel=1e-13)
        size = abs(expected.conjugate_neg(s)) + np.abs(s) @ np.abs(x)
        assert penalty.conjugate(s) == pytest.approx(expected.conjugate_neg(s), abs=1e-13 * (1 + size))


def test_value_is_infinite_outside_the_box():
    penalty = zg.ElasticNet(1.0, lower=-1.0, upper=2.0).bind(2)
    assert penalty.value(np.array([-1.0, 2.0])) == 2.5
    assert penalty.value(np.array([-1.0, 2.0 + 1e-15])) == np.inf
    assert penalty.value(np.array([np.nextafter(-1.0, -2.0), 0.0])) == np.inf


def test_l2_is_an_elastic_net_without_l1():
    s = np.linspace(-1, 1, T)
    assert np.array_equal(zg.L2(0.3).bind(T).minimiser(s), zg.ElasticNet(0.3, 0.0).bind(T).minimiser(s))
    each = zg.L2(np.arange(1.0, T + 1)).bind(T)
    np.testing.assert_allclose(each.minimiser(s), -s / np.arange(1.0, T + 1), rtol=1e-15)


def test_a_group_of_one_is_an_absolute_value():
    s = np.linspace(-1, 1, T)
    group, net = zg.GroupLasso(0.3, 0.2, np.arange(T)).bind(T), zg.ElasticNet(0.3, 0.2).bind(T)
    np.testing.assert_allclose(group.minimiser(s), net.minimiser(s), rtol=1e-14, atol=1e-15)
    assert group.conjugate(s) == pytest.approx(net.conjugate(s), rel=1e-14)


# ---- by property
def random_penalty(kind, seed):
    if kind == "group":
        labels = np.random.default_rng(seed).integers(0, 3, T)
        return zg.GroupLasso(0.5, 0.4, labels).bind(T)
    return separable(kind, seed)[0]


each_penalty = pytest.mark.parametrize("kind", [*SEPARABLE, "group"])


@each_penalty
@given(seed=seeds)
def test_minimiser_minimises(kind, seed):
    """f(q) + s.q >= f(x) + s.x + mu/2 |q - x|^2 for all q characterises the minimiser x."""
    penalty, rng = random_penalty(kind, seed), np.random.default_rng(seed)
    for s in rng.standard_normal((4, T)) * 10 ** rng.uniform(-2, 1, (4, 1)):
        x = penalty.minimiser(s)
        best = penalty.value(x) + s @ x
        assert np.isfinite(best)
        for step in rng.standard_normal((10, T)) * 10 ** rng.uniform(-6, 1, (10, 1)):
            q = x + step * (rng.random(T) < 0.7)
            if penalty.boxed:
                q = np.clip(q, penalty.lower, penalty.upper)
            other, growth = penalty.value(q) + s @ q, 0.5 * np.sum(penalty.mu * (q - x) ** 2)
            # the three terms cancel: rounding is relative to their sizes
            steep = np.abs(s) + np.abs(getattr(penalty, "linear", 0.0))
            size = abs(penalty.value(q)) + abs(penalty.value(x)) + steep @ (np.abs(q) + np.abs(x))
            size += growth
            assert other - best - growth >= -32 * EPS * (1 + size)


@each_penalty
@given(seed=seeds)
def test_conjugate_has_the_minimiser_as_its_gradient(kind, seed):
    """d f*(-s) / ds = -x(s), and Fenchel-Young holds for every other point."""
    penalty, rng = random_penalty(kind, seed), np.random.default_rng(seed)
    s, direction = rng.standard_normal((2, T))
    step = 1e-5
    rise = penalty.conjugate(s + step * direction) - penalty.conjugate(s - step * direction)
    bend = float(np.sum(direction**2 / penalty.mu))  # f* is smooth with constant 1/mu
    assert rise / (2 * step) == pytest.approx(-penalty.minimiser(s) @ direction, abs=1e-6 + step * bend)
    x = rng.standard_normal(T)
    assert penalty.value(x) + penalty.conjugate(s) >= -s @ x - 1e-12


# ---- compiled verbs
@kernel
def minimise_all(f, s, out):
    for j in range(s.size):
        out[j] = minimiser(f, j, s[j])


@kernel
def pieces(f, s, out):
    for j in range(s.size):
        out[j, 0], out[j, 1], out[j, 2], out[j, 3] = piece(f, j, s[j])


@each_kind
@given(seed=seeds)
def test_compiled_minimiser_is_the_numpy_one(kind, seed):
    penalty, expected, slopes = separable(kind, seed)
    f, out = penalty.compiled(Free(0.0, 0.0)), np.empty(T)
    assert type(f) is SEPARABLE[kind][0]
    for s in slopes:
        minimise_all(f, s, out)
        rounding = 8 * EPS * (np.abs(s) + np.abs(expected.pull) + expected.l1) / expected.mu
        assert np.all(np.abs(out - penalty.minimiser(s)) <= rounding)
        if penalty.boxed:
            assert np.all((out >= penalty.lower) & (out <= penalty.upper))


@each_kind
@given(seed=seeds)
def test_a_piece_holds_between_its_ends(kind, seed):
    penalty, expected, slopes = separable(kind, seed)
    f, out, x = penalty.compiled(Free(0.0, 0.0)), np.empty((T, 4)), np.empty(T)
    rng = np.random.default_rng(seed)
    sizes = np.abs(expected.pull) + expected.l1
    for s in slopes:
        pieces(f, s, out)
        slope, offset, lowest, highest = out.T
        rounding = 16 * EPS * (1.0 + np.abs(s) + sizes)
        assert np.all((lowest <= s + rounding) & (s <= highest + rounding))
        for share in [0.0, 1.0, *rng.random(3)]:
            low, high = np.maximum(lowest, s - 100.0), np.minimum(highest, s + 100.0)
            inside = low + share * (high - low)
            minimise_all(f, inside, x)
            size = 1.0 + np.abs(s) + np.abs(inside) + sizes
            assert np.all(np.abs(x - (offset - slope * inside)) <= 32 * EPS * size / expected.mu)


def test_a_piece_that_is_a_point():
    """A fixed feature has one value whatever s is."""
    f = zg.ElasticNet(1.0, 0.5, lower=[0.0, 2.0], upper=[0.0, 2.0]).bind(2).compiled(Free(0.0, 0.0))
    for s in (-5.0, -0.5, 0.0, 0.5, 5.0):
        for j, value in ((0, 0.0), (1, 2.0)):
            slope, offset, lowest, highest = piece(f, j, s)
            assert (slope, offset) == (0.0, value)
            assert lowest <= s <= highest


# ---- features without curvature
def test_no_curvature_inside_a_box_stays_finite():
    penalty = zg.ElasticNet([0.0, 1.0], lower=-1.0, upper=2.0).bind(2)
    np.testing.assert_array_equal(penalty.minimiser(np.array([3.0, 0.5])), [-1.0, -0.5])
    np.testing.assert_array_equal(penalty.minimiser(np.array([-3.0, 0.5])), [2.0, -0.5])
    assert penalty.conjugate(np.array([3.0, 0.0])) == 3.0


def test_no_curvature_and_no_box_leaves_no_bound():
    penalty = zg.ElasticNet([0.0, 1.0], l1=[0.5, 0.0]).bind(2)
    assert penalty.conjugate(np.array([0.25, 0.0])) == 0.0
    assert penalty.conjugate(np.array([0.75, 0.0])) == np.inf


def test_a_linear_term_moves_the_slopes_of_flat_features():
    """f = q.x on the line has a finite conjugate at s = -q alone; with l1 or a side, on an interval."""
    penalty = zg.ElasticNet(
        0.0, l1=[0.0, 0.5, 0.0], lower=[-np.inf, -np.inf, 0.0], linear=[2.0, 2.0, 2.0]
    ).bind(3)
    index, low, high = penalty.flat()
    np.testing.assert_array_equal(index, [0, 1, 2])
    np.testing.assert_array_equal(low, [-2.0, -2.5, -2.0])
    np.testing.assert_array_equal(high, [-2.0, -1.5, np.inf])
    assert penalty.conjugate(np.array([-2.0, -1.75, 5.0])) == 0.0
    assert penalty.conjugate(np.array([-2.0, -1.0, 5.0])) == np.inf
