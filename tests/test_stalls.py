"""The cases of benchmarks/stalls.py on a tenth of the rows, and what should be the same between them."""

import numpy as np
import pytest

import zerogap as zg
from benchmarks import stalls

CASES = stalls.cases(0.1)


@pytest.mark.parametrize("name", CASES)
def test_every_case_is_certified(name):
    problem, wanted = CASES[name]
    result = zg.solve(problem, tol=stalls.TOL, random_state=0, warn=False)
    assert result.status is wanted
    if wanted is zg.Status.INFEASIBLE:
        assert result.infeasibility.verify()
    else:
        assert zg.certify(problem, result.x, result.dual, result.intercept).within(stalls.TOL)


def test_a_shift_of_y_moves_the_intercept_alone():
    near, far = (zg.solve(stalls.shifted(shift, 1000), tol=1e-10, random_state=0) for shift in (0.0, 1000.0))
    np.testing.assert_allclose(far.x, near.x, atol=1e-5)
    assert far.intercept == pytest.approx(near.intercept + 1000.0, abs=1e-5)


def test_the_main_ends_well(capsys):
    assert stalls.main(["--small"]) == 0
    assert capsys.readouterr().out.count(" yes\n") == len(CASES)
