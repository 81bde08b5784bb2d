"""Constraints as text: "bmi - bp >= 0", "2*s1 + s2 = 1", "-1 <= age + intercept <= 1"."""

import re
from collections.abc import Sequence

import numpy as np

from zerogap.exceptions import DataError
from zerogap.problem.columns import INTERCEPT
from zerogap.problem.constraints import Between, Equal

Array = np.ndarray

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_RELATION = re.compile(r"(<=|>=|==|=)")


def constraint(text: str, features: Sequence[str], fit_intercept: bool) -> Between:
    """The constraint that `text` states. A feature's name stands for its coefficient."""
    parts = [part.strip() for part in _RELATION.split(text)]
    sides, relations = parts[::2], ["=" if r == "==" else r for r in parts[1::2]]
    if len(sides) == 2 and all(sides):
        return _one_sided(text, sides[0], relations[0], sides[1], features, fit_intercept)
    if len(sides) == 3 and all(sides) and relations[0] == relations[1] != "=":
        row, constant = _linear(sides[1], text, features, fit_intercept)
        ends = [_bound(side, text, features, fit_intercept) - constant for side in (sides[0], sides[2])]
        lower, upper = ends if relations[0] == "<=" else ends[::-1]
        if not row.any():
            raise DataError(f"constraint {text!r}: no coefficient is left in it")
        return Between(row[None, :], lower, upper, names=_name(text))
    raise DataError(
        f"constraint {text!r}: expected `left <= right`, `left >= right`, `left = right` or "
        "`low <= middle <= high`, such as 'bmi - bp >= 0'"
    )


def _one_sided(
    text: str, left: str, relation: str, right: str, features: Sequence[str], fit_intercept: bool
) -> Between:
    row, constant = _linear(left, text, features, fit_intercept)
    other, number = _linear(right, text, features, fit_intercept)
    row, bound = row - other, number - constant
    if not row.any():
        raise DataError(f"constraint {text!r}: no coefficient is left in it")
    if relation == "=":
        return Equal(row[None, :], bound, names=_name(text))
    sides = (-np.inf, bound) if relation == "<=" else (bound, np.inf)
    return Between(row[None, :], *sides, names=_name(text))


def _name(text: str) -> str:
    """What the row is called: the text, its blanks evened out."""
    return " ".join(text.split())


def _bound(side: str, text: str, features: Sequence[str], fit_intercept: bool) -> float:
    row, constant = _linear(side, text, features, fit_intercept)
    if row.any():
        raise DataError(f"constraint {text!r}: expected numbers at both ends; got {side!r}")
    return constant


def _linear(side: str, text: str, features: Sequence[str], fit_intercept: bool) -> tuple[Array, float]:
    """Coefficients (the intercept's last, if there is one) and constant of a sum of terms."""
    names = [*features, INTERCEPT] if fit_intercept else list(features)
    position = {name: k for k, name in reversed(list(enumerate(names)))}  # a feature comes before the word
    row, constant = np.zeros(len(names)), 0.0
    rest = side
    while rest:
        sign, rest = _sign(rest)
        factor = re.match(rf"({_NUMBER})\s*\*\s*", rest)
        scale = sign * (float(factor.group(1)) if factor else 1.0)
        rest = rest[factor.end() :] if factor else rest
        # the longest name first: names may hold blanks and signs
        name = max((n for n in names if _starts(rest, n)), key=len, default=None)
        number = None if factor or name is not None else re.match(_NUMBER, rest)
        if name is not None:
            row[position[name]] += scale
            rest = rest[len(name) :].lstrip()
        elif number:
            constant += sign * float(number.group())
            rest = rest[number.end() :].lstrip()
        else:
            known = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            raise DataError(f"constraint {text!r}: cannot read {rest!r}; expected a number or one of {known}")
        if rest and rest[0] not in "+-":
            raise DataError(f"constraint {text!r}: expected + or - before {rest!r}")
    return row, constant


def _sign(text: str) -> tuple[float, str]:
    sign = 1.0
    text = text.lstrip()
    while text[:1] in ("+", "-"):
        sign = -sign if text[0] == "-" else sign
        text = text[1:].lstrip()
    return sign, text


def _starts(text: str, name: str) -> bool:
    """Does text start with this name, and not with a longer word?"""
    return text.startswith(name) and not re.match(r"\w", text[len(name) : len(name) + 1])
