"""Constraint rows at the answer, one line each."""

from typing import Any

import numpy as np

from zerogap.problem.problem import Problem

Array = np.ndarray

#: Sides met to this accuracy, relative to the row's terms, count as reached.
REACHED = 1e-7


def slack(problem: Problem, activity: Array) -> Array:
    """Distance to the nearer side of each row's range; negative where the row is violated."""
    return np.minimum(problem.high - activity, activity - problem.low)


def constraint_frame(problem: Problem, point: Array, multipliers: Array) -> Any:
    """One line per constraint row: range, activity, slack, multiplier and the side it is at.

    A problem over several classes has such lines for each of them, named in the column "class".
    """
    import pandas as pd

    one, points = problem.one_output, problem.each_output(point)
    if one is problem:
        return _frame(problem, point, multipliers)
    frames = zip(np.asarray(problem.classes), points, problem.each_output(multipliers), strict=True)
    return pd.concat(
        [_frame(one, *pair).assign(**{"class": label}) for label, *pair in frames], ignore_index=True
    )


def _frame(problem: Problem, point: Array, multipliers: Array) -> Any:
    import pandas as pd

    activity = problem.rows.dot(point)[problem.n_samples :]
    size = np.maximum(problem.rows.constraint_magnitudes(point), problem.constraint_norms)
    low, high = problem.low, problem.high
    at_low, at_high = activity <= low + REACHED * size, activity >= high - REACHED * size
    side = np.select([low == high, at_low, at_high], ["equal", "lower", "upper"], "")
    owner = np.repeat(np.arange(len(problem.constraints)), [len(c) for c in problem.constraints])
    rows = [i for c in problem.constraints for i in range(len(c))]
    names = [name for c in problem.constraints for name in c.row_names()]
    return pd.DataFrame(
        {
            "constraint": owner,
            "row": np.array(rows, dtype=np.intp),
            "name": np.array(names, dtype=object),
            "lower": low,
            "activity": activity,
            "upper": high,
            "slack": slack(problem, activity),
            "multiplier": multipliers,
            "at": side,
        }
    )
