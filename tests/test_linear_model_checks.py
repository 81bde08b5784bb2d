"""scikit-learn's own checks, for every public estimator with its default parameters; none may fail."""

import contextlib
import doctest
import inspect
import io
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from zerogap import linear_model

CLASSES = [
    thing
    for thing in (getattr(linear_model, name) for name in linear_model.__all__)
    if inspect.isclass(thing) and issubclass(thing, BaseEstimator)
]

with warnings.catch_warnings():
    warnings.simplefilter("ignore", SkipTestWarning)
    every_check = parametrize_with_checks([kind() for kind in CLASSES])


# The checks use data without any structure, such as labels drawn at random or a single sample.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
@every_check
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_parameter_and_attribute_is_documented(kind):
    """The docstring names each constructor parameter, states the objective and has an example."""
    text = inspect.getdoc(kind)
    for parameter in inspect.signature(kind).parameters:
        assert f"\n{parameter} :" in text, parameter
    for attribute in ("coef_", "intercept_", "n_iter_", "dual_coef_", "certificate_", "dual_gap_", "status_"):
        assert f"\n{attribute} :" in text, attribute
    assert "objective" in text
    assert ">>>" in text
    for placeholder in ("{common}", "{fitted}", "{search}", "{chosen}"):
        assert placeholder not in text


def test_all_parameters_are_keywords():
    for kind in CLASSES:
        for parameter in inspect.signature(kind).parameters.values():
            assert parameter.kind is inspect.Parameter.KEYWORD_ONLY


@pytest.mark.parametrize("kind", [*CLASSES, linear_model.regularization_path], ids=lambda kind: kind.__name__)
def test_the_example_of_the_docstring(kind):
    test = doctest.DocTestParser().get_doctest(
        kind.__doc__, dict(vars(sys.modules[kind.__module__])), kind.__name__, None, None
    )
    assert len(test.examples) >= 3
    report = io.StringIO()
    runner = doctest.DocTestRunner()
    runner.run(test, out=report.write)
    assert not runner.failures, report.getvalue()


def test_the_examples_of_the_page_on_estimators():
    """They run, and print what stands below them, but for the last digits of the certificate."""
    pytest.importorskip("pandas")
    page = (Path(__file__).parent.parent / "docs" / "estimators.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```\s*```text\n(.*?)```", page, re.S)
    names = {}
    for source, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, "estimators.md", "exec"), names)
        lines, expected = printed.getvalue().splitlines(), shown.splitlines()
        assert len(lines) == len(expected)
        for line, known in zip(lines, expected, strict=True):
            if not known.startswith(("gap", "violation")):
                assert re.findall(r"[a-z]+\d?", line) == re.findall(r"[a-z]+\d?", known)
                numbers, wanted = (
                    np.array(re.findall(r"-?\d+\.\d+", text), dtype=float) for text in (line, known)
                )
                np.testing.assert_allclose(numbers, wanted, rtol=1e-4, atol=1e-3)
    assert len(blocks) == 2
