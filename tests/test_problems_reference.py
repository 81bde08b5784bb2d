"""The reference agrees with itself: formulas with brute force, algorithms with each other, optima
with their dual bounds."""

from dataclasses import replace

import numpy as np
import problems
import pytest
import reference
from problems import BY_NAME, PROBLEMS
from scipy.optimize import minimize_scalar

LOSSES = {name: reference.make_loss(name, **parameters) for name, parameters in problems.LOSSES.items()}
LABELS = {name: (-1.0, 1.0) if name in reference.CLASSIFICATION else (-0.7, 1.3) for name in LOSSES}
WITHOUT_INTERCEPT = [problem for problem in PROBLEMS if not problem.fit_intercept]

each_loss = pytest.mark.parametrize("name", LOSSES)


def finite_domain(loss, y, cap=3.0):
    lo, hi = loss.domain(y)
    return max(float(lo), -cap), min(float(hi), cap)


def maximum(function, lo, hi):
    """The maximum of a concave function on [lo, hi]: the best of a grid, then Brent around it."""
    grid = np.linspace(lo, hi, 4001)
    best = int(np.argmax(function(grid)))
    around = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    options = {"xatol": 1e-12, "maxiter": 1000}
    fine = minimize_scalar(lambda m: -function(m), bounds=around, method="bounded", options=options)
    return max(float(function(grid[best])), -float(fine.fun))


# ---- losses
@each_loss
def test_values_at_a_few_points(name):
    """Worked out by hand from the definitions, at m = -1, 0.25, 0.75, 2 with y = 1."""
    expected = {
        "hinge": [2.0, 0.75, 0.25, 0.0],
        "squared_hinge": [4.0, 0.5625, 0.0625, 0.0],
        "smoothed_hinge": [1.75, 0.5, 0.0625, 0.0],  # width 1/2
        "logistic": np.log1p(np.exp([1.0, -0.25, -0.75, -2.0])),
        "absolute": [2.0, 0.75, 0.25, 1.0],
        "pinball": [1.6, 0.6, 0.2, 0.2],  # quantile 0.8
        "squared": [2.0, 0.28125, 0.03125, 0.5],
        "huber": [0.72, 0.22, 0.03125, 0.32],  # delta 0.4
        "epsilon_insensitive": [1.75, 0.5, 0.0, 0.75],  # epsilon 1/4
        "squared_epsilon_insensitive": [3.0625, 0.25, 0.0, 0.5625],
    }
    values = LOSSES[name].value(np.array([-1.0, 0.25, 0.75, 2.0]), 1.0)
    np.testing.assert_allclose(values, expected[name], rtol=1e-14, atol=1e-15)


@each_loss
def test_conjugate_is_the_maximum(name):
    loss = LOSSES[name]
    for y in LABELS[name]:
        lo, hi = finite_domain(loss, y)
        for u in np.linspace(lo, hi, 23)[1:-1]:
            brute = maximum(lambda m, u=u, y=y: u * m - loss.value(m, y), -20.0, 20.0)
            assert loss.conjugate(u, y) == pytest.approx(brute, rel=1e-9, abs=1e-9)


@each_loss
def test_conjugate_at_and_beyond_the_domain_boundary(name):
    loss = LOSSES[name]
    for y in LABELS[name]:
        for end, outwards in zip(loss.domain(y), (-1.0, 1.0), strict=True):
            if np.isfinite(end):
                inner = loss.conjugate(end - outwards * 1e-9, y)
                assert loss.conjugate(end, y) == pytest.approx(float(inner), abs=1e-7)
                assert loss.conjugate(np.nextafter(end, outwards * np.inf), y) == np.inf
                far = outwards * np.array([1e3, 1e6])  # the supremum there is indeed infinite
                growth = (end + outwards * 0.1) * far - loss.value(far, y)
                assert growth[1] - growth[0] > 1e4
            else:
                assert np.isfinite(loss.conjugate(outwards * 1e6, y))


@each_loss
def test_prox_is_optimal(name):
    """p = prox(v) exactly when phi and phi* add up to p m at m = (v - p)/tau (Fenchel-Young)."""
    loss, rng = LOSSES[name], np.random.default_rng(1)
    v, tau = 3 * rng.standard_normal(2000), 10 ** rng.uniform(-2, 2, 2000)
    y = rng.choice(LABELS[name], 2000)
    p = loss.prox_conjugate(v, tau, y)
    lo, hi = loss.domain(y)
    assert np.all((p >= lo) & (p <= hi))
    m = (v - p) / tau
    gap = loss.value(m, y) + loss.conjugate(p, y) - p * m
    assert np.max(np.abs(gap) / (1 + np.abs(p * m))) < 1e-13


@each_loss
def test_prox_minimises(name):
    loss, rng = LOSSES[name], np.random.default_rng(2)
    for v, tau in zip(2 * rng.standard_normal(8), 10 ** rng.uniform(-1, 1, 8), strict=True):
        for y in LABELS[name]:
            lo, hi = finite_domain(loss, y, cap=100.0)

            def minus(u, v=v, tau=tau, y=y):
                return -tau * loss.conjugate(u, y) - (u - v) ** 2 / 2

            p = float(loss.prox_conjugate(v, tau, y))
            assert minus(p) == pytest.approx(maximum(minus, lo, hi), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("tau", [1e-8, 1e8])
def test_logistic_prox_at_extreme_steps(tau):
    """tau log(a / (1 - a)) + a = -y v holds to rounding, however small a or 1 - a."""
    v = np.array([-30.0, -1.0 - 1e-9, -0.5, -1e-9, 0.0, 0.3, 20.0])
    a = -LOSSES["logistic"].prox_conjugate(v, tau, 1.0)
    strictly = (a > 0) & (a < 1)
    residual = tau * (np.log(a[strictly]) - np.log1p(-a[strictly])) + a[strictly] + v[strictly]
    assert np.any(strictly)
    assert np.max(np.abs(residual) / (1 + tau)) < 1e-14
    np.testing.assert_array_equal(a[~strictly], np.clip(-v[~strictly], 0.0, 1.0))


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(0.5, 0.5), (-1.0, 2.0), (0.5, np.inf), (-np.inf, -0.25), (-np.inf, np.inf)],
)
def test_range_rows(lower, upper):
    rng = np.random.default_rng(3)
    grid = np.linspace(max(lower, -50.0), min(upper, 50.0), 101)
    lo, hi = reference.range_domain(lower, upper)
    for u in np.clip([-2.0, -0.3, 0.0, 0.7, 5.0], lo, hi):
        expected = max(u * grid)  # the conjugate of an indicator: linear, so an end of the range
        assert reference.range_conjugate(u, lower, upper) == pytest.approx(expected)
    v, tau = 3 * rng.standard_normal(500), 10 ** rng.uniform(-2, 2, 500)
    p = reference.range_prox_conjugate(v, tau, lower, upper)
    m = (v - p) / tau  # p = prox(v): m is in the range, and phi*(p) = p m
    assert np.all(m >= lower - 1e-12 / tau)
    assert np.all(m <= upper + 1e-12 / tau)
    np.testing.assert_allclose(reference.range_conjugate(p, lower, upper), p * m, atol=1e-12)


# ---- regularisers
def regularizers():
    rng = np.random.default_rng(4)
    by_kind = {kind: problems._penalty(kind, False, rng) for kind in problems.REGULARIZERS}
    by_kind["arrays"] = problems._penalty("elastic_net", True, rng)
    return by_kind


@pytest.mark.parametrize("kind", [*problems.REGULARIZERS, "arrays"])
def test_regularizer_minimiser_and_conjugate(kind):
    """f(q) + s.q >= f(x) + s.x + mu/2 |q - x|^2 for all q characterises the minimiser x."""
    name, penalty = regularizers()[kind]
    f = (
        reference.Group(**penalty)
        if name == "group_lasso"
        else reference.Separable.create(problems.N_FEATURES, **penalty)
    )
    rng = np.random.default_rng(5)
    for s in rng.standard_normal((30, problems.N_FEATURES)) * 10 ** rng.uniform(-2, 0.5, (30, 1)):
        x = f.minimiser(s)
        best = f.value(x) + s @ x
        assert f.conjugate_neg(s) == pytest.approx(-best, rel=1e-14)
        for size in (1e-6, 1e-3, 1.0):
            for step in rng.standard_normal((40, problems.N_FEATURES)):
                q = x + size * step * (rng.random(len(x)) < 0.7)
                if kind in ("box", "arrays"):
                    q = np.clip(q, f.lower, f.upper)
                room = f.value(q) + s @ q - best - f.mu / 2 @ (q - x) ** 2
                assert room >= -1e-14 * (1 + abs(best))


# ---- algorithms
def start_and_indices(instance, steps, seed=0):
    rng = np.random.default_rng(seed)
    return random_dual(instance, rng), rng.integers(instance.n_rows, size=steps)


def random_dual(instance, rng):
    lo, hi = instance.domain()
    lo, hi = np.maximum(lo, -2.0), np.minimum(hi, 2.0)
    return np.where(lo < hi, rng.uniform(lo, hi), lo)


def relative_difference(a, b):
    return np.max(np.abs(a - b)) / np.max(np.abs(b))


def test_theta_sequence():
    thetas = reference.theta_sequence(7, 3000)
    assert thetas[0] == 1 / 7
    np.testing.assert_allclose((1 - thetas[1:]) / thetas[1:] ** 2, 1 / thetas[:-1] ** 2, rtol=1e-12)
    # the sum of the averaging weights telescopes
    telescoped = 1 / thetas[-1] ** 2 - 1 / thetas[999] ** 2
    assert np.sum(1 / thetas[1000:]) == pytest.approx(telescoped, rel=1e-12)


@pytest.mark.parametrize("step_scale", [1.0, 0.5])
@pytest.mark.parametrize("i", [4, 31, 34])  # a data row, an equality, a range
def test_the_step_is_the_minimiser_in_the_paper(step_scale, i):
    """argmin_u c n theta L_i (u - z_i)^2 + grad_i d(v) (u - z_i) + h_i(u), at theta = 1/n."""
    instance = BY_NAME["squared-elastic_net-both"].instance()
    u0, _ = start_and_indices(instance, 0)
    stepped = reference.algorithm_1(instance, u0, [i], step_scale)
    r, w, size = instance.rows[i], instance.weights[i], instance.lipschitz()[i]
    gradient = -w * r @ instance.primal_from_dual(u0)
    assert size == pytest.approx(w**2 * r @ r / 0.1)

    def minus(u):
        conjugate = (
            instance.loss.conjugate(u, instance.y[i])
            if i < instance.n_data
            else reference.range_conjugate(u, instance.lower[i - 30], instance.upper[i - 30])
        )
        return -step_scale * size * (u - u0[i]) ** 2 - gradient * (u - u0[i]) - w * conjugate

    assert minus(stepped.z[0, i]) == pytest.approx(maximum(minus, -50.0, 50.0), rel=1e-9)
    others = np.arange(instance.n_rows) != i
    np.testing.assert_array_equal(stepped.z[0, others], u0[others])


def test_the_average_has_weights_one_over_theta():
    instance = BY_NAME["hinge-l2-none"].instance()
    u0, indices = start_and_indices(instance, 200)
    trace = reference.algorithm_1(instance, u0, indices, average_from=50)
    total = sum(trace.x[k] / trace.thetas[k] for k in range(50, 200))
    np.testing.assert_allclose(
        trace.x_average, total / sum(1 / trace.thetas[k] for k in range(50, 200)), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("name", "step_scale"),
    [
        ("absolute-l2-both", 1.0),
        ("smoothed_hinge-elastic_net-between", 0.5),
        ("squared-group-equal", 1.0),
        ("pinball-elastic_net-between-weights", 0.5),
    ],
)
def test_algorithm_1_is_algorithm_2(name, step_scale):
    instance, steps = BY_NAME[name].instance(), 2000
    u0, indices = start_and_indices(instance, steps)
    one = reference.algorithm_1(instance, u0, indices, step_scale, average_from=steps // 2)
    two = reference.algorithm_2(instance, u0, indices, step_scale, average_from=steps // 2)
    for ours, theirs in [(one.z, two.z), (one.u, two.u), (one.v, two.v), (one.x, two.x)]:
        for k in range(steps):
            assert relative_difference(ours[k], theirs[k]) <= 1e-10
    assert relative_difference(one.x_average, two.x_average) <= 1e-10
    rebuilt = one.thetas[:, None] ** 2 * one.uhat + one.z
    assert relative_difference(rebuilt, two.u) <= 1e-10
    assert np.max(np.abs(one.z[-1] - u0)) > 0.1  # something happened


def test_algorithm_2_on_logistic_rows():
    """As above for the loss whose prox is a bisection: fewer steps, since it is slow."""
    instance = BY_NAME["logistic-box-both"].instance()
    u0, indices = start_and_indices(instance, 300)
    one = reference.algorithm_1(instance, u0, indices)
    two = reference.algorithm_2(instance, u0, indices)
    assert relative_difference(one.u, two.u) <= 1e-10
    assert relative_difference(one.z, two.z) <= 1e-10


@pytest.mark.parametrize("name", ["hinge-l2-between", "absolute-elastic_net-equal"])
def test_rdca_with_the_long_step_is_sdca(name):
    instance = BY_NAME[name].instance()
    u0, indices = start_and_indices(instance, 500)
    rdca = reference.rdca(instance, u0, indices, step_scale=0.5)
    sdca = reference.sdca(instance, u0, indices)
    assert relative_difference(rdca.u, sdca.u) <= 1e-12
    np.testing.assert_allclose(rdca.u, rdca.z, atol=1e-12)


@pytest.mark.parametrize("name", ["hinge-l2-both", "huber-elastic_net-equal", "squared-group-both"])
@pytest.mark.parametrize("method", [reference.rdca, reference.sdca])
def test_unaccelerated_methods_never_increase_the_dual(name, method):
    instance = BY_NAME[name].instance()
    u0, indices = start_and_indices(instance, 400)
    values = [instance.dual(instance.clip(u)) for u in method(instance, u0, indices).u]
    assert np.max(np.diff(values)) <= 1e-12
    assert values[-1] < values[0] - 1e-3


def test_a_zero_row_is_refused():
    instance = BY_NAME["hinge-l2-none"].instance()
    instance.rows[3] = 0.0
    with pytest.raises(ValueError, match="nonzero rows"):
        reference.algorithm_1(instance, np.zeros(instance.n_rows), [0])


@pytest.mark.parametrize(
    "name",
    [
        "hinge-l2-none",
        "squared_hinge-elastic_net-between",
        "absolute-box-equal",
        "pinball-elastic_net-between-weights",
        "squared-group-none",
        "huber-l2-both",
        "epsilon_insensitive-elastic_net-none-arrays",
        "squared_epsilon_insensitive-group-between",
    ],
)
def test_algorithms_approach_the_optimum(name):
    problem = BY_NAME[name]
    instance, (objective, x, _) = problem.instance(), problem.optimum()
    n, rng = instance.n_rows, np.random.default_rng(6)
    u0 = np.zeros(n)

    def missing(u):
        """How far the dual value at u is from the optimum; never negative, by weak duality."""
        return objective + instance.dual(instance.clip(u))

    def passes(count):
        return np.concatenate([rng.permutation(n) for _ in range(count)])

    long = reference.algorithm_1(instance, u0, passes(150), 0.5, average_from=75 * n)
    assert -1e-9 < missing(long.u[-1]) < 5e-4
    np.testing.assert_allclose(long.x_average, x, atol=5e-3)

    paper = reference.algorithm_1(instance, u0, rng.integers(n, size=150 * n), 1.0, 75 * n)
    assert -1e-9 < missing(paper.u[-1]) < 2e-3
    np.testing.assert_allclose(paper.x_average, x, atol=2e-2)

    restarted = u0
    for _ in range(6):  # Algorithm 3 with a fixed period
        restarted = instance.clip(reference.algorithm_1(instance, restarted, passes(30), 0.5).u[-1])
    assert -1e-9 < missing(restarted) < 1e-7
    np.testing.assert_allclose(instance.primal_from_dual(restarted), x, atol=1e-3)

    cyclic = reference.sdca(instance, u0, reference.cyclic(n, 150)).u[-1]
    assert -1e-9 < missing(cyclic) < 1e-5


# ---- problems
def test_the_list_covers_the_grid():
    assert len(BY_NAME) == len(PROBLEMS) >= 160 + 10 + 10
    for loss in problems.LOSSES:
        for regularizer in problems.REGULARIZERS:
            for constraints in problems.CONSTRAINTS:
                assert f"{loss}-{regularizer}-{constraints}" in BY_NAME
        mine = [problem for problem in PROBLEMS if problem.loss[0] == loss]
        assert any(problem.sample_weight is not None for problem in mine)
        assert any(problem.fit_intercept for problem in mine)
    sides = [c[2:] for p in PROBLEMS for c in p.constraints if c[0] == "between"]
    assert any(np.any(np.isinf(lower)) and np.any(np.isinf(upper)) for lower, upper in sides)


def test_the_data_are_exact_in_float32():
    for problem in PROBLEMS:
        matrices = [problem.X, problem.y] + [c[1] for c in problem.constraints]
        assert all(np.array_equal(a, a.astype(np.float32)) for a in matrices)
        assert np.all(np.any(problem.X != 0, axis=1))
        assert np.any(problem.X == 0)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_the_optimum_is_certified_by_its_multipliers(problem):
    """Clarabel's x is feasible and its multipliers, put on the dual domain, prove its objective."""
    solution, instance = problem.solution(), problem.instance(drop_intercept=True)
    u = instance.clip(solution.dual)
    np.testing.assert_allclose(u, solution.dual, atol=1e-7)
    assert problem.objective(solution.x, solution.intercept) == solution.objective
    assert problem.violation(solution.x) < 1e-8
    assert -1e-8 < solution.objective + instance.dual(u) < 1e-8
    np.testing.assert_allclose(instance.primal_from_dual(u), solution.x, atol=1e-5)
    if problem.fit_intercept:  # the dual constraint that a free intercept adds
        assert abs(instance.weights[: instance.n_data] @ u[: instance.n_data]) < 1e-9
    else:
        assert solution.intercept == 0.0
        assert instance.primal(solution.x) == pytest.approx(solution.objective, rel=1e-14)


def test_the_optima_are_not_trivial():
    some = {"zeros": 0, "at a bound": 0, "active range": 0, "idle range": 0}
    for problem in PROBLEMS:
        solution, instance = problem.solution(), problem.instance(drop_intercept=True)
        assert 0.1 < solution.objective < 10
        assert 0.2 < np.max(np.abs(solution.x)) < 5
        multipliers = np.abs(solution.dual[instance.n_data :]) > 1e-6
        ranges = instance.lower < instance.upper
        some["active range"] += np.any(multipliers & ranges)
        some["idle range"] += np.any(~multipliers & ranges)
        some["zeros"] += np.any(np.abs(solution.x) < 1e-6)
        if isinstance(instance.f, reference.Separable):
            bounds = np.array([instance.f.lower, instance.f.upper])
            some["at a bound"] += np.any(np.abs(solution.x - bounds) < 1e-6)
        if "hinge" in problem.loss[0]:
            active = np.abs(solution.dual[: instance.n_data]) > 1e-6
            assert 3 <= np.sum(active) <= 29, problem.name
    assert min(some.values()) >= 15, some


@pytest.mark.parametrize("problem", WITHOUT_INTERCEPT[::3], ids=lambda problem: problem.name)
def test_weak_duality(problem):
    instance, solution = problem.instance(), problem.solution()
    rng = np.random.default_rng(7)
    for _ in range(20):
        u = random_dual(instance, rng) * rng.uniform(0, 1)
        assert -instance.dual(u) <= solution.objective + 1e-8
        x = solution.x + 0.3 * rng.standard_normal(len(solution.x))
        if isinstance(instance.f, reference.Separable):
            x = np.clip(x, instance.f.lower, instance.f.upper)
        # L(x, u) for x that need not be feasible: its constraint rows join the data rows
        values = instance.rows[instance.n_data :] @ x
        constraint = reference.range_conjugate(u[instance.n_data :], instance.lower, instance.upper)
        lagrangian = instance.primal(x) + u[instance.n_data :] @ values - np.sum(constraint)
        assert lagrangian >= -instance.dual(u) - 1e-12


def test_sample_weights_count_samples():
    """A weight of 3 is three copies; the mean does not see a common factor."""
    plain, x = BY_NAME["hinge-elastic_net-none"], np.linspace(-1.0, 1.0, problems.N_FEATURES)
    counts = np.arange(problems.N_SAMPLES) % 3 + 1.0
    rows = np.repeat(np.arange(problems.N_SAMPLES), counts.astype(int))
    repeated = replace(plain, X=plain.X[rows], y=plain.y[rows])
    for weights in (counts, 7 * counts):
        weighted = replace(plain, sample_weight=weights)
        assert weighted.objective(x, 0.5) == pytest.approx(repeated.objective(x, 0.5), rel=1e-14)


def test_solutions_are_kept_on_disk(tmp_path, monkeypatch):
    problem = BY_NAME["squared-l2-none"]
    monkeypatch.setattr(problems, "CACHE", tmp_path / "new" / "folder")
    first = problem.solution()
    monkeypatch.setattr(problems, "_solve", None)  # calling it would fail
    second = problem.solution()
    assert [np.array_equal(a, b) for a, b in zip(first, second, strict=True)] == [True] * 4
    assert [path.suffix for path in problems.CACHE.iterdir()] == [".npz"]


def test_keys_differ():
    assert len({problem._key() for problem in PROBLEMS}) == len(PROBLEMS)
