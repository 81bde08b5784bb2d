"""Certified gap against time, one panel for each problem. Needs matplotlib."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from zerogap.result.history import History

#: Told apart in grey and by the colour-blind as well (Okabe-Ito, with a marker each).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GREY = "#555555"


class Panel(NamedTuple):
    """A problem, and what each algorithm did on it."""

    title: str
    histories: Mapping[str, History]


def gap_versus_time(panels: Sequence[Panel], path: str | Path, tol: float | None = None) -> Path:
    """Write the picture to `path` (png, pdf or svg, by its suffix)."""
    import matplotlib
    from matplotlib.figure import Figure

    path = Path(path)
    style: dict[Any, Any] = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(5.4 * len(panels), 4.0), layout="constrained")
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for axis, panel in zip(axes, panels, strict=True):
            _draw(axis, panel, tol)
        axes[0].set_ylabel("certified relative error")
        figure.savefig(path, dpi=160)
    return path


def relative_error(history: History) -> np.ndarray:
    """The certified gap relative to the objective, at every check; infinite before there is a bound."""
    gap, primal, dual = history.gap, history.primal, history.dual
    size = np.maximum(np.maximum(np.abs(primal), np.abs(dual)), 1e-300)
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(gap), gap / size, np.inf)


def _draw(axis: Any, panel: Panel, tol: float | None) -> None:
    for k, (label, history) in enumerate(panel.histories.items()):
        error = relative_error(history)
        seen = np.isfinite(error)
        floor = np.maximum(error[seen], 1e-17)
        colour = COLOURS[k % len(COLOURS)]
        axis.loglog(
            history.seconds[seen], floor, color=colour, marker=MARKERS[k % len(MARKERS)],
            markersize=4, linewidth=1.4, label=label,
        )  # fmt: skip
    if tol is not None:
        axis.axhline(tol, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)))
        axis.annotate(
            f"tol {tol:g}", (1.0, tol), xycoords=("axes fraction", "data"), xytext=(0, 3),
            textcoords="offset points", ha="right", va="bottom", color=GREY, fontsize=8,
        )  # fmt: skip
    axis.set_title(panel.title, loc="left", fontsize=10)
    axis.set_xlabel("seconds")
    axis.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.legend(frameon=False, fontsize=9)
