"""Medians, quartiles and what is read off them. Everything here comes from the stored table."""

import dataclasses
import math
from typing import Any

import numpy as np

Array = np.ndarray
Columns = dict[str, Array]

#: A violation of this size is rounding.
VANISHED = 1e-14


@dataclasses.dataclass(frozen=True)
class Median:
    """One curve over its seeds: medians and quartiles of a quantity at each number of passes."""

    passes: Array
    middle: Array
    low: Array
    high: Array

    def reach(self, eps: float) -> float:
        """The first number of passes from which the median stays at or below eps; inf if it never does."""
        above = np.flatnonzero(self.middle > eps)
        first = above[-1] + 1 if above.size else 0
        return float(self.passes[first]) if first < self.passes.size else math.inf

    def at(self, passes: Array) -> Array:
        """The median, interpolated in logarithms."""
        return np.exp(np.interp(np.log(passes), np.log(self.passes), np.log(self.middle)))


class Summary:
    """The stored series, with the accuracy of F(x*) as the floor of every gap."""

    def __init__(self, columns: Columns, optima: list[dict[str, Any]]):
        self.columns = columns
        self.optima = optima

    def methods(self, figure: str, level: float) -> list[str]:
        """The legend, in the order of the table."""
        chosen = self._chosen(figure, level)
        return list(dict.fromkeys(self.columns["method"][chosen].tolist()))

    def levels(self, figure: str) -> list[float]:
        found = np.unique(self.columns["level"][self.columns["figure"] == figure])
        return sorted(found.tolist(), reverse=True)

    def seeds(self, figure: str) -> int:
        return int(np.unique(self.columns["seed"][self.columns["figure"] == figure]).size)

    def theory(self) -> list[dict[str, Any]]:
        """The comparisons of the theory, in the order of the table."""
        names = {"kind": "check", "method": "case", "promised": "bound"}
        kept = ("kind", "method", "x", "seeds", "measured", "upper", "promised")
        chosen = self.columns["figure"] == "theory"
        values = [self.columns[name][chosen].tolist() for name in kept]
        keys = [names.get(name, name) for name in kept]
        return [dict(zip(keys, row, strict=True)) for row in zip(*values, strict=True)]

    def _chosen(self, figure: str, level: float) -> Array:
        return (self.columns["figure"] == figure) & (self.columns["level"] == level)

    def scale(self, kind: str, level: float) -> float:
        """The median of |F(x*)| over the seeds."""
        return float(np.median([abs(o["bound"]) for o in self._optima(kind, level)]))

    def floor(self, kind: str, level: float) -> float:
        """What a gap cannot be told from: the largest gap of F(x*), and rounding."""
        own = max(o["gap"] for o in self._optima(kind, level))
        return max(own, 4e-16 * self.scale(kind, level))

    def _optima(self, kind: str, level: float) -> list[dict[str, Any]]:
        return [o for o in self.optima if o["kind"] == kind and o["level"] == level]

    def optimum_note(self, kind: str, level: float) -> dict[str, Any]:
        """F(x*) of a panel and how well it is known."""
        found = self._optima(kind, level)
        return {
            "level": level,
            "value": self.scale(kind, level),
            "gap": max(o["gap"] for o in found),
            "relative": max(o["relative_gap"] for o in found),
            "first_phase": max(o.get("first_phase", 0) for o in found),
            "alignment": float(np.median([o.get("alignment", np.nan) for o in found])),
            "how": ", ".join(sorted({str(o["algorithm"]).split("(")[0] for o in found})),
        }

    def median(
        self, figure: str, level: float, method: str, quantity: str = "gap", kind: str | None = None
    ) -> Median:
        """Median and quartiles of gap, violation or dual_gap; `kind` where a figure has several."""
        chosen = self._chosen(figure, level) & (self.columns["method"] == method)
        if kind is not None:
            chosen &= self.columns["kind"] == kind
        kinds = self.columns["kind"][chosen]
        seeds = self.columns["seed"][chosen]
        order = np.argsort(seeds, kind="stable")
        count = np.unique(seeds).size
        values = self.columns[quantity][chosen][order].astype(float).reshape(count, -1)
        floor = VANISHED if quantity == "violation" else self.floor(str(kinds[0]), level)
        values = np.maximum(values, floor)
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], axis=0)
        passes = self.columns["pass"][chosen][order].astype(float).reshape(count, -1)[0]
        return Median(passes, middle, low, high)


def end(curve: Median, floor: float) -> float:
    """The last pass before the curve first meets rounding."""
    ends = np.flatnonzero(curve.middle <= max(10 * floor, 1e-12 * float(curve.middle[0])))
    return float(curve.passes[max(ends[0] - 1, 0)] if ends.size else curve.passes[-1])


def _window(curve: Median, floor: float) -> tuple[Array, float]:
    """The last 1.5 decades of passes before the curve first meets rounding, and where that is."""
    last = end(curve, floor)
    return (curve.passes <= last) & (curve.passes >= last / 10**1.5), last


def slope(curve: Median, floor: float) -> tuple[float, tuple[float, float]]:
    """Least-squares slope of log(value) in log(passes) over the last 1.5 decades above the floor."""
    window, last = _window(curve, floor)
    if window.sum() < 3:
        return math.nan, (last / 10**1.5, last)
    fit = np.polyfit(np.log(curve.passes[window]), np.log(curve.middle[window]), 1)
    return float(fit[0]), (float(curve.passes[window][0]), float(last))


def straightness(curve: Median, floor: float) -> tuple[float, float, float]:
    """R^2 of log(value) against passes and log(passes), and decades fallen, over the last 1.5 decades."""
    window, _ = _window(curve, floor)
    x, y = curve.passes[window], np.log10(curve.middle[window])
    if x.size < 4 or np.ptp(y) == 0:
        return math.nan, math.nan, 0.0
    linear, power = (float(np.corrcoef(abscissa, y)[0, 1] ** 2) for abscissa in (x, np.log(x)))
    return linear, power, float(y[0] - y[-1])
