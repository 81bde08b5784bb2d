"""Every method of the paper by name: those of the solver layer, and those of this package."""

from typing import Any

from zerogap.reference.adfga import Adfga
from zerogap.reference.apcg import Apcg
from zerogap.reference.approx import Approx
from zerogap.reference.asdca import Asdca
from zerogap.reference.catalyst import Catalyst
from zerogap.reference.dfga import Dfga
from zerogap.reference.double_smoothing import DoubleSmoothing
from zerogap.reference.equivalent import Equivalent
from zerogap.reference.katyusha import Katyusha
from zerogap.reference.rpdg import Rpdg
from zerogap.reference.spdc import Spdc
from zerogap.solver.settings import ARDCA, SDCA

#: name -> settings; `zg.solve(problem, algorithm=METHODS[name])` runs any of them.
METHODS: dict[str, Any] = {
    "ardca": ARDCA(step="paper", sampling="uniform", average_from=1.1),
    "ardca-restart": ARDCA(step="paper", sampling="uniform", restart="adaptive"),
    "ardca-erm": ARDCA(step="paper", sampling="uniform", average_from=1.1, erm=True),
    "rdca": SDCA(step="paper", sampling="uniform", shrink=False),
    "sdca": SDCA(step="long", sampling="uniform", shrink=False),
    "cdca": SDCA(step="long", sampling="cyclic", shrink=False),
    "algorithm-2": Equivalent(),
    "asdca": Asdca(),
    "apcg": Apcg(),
    "apcg-general": Apcg(form="general"),
    "approx": Approx(),
    "dfga": Dfga(),
    "adfga": Adfga(),
    "double-smoothing": DoubleSmoothing(),
    "spdc": Spdc(),
    "rpdg": Rpdg(),
    "katyusha": Katyusha(),
    "catalyst": Catalyst(),
}

#: What `Method.stated` says, for the methods of the solver layer.
STATED = {
    "ardca": (1600, 50_000, 10_000),
    "ardca-restart": (1200, 5000, 5000),
    "ardca-erm": (1600, 50_000, 10_000),
    "rdca": (10_000, 80_000, 50_000),
    "sdca": (5000, 40_000, 25_000),
    "cdca": (5000, 40_000, 25_000),
}


def stated(name: str) -> tuple[int | None, int | None, int | None]:
    """Passes to a certified relative 1e-6 on `paper.problems.small` of (1), (2), (3)."""
    return STATED[name] if name in STATED else METHODS[name].stated


def applies(settings: Any, problem: Any) -> bool:
    """Does the method fit the problem? The solver layer's methods fit every strongly convex problem."""
    return settings.applies(problem) if hasattr(settings, "applies") else problem.penalty.mu_min > 0
