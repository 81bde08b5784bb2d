"""The methods of `zerogap.reference`: against known optima, and against each other where they coincide."""

import numpy as np
import problems
import pytest

import zerogap as zg
from zerogap.paper.problems import small
from zerogap.reference import smoothing
from zerogap.reference.adfga import Adfga
from zerogap.reference.apcg import Apcg
from zerogap.reference.approx import Approx
from zerogap.reference.asdca import Asdca
from zerogap.reference.catalyst import Catalyst
from zerogap.reference.dfga import Dfga
from zerogap.reference.double_smoothing import DoubleSmoothing
from zerogap.reference.equivalent import Equivalent
from zerogap.reference.katyusha import Katyusha
from zerogap.reference.registry import METHODS, applies, stated
from zerogap.reference.rpdg import Rpdg
from zerogap.reference.spdc import Spdc
from zerogap.solver.settings import ALGORITHMS

NAMED_IN_THE_PAPER = {
    "ardca", "algorithm-2", "ardca-restart", "ardca-erm", "rdca", "sdca", "cdca", "asdca", "apcg",
    "apcg-general", "approx", "dfga", "adfga", "double-smoothing", "spdc", "rpdg", "katyusha", "catalyst",
}  # fmt: skip
KINDS = ("squared", "absolute", "sup")
#: With eight methods that fit all of them, every reference problem is met.
STRIDE = 7


def never():
    return False


def run(solver, problem, passes):
    solver.start(problem.project_dual(np.zeros(problem.n_rows)))
    solver.advance(passes, never)
    return solver.candidates()


# ---- every method on the problems it fits
def test_every_method_that_the_paper_names_is_there():
    assert set(METHODS) == NAMED_IN_THE_PAPER


def fits(name, reference):
    """ASDCA smooths once and for all; what it reaches on nonsmooth losses is tested below."""
    problem = reference.build()
    if name == "asdca" and smoothing.smoothness(problem) == 0:
        return False
    return applies(METHODS[name], problem)


OTHERS = [name for name in METHODS if name not in ALGORITHMS]


def share(name, everything=False):
    """The reference problems that `name` meets: all that it fits, or every few of them, each its own.

    ALGORITHMS meet all of them in test_solvers. The strides have no factor in common with the order of the
    list, so that every method meets every loss, penalty and kind of constraint that it fits.
    """
    fitting = [p for p in problems.PROBLEMS if fits(name, p)]
    if everything:
        return fitting
    peers = [other for other in OTHERS if METHODS[other].needs == METHODS[name].needs]
    stride = 2 if METHODS[name].needs.unconstrained else STRIDE
    return fitting[peers.index(name) % stride :: stride]


@pytest.mark.parametrize("name", OTHERS)
def test_known_optima(name, pytestconfig):
    for reference in share(name, pytestconfig.getoption("everything")):
        problem, solution = reference.build(), reference.solution()
        result = zg.solve(problem, algorithm=METHODS[name], tol=1e-6, max_passes=50_000, random_state=0)
        assert result.solved, (reference.name, result)
        # x may gain from its violation, at the multipliers' prices and no more
        violations = problem.violations(problem.rows.dot(result.x))
        price = float(np.abs(solution.dual[problems.N_SAMPLES :]) @ violations)
        slack = 1e-6 * abs(solution.objective) + 1e-8
        excess = result.certificate.primal - solution.objective
        assert -slack - price <= excess <= slack, reference.name
        assert result.certificate.dual <= solution.objective + 1e-8, reference.name


def test_together_the_methods_meet_all_problems():
    met = {p.name for name in OTHERS for p in share(name)}
    assert met == {p.name for p in problems.PROBLEMS if any(fits(name, p) for name in OTHERS)}
    for name in OTHERS:
        fitting = share(name, everything=True)
        for part in range(3):  # loss, penalty, constraints
            assert {p.name.split("-")[part] for p in share(name)} == {
                p.name.split("-")[part] for p in fitting
            }, name


@pytest.fixture(scope="module")
def paper_optima():
    """Optimal values of the paper's problems at t = 100, n = 20, by Clarabel."""
    import cvxpy as cp

    optima = {}
    for kind in KINDS:
        draw = small(kind)
        problem = draw.problem()
        x = cp.Variable(draw.t)
        if kind == "sup":
            J, low, high = problem.constraints[0].rows.matrix, problem.low, problem.high
            objective, constraints = cp.norm1(x) + 0.05 * cp.sum_squares(x), [J @ x <= high, J @ x >= low]
        else:
            residual = problem.rows.top.matrix @ x - problem.y
            loss = cp.sum_squares(residual) / 2 if kind == "squared" else cp.norm1(residual)
            penalty = cp.norm1(x) + 0.05 * cp.sum_squares(x)
            objective, constraints = draw.level * penalty + loss / draw.n, []
        tight = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
        optima[kind] = cp.Problem(cp.Minimize(objective), constraints).solve(solver=cp.CLARABEL, **tight)
    return optima


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for name in METHODS for which, kind in enumerate(KINDS) if stated(name)[which]],
)
def test_the_papers_problems_within_the_stated_passes(name, kind, paper_optima):
    passes = stated(name)[KINDS.index(kind)]
    problem = small(kind).problem()
    result = zg.solve(problem, algorithm=METHODS[name], tol=1e-6, max_passes=passes, random_state=1)
    assert result.solved, result
    assert result.certificate.primal == pytest.approx(paper_optima[kind], rel=1e-6)
    assert result.certificate.violation <= 1e-5


def test_asdca_on_the_papers_nonsmooth_problem_within_the_stated_passes(paper_optima):
    """What epsilon costs has to be below what is asked for; its own bound lags far behind the objective."""
    goal = paper_optima["absolute"] * (1.0 + 1e-6)
    result = zg.solve(
        small("absolute").problem(), algorithm=Asdca(epsilon=2e-8), tol=1e-9, max_passes=Asdca.nonsmooth,
        callbacks=[lambda record: record.primal <= goal], random_state=1, warn=False,
    )  # fmt: skip
    assert result.status is zg.Status.INTERRUPTED, result  # by the callback, which has seen the optimum


def test_what_is_not_stated_does_not_apply():
    for name in METHODS:
        for kind, passes in zip(KINDS, stated(name), strict=True):
            fits = applies(METHODS[name], small(kind).problem())
            assert fits == (passes is not None) or (name, kind) == ("asdca", "absolute")


@pytest.mark.parametrize(
    ("settings", "reference", "words"),
    [
        (Spdc(), "absolute-l2-equal", "Spdc needs problems without constraints"),
        (Katyusha(), "hinge-group-none", "Katyusha needs a separable regularizer"),
        (Adfga(), "hinge-l2-none-intercept", "Adfga needs a penalty on every coefficient"),
        (Apcg(form="strong"), "hinge-l2-none", "needs a smooth loss"),
        (Apcg(form="other"), "hinge-l2-none", "expected auto, strong or general"),
        (Approx(block=31), "hinge-l2-none", "expected 1 to 30 rows"),
    ],
)
def test_what_a_method_lacks_is_said_before_any_work(settings, reference, words):
    problem = {p.name: p for p in problems.PROBLEMS}[reference].build()
    with pytest.raises(zg.SettingsError, match=words):
        zg.solve(problem, algorithm=settings)


# ---- methods that are the same method
def test_algorithm_2_is_algorithm_1():
    problem = small("absolute").problem()
    for step, upsilon in (("paper", 1.1), ("long", 2.0)):
        one = zg.ARDCA(step=step, sampling="uniform", average_from=upsilon)
        two = Equivalent(step=step, sampling="uniform", average_from=upsilon)
        a = zg.solve(problem, algorithm=one, max_passes=200, tol=1e-12, random_state=3, warn=False)
        b = zg.solve(problem, algorithm=two, max_passes=200, tol=1e-12, random_state=3, warn=False)
        np.testing.assert_allclose(a.history.primal, b.history.primal, rtol=1e-9)
        np.testing.assert_allclose(a.history.dual, b.history.dual, rtol=1e-9)


def test_approx_with_one_row_is_ardca_with_the_long_step():
    problem = small("squared").problem()
    ours = Approx().make(problem, np.random.default_rng(4), 1e-6)
    theirs = zg.ARDCA(step="long", sampling="uniform", average_from=None)
    a = run(ours, problem, 60)
    b = zg.solve(problem, algorithm=theirs, max_passes=60, tol=1e-15, random_state=4, warn=False)
    np.testing.assert_allclose(problem.dual(a.dual), -b.certificate.dual, rtol=1e-9)


def test_approx_with_all_rows_is_the_accelerated_full_gradient_method():
    problem = small("sup").problem()
    a = run(Approx(block=20).make(problem, np.random.default_rng(0), 1e-6), problem, 50)
    b = run(Adfga().make(problem, np.random.default_rng(0), 1e-6), problem, 50)
    np.testing.assert_allclose(a.dual, b.dual, rtol=1e-8, atol=1e-9 * np.abs(b.dual).max())


def test_approx_in_blocks():
    problem = small("squared").problem()
    for block in (3, 8):
        result = zg.solve(problem, algorithm=Approx(block=block), tol=1e-6, random_state=0)
        assert result.solved


def test_both_forms_of_apcg():
    """gamma_0 = mu makes the general form the strongly convex one, step by step."""
    problem = small("squared").problem()
    strong = Apcg(form="strong", full_step=False).make(problem, np.random.default_rng(5), 1e-6)
    general = Apcg(form="general", full_step=False).make(problem, np.random.default_rng(5), 1e-6)
    assert 0 < strong.mu == general.mu < 1
    for solver in (strong, general):
        solver.start(np.zeros(problem.n_rows))
    general._gamma = general.mu
    for _ in range(40):
        strong.advance(1, never)
        general.advance(1, never)
        np.testing.assert_allclose(strong.dual(), general.dual(), rtol=1e-9, atol=1e-12)


def test_without_strong_convexity_apcg_starts_like_approx():
    """mu = 0: the same accelerated method but for gamma_0 = 1, which makes alpha_0 a little below 1/n."""
    problem = small("absolute").problem()
    a = run(Apcg(full_step=False).make(problem, np.random.default_rng(6), 1e-6), problem, 300)
    b = run(Approx().make(problem, np.random.default_rng(6), 1e-6), problem, 300)
    assert problem.dual(a.dual) == pytest.approx(problem.dual(b.dual), rel=0.05)


def test_the_extra_full_step_of_apcg_never_raises_the_dual():
    problem = small("squared").problem()
    for passes in (1, 5, 20):
        with_step = run(Apcg().make(problem, np.random.default_rng(7), 1e-6), problem, passes)
        without = run(Apcg(full_step=False).make(problem, np.random.default_rng(7), 1e-6), problem, passes)
        assert problem.dual(with_step.dual) <= problem.dual(without.dual) + 1e-15


# ---- smoothing
@pytest.mark.parametrize(
    "loss",
    [zg.losses.Hinge(), zg.losses.Absolute(), zg.losses.Pinball(0.8), zg.losses.EpsilonInsensitive(0.2)],
)
def test_a_smoothed_loss_is_the_envelope(loss):
    """value = max_u u m - phi*(u) - gamma/2 u^2, between phi - gamma M^2/2 and phi, with prox to match."""
    registry = smoothing.losses
    m, y, gamma = np.linspace(-3, 3, 41), 1.0, 0.3
    ours = smoothing.Smoothed(loss, gamma)
    low, high = registry.domain(loss, y)
    grid = np.linspace(low, high, 4001)
    conjugate = np.array([registry.conjugate(loss, u, y) for u in grid]) + gamma / 2 * grid**2
    M = registry.traits(loss).lipschitz(loss)
    for point in m:
        value = registry.value(ours, point, y)
        assert value == pytest.approx(np.max(grid * point - conjugate), abs=1e-6)
        plain = registry.value(loss, point, y)
        assert plain - gamma * M**2 / 2 - 1e-12 <= value <= plain + 1e-12
        for tau in (0.1, 2.0):
            best = grid[np.argmin(tau * conjugate + (grid - point) ** 2 / 2)]
            assert registry.prox(ours, point, tau, y) == pytest.approx(best, abs=1e-3)
    assert registry.traits(ours).smoothness(ours) == gamma


@pytest.mark.parametrize(
    "settings", [Asdca(epsilon=2e-3), Spdc(epsilon=2e-3), Rpdg(epsilon=2e-3), Katyusha(epsilon=2e-3)]
)
def test_fixed_smoothing_ends_within_its_bias_and_no_closer(settings, paper_optima):
    """epsilon/2 ||u||^2 in the dual: at most n epsilon M^2/2 off, and the rest does not go away."""
    problem, epsilon = small("absolute").problem(), 2e-3
    solver = settings.make(problem, np.random.default_rng(0), 1e-6)
    offered = run(solver, problem, 6000)
    inner = smoothing.smoothed(problem, epsilon * problem.n_rows)
    x = offered.points[0]
    rest = smoothing.duality_gap(inner, x, offered.dual)
    bound = smoothing.bias(problem, epsilon * problem.n_rows)
    assert bound == pytest.approx(20 * epsilon / 2)
    assert rest <= 1e-3 * bound
    error = problem.primal(x) - paper_optima["absolute"]
    assert 0 <= error <= bound + rest
    assert error > 1e-6 * paper_optima["absolute"]  # the accuracy that the other methods reach


@pytest.mark.parametrize("kind", ["absolute", "sup"])
def test_the_bias_of_double_smoothing(kind, paper_optima):
    problem, kappa = small(kind).problem(), 1e-3
    solver = DoubleSmoothing(epsilon=kappa).make(problem, np.random.default_rng(0), 1e-6)
    offered = run(solver, problem, 20_000)
    u, x = offered.dual, offered.points[0]
    best = zg.solve(problem, algorithm=zg.ARDCA(restart=100), tol=1e-8, random_state=0).dual
    weights = problem.weight / solver.tau

    def norm(v):
        return np.sqrt(np.sum(weights * v**2))

    assert norm(u) <= norm(best) * (1 + 1e-6)
    assert 0 <= problem.dual(u) + paper_optima[kind] <= kappa / 2 * norm(best) ** 2
    assert abs(problem.primal(x) - paper_optima[kind]) <= kappa * norm(u) * norm(best) * (1 + 1e-3)
    if kind == "sup":
        violation = problem.violations(problem.rows.dot(x))
        assert np.all(violation <= kappa * np.abs(u) / solver.tau + 1e-6)


# ---- rates that tell the methods apart
def passes_to(problem, settings, tol=1e-6):
    return zg.solve(problem, algorithm=settings, tol=tol, max_passes=1e5, random_state=0, warn=False).passes


def test_acceleration_pays_on_an_ill_conditioned_smooth_problem():
    problem = small("squared").problem()
    sdca, dfga = passes_to(problem, METHODS["sdca"]), passes_to(problem, Dfga())
    for settings in (Apcg(), Asdca(), Catalyst(), Spdc(), Rpdg(), Katyusha()):
        assert passes_to(problem, settings) < sdca / 2
    assert passes_to(problem, Adfga()) < dfga / 5


def test_adfga_with_restarts():
    problem = small("sup").problem()
    assert passes_to(problem, Adfga(restart="adaptive"), 1e-7) < passes_to(problem, Adfga(), 1e-7)


@pytest.mark.parametrize("name", OTHERS)
def test_rows_of_weight_zero_might_as_well_not_be_there(name):
    rng = np.random.default_rng(12)
    X, y = rng.standard_normal((15, 4)), rng.standard_normal(15)
    weight = np.where(np.arange(15) % 3 == 0, 0.0, rng.uniform(0.5, 2.0, 15))
    found = []
    for kept in (slice(None), weight > 0):
        problem = zg.Problem(
            X[kept],
            y[kept],
            loss="squared",
            regularizer=zg.ElasticNet(0.05, 0.01),
            sample_weight=weight[kept],
        )
        solver = METHODS[name].make(problem, np.random.default_rng(3), 1e-6)
        found.append(run(solver, problem, 6).points[-1])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-12)
