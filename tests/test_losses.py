"""Every loss against tests/reference.py, and by property: Fenchel-Young, prox, domain, derivatives."""

import math

import numpy as np
import pytest
import reference
from hypothesis import assume, given
from hypothesis import strategies as st
from support import EPS, LOSS_CASES, LOSS_IDS, loss_object

import zerogap as zg
from zerogap.problem import loss_registry as verbs
from zerogap.problem import terms as row_terms

each_loss = pytest.mark.parametrize("case", LOSS_CASES, ids=LOSS_IDS)

margins = st.floats(-50, 50)
moderate = st.floats(-8, 8)
exponents = st.floats(-12, 12)


def targets(name):
    return st.sampled_from([-1.0, 1.0]) if name in reference.CLASSIFICATION else st.floats(-5, 5)


def both(case):
    """The package's loss and the reference's."""
    name, parameters = case
    return loss_object(name, parameters), reference.make_loss(name, **parameters)


def centred_difference(function, at, step):
    """The centred difference quotient, and how far the one-sided ones are apart."""
    left = (function(at) - function(at - step)) / step
    right = (function(at + step) - function(at)) / step
    return 0.5 * (left + right), abs(right - left)


# ---- against the reference
@each_loss
@given(data=st.data())
def test_value_is_the_reference(case, data):
    loss, expected = both(case)
    m, y = data.draw(margins), data.draw(targets(case[0]))
    assert verbs.value(loss, m, y) == pytest.approx(float(expected.value(m, y)), rel=1e-13, abs=1e-14)


@each_loss
@given(data=st.data())
def test_conjugate_and_domain_are_the_reference(case, data):
    loss, expected = both(case)
    y = data.draw(targets(case[0]))
    low, high = verbs.domain(loss, y)
    assert (low, high) == tuple(map(float, expected.domain(y)))
    u = data.draw(st.floats(max(low, -20.0), min(high, 20.0)))
    assert verbs.conjugate(loss, u, y) == pytest.approx(float(expected.conjugate(u, y)), rel=1e-13, abs=1e-14)


@each_loss
@given(data=st.data())
def test_prox_is_the_reference(case, data):
    loss, expected = both(case)
    v, tau, y = data.draw(moderate), 10.0 ** data.draw(exponents), data.draw(targets(case[0]))
    size = (abs(v) + tau * (1.0 + abs(y))) / (1.0 + tau * expected.curvature)
    wanted = float(expected.prox_conjugate(v, tau, y))
    assert verbs.prox(loss, v, tau, y) == pytest.approx(wanted, rel=1e-13, abs=4 * EPS * (1.0 + size))


# ---- by property
@each_loss
@given(data=st.data())
def test_fenchel_young_at_the_derivative(case, data):
    """phi(m) + phi*(u) >= u m for every u of the domain, with equality at u = phi'(m)."""
    loss, _ = both(case)
    m, y = data.draw(moderate), data.draw(targets(case[0]))
    low, high = verbs.domain(loss, y)
    u = data.draw(st.floats(max(low, -20.0), min(high, 20.0)))
    room = verbs.value(loss, m, y) + verbs.conjugate(loss, u, y) - u * m
    assert room >= -1e-13 * (1.0 + abs(u * m))
    derivative, jump = centred_difference(lambda q: verbs.value(loss, q, y), m, 1e-5)
    assume(jump < 1e-4)  # no kink between the three points
    u = min(max(derivative, low), high)
    assert derivative == pytest.approx(u, abs=1e-9 * (1.0 + abs(u)))
    room = verbs.value(loss, m, y) + verbs.conjugate(loss, u, y) - u * m
    assert abs(room) <= 1e-9 * (1.0 + abs(u * m))


@each_loss
@given(data=st.data())
def test_prox_is_optimal_at_any_step_size(case, data):
    """p = prox(v) exactly when p lies in the domain and phi(m) + phi*(p) = p m at m = (v - p)/tau."""
    loss, _ = both(case)
    v, tau, y = data.draw(moderate), 10.0 ** data.draw(exponents), data.draw(targets(case[0]))
    p = verbs.prox(loss, v, tau, y)
    low, high = verbs.domain(loss, y)
    assert low <= p <= high
    m = (v - p) / tau
    room = tau * (verbs.value(loss, m, y) + verbs.conjugate(loss, p, y)) - p * (v - p)
    # p is known to the rounding of v - tau y; the objective is flat to first order there
    size = (1.0 + abs(v) + tau * (1.0 + abs(y))) * (1.0 + abs(p))
    assert abs(room) <= 32 * EPS * size


@each_loss
@given(data=st.data())
def test_prox_minimises(case, data):
    loss, _ = both(case)
    v, tau = data.draw(moderate), 10.0 ** data.draw(st.floats(-3, 3))
    y = data.draw(targets(case[0]))
    low, high = verbs.domain(loss, y)

    def objective(u):
        return tau * verbs.conjugate(loss, u, y) + 0.5 * (u - v) ** 2

    p = verbs.prox(loss, v, tau, y)
    grid = np.linspace(max(low, p - 3.0), min(high, p + 3.0), 201)
    near = p + np.array([-1e-3, -1e-6, 1e-6, 1e-3])
    for u in [*grid, *near[(near >= low) & (near <= high)]]:
        room = objective(u) - objective(p) - 0.5 * (u - p) ** 2  # the objective is 1-strongly convex
        assert room >= -1e-13 * (1.0 + abs(objective(p)) + v * v)


@each_loss
@given(data=st.data())
def test_slope_is_the_derivative_of_prox(case, data):
    loss, _ = both(case)
    v, tau = data.draw(moderate), 10.0 ** data.draw(st.floats(-3, 3))
    y = data.draw(targets(case[0]))
    slope = verbs.slope(loss, v, tau, y)
    assert 0.0 <= slope <= 1.0
    step = 1e-6 * (1.0 + tau)
    derivative, jump = centred_difference(lambda q: verbs.prox(loss, q, tau, y), v, step)
    assume(jump < 1e-4)
    assert slope == pytest.approx(derivative, abs=1e-6)


@each_loss
@given(data=st.data())
def test_gradient_and_curvature(case, data):
    """A smooth loss brings its derivative (Fenchel-Young holds there) and the derivative of that."""
    loss, _ = both(case)
    about = verbs.traits(loss)
    assert about.differentiable == (about.smoothness(loss) > 0.0)
    if not about.differentiable:
        return
    m, y = data.draw(margins), data.draw(targets(case[0]))
    u = verbs.gradient(loss, m, y)
    room = verbs.value(loss, m, y) + verbs.conjugate(loss, u, y) - u * m
    assert abs(room) <= 1e-13 * (1.0 + abs(u * m) + u * u + abs(u * y))
    curvature = verbs.curvature(loss, m, y)
    assert 0.0 <= curvature <= 1.0 / about.smoothness(loss)
    derivative, jump = centred_difference(lambda q: verbs.gradient(loss, q, y), m, 1e-5)
    assume(jump < 1e-3)
    assert curvature == pytest.approx(derivative, abs=1e-8)


@each_loss
@given(data=st.data())
def test_prox_is_monotone_and_nonexpansive(case, data):
    loss, _ = both(case)
    v, tau, y = data.draw(moderate), 10.0 ** data.draw(exponents), data.draw(targets(case[0]))
    step = data.draw(st.floats(0, 10))
    rise = verbs.prox(loss, v + step, tau, y) - verbs.prox(loss, v, tau, y)
    rounding = 8 * EPS * (1.0 + abs(v) + step + tau * (1.0 + abs(y)))
    assert -rounding <= rise <= (v + step) - v + rounding


@each_loss
@given(data=st.data())
def test_no_nan_at_extremes(case, data):
    loss, _ = both(case)
    y = data.draw(targets(case[0]))
    v = data.draw(st.floats(-1e150, 1e150))
    tau = 10.0 ** data.draw(exponents)
    low, high = verbs.domain(loss, y)
    p = verbs.prox(loss, v, tau, y)
    assert low <= p <= high
    assert verbs.value(loss, v, y) >= 0.0
    assert 0.0 <= verbs.slope(loss, v, tau, y) <= 1.0
    assert not math.isnan(verbs.conjugate(loss, p, y))


@each_loss
def test_domain_boundaries(case):
    """The conjugate is finite and continuous up to a finite end; beyond it, compiled code says inf."""
    loss, _ = both(case)
    for y in (-1.0, 1.0):
        terms = single_row(loss, y)
        for end, outwards in zip(verbs.domain(loss, y), (-1.0, 1.0), strict=True):
            if np.isinf(end):
                assert np.isfinite(compiled_conjugate(terms, outwards * 1e9))
                continue
            at_end = compiled_conjugate(terms, end)
            assert at_end == pytest.approx(verbs.conjugate(loss, end - outwards * 1e-9, y), abs=1e-7)
            assert compiled_conjugate(terms, np.nextafter(end, outwards * np.inf)) == np.inf
            u = np.array([end + outwards * 3.0])
            row_terms.project(terms, u)
            assert u[0] == end


def compiled_conjugate(terms, u):
    out = np.empty(1)
    row_terms.conjugates(terms, np.array([u]), out)
    return out[0]


def single_row(loss, y):
    problem = zg.Problem(np.ones((2, 1)), np.array([y, -y]), loss=loss, regularizer=zg.L2(1.0))
    return problem.terms._replace(y=np.array([y]))


@each_loss
def test_lipschitz_constant(case):
    """M bounds every difference quotient and is attained; without M the slopes grow without bound."""
    loss, _ = both(case)
    bound = verbs.traits(loss).lipschitz(loss)
    for y in (-1.0, 1.0):
        values = np.array([verbs.value(loss, m, y) for m in np.linspace(-60.0, 60.0, 2001)])
        steepest = np.max(np.abs(np.diff(values))) / 0.06
        if math.isfinite(bound):
            assert bound * (1 - 1e-9) <= steepest <= bound * (1 + 1e-9)
        else:
            assert steepest > 50.0


@each_loss
def test_smoothness(case):
    """phi' has Lipschitz constant 1/gamma and no smaller one; gamma = 0 exactly when phi has a kink."""
    loss, _ = both(case)
    gamma = verbs.traits(loss).smoothness(loss)
    step = 1.0 / 256.0
    values = np.array([verbs.value(loss, 0.5 + m, 1.0) for m in np.arange(-2048, 2049) * step])
    curvature = np.max(np.diff(values, 2)) / step**2
    if gamma > 0.0:
        assert curvature == pytest.approx(1.0 / gamma, rel=1e-4)
    else:
        assert curvature > 0.5 / step  # a jump of the derivative, seen at this resolution


@each_loss
@given(data=st.data())
def test_conjugate_is_strongly_convex(case, data):
    """gamma of smoothness is the strong convexity of phi* (0: merely convex)."""
    loss, _ = both(case)
    gamma, y = verbs.traits(loss).smoothness(loss), data.draw(targets(case[0]))
    low, high = verbs.domain(loss, y)
    ends = st.floats(max(low, -20.0), min(high, 20.0))
    a, b, share = data.draw(ends), data.draw(ends), data.draw(st.floats(0, 1))
    middle = min(max(share * a + (1 - share) * b, low), high)
    chord = share * verbs.conjugate(loss, a, y) + (1 - share) * verbs.conjugate(loss, b, y)
    room = chord - verbs.conjugate(loss, middle, y) - 0.5 * gamma * share * (1 - share) * (a - b) ** 2
    assert room >= -1e-12 * (1.0 + a * a + b * b)


# ---- compiled code
@each_loss
def test_compiled_rows_are_the_python_ones(case):
    name, _ = case
    loss, _ = both(case)
    rng = np.random.default_rng(0)
    n = 400
    y = rng.choice([-1.0, 1.0], n) if name in reference.CLASSIFICATION else 2 * rng.standard_normal(n)
    problem = zg.Problem(np.ones((n, 1)), y, loss=loss, regularizer=zg.L2(1.0))
    v, tau = 3 * rng.standard_normal(n), 10 ** rng.uniform(-3, 3, n)
    out, slopes, low, high = np.empty((4, n))
    row_terms.prox_map(problem.terms, v, tau, out, slopes)
    rows = list(zip(v, tau, y, strict=True))
    np.testing.assert_allclose(out, [verbs.prox(loss, *row) for row in rows], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(slopes, [verbs.slope(loss, *row) for row in rows], rtol=1e-9, atol=1e-12)
    row_terms.domains(problem.terms, low, high)
    assert list(zip(low, high, strict=True)) == [verbs.domain(loss, target) for target in y]
    u = np.clip(v, low, high)
    row_terms.conjugates(problem.terms, u, out)
    pairs = zip(u, y, strict=True)
    np.testing.assert_allclose(out, [verbs.conjugate(loss, *pair) for pair in pairs], rtol=1e-13, atol=1e-15)
    values = [verbs.value(loss, *pair) for pair in zip(v, y, strict=True)]
    np.testing.assert_allclose(row_terms.loss_sum(problem.terms, v), problem.weight @ values, rtol=1e-13)
    row_terms.project(problem.terms, v)
    np.testing.assert_array_equal(v, u)


# ---- names and parameters
#: Losses over all classes at once; tested on their own.
OF_BLOCKS = ("crammer_singer", "multinomial")


def test_all_losses_have_names():
    assert zg.losses.names() == sorted({name for name, _ in LOSS_CASES} | set(OF_BLOCKS))
    assert len({name for name, _ in LOSS_CASES}) == 10


@pytest.mark.parametrize("name", sorted({name for name, _ in LOSS_CASES} | set(OF_BLOCKS)))
def test_a_name_is_the_loss_with_its_defaults(name):
    assert verbs.resolve(name) == loss_object(name, {})
    assert verbs.traits(verbs.resolve(name)).name == name


def test_integer_parameters_become_floats():
    """They would compile every kernel again, and divide as integers."""
    resolved = verbs.resolve(zg.losses.Huber(2))
    assert resolved == zg.losses.Huber(2.0)
    assert type(resolved.delta) is float
