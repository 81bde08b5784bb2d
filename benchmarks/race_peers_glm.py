"""Peers for smooth losses and sparse regression: skglm, celer, glum, adelie."""

from typing import Any

import numpy as np

from benchmarks.race_peers import PEERS, Answer, Peer, Setting, by_columns, only, tolerances
from benchmarks.race_task import Task, zerogap_problem

TIGHT = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13)


def _skglm_svc(prepared: Any, setting: Setting) -> Answer:
    import skglm

    task, X = prepared
    model = skglm.LinearSVC(C=task.C, tol=setting["tol"], max_iter=1000, fit_intercept=False)
    model.fit(X, task.y)
    return Answer(np.ravel(model.coef_))


PEERS["skglm-svc"] = Peer("skglm", only("hinge"), by_columns, _skglm_svc, tolerances(*TIGHT))


def _skglm_smooth(prepared: Any, setting: Setting) -> Answer:
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Huber, Logistic
    from skglm.penalties import L2
    from skglm.solvers import LBFGS, AndersonCD

    task, X = prepared
    if task.loss == "logistic":
        datafit, solver = Logistic(), LBFGS(max_iter=20_000, tol=setting["tol"])
        solver.fit_intercept = False  # the estimator asks for it, and LBFGS has none of its own
    else:
        datafit = Huber(task.parameter)
        solver = AndersonCD(max_iter=1000, tol=setting["tol"], fit_intercept=False, ws_strategy="fixpoint")
    model = GeneralizedLinearEstimator(datafit, L2(task.l2), solver)
    model.fit(X, task.y)
    return Answer(np.ravel(model.coef_))


PEERS["skglm"] = Peer("skglm", only("logistic", "huber"), by_columns, _skglm_smooth, tolerances(*TIGHT))


def _skglm_elastic(prepared: Any, setting: Setting) -> Answer:
    import skglm

    task, X = prepared
    alpha = task.l1 + task.l2
    model = skglm.ElasticNet(alpha, task.l1 / alpha, tol=setting["tol"], max_iter=1000, fit_intercept=False)
    model.fit(X, task.y)
    return Answer(model.coef_)


PEERS["skglm-elastic-net"] = Peer(
    "skglm", only("squared", l1=True), by_columns, _skglm_elastic, tolerances(*TIGHT)
)


def _celer(prepared: Any, setting: Setting) -> Answer:
    import celer

    task, X = prepared
    alpha = task.l1 + task.l2
    model = celer.ElasticNet(alpha, task.l1 / alpha, tol=setting["tol"], max_iter=1000, fit_intercept=False)
    model.fit(X, task.y)
    return Answer(model.coef_)


PEERS["celer"] = Peer("celer", only("squared", l1=True), by_columns, _celer, tolerances(*TIGHT))


def _glum_suits(task: Task) -> str | None:
    if task.loss == "squared":
        return only("squared", l1=True)(task)
    return only("logistic")(task)


def _glum(prepared: Any, setting: Setting) -> Answer:
    from glum import GeneralizedLinearRegressor

    task, X = prepared
    alpha = task.l1 + task.l2
    family = "binomial" if task.loss == "logistic" else "normal"
    y = 0.5 * (task.y + 1.0) if task.loss == "logistic" else task.y
    model = GeneralizedLinearRegressor(
        alpha=alpha, l1_ratio=task.l1 / alpha, family=family, fit_intercept=False, max_iter=10_000,
        gradient_tol=setting["tol"], solver=setting["solver"],
    )  # fmt: skip
    model.fit(X, y)
    return Answer(model.coef_, 0.0, "max_iter" if model.n_iter_ >= 10_000 else "")


def _glum_ladder(task: Task) -> list[Setting]:
    """Second-order steps while the t x t matrix is small."""
    smooth = "irls-ls" if task.t <= 5000 else "lbfgs"
    solver = "irls-cd" if task.l1 else smooth
    return [{"tol": tol, "solver": solver} for tol in TIGHT]


PEERS["glum"] = Peer("glum", _glum_suits, by_columns, _glum, _glum_ladder)


def _adelie_data(task: Task) -> tuple[Task, Any]:
    import adelie

    _, X = by_columns(task)
    return task, adelie.matrix.sparse(X, method="naive") if task.sparse else X


def _adelie(prepared: Any, setting: Setting) -> Answer:
    import adelie

    task, X = prepared
    alpha = task.l1 + task.l2
    state = adelie.grpnet(
        X, adelie.glm.gaussian(task.y), alpha=task.l1 / alpha, lmda_path=np.array([alpha]), intercept=False,
        tol=setting["tol"], early_exit=False, progress_bar=False, max_iters=10_000_000,
    )  # fmt: skip
    betas = state.betas
    x = np.ravel(betas[-1].toarray()) if betas.shape[0] else np.zeros(task.t)
    return Answer(x)


PEERS["adelie"] = Peer("adelie", only("squared", l1=True), _adelie_data, _adelie, tolerances(*TIGHT))


def _zerogap(task: Task, setting: Setting) -> Answer:
    import zerogap as zg

    result = zg.solve(
        zerogap_problem(task), algorithm=setting.get("algorithm", "auto"), tol=setting["tol"],
        max_time=setting.get("max_time"), max_passes=setting.get("max_passes", 10**9),
        random_state=0, warn=False,
    )  # fmt: skip
    phases = list(dict.fromkeys(result.history.phase.tolist()))
    note = "" if result.solved else str(result.status)
    return Answer(result.x, result.intercept, note or "+".join(phases))


def _zerogap_ladder(task: Task) -> list[Setting]:
    return [{"tol": tol} for tol in (1e-3, 1e-6, 1e-9)]


PEERS["zerogap"] = Peer("zerogap", lambda task: None, lambda task: task, _zerogap, _zerogap_ladder)
