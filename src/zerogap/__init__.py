"""zerogap: linear models with nonsmooth losses and linear constraints, solved with a certificate.

min_x  f(x) + sum_i w_i loss(a_i.x + b, y_i) / sum_i w_i    s.t.  B x = e,  lower <= J x <= upper
"""

from zerogap.exceptions import DataError, ProblemError, SettingsError, ZeroGapError
from zerogap.problem import builders as constraints
from zerogap.problem import losses
from zerogap.problem.block_problem import BlockProblem
from zerogap.problem.builders import (
    bounds,
    fairness,
    linear,
    monotone_prediction,
    non_crossing,
    order,
    sign,
    sum_to,
)
from zerogap.problem.constraints import Between, Equal
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import L2, ElasticNet, GroupLasso
from zerogap.quadratic.solution import QPSolution
from zerogap.quadratic.solve import solve_qp
from zerogap.result.certificate import Certificate, certify
from zerogap.result.history import History
from zerogap.result.result import Result
from zerogap.result.status import Status
from zerogap.solver.driver import solve
from zerogap.solver.settings import ARDCA, SDCA
from zerogap.solver.warmup import warmup

__version__ = "0.1.0"

__all__ = [
    "ARDCA",
    "L2",
    "SDCA",
    "Between",
    "BlockProblem",
    "Certificate",
    "DataError",
    "ElasticNet",
    "Equal",
    "GroupLasso",
    "History",
    "Problem",
    "ProblemError",
    "QPSolution",
    "Result",
    "SettingsError",
    "Status",
    "ZeroGapError",
    "bounds",
    "certify",
    "constraints",
    "fairness",
    "linear",
    "losses",
    "monotone_prediction",
    "non_crossing",
    "order",
    "sign",
    "solve",
    "solve_qp",
    "sum_to",
    "warmup",
]
