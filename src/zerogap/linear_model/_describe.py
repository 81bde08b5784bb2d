"""What a fitted estimator shows: a data frame of its coefficients, and its certificate as HTML."""

import html
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import estimator_html_repr

Array = np.ndarray


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
    prices = estimator.multipliers_ if k is None else estimator.multipliers_[k]
    bound = estimator._constraints[0 if k is None else k]
    for number, constraint in enumerate(bound):
        wide = constraint.rows.shape[1] > coef.size
        activity = constraint.rows.dot(np.append(coef, intercept) if wide else coef)
        for i, value in enumerate(activity):
            sides = {"lower": constraint.lower[i], "upper": constraint.upper[i]}
            place = f"{type(constraint).__name__}[{number}][{i}]"
            name = place if constraint.names is None else constraint.names[i]
            price = {"multiplier": prices[number][i]}
            yield {"name": name, "kind": "constraint", "value": value, **sides, **price}


def _sides(estimator: Any, k: int | None, size: int) -> tuple[Array, Array, Array]:
    box = estimator._box
    if box is None:
        return np.full(size, -np.inf), np.full(size, np.inf), np.zeros(size)
    return box[0 if k is None else k]


def box_of(result: Any) -> tuple[Array, Array, Array]:
    """Lower and upper bounds of a result's coefficients, and their multipliers.

    A multiplier is what is left of -s - grad f at a coefficient on its bound, once |x| has taken its share.
    """
    problem, x = result.problem, result.x
    penalty, t = problem.penalty, problem.n_features
    lower, upper = (np.broadcast_to(side, (t,)) for side in (penalty.lower, penalty.upper))
    left = -problem.slope(result.dual)[:t] - penalty.mu * x + penalty.pull
    left = left - np.where(x == 0.0, np.clip(left, -penalty.l1, penalty.l1), penalty.l1 * np.sign(x))
    at_lower, at_upper = x <= lower, x >= upper
    multiplier = np.where(at_lower, np.minimum(left, 0.0), 0.0) + np.where(
        at_upper, np.maximum(left, 0.0), 0.0
    )
    return lower, upper, multiplier


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
        f"{page}<table class='zerogap-certificate'><caption>Certificate</caption>"
        f"<tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr>{body}</table>"
    )
