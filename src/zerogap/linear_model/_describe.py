"""What a fitted estimator shows: a data frame of its coefficients, and its certificate as HTML."""

import html
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import estimator_html_repr

Array = np.ndarray

_STYLE = (
    "<style>.zerogap-certificate {font-family: monospace; margin-top: .5em}"
    ".zerogap-certificate caption {text-align: left; font-weight: bold}"
    ".zerogap-certificate td, .zerogap-certificate th {text-align: right; padding: .1em .6em}</style>"
)


def summary_frame(estimator: Any) -> Any:
    """See `LinearEstimator.summary`."""
    import pandas as pd

    coefs = np.atleast_2d(estimator.coef_)
    intercepts = np.broadcast_to(np.atleast_1d(estimator.intercept_), (coefs.shape[0],))
    several = coefs.shape[0] > 1
    name, values = estimator._labels() if several else ("", ())
    records = []
    for k, (coef, intercept) in enumerate(zip(coefs, intercepts, strict=True)):
        label = {name: values[k]} if several else {}
        records += [label | row for row in _rows(estimator, k if several else None, coef, float(intercept))]
    return pd.DataFrame(records).set_index("name")


def _rows(estimator: Any, k: int | None, coef: Array, intercept: float) -> Iterator[dict[str, Any]]:
    names = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(coef.size)])
    lower, upper, multiplier = _sides(estimator, k, coef.size)
    for j, name in enumerate(names):
        sides = {"lower": lower[j], "upper": upper[j], "multiplier": multiplier[j]}
        yield {"name": name, "kind": "coefficient", "value": coef[j], **sides}
    if estimator.fit_intercept:
        open_sides = {"lower": -np.inf, "upper": np.inf, "multiplier": 0.0}
        yield {"name": "intercept", "kind": "intercept", "value": intercept, **open_sides}
    bound, prices = _constraints(estimator, k)
    for number, constraint in enumerate(bound):
        wide = constraint.rows.shape[1] > coef.size
        activity = constraint.rows.dot(np.append(coef, intercept) if wide else coef)
        for i, value in enumerate(activity):
            sides = {"lower": constraint.lower[i], "upper": constraint.upper[i]}
            place = f"{type(constraint).__name__}[{number}][{i}]"
            name = place if constraint.names is None else constraint.names[i]
            price = {"multiplier": prices[number][i]}
            yield {"name": name, "kind": "constraint", "value": value, **sides, **price}


def _constraints(estimator: Any, k: int | None) -> tuple[Any, Any]:
    """The constraints of a class, and the multipliers of each."""
    if k is None:
        return estimator._constraints[0], estimator.multipliers_
    if len(estimator._constraints) > 1:
        return estimator._constraints[k], estimator.multipliers_[k]
    return estimator._constraints[0], [prices[:, k] for prices in estimator.multipliers_]


def _sides(estimator: Any, k: int | None, size: int) -> tuple[Array, Array, Array]:
    box = estimator._box
    if box is None:
        return np.full(size, -np.inf), np.full(size, np.inf), np.zeros(size)
    return box[0 if k is None else k]


def boxes_of(result: Any) -> list[tuple[Array, Array, Array]]:
    """Lower and upper bounds of a result's coefficients, and their multipliers, for each output.

    A multiplier is what is left of -s - grad f at a coefficient on its bound, once |x| has taken its share.
    """
    problem, x = result.problem, np.ravel(result.x)
    penalty = problem.penalty
    lower, upper = (np.broadcast_to(side, x.shape) for side in (penalty.lower, penalty.upper))
    left = -problem.slope(result.dual)[: x.size] - penalty.mu * x + penalty.pull
    left = left - np.where(x == 0.0, np.clip(left, -penalty.l1, penalty.l1), penalty.l1 * np.sign(x))
    multiplier = np.where(x <= lower, np.minimum(left, 0.0), 0.0)
    multiplier += np.where(x >= upper, np.maximum(left, 0.0), 0.0)
    parts = (problem.each_output(part) for part in (lower, upper, multiplier))
    return list(zip(*parts, strict=True))


def certificate_html(estimator: Any) -> str:
    """scikit-learn's HTML, with the certificate below it once the estimator is fitted."""
    page = estimator_html_repr(estimator)
    if not hasattr(estimator, "certificate_"):
        return page
    certificates, statuses = estimator.certificate_, estimator.status_
    several = isinstance(certificates, list)
    label, values = estimator._labels() if several else ("", ())
    head = [label] if several else []
    head += ["status", "primal", "dual bound", "gap", "relative gap", "violation"]
    rows = []
    for k, c in enumerate(certificates if several else [certificates]):
        cells = [str(values[k]), str(statuses[k])] if several else [str(statuses)]
        cells += [f"{c.primal:.9g}", f"{c.dual:.9g}"]
        cells += [f"{number:.3g}" for number in (c.gap, c.relative_gap, c.violation)]
        rows.append("".join(f"<td>{html.escape(cell)}</td>" for cell in cells))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f"{page}{_STYLE}<table class='zerogap-certificate'><caption>Certificate</caption>"
        f"<tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr>{body}</table>"
    )
