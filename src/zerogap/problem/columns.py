"""The columns that constraints speak of: features by name or position, and the intercept behind them."""

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from zerogap.data.rows import Rows
from zerogap.exceptions import DataError

Array = np.ndarray

INTERCEPT = "intercept"
#: Names that a message lists.
_LISTED = 12


@dataclasses.dataclass(frozen=True, eq=False)
class Columns:
    """Names of the features (x0, x1, ... where none were given), and the data that rows may depend on.

    The intercept is the column behind the features; the word `intercept` stands for it, unless a feature
    has that name.
    """

    n_features: int
    fit_intercept: bool
    names: tuple[str, ...]
    rows: Rows | None = None
    weight: Array | None = None  # of the data rows, with sum one

    @property
    def everything(self) -> tuple[str, ...]:
        """All names, in the order of the columns."""
        return (*self.names, INTERCEPT) if self.fit_intercept else self.names

    def position(self, column: Any) -> int:
        """The position of a column given by name or position."""
        if isinstance(column, str):
            if column in self.everything:
                return self.everything.index(column)
        elif isinstance(column, (int, np.integer)) and not isinstance(column, (bool, np.bool_)):  # noqa: SIM102
            if 0 <= column < self.n_features + int(self.fit_intercept):
                return int(column)
        raise DataError(f"columns: {column!r} is none of {self.known()}")

    def positions(self, columns: Any) -> list[int]:
        """The positions of several columns, each once; None stands for all features."""
        if columns is None:
            return list(range(self.n_features))
        single = isinstance(columns, str) or not isinstance(columns, Iterable)
        listed = [self.position(column) for column in ([columns] if single else columns)]
        if not listed:
            raise DataError(f"columns: expected at least one of {self.known()}; got none")
        for place, j in enumerate(listed):
            if j in listed[:place]:
                raise DataError(f"columns: expected each column once; {self.everything[j]!r} comes twice")
        return listed

    def known(self) -> str:
        """What a message says about the columns there are."""
        shown = ", ".join(self.names[:_LISTED]) + (", ..." if len(self.names) > _LISTED else "")
        return f"{shown} (positions 0 .. {self.n_features - 1}){' or intercept' * self.fit_intercept}"


def feature_names(given: Any, X: Any, n_features: int) -> tuple[str, ...]:
    """The names given, or those of a data frame's columns, or x0, x1, ..."""
    if given is None:
        found = getattr(X, "columns", None)
        if found is None or not all(isinstance(name, str) for name in found):
            return tuple(f"x{j}" for j in range(n_features))
        given = found
    names = (given,) if isinstance(given, str) else tuple(str(name) for name in given)
    if len(names) != n_features:
        raise DataError(f"feature_names: expected {n_features}, one per column of X; got {len(names)}")
    repeated = [name for place, name in enumerate(names) if name in names[:place]] if _twins(names) else []
    if repeated:
        raise DataError(f"feature_names: expected different names; {repeated[0]!r} comes twice")
    return names


def _twins(names: tuple[str, ...]) -> bool:
    return len(set(names)) < len(names)
