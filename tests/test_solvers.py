"""Every algorithm on every reference problem: a certified relative gap of 1e-6, and Clarabel's objective."""

import itertools

import numpy as np
import problems
import pytest
from problems import BY_NAME, PROBLEMS

import zerogap as zg
from zerogap.solver.settings import ALGORITHMS

TOL = 1e-6
MAX_PASSES = 300_000
#: Algorithms that need a separable regulariser.
SEPARABLE_ONLY = ("newton",)


def fits(algorithm, problem):
    return not (algorithm in SEPARABLE_ONLY and problem.regularizer[0] == "group_lasso")


def check(described, algorithm, sparse=False, dtype=np.float64):
    """Solve, and compare with the certificate's promise and with the optimum found by Clarabel."""
    problem, solution = described.build(sparse, dtype), described.solution()
    result = zg.solve(problem, algorithm=algorithm, tol=TOL, max_passes=MAX_PASSES, random_state=0)
    certificate = zg.certify(problem, result.x, result.dual, result.intercept)
    assert result.status is zg.Status.SOLVED
    assert certificate.relative_gap <= TOL * (1 + 1e-9)
    assert certificate.scaled_violation <= TOL * (1 + 1e-9)
    assert certificate.dual <= solution.objective + 1e-8
    # x may gain from its violation, at the multipliers' prices and no more
    violations = problem.violations(problem.rows.dot(problem.join(result.x, result.intercept)))
    price = float(np.abs(solution.dual[problems.N_SAMPLES :]) @ violations)
    slack = TOL * abs(solution.objective) + 1e-8
    assert -slack - price <= result.certificate.primal - solution.objective <= slack


@pytest.mark.parametrize(
    ("problem", "algorithm"),
    [(problem, algorithm) for problem in PROBLEMS for algorithm in ALGORITHMS if fits(algorithm, problem)],
    ids=lambda value: getattr(value, "name", value),
)
def test_dense(problem, algorithm):
    check(problem, algorithm)


def sparse_cases():
    """Every algorithm with every loss and kind of regulariser; the constraints take turns."""
    for (i, loss), (j, kind) in itertools.product(
        enumerate(problems.LOSSES), enumerate(problems.REGULARIZERS)
    ):
        for k, algorithm in enumerate(ALGORITHMS):
            problem = BY_NAME[f"{loss}-{kind}-{problems.CONSTRAINTS[(i + j + k) % 4]}"]
            if fits(algorithm, problem):
                yield pytest.param(problem, algorithm, id=f"{problem.name}-{algorithm}")
    for i, problem in enumerate(p for p in PROBLEMS if p.name.endswith(("weights", "intercept", "arrays"))):
        algorithm = list(ALGORITHMS)[i % len(ALGORITHMS)]
        if fits(algorithm, problem):
            yield pytest.param(problem, algorithm, id=f"{problem.name}-{algorithm}")


@pytest.mark.parametrize(("problem", "algorithm"), list(sparse_cases()))
def test_sparse(problem, algorithm):
    check(problem, algorithm, sparse=True)


@pytest.mark.parametrize("algorithm", ["sdca", "ardca-restart", "newton"])
@pytest.mark.parametrize(("i", "loss"), list(enumerate(problems.LOSSES)))
def test_single_precision(i, loss, algorithm):
    """The data are exact in float32, so that the optimum is the same."""
    kind, constraints = problems.REGULARIZERS[i % 3], problems.CONSTRAINTS[i % 4]
    check(BY_NAME[f"{loss}-{kind}-{constraints}"], algorithm, sparse=i % 2 == 0, dtype=np.float32)


@pytest.mark.parametrize("algorithm", SEPARABLE_ONLY)
def test_what_does_not_fit_is_refused(algorithm):
    with pytest.raises(zg.SettingsError, match=r"(?i)group"):
        zg.solve(BY_NAME["squared-group-none"].build(), algorithm=algorithm)
