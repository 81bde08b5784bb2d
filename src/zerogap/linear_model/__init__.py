"""scikit-learn estimators, each with a certificate."""

from zerogap.linear_model.generalized import (
    GeneralizedLinearClassifier,
    GeneralizedLinearClassifierCV,
    GeneralizedLinearRegressor,
    GeneralizedLinearRegressorCV,
)
from zerogap.linear_model.least_squares import ElasticNet, ElasticNetCV, Ridge, RidgeCV
from zerogap.linear_model.logistic import LogisticRegression, LogisticRegressionCV
from zerogap.linear_model.path import RegularizationPath, regularization_path
from zerogap.linear_model.robust import (
    HuberRegressor,
    HuberRegressorCV,
    LADRegressor,
    LADRegressorCV,
    QuantileRegressor,
    QuantileRegressorCV,
)
from zerogap.linear_model.svm import LinearSVC, LinearSVCCV, LinearSVR, LinearSVRCV

__all__ = [
    "ElasticNet",
    "ElasticNetCV",
    "GeneralizedLinearClassifier",
    "GeneralizedLinearClassifierCV",
    "GeneralizedLinearRegressor",
    "GeneralizedLinearRegressorCV",
    "HuberRegressor",
    "HuberRegressorCV",
    "LADRegressor",
    "LADRegressorCV",
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVR",
    "LinearSVRCV",
    "LogisticRegression",
    "LogisticRegressionCV",
    "QuantileRegressor",
    "QuantileRegressorCV",
    "RegularizationPath",
    "Ridge",
    "RidgeCV",
    "regularization_path",
]
