"""Algorithms by name, and the settings objects behind the names."""

import dataclasses
from typing import Any

from zerogap.exceptions import SettingsError

STEPS = {"paper": 1.0, "long": 0.5}


def _one_of(name: str, value: Any, known: Any) -> None:
    if value not in known:
        raise SettingsError(f"{name}: expected one of {', '.join(known)}; got {value!r}")


@dataclasses.dataclass(frozen=True)
class ARDCA:
    """Accelerated randomized dual coordinate ascent (Algorithms 1, 3 and 4 of Li & Lin).

    step          "paper": z-step w/(2 n theta L), which the proofs need; "long": twice that
    sampling      "uniform" (i.i.d., the paper's) or "permuted" (a fresh permutation each pass)
    average_from  upsilon > 1: the primal average runs over the last 1 - 1/upsilon of the steps;
                  None: no average, only the last primal point
    average_over  "steps" (the paper's sum over all of them) or "passes" (the point at the end of each
                  stands for its pass: as good in practice, and sparse rows are done sooner)
    restart       None (Algorithm 1), "adaptive", "log-scale", or a period in passes (Algorithm 3)
    erm           run Algorithm 4: non-accelerated steps first, as many as its lemma says
    shrink        accelerate only the rows that are not at rest, chosen anew at every restart
    """

    step: str = "long"
    sampling: str = "permuted"
    average_from: float | None = 2.0
    average_over: str = "steps"
    restart: Any = None
    erm: bool = False
    shrink: bool = False

    def __post_init__(self) -> None:
        _one_of("step", self.step, STEPS)
        _one_of("sampling", self.sampling, ("uniform", "permuted"))
        _one_of("average_over", self.average_over, ("steps", "passes"))
        start = self.average_from
        if start is not None and not (isinstance(start, (int, float)) and start > 1):
            raise SettingsError(f"average_from: expected a number > 1 or None; got {self.average_from!r}")
        period = isinstance(self.restart, (int, float)) and self.restart > 0
        if not period and self.restart not in (None, "adaptive", "log-scale"):
            raise SettingsError(
                "restart: expected None, 'adaptive', 'log-scale' or a positive number of passes; "
                f"got {self.restart!r}"
            )


@dataclasses.dataclass(frozen=True)
class SDCA:
    """Plain dual coordinate ascent: SDCA, RDCA and CDCA differ in how they draw rows.

    sampling  "permuted" (SDCA), "uniform" (RDCA), "cyclic" (CDCA)
    step      "long": u-step w/L; "paper": half of it, the first phase of Algorithm 4
    shrink    between checks, leave out rows that are at rest
    """

    sampling: str = "permuted"
    step: str = "long"
    shrink: bool = False

    def __post_init__(self) -> None:
        _one_of("sampling", self.sampling, ("permuted", "uniform", "cyclic"))
        _one_of("step", self.step, STEPS)


@dataclasses.dataclass(frozen=True)
class Newton:
    """Semismooth Newton steps on the augmented Lagrangian (the finisher, alone from the start)."""


@dataclasses.dataclass(frozen=True)
class Auto:
    """Coordinate steps, accelerated steps, Newton steps: each while it is the quickest."""


ALGORITHMS: dict[str, Any] = {
    "auto": Auto(),
    "ardca": ARDCA(),
    "ardca-restart": ARDCA(restart="adaptive"),
    "ardca-erm": ARDCA(erm=True),
    "rdca": SDCA(sampling="uniform"),
    "sdca": SDCA(),
    "cdca": SDCA(sampling="cyclic"),
    "newton": Newton(),
}


def resolve(algorithm: Any) -> tuple[str, Any]:
    """Name and settings of an algorithm given by name or by settings."""
    if isinstance(algorithm, str):
        if algorithm not in ALGORITHMS:
            known = ", ".join(ALGORITHMS)
            raise SettingsError(f"algorithm: expected one of {known}; got {algorithm!r}")
        return algorithm, ALGORITHMS[algorithm]
    if isinstance(algorithm, (ARDCA, SDCA, Newton, Auto)) or hasattr(algorithm, "make"):
        return repr(algorithm), algorithm
    raise SettingsError(
        f"algorithm: expected a name or a settings object such as zg.ARDCA(); got {algorithm!r}"
    )
