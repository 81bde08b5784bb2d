"""`zg.solve_qp`: values, multipliers and verdicts, against Clarabel and by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from support import refused

import zerogap as zg


def random_program(seed):
    """A feasible program of some size and kind; the multipliers are unique with probability one."""
    rng = np.random.default_rng([77, seed])
    t = int(rng.choice([3, 10, 40]))
    rank = t if seed % 3 else max(1, t // 2)
    F = rng.standard_normal((rank, t))
    P = F.T @ F + (0.0 if seed % 3 == 0 else 0.1) * np.eye(t)
    if seed % 6 == 5:
        P = np.diag(rng.uniform(0.1, 3.0, t))
    q = rng.standard_normal(t)
    point = rng.standard_normal(t)
    G = rng.standard_normal((int(rng.integers(1, 2 * t)), t))
    h = G @ point + rng.uniform(0.0, 2.0, len(G))
    A = rng.standard_normal((int(rng.integers(0, t // 2 + 1)), t))
    lb, ub = point - rng.uniform(0.1, 3.0, t), point + rng.uniform(0.1, 3.0, t)
    if seed % 3:  # some sides open
        lb[rng.random(t) < 0.5], ub[rng.random(t) < 0.5] = -np.inf, np.inf
    if seed % 2:
        P, G, A = sp.csc_matrix(P), sp.csr_matrix(G), sp.csc_matrix(A)
    return P, q, G, h, A, A @ point, lb, ub


def clarabel(P, q, G, h, A, b, lb, ub):
    cp = pytest.importorskip("cvxpy")
    x = cp.Variable(len(q))
    low, high = np.isfinite(lb), np.isfinite(ub)
    P = P.toarray() if sp.issparse(P) else P
    rows = [G @ x <= h]
    rows += [A @ x == b] if len(b) else []
    sides = [x[high] <= ub[high]] if high.any() else []
    sides += [x[low] >= lb[low]] if low.any() else []
    problem = cp.Problem(cp.Minimize(cp.quad_form(x, cp.psd_wrap(P)) / 2 + q @ x), rows + sides)
    value = problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    box = np.zeros(len(q))
    if high.any():
        box[high] += sides[0].dual_value
    if low.any():
        box[low] -= sides[-1].dual_value
    return value, rows[0].dual_value, rows[1].dual_value if len(b) else np.zeros(0), box


@pytest.mark.parametrize("seed", range(24))
def test_random_programs_agree_with_clarabel(seed):
    program = random_program(seed)
    value, z, y, z_box = clarabel(*program)
    solution = zg.solve_qp(*program, tol=1e-9, random_state=0)
    assert solution.found
    scale = max(1.0, abs(value))
    assert solution.obj == pytest.approx(value, abs=1e-6 * scale)
    prices = np.concatenate([z, y, z_box])
    tolerance = 1e-4 * max(1.0, np.abs(prices).max())
    np.testing.assert_allclose(solution.z, z, atol=tolerance)
    np.testing.assert_allclose(solution.y, y, atol=tolerance)
    np.testing.assert_allclose(solution.z_box, z_box, atol=tolerance)
    assert solution.is_optimal(1e-5 * scale * max(1.0, np.abs(prices).max()))


def test_a_projection_by_hand():
    """min ||x - (2, 0)||^2 / 2 on the simplex: x = (1, 0)."""
    solution = zg.solve_qp(np.eye(2), [-2.0, 0.0], A=[[1.0, 1.0]], b=[1.0], lb=0.0)
    np.testing.assert_allclose(solution.x, [1.0, 0.0], atol=1e-7)
    assert solution.obj == pytest.approx(-1.5, abs=1e-7)
    np.testing.assert_allclose(solution.y, [1.0], atol=1e-6)  # P x + q + y = (-1 + 1, 0 + 1)
    np.testing.assert_allclose(solution.z_box, [0.0, -1.0], atol=1e-6)


def test_the_example_of_the_qpsolvers_documentation():
    M = np.array([[1.0, 2.0, 0.0], [-8.0, 3.0, 2.0], [0.0, 1.0, 1.0]])
    G = np.array([[1.0, 2.0, 1.0], [2.0, 0.0, 1.0], [-1.0, 2.0, -1.0]])
    solution = zg.solve_qp(
        M.T @ M, np.array([3.0, 2.0, 3.0]) @ M, G, np.array([3.0, 2.0, -2.0]),
        np.array([1.0, 1.0, 1.0]), np.array([1.0]),
    )  # fmt: skip
    np.testing.assert_allclose(solution.x, [0.30769231, -0.69230769, 1.38461538], atol=1e-6)
    np.testing.assert_allclose(G @ solution.x, [4 / 13, 2.0, -40 / 13], atol=1e-6)  # the second row binds
    assert solution.z[1] > 1.0
    np.testing.assert_allclose(solution.z[[0, 2]], 0.0, atol=1e-6)
    assert solution.is_optimal(1e-5)


def test_a_linear_program_by_hand():
    """max x + 2 y, x + y <= 4, x + 3 y <= 6, x, y >= 0: (3, 1), prices 1/2 and 1/2."""
    solution = zg.solve_qp(None, [-1.0, -2.0], [[1.0, 1.0], [1.0, 3.0]], [4.0, 6.0], lb=0.0)
    np.testing.assert_allclose(solution.x, [3.0, 1.0], atol=1e-6)
    np.testing.assert_allclose(solution.z, [0.5, 0.5], atol=1e-6)
    assert solution.duality_gap() < 1e-6


def test_no_rows_at_all():
    np.testing.assert_allclose(zg.solve_qp(2 * np.eye(3), [-2.0, 0.0, 4.0]).x, [1.0, 0.0, -2.0], atol=1e-7)


def test_a_semidefinite_objective_with_a_face_of_answers():
    solution = zg.solve_qp(np.ones((2, 2)), [-1.0, -1.0], lb=0.0, ub=1.0)
    assert solution.found
    assert solution.obj == pytest.approx(-0.5, abs=1e-8)
    # the objective is (sum - 1)^2 / 2 - 1/2: a gap of 5e-9 leaves the sum its square root
    assert solution.x.sum() == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("convert", [np.array, sp.csc_matrix])
def test_infeasible_programs_are_proved(convert):
    with pytest.warns(ConvergenceWarning, match="contradict"):
        solution = zg.solve_qp(convert(np.eye(2)), [0.0, 0.0], [[1.0, 1.0]], [-1.0], lb=0.0)
    assert solution.status is zg.Status.INFEASIBLE
    assert solution.infeasibility.verify()
    assert solution.x is None
    assert not solution.found
    assert solution.primal_residual() == np.inf


@pytest.mark.parametrize("convert", [np.array, sp.csc_matrix])
def test_unbounded_programs_are_proved(convert):
    with pytest.warns(ConvergenceWarning, match="lower bound"):
        solution = zg.solve_qp(convert(np.diag([1.0, 0.0])), [0.0, -1.0], [[1.0, 0.0]], [1.0])
    assert solution.status is zg.Status.UNBOUNDED
    assert solution.ray.verify()
    assert solution.ray.direction[1] > 0


def test_starting_points():
    program = random_program(4)
    first = zg.solve_qp(*program, tol=1e-8)
    again = zg.solve_qp(*program, tol=1e-8, initvals=first)
    assert again.obj == pytest.approx(first.obj, rel=1e-6)
    assert again.extras["passes"] <= first.extras["passes"]
    assert zg.solve_qp(*program, tol=1e-8, initvals=first.x).found
    refused(zg.DataError, lambda: zg.solve_qp(*program, initvals=[1.0]), "initvals", "one entry per variable")


def test_what_is_no_program_is_refused():
    eye, q = np.eye(2), [1.0, 1.0]
    refused(zg.ProblemError, lambda: zg.solve_qp(-eye, q), "semidefinite", "-1")
    refused(zg.ProblemError, lambda: zg.solve_qp([[1.0, 2.0], [2.0, 1.0]], q), "semidefinite")
    refused(zg.ProblemError, lambda: zg.solve_qp([[1.0, 1.0], [0.0, 1.0]], q), "symmetric")
    refused(zg.DataError, lambda: zg.solve_qp(np.eye(3), q), "P", "(2, 2)")
    refused(zg.DataError, lambda: zg.solve_qp(eye, q, [[1.0, 1.0]]), "h", "None")
    refused(zg.DataError, lambda: zg.solve_qp(eye, q, [[1.0]], [1.0]), "G", "2 columns")
    refused(zg.DataError, lambda: zg.solve_qp(eye, q, [[1.0, 1.0]], [np.nan]), "h", "NaN")
    refused(zg.ProblemError, lambda: zg.solve_qp(eye, q, lb=2.0, ub=1.0), "lb", "variable 0")


def test_open_sides_of_rows_and_infinite_bounds_ask_for_nothing():
    solution = zg.solve_qp(
        np.eye(2), [-1.0, -1.0], [[1.0, 1.0], [1.0, 0.0]], [np.inf, 0.5], lb=-np.inf, ub=np.inf
    )
    np.testing.assert_allclose(solution.x, [0.5, 1.0], atol=1e-7)
    np.testing.assert_allclose(solution.z, [0.0, 0.5], atol=1e-6)
