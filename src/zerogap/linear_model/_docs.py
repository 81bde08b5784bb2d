"""What all estimators document alike, and the decorator that makes a class an estimator."""

import dataclasses
import inspect
from typing import Any, dataclass_transform

COMMON = """\
constraints : `zg.Equal`, `zg.Between`, a builder, text, or a sequence of these, default=()
    Linear constraints on the coefficients (with `fit_intercept`, J may have a last column for the intercept).
    Builders (`zg.sum_to`, `zg.order`, `zg.fairness`, ...) and text ("age + 2*income <= 3") take the names
    of a data frame's columns, or positions, or x0, x1, ....
positive : bool, default=False
    Keep every coefficient >= 0.
bounds : (lower, upper), or dict of column -> (lower, upper), default=None
    Box on the coefficients. Each side is a number or an array with one entry per feature, -inf and inf
    allowed; None stands for an open side. Columns of a dict are names (data frames) or positions.
fit_intercept : bool, default=True
    Fit an intercept, which nothing penalises.
warm_start : bool, default=False
    Start the next `fit` from the dual point of the last one, when it has as many samples.
tol : float, default=1e-6
    Stop when the certified relative gap and the scaled violation of the constraints are at most tol.
max_passes : float, default=10_000
    Limit on passes; a pass is as many coordinate steps as there are samples and constraint rows.
max_iter : float, default=None
    scikit-learn's name for `max_passes`; takes its place when given.
max_time : float, default=None
    Limit in seconds for the whole fit. The answer at that time comes with its certificate.
algorithm : str or settings object, default="auto"
    What `zg.solve` accepts.
random_state : int, RandomState, Generator or None, default=None
    Seed of the sampled algorithms. Same seed, same bits.
n_jobs : int, default=None
    Number of threads when several problems are solved (classes, folds); None is 1, -1 all cores.
verbose : int, default=0
    Print a line per check when true.
callbacks : sequence of callables, default=()
    Functions of the newest history record; a true return value ends the fit.
"""

SEARCH = """\
cv : int, splitter or iterable of splits, default=None
    As in scikit-learn: None is five folds, stratified for classifiers.
scoring : str or callable, default=None
    As in scikit-learn, larger is better. None is the accuracy of a classifier, and minus the mean of the
    regressor's own loss.
selection : {"best", "one_standard_error"}, default="best"
    The best mean score, or the strongest penalty whose mean score is within one standard error of it.
"""

CHOSEN = """\
scores_ : array (n_strengths, n_folds)
    Scores from the strongest penalty to the weakest (one such table for each l1_ratio in a list).
"""

FITTED = """\
n_iter_ : int
    Passes over the data (the largest number, when several problems were solved).
dual_coef_ : array (n_samples,), or one row per class
    The dual point u of the data rows: a subgradient of each sample's loss at its margin.
multipliers_ : list of arrays
    Multipliers of `constraints`, >= 0 where an upper bound binds, <= 0 where a lower one does.
certificate_ : `zg.Certificate`, or a list with one per class
    Bounds around the optimal value, in units of the mean form of the objective.
dual_gap_ : float, or array with one per class
    The certified gap: the objective (mean form) is at most this much above its optimal value.
status_ : `zg.Status`, or a list with one per class
history_ : `zg.History`, or a list with one per class
n_features_in_ : int
feature_names_in_ : array, only when X has string column names
"""


def _fill(text: str) -> str:
    text = inspect.cleandoc(text)
    text = text.replace("{common}", COMMON.rstrip()).replace("{fitted}", FITTED.rstrip())
    return text.replace("{search}", SEARCH.rstrip()).replace("{chosen}", CHOSEN.rstrip())


@dataclass_transform(kw_only_default=True, eq_default=False)
def estimator(cls: Any) -> Any:
    """Write `__init__` from the annotated fields (keywords only) and complete the docstring.

    The generated constructor only stores its arguments, which is what scikit-learn asks of one.
    """
    if cls.__doc__ is not None:
        cls.__doc__ = _fill(cls.__doc__)
    return dataclasses.dataclass(kw_only=True, eq=False, repr=False)(cls)
