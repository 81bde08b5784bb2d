"""The estimators among the tools that people use them with."""

import io
import pickle

import joblib
import numpy as np
import pytest
import sklearn
from linear_model_data import labels, regression
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from support import run_python

import zerogap as zg
from zerogap import linear_model as lm


def frame(n=60):
    pd = pytest.importorskip("pandas")
    X, y, _ = regression(n=n, t=3)
    table = pd.DataFrame(X, columns=["age", "income", "rooms"])
    return table.assign(town=np.array(["a", "b", "c"])[np.arange(n) % 3]), y


def test_pipeline_with_column_transformer_and_grid_search():
    table, y = frame()
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), ["age", "income", "rooms"]), ("towns", OneHotEncoder(), ["town"])]
    ).set_output(transform="default")
    search = GridSearchCV(
        make_pipeline(columns, lm.QuantileRegressor(l1_ratio=0.5)),
        {"quantileregressor__alpha": [0.01, 0.1], "quantileregressor__quantile": [0.25, 0.75]},
        cv=3,
        scoring="neg_mean_absolute_error",
    ).fit(table, y)
    assert search.best_estimator_[-1].certificate_.within(1e-6)
    assert np.isfinite(search.predict(table)).all()


def test_set_output_in_front_of_an_estimator_keeps_names():
    table, y = frame()
    scaler = StandardScaler().set_output(transform="pandas")
    model = make_pipeline(scaler, lm.Ridge()).fit(table[["age", "income"]], y)
    assert list(model[-1].feature_names_in_) == ["age", "income"]


def test_calibration_and_cross_val_predict():
    X, y, _ = labels(n=120, classes=3)
    model = lm.LinearSVC(loss="hinge")
    probability = CalibratedClassifierCV(model, cv=3).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert np.mean(cross_val_predict(model, X, y, cv=3) == y) > 0.5
    margins = cross_val_predict(model, X, y, cv=3, method="decision_function")
    assert margins.shape == (120, 3)


def test_metadata_routing_of_sample_weight():
    X, y, w = regression()
    model = lm.ElasticNet(alpha=0.1)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = model.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        scores = cross_validate(routed, X, y, cv=3, params={"sample_weight": w}, return_estimator=True)
    rest = np.arange(len(y)) >= 27  # the first of three unshuffled folds of 80 is tested on 0 .. 26
    alone = lm.ElasticNet(alpha=0.1).fit(X[rest], y[rest], w[rest])
    np.testing.assert_allclose(scores["estimator"][0].coef_, alone.coef_, rtol=1e-8)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names_of_data_frames(library):
    frames = pytest.importorskip(library)
    X, y, _ = regression(t=3)
    table = frames.DataFrame(dict(zip("abc", X.T, strict=True)))
    model = lm.LADRegressor(bounds={"b": (None, 0.25), "a": (0.0, 0.5)}).fit(table, y)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert model.coef_[1] <= 0.25
    assert 0.0 <= model.coef_[0] <= 0.5
    np.testing.assert_allclose(model.predict(table), X @ model.coef_ + model.intercept_)


def test_bounds_name_what_they_do_not_know():
    X, y, _ = regression()
    with pytest.raises(zg.DataError, match="bounds: expected columns of X"):
        lm.Ridge(bounds={"size": (0, 1)}).fit(X, y)
    with pytest.raises(zg.ProblemError, match="lower <= upper"):
        lm.Ridge(bounds=(1.0, 0.0)).fit(X, y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lm.Ridge(alpha=-1.0), "alpha: expected a number >= 0; got -1.0"),
        (lm.ElasticNet(l1_ratio=1.5), "l1_ratio: expected a number >= 0 and <= 1; got 1.5"),
        (lm.LinearSVR(C=0.0), "C: expected a number > 0; got 0.0"),
        (lm.LinearSVR(loss="hinge"), "loss: expected one of 'epsilon_insensitive'"),
        (lm.QuantileRegressor(quantile=1.0), "quantile must lie strictly between 0 and 1"),
        (lm.GeneralizedLinearRegressor(loss="hinge"), "loss: expected one for regression; got hinge"),
        (lm.ElasticNetCV(selection="worst"), "selection: expected one of 'best'"),
        (lm.ElasticNetCV(alphas=0), "alphas: expected a whole number >= 1"),
    ],
)
def test_bad_parameters_are_named(model, message):
    X, y, _ = regression()
    with pytest.raises(zg.ZeroGapError, match=message):
        model.fit(X, y)


def test_summary_by_name_with_multipliers():
    pytest.importorskip("pandas")
    table, y = frame()
    X = table[["age", "income", "rooms"]]
    total = zg.Equal(np.ones((1, 3)), 1.0)
    model = lm.Ridge(constraints=total, bounds=(-np.inf, 0.7), tol=1e-10).fit(X, y)
    summary = model.summary()
    assert list(summary.index) == ["age", "income", "rooms", "intercept", "Equal[0][0]"]
    assert abs(summary.loc["Equal[0][0]", "value"] - 1.0) < 1e-8
    assert summary.loc["Equal[0][0]", "multiplier"] == model.multipliers_[0][0]
    at_bound = summary["value"] >= 0.7 - 1e-9
    assert (summary.loc[at_bound & (summary.kind == "coefficient"), "multiplier"] > 0).all()
    assert (summary.loc[~at_bound & (summary.kind == "coefficient"), "multiplier"] == 0).all()
    # a multiplier is the rate at which the optimal value falls with its bound
    looser = lm.Ridge(constraints=total, bounds=(-np.inf, 0.7 + 1e-4), tol=1e-10).fit(X, y)
    gain = model.certificate_.primal - looser.certificate_.primal
    price = summary.loc[summary.kind == "coefficient", "multiplier"].sum()
    np.testing.assert_allclose(gain, 1e-4 * price, rtol=1e-2)


def test_summary_of_several_classes():
    pytest.importorskip("pandas")
    X, y, _ = labels(classes=3)
    summary = lm.LinearSVC().fit(X, y).summary()
    assert list(summary["class"].unique()) == [0, 1, 2]
    assert len(summary) == 3 * (X.shape[1] + 1)


def test_html_shows_the_certificate():
    X, y, _ = labels(classes=3)
    model = lm.LinearSVC()
    assert "dual bound" not in model._repr_html_()
    page = model.fit(X, y)._repr_html_()
    assert "dual bound" in page
    assert page.count("SOLVED") == 3
    assert f"{model.certificate_[1].primal:.9g}" in page
    assert "dual bound" in model._repr_mimebundle_()["text/html"]


def test_warm_start_needs_fewer_passes_and_clone_forgets():
    X, y, _ = regression()
    model = lm.LADRegressor(alpha=0.1, warm_start=True, algorithm="ardca-restart", random_state=0)
    first = model.fit(X, y).n_iter_
    assert model.fit(X, y).n_iter_ < first
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    assert clone(model).fit(X, y).n_iter_ == first


def test_limits_warn_with_a_certified_answer():
    X, y, _ = regression()
    with pytest.warns(ConvergenceWarning, match="best bound"):
        model = lm.LADRegressor(algorithm="sdca", max_iter=2, random_state=0).fit(X, y)
    assert model.status_ is zg.Status.MAX_PASSES
    assert model.dual_gap_ >= 0
    with pytest.warns(ConvergenceWarning, match="MAX_TIME"):
        lm.LADRegressor(algorithm="sdca", max_time=1e-6, tol=1e-12).fit(X, y)


def test_callbacks_and_progress(capsys):
    X, y, _ = regression()
    seen = []
    lm.LADRegressor(callbacks=[seen.append], verbose=1).fit(X, y)
    assert seen
    assert seen[-1].gap <= 1e-6 * seen[-1].primal
    assert "primal" in capsys.readouterr().err
    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"):
        lm.LADRegressor(callbacks=[lambda record: True], algorithm="sdca").fit(X, y)


def test_scikit_learns_callback_protocol():
    callback = pytest.importorskip("sklearn.callback")

    class Recorder:
        def __init__(self, stop=False):
            self.events, self.stop = [], stop

        def setup(self, estimator, context):
            self.events.append("setup")

        def teardown(self, estimator, context):
            self.events.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            self.events.append(f"begin {context.task_name}")

        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            self.events.append(f"end {context.task_name}")
            if context.task_name == "fit":
                self.prediction = fitted_estimator.predict(np.zeros((1, 6)))
            return self.stop

    X, y, _ = regression()
    recorder = Recorder()
    model = lm.LADRegressor().set_callbacks(recorder).fit(X, y)
    assert recorder.events[:3] == ["setup", "begin fit", "begin check"]
    assert recorder.events[-2:] == ["end fit", "teardown"]
    assert recorder.events.count("end check") == len(model.history_)
    assert recorder.prediction.shape == (1,)
    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"):
        lm.LADRegressor(algorithm="sdca").set_callbacks(Recorder(stop=True)).fit(X, y)
    bar = callback.ProgressBar()
    lm.LADRegressor().set_callbacks(bar).fit(X, y)


def test_pickle_and_joblib(tmp_path):
    X, y, _ = labels(classes=3)
    model = lm.LinearSVC(warm_start=True).fit(X, y)
    path = tmp_path / "model.joblib"
    joblib.dump(model, path)
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(path)):
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
        assert copy.certificate_ == model.certificate_
    buffer = io.BytesIO()
    pickle.dump(model, buffer)
    assert len(buffer.getvalue()) < 50 * (X.nbytes + y.nbytes)  # the data does not travel along


def test_predicting_after_a_round_trip_compiles_nothing(tmp_path):
    X, y, _ = labels()
    model = lm.LogisticRegression().fit(X, y)
    joblib.dump((model, X, model.predict_proba(X)), tmp_path / "model.joblib")
    program = f"""
import joblib, numba.core.dispatcher as dispatcher
def refuse(self, sig):
    raise AssertionError("a kernel was compiled")
dispatcher.Dispatcher.compile = refuse
model, X, expected = joblib.load({str(tmp_path / "model.joblib")!r})
assert (model.predict_proba(X) == expected).all()
assert model.predict(X).shape == (len(X),)
print("true")
"""
    assert run_python(program)


def test_positive_and_bounds():
    X, y, _ = regression()
    assert (lm.QuantileRegressor(alpha=0.01, positive=True).fit(X, y).coef_ >= 0).all()
    lower = np.full(6, 0.1)
    model = lm.ElasticNet(alpha=0.1, bounds=(lower, None)).fit(X, y)
    assert (model.coef_ >= 0.1).all()
    group = zg.GroupLasso(l2=0.1, group=0.1, groups=[0, 0, 1, 1, 2, 2])
    with pytest.raises(zg.ProblemError, match="positive, bounds"):
        lm.GeneralizedLinearRegressor(regularizer=group, positive=True).fit(X, y)


def test_labels_of_any_type():
    X, y, _ = labels(classes=3)
    names = np.array(["low", "mid", "high"])[y]
    model = lm.LogisticRegression().fit(X, names)
    assert set(model.predict(X)) <= set(names)
    assert list(model.classes_) == ["high", "low", "mid"]
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
