"""How the strength of the penalty is given: alpha for a mean of losses, C for a sum of losses."""

from typing import Any

from zerogap.linear_model._docs import estimator
from zerogap.linear_model._inputs import non_negative, one_of
from zerogap.problem.regularizers import ElasticNet


@estimator
class AlphaScale:
    """alpha (l1_ratio ||w||_1 + (1 - l1_ratio)/2 ||w||^2) beside the mean loss."""

    l1_ratio: float = 0.0

    strength_name = "alpha"

    def _alpha_unit(self, total: float) -> float:
        return 1.0

    def _regularizer(self, strength: Any, total: float) -> Any:
        alpha = non_negative("alpha", strength)
        ratio = non_negative("l1_ratio", self.l1_ratio, most=1.0)
        return ElasticNet(l2=alpha * (1.0 - ratio), l1=alpha * ratio)


@estimator
class CScale:
    """l1_ratio ||w||_1 + (1 - l1_ratio)/2 ||w||^2 beside C times the sum of the losses."""

    strength_name = "C"

    def _ratio(self) -> float:
        return 0.0

    def _regularizer(self, strength: Any, total: float) -> Any:
        scale = 1.0 / (non_negative("C", strength, strictly=True) * total)
        ratio = self._ratio()
        return ElasticNet(l2=scale * (1.0 - ratio), l1=scale * ratio)


@estimator
class PenaltyChoice(CScale):
    """C with a choice of the penalty."""

    penalty: Any = "elasticnet"
    l1_ratio: float = 0.0

    def _ratio(self) -> float:
        kind = one_of("penalty", self.penalty, ("elasticnet", "l2", "l1", None))
        given = non_negative("l1_ratio", self.l1_ratio, most=1.0)
        return {"l2": 0.0, "l1": 1.0}.get(kind, given)

    def _regularizer(self, strength: Any, total: float) -> Any:
        regularizer = super()._regularizer(strength, total)
        return ElasticNet(0.0) if self.penalty is None else regularizer
