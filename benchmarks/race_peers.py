"""The peers: which tasks each can do, its ladder of settings, and one fresh fit.

`prepare` is outside the clock and hands a peer the data in the form it likes best. A ladder goes from loose
to tight; its later rungs are tried until the tightest target is reached or the time is up.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.race_task import Task

Array = np.ndarray
Setting = dict[str, Any]


class Answer(NamedTuple):
    """What a fit gives; `note` is the solver's own word where it did not converge."""

    x: Array
    intercept: float = 0.0
    note: str = ""


class Peer(NamedTuple):
    """`suits` says why a task is not for it, or None. `drops_l2`: it leaves the L2 term out."""

    module: str
    suits: Callable[[Task], str | None]
    prepare: Callable[[Task], Any]
    fit: Callable[[Any, Setting], Answer]
    ladder: Callable[[Task], list[Setting]]
    drops_l2: bool = False


PEERS: dict[str, Peer] = {}


def only(*losses: str, l1: bool | None = False, free: bool = False) -> Callable[[Task], str | None]:
    """Tasks of these losses. l1: without (False), only with (True), either (None). free: with intercept."""

    def suits(task: Task) -> str | None:
        if task.loss not in losses or task.X is None:
            return "does not know the loss"
        if task.J is not None or task.lower > -np.inf:
            return "does not know constraints"
        if task.intercept and not free:
            return "has no unpenalised intercept"
        if l1 is not None and bool(task.l1) is not l1:
            return "does not know the penalty"
        return None

    return suits


def tolerances(*values: float, **fixed: Any) -> Callable[[Task], list[Setting]]:
    """A ladder over `tol`."""
    return lambda task: [{"tol": value, **fixed} for value in values]


def as_it_is(task: Task) -> Task:
    """The task itself."""
    return task


def by_columns(task: Task) -> tuple[Task, Any]:
    """The task, and its X by columns (the older sparse class, which compiled peers ask for)."""
    return task, sp.csc_matrix(task.X) if task.sparse else np.asfortranarray(task.X)


def by_rows(task: Task) -> tuple[Task, Any]:
    """The same by rows."""
    return task, sp.csr_matrix(task.X) if task.sparse else np.ascontiguousarray(task.X)


def _iterations(model: Any, limit: int) -> str:
    return "max_iter" if np.max(model.n_iter_) >= limit else ""


# ----------------------------------------------------------------------------------------------- scikit-learn

TIGHTENING = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
MANY = 10_000_000


def _liblinear(dual: bool) -> Callable[[Any, Setting], Answer]:
    def fit(prepared: Any, setting: Setting) -> Answer:
        from sklearn import svm

        task, X = prepared
        common = {"C": task.C, "fit_intercept": False, "max_iter": MANY, "tol": setting["tol"], "dual": dual}
        if task.loss == "epsilon_insensitive":
            model = svm.LinearSVR(loss=task.loss, epsilon=task.parameter, **common)
        else:
            model = svm.LinearSVC(loss=task.loss, **common)
        model.fit(X, task.y)
        return Answer(model.coef_.ravel(), 0.0, _iterations(model, MANY))

    return fit


PEERS["liblinear"] = Peer(
    "sklearn", only("hinge", "squared_hinge", "epsilon_insensitive"), by_rows, _liblinear(True),
    tolerances(*TIGHTENING),
)  # fmt: skip
PEERS["liblinear-primal"] = Peer(
    "sklearn", only("squared_hinge"), by_rows, _liblinear(False), tolerances(*TIGHTENING)
)


def _logistic(solver: str) -> Callable[[Any, Setting], Answer]:
    def fit(prepared: Any, setting: Setting) -> Answer:
        from sklearn.linear_model import LogisticRegression

        task, X = prepared
        limit = MANY if solver in ("liblinear", "saga") else 20_000
        model = LogisticRegression(
            C=task.C, solver=solver, tol=setting["tol"], max_iter=limit, fit_intercept=False, random_state=0
        )
        model.fit(X, task.y)
        return Answer(model.coef_.ravel(), 0.0, _iterations(model, limit))

    return fit


for _name in ("lbfgs", "newton-cholesky", "newton-cg", "liblinear", "saga"):
    PEERS[f"logistic-{_name}"] = Peer(
        "sklearn", only("logistic"), by_rows, _logistic(_name), tolerances(*TIGHTENING, 1e-10)
    )


def _sgd(prepared: Any, setting: Setting) -> Answer:
    from sklearn import linear_model

    task, X = prepared
    name = {"logistic": "log_loss"}.get(task.loss, task.loss)
    classes = {"hinge", "squared_hinge", "logistic"}
    maker = linear_model.SGDClassifier if task.loss in classes else linear_model.SGDRegressor
    extra = {} if task.loss in classes else {"epsilon": task.parameter}
    model = maker(
        loss=name, alpha=task.l2, fit_intercept=False, max_iter=setting["max_iter"], tol=None, average=True,
        random_state=0, **extra,
    )  # fmt: skip
    model.fit(X, task.y)
    return Answer(model.coef_.ravel())


PEERS["sgd"] = Peer(
    "sklearn", only("hinge", "squared_hinge", "logistic", "huber", "epsilon_insensitive"), by_rows, _sgd,
    lambda task: [{"max_iter": passes} for passes in (10, 50, 250, 1250)],
)  # fmt: skip


def _sklearn_elastic(prepared: Any, setting: Setting) -> Answer:
    from sklearn.linear_model import ElasticNet

    task, X = prepared
    alpha = task.l1 + task.l2
    model = ElasticNet(
        alpha=alpha, l1_ratio=task.l1 / alpha, fit_intercept=False, tol=setting["tol"], max_iter=1_000_000
    )
    model.fit(X, task.y)
    return Answer(model.coef_, 0.0, _iterations(model, 1_000_000))


PEERS["sklearn-elastic-net"] = Peer(
    "sklearn", only("squared", l1=True), by_columns, _sklearn_elastic,
    tolerances(1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12),
)  # fmt: skip


def _quantile(prepared: Any, setting: Setting) -> Answer:
    from sklearn.linear_model import QuantileRegressor

    task, X = prepared
    q = 0.5 if task.loss == "absolute" else task.parameter
    model = QuantileRegressor(quantile=q, alpha=0.0, fit_intercept=task.intercept, solver=setting["solver"])
    model.fit(X, task.y)
    return Answer(model.coef_, float(np.ravel(model.intercept_)[0]))


PEERS["sklearn-quantile"] = Peer(
    "sklearn", only("absolute", "pinball", free=True), by_columns, _quantile,
    lambda task: [{"solver": "highs"}, {"solver": "highs-ipm"}], drops_l2=True,
)  # fmt: skip

PEERS["sklearn-huber"] = Peer(
    "sklearn",
    lambda task: "estimates a scale as well: another objective" if task.loss == "huber" else "loss",
    as_it_is,
    lambda task, setting: Answer(np.zeros(0)),
    lambda task: [],
)


# ------------------------------------------------------------------------------------------------ statsmodels

LARGEST_DENSE = 4 * 2**30


def _statsmodels_suits(task: Task) -> str | None:
    reason = only("absolute", "pinball", free=True)(task)
    if reason is None and 8.0 * task.n * task.t > LARGEST_DENSE:
        return f"needs X dense: {8.0 * task.n * task.t / 2**30:.1f} GiB"
    return reason


def _statsmodels_data(task: Task) -> tuple[Task, Array]:
    X = task.X.toarray() if task.sparse else task.X
    return task, np.column_stack([X, np.ones(task.n)]) if task.intercept else X


def _statsmodels(prepared: Any, setting: Setting) -> Answer:
    from statsmodels.regression.quantile_regression import QuantReg

    task, X = prepared
    q = 0.5 if task.loss == "absolute" else task.parameter
    x = np.asarray(QuantReg(task.y, X).fit(q=q, p_tol=setting["tol"], max_iter=20_000).params)
    return Answer(x[:-1], float(x[-1])) if task.intercept else Answer(x)


PEERS["statsmodels"] = Peer(
    "statsmodels", _statsmodels_suits, _statsmodels_data, _statsmodels,
    tolerances(1e-3, 1e-6, 1e-9, 1e-12), drops_l2=True,
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------- ReHLine

_PIECES = {"hinge", "squared_hinge", "absolute", "pinball", "huber", "squared", "epsilon_insensitive"}


def _rehline_suits(task: Task) -> str | None:
    if task.loss not in _PIECES or task.X is None:
        return "does not know the loss"
    return "L1 only with the squared loss" if task.l1 and task.loss != "squared" else None


def _rehline_data(task: Task) -> dict[str, Any]:
    """U, V: ReLU(u m + v); S, T, Tau: Huber's half. An intercept is a long column, which costs little."""
    X = task.X
    scale = 0.0
    if task.intercept:
        largest = np.sqrt(np.max(np.asarray((X.multiply(X) if task.sparse else X * X).mean(axis=0))))
        scale = 10.0 * max(float(largest), 1.0)
        column = np.full((task.n, 1), scale)
        X = sp.hstack([X, column]).tocsr() if task.sparse else np.hstack([X, column])
    # with an l1 term, ReHLine's rho is on top of 1/2 |x|^2
    C, y, one, d = task.C, task.y, np.ones(task.n), task.parameter
    root, data = np.sqrt(C), {"X": X, "scale": scale, "task": task}
    if task.loss == "hinge":
        data |= {"U": [-C * y], "V": [C * one]}
    elif task.loss == "absolute":
        data |= {"U": [C * one, -C * one], "V": [-C * y, C * y]}
    elif task.loss == "pinball":
        data |= {"U": [-C * d * one, C * (1 - d) * one], "V": [C * d * y, -C * (1 - d) * y]}
    elif task.loss == "epsilon_insensitive":
        data |= {"U": [C * one, -C * one], "V": [-C * (y + d), C * (y - d)]}
    elif task.loss == "squared_hinge":
        data |= {"S": [-np.sqrt(2) * root * y], "T": [np.sqrt(2) * root * one], "Tau": [np.inf * one]}
    else:
        tau = np.inf if task.loss == "squared" else root * d
        data |= {"S": [root * one, -root * one], "T": [-root * y, root * y], "Tau": [tau * one] * 2}
    for key in {"U", "V", "S", "T", "Tau"} & set(data):
        data[key] = np.array(data[key])
    if task.J is not None or task.lower > -np.inf:
        data |= _rehline_rows(task, bool(scale))
    return data


def _rehline_rows(task: Task, intercept: bool) -> dict[str, Any]:
    blocks, constants = [], []
    if task.J is not None:
        J = sp.csr_matrix(task.J)
        below, above = np.isfinite(task.low), np.isfinite(task.high)
        blocks += [J[below], -J[above]]
        constants += [-task.low[below], task.high[above]]
    if task.lower > -np.inf:
        blocks.append(sp.eye(task.t, format="csr"))
        constants.append(np.full(task.t, -task.lower))
    A = sp.vstack(blocks).toarray()
    if intercept:
        A = np.hstack([A, np.zeros((A.shape[0], 1))])
    return {"A": A, "b": np.concatenate(constants)}


def _rehline(data: dict[str, Any], setting: Setting) -> Answer:
    from rehline import ReHLine_solver

    task, t = data["task"], data["task"].t
    known = {key: data[key] for key in ("U", "V", "S", "T", "Tau", "A", "b") if key in data}
    known.setdefault("U", np.zeros((0, task.n)))
    known.setdefault("V", np.zeros((0, task.n)))
    if task.l1:
        known["rho"] = np.full(t, task.l1 / task.l2)
    result = ReHLine_solver(data["X"], max_iter=1_000_000, tol=setting["tol"], verbose=0, **known)
    x = np.asarray(result.beta)
    note = "" if getattr(result, "niter", 0) < 1_000_000 else "max_iter"
    return Answer(x[:t], float(x[t]) * data["scale"] if data["scale"] else 0.0, note)


PEERS["rehline"] = Peer(
    "rehline", _rehline_suits, _rehline_data, _rehline, tolerances(1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10)
)
