"""scikit-learn's own checks, for every public estimator with its default parameters; none may fail."""

import inspect
import warnings

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
