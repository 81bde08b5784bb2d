"""How a solve ended. Each status carries its sentence."""

import enum


class Status(enum.Enum):
    """Outcome of a solve. Only SOLVED means that the tolerance was certified."""

    SOLVED = "the certified gap and the violation are within the tolerance"
    ALMOST_SOLVED = "the certified gap and the violation are within 100 times the tolerance"
    MAX_PASSES = "the limit on passes was reached before the tolerance"
    MAX_TIME = "the time limit was reached before the tolerance"
    INTERRUPTED = "stopped by the user; the certificate holds for the answer so far"
    INFEASIBLE = "the constraints contradict each other"
    UNBOUNDED = "the objective has no lower bound"
    STALLED = "no further progress at the precision of double arithmetic"

    @property
    def sentence(self) -> str:
        return self.value

    def __str__(self) -> str:
        return self.name
