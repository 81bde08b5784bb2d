"""What happened on the way, one row per check."""

import dataclasses
from typing import Any

import numpy as np


@dataclasses.dataclass(frozen=True)
class Record:
    """One check of the driver."""

    pass_: float
    seconds: float
    primal: float
    dual: float
    gap: float
    violation: float
    active: int
    phase: str


COLUMNS = tuple(field.name for field in dataclasses.fields(Record))


class History:
    """The records of a solve; each column is an attribute: history.gap, history.seconds, ..."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def append(self, record: Record) -> None:
        self.records.append(record)

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, index: int) -> Record:
        return self.records[index]

    def __getattr__(self, name: str) -> np.ndarray:
        if name not in COLUMNS:
            raise AttributeError(f"History has no column {name!r}; expected one of {', '.join(COLUMNS)}")
        return np.array([getattr(record, name) for record in self.records])

    def to_frame(self) -> Any:
        """The records as a pandas DataFrame (needs pandas)."""
        import pandas as pd

        return pd.DataFrame([dataclasses.asdict(record) for record in self.records], columns=list(COLUMNS))

    def plot(self, ax: Any = None, against: str = "seconds", label: str | None = None) -> Any:
        """Gap against seconds (or `pass_`) on a logarithmic axis; returns the axes (needs matplotlib)."""
        import matplotlib.pyplot as plt

        ax = ax or plt.figure().add_subplot()
        gap = np.maximum(self.gap, np.finfo(np.float64).tiny)
        ax.semilogy(getattr(self, against), np.where(np.isfinite(gap), gap, np.nan), ".-", label=label)
        ax.set_xlabel("passes" if against == "pass_" else against)
        ax.set_ylabel("certified gap")
        return ax
