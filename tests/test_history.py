"""The history: one row a check, as columns, as a data frame, as a plot."""

import numpy as np
import pytest
from problems import BY_NAME

import zerogap as zg
from zerogap.result.history import COLUMNS


@pytest.fixture(scope="module")
def result():
    return zg.solve(BY_NAME["absolute-elastic_net-both"].build(), algorithm="ardca-erm", random_state=0)


def test_the_columns_are_those_of_the_design(result):
    assert COLUMNS == ("pass_", "seconds", "primal", "dual", "gap", "violation", "active", "phase")
    assert all(len(getattr(result.history, column)) == len(result.history) for column in COLUMNS)
    with pytest.raises(AttributeError, match=r"no column 'gaps'; expected one of pass_, seconds"):
        _ = result.history.gaps


def test_what_the_columns_hold(result):
    history, certificate = result.history, result.certificate
    assert np.all(np.diff(history.pass_) > 0)
    assert np.all(np.diff(history.seconds) >= 0)
    assert np.all(np.diff(history.dual) >= 0)  # the best bound so far
    assert history.seconds[-1] <= result.seconds
    last = history[-1]
    assert (last.pass_, last.primal, last.dual) == (result.passes, certificate.primal, certificate.dual)
    assert (last.gap, last.violation) == (certificate.gap, certificate.violation)
    assert set(history.active) == {37}


def test_a_data_frame(result):
    frame = result.history.to_frame()
    assert tuple(frame.columns) == COLUMNS
    assert len(frame) == len(result.history)
    np.testing.assert_array_equal(frame["gap"], result.history.gap)
    assert frame["pass_"].dtype == np.float64
    assert frame["active"].dtype == np.int64


@pytest.mark.parametrize("against", ["seconds", "pass_"])
def test_a_plot(result, against):
    axes = result.history.plot(against=against, label="mine")
    (line,) = axes.get_lines()
    np.testing.assert_array_equal(line.get_xdata(), getattr(result.history, against))
    finite = line.get_ydata()[np.isfinite(line.get_ydata())]
    assert np.all(finite > 0)
    assert axes.get_yscale() == "log"
    assert line.get_label() == "mine"
    assert result.history.plot(ax=axes) is axes
    assert len(axes.get_lines()) == 2
