"""More than two classes: one problem over all of them, or each against the rest."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model
import sklearn.svm
from linear_model_data import labels

import zerogap as zg
from zerogap import linear_model as lm

TIGHT = {"tol": 1e-10}
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def centred(intercepts):
    """Softmax and Crammer-Singer see intercepts up to a common number only."""
    return intercepts - np.mean(intercepts)


def objective(model, X, y, weight, coef, intercept):
    """What `model` minimises, in its mean form."""
    problem = model._problem(X, np.searchsorted(model.classes_, y), weight, model._strength())
    return problem.primal(np.asarray(coef).T, np.asarray(intercept))


def assert_same_optimum(ours, coef, intercept, X, y, weight):
    found, known = (
        objective(ours, X, y, weight, *pair) for pair in ((ours.coef_, ours.intercept_), (coef, intercept))
    )
    assert found <= known + 1e-9 * abs(known)
    np.testing.assert_allclose(found, known, rtol=1e-5)
    size = np.abs(coef).max()
    np.testing.assert_allclose(ours.coef_, coef, rtol=0, atol=1e-4 * size)
    np.testing.assert_allclose(centred(ours.intercept_), centred(intercept), rtol=0, atol=1e-4 * size)


@WEIGHTED
@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_multinomial(weighted, ratio, intercept):
    X, y, w = labels(n=150, classes=3)
    weight = w if weighted else None
    settings = {"C": 0.5, "l1_ratio": ratio, "fit_intercept": intercept}
    solver = "lbfgs" if ratio == 0.0 else "saga"
    peer = sklearn.linear_model.LogisticRegression(**settings, solver=solver, tol=1e-9, max_iter=10**5)
    peer.fit(X, y, weight)
    ours = lm.LogisticRegression(**settings, **TIGHT).fit(X, y, weight)
    assert_same_optimum(ours, peer.coef_, peer.intercept_, X, y, weight)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-4)


@WEIGHTED
def test_crammer_singer_without_intercept_is_liblinears(weighted):
    X, y, w = labels(n=120, classes=4)
    weight = w if weighted else None
    settings = {"C": 0.7, "multi_class": "crammer_singer", "fit_intercept": False}
    peer = sklearn.svm.LinearSVC(**settings, tol=1e-8, max_iter=10**6, random_state=0).fit(X, y, weight)
    ours = lm.LinearSVC(**settings, **TIGHT).fit(X, y, weight)
    assert_same_optimum(ours, peer.coef_, np.zeros(4), X, y, weight)
    assert ours.dual_coef_.shape == (120, 4)


@WEIGHTED
@pytest.mark.parametrize("ratio", [0.0, 0.4])
def test_crammer_singer_with_intercept_against_cvxpy(weighted, ratio):
    cp = pytest.importorskip("cvxpy")
    X, y, w = labels(n=60, classes=3)
    weight = w if weighted else np.ones(len(y))
    coef, b = cp.Variable((X.shape[1], 3)), cp.Variable(3)
    margins = X @ coef + np.ones((len(y), 1)) @ cp.reshape(b, (1, 3), order="C")
    wrong = 1.0 - np.eye(3)[y]
    losses = cp.max(margins + wrong, axis=1) - cp.sum(cp.multiply(margins, 1.0 - wrong), axis=1)
    penalty = ratio * cp.sum(cp.abs(coef)) + 0.5 * (1.0 - ratio) * cp.sum_squares(coef)
    cp.Problem(cp.Minimize(penalty + 0.7 * weight @ losses)).solve(solver="CLARABEL")
    ours = lm.LinearSVC(C=0.7, multi_class="crammer_singer", l1_ratio=ratio, **TIGHT)
    ours.fit(X, y, weight)
    assert_same_optimum(ours, coef.value.T, b.value, X, y, weight)


def test_one_versus_rest_is_a_problem_per_class():
    X, y, w = labels(n=120, classes=3)
    several = lm.LogisticRegression(multi_class="ovr", **TIGHT).fit(X, y, w)
    for k in range(3):
        alone = lm.LogisticRegression(**TIGHT).fit(X, y == k, w)
        np.testing.assert_array_equal(several.coef_[k], alone.coef_[0])
        np.testing.assert_array_equal(several.intercept_[k], alone.intercept_[0])
    np.testing.assert_allclose(several.predict_proba(X).sum(axis=1), 1.0)


def test_two_classes_are_two_classes():
    X, y, _ = labels()
    for choice in ("ovr", "crammer_singer"):
        model = lm.LinearSVC(loss="hinge", multi_class=choice, **TIGHT).fit(X, y)
        assert model.coef_.shape == (1, X.shape[1])
        assert model.decision_function(X).shape == (len(y),)
    blocks = lm.GeneralizedLinearClassifier(loss="multinomial", regularizer=zg.L2(0.02), **TIGHT).fit(X, y)
    single = lm.GeneralizedLinearClassifier(loss="logistic", regularizer=zg.L2(0.01), **TIGHT).fit(X, y)
    # w = w_1 - w_0 with |w_0|^2 + |w_1|^2 = |w|^2 / 2 at best
    np.testing.assert_allclose(blocks.coef_, single.coef_, atol=1e-6)
    np.testing.assert_allclose(blocks.decision_function(X), single.decision_function(X), atol=1e-5)


MODELS = [
    lm.LogisticRegression(**TIGHT),
    lm.LinearSVC(multi_class="crammer_singer", **TIGHT),
    lm.LinearSVC(loss="hinge", **TIGHT),
]


@pytest.mark.parametrize("model", MODELS, ids=["multinomial", "crammer_singer", "ovr"])
def test_weights_order_and_storage_of_rows(model):
    X, y, w = labels(n=60, classes=3)
    model.fit(X, y, w)
    coef, b = model.coef_.copy(), centred(model.intercept_)
    times = w.astype(int)
    order = np.random.default_rng(1).permutation(len(y))
    for same in (
        (np.repeat(X, times, axis=0), np.repeat(y, times)),
        (X[order], y[order], w[order]),
        (scipy.sparse.csr_array(X), y, w),
    ):
        model.fit(*same)
        size = np.abs(coef).max()
        np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-8 * size)
        if model.multi_class != "ovr":  # hinge margins may leave the intercept an interval
            np.testing.assert_allclose(centred(model.intercept_), b, rtol=0, atol=1e-7 * size)


@pytest.mark.parametrize("model", MODELS, ids=["multinomial", "crammer_singer", "ovr"])
def test_a_class_of_weight_zero_is_absent(model):
    X, y, w = labels(n=60, classes=4)
    names = np.array(["a", "b", "c", "d"])[y]
    absent = np.where(names == "b", 0.0, 1.0 + w)
    model.fit(X, names, absent)
    assert list(model.classes_) == ["a", "c", "d"]
    assert set(model.predict(X)) <= {"a", "c", "d"}
    kept = names != "b"
    coef = model.coef_.copy()
    model.fit(X[kept], names[kept], absent[kept])
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-8 * np.abs(coef).max())


def test_balanced_counts_weights_as_rows():
    X, y, w = labels(n=60, classes=3)
    y = np.where(np.arange(60) % 5 == 0, 0, y)
    model = lm.LogisticRegression(class_weight="balanced", **TIGHT).fit(X, y, w)
    times = w.astype(int)
    coef = model.coef_.copy()
    model.fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-8 * np.abs(coef).max())
    peer = sklearn.linear_model.LogisticRegression(class_weight="balanced", tol=1e-9, max_iter=10**5)
    np.testing.assert_allclose(model.coef_, peer.fit(X, y, w).coef_, atol=1e-4)


def test_summary_and_html_of_one_problem_over_all_classes():
    pytest.importorskip("pandas")
    X, y, _ = labels(classes=3)
    model = lm.LogisticRegression(bounds=(-0.5, 0.5), constraints="x0 + x1 = 0").fit(X, y)
    table = model.summary()
    assert len(table) == 3 * (X.shape[1] + 2)
    rows = table[table.kind == "constraint"]
    np.testing.assert_allclose(rows["value"], 0.0, atol=1e-6)
    np.testing.assert_array_equal(rows["multiplier"], model.multipliers_[0][0])
    inside = (table.kind == "coefficient") & (table["value"].abs() < 0.5)
    assert (table.loc[inside, "multiplier"] == 0.0).all()
    assert (table.loc[(table.kind == "coefficient") & ~inside, "multiplier"] != 0.0).any()
    assert model._repr_html_().count("SOLVED") == 1
