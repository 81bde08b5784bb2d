"""Drawing, from the stored table alone. Nothing is solved here."""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from zerogap.paper.summary import Median, Summary

#: Colour, line style and marker of every method, the same in all figures; each differs in all three.
STYLES: dict[str, tuple[str, Any, str]] = {
    "ARDCA-restart": ("#0072b2", "-", "o"),
    "ARDCA-a": ("#d55e00", "-", "s"),
    "ARDCA-na": ("#a83e80", "--", "^"),
    "ASDCA": ("#b8860b", "-.", "v"),
    "APCG": ("#56a4d9", (0, (5, 1)), "P"),
    "SDCA": ("#009e73", (0, (3, 1, 1, 1)), "D"),
    "CDCA": ("#7a4a1e", (0, (1, 1)), "X"),
    "ADFGA": ("#444444", ":", "*"),
}
#: One method, one colour: its periods differ in line style and marker.
PERIODS = {"2n": (":", "<"), "10n": ("--", "o"), "40n": ("-", "s"), "80n": ("-.", "p")}

plt.rcParams.update(
    {
        "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
        "grid.color": "#e4e4e4", "grid.linewidth": 0.6, "svg.fonttype": "path", "svg.hashsalt": "zerogap",
    }
)  # fmt: skip


def style(method: str) -> dict[str, Any]:
    """Keyword arguments of a method's line."""
    name, _, period = method.partition(" K=")
    colour, line, marker = STYLES[name]
    if period:
        line, marker = PERIODS[period]
    return {"color": colour, "linestyle": line, "marker": marker, "markersize": 5.5, "linewidth": 1.7}


def draw_curve(ax: Any, curve: Median, method: str, turn: int) -> None:
    """Median, quartile band, and a marker now and then, shifted so that markers of two curves rarely meet."""
    look = style(method)
    ax.fill_between(curve.passes, curve.low, curve.high, color=look["color"], alpha=0.16, linewidth=0)
    every = (turn % 8, 8)
    ax.plot(curve.passes, curve.middle, label=method, markevery=every, **look)


def draw_figure(summary: Summary, figure: str, letter: str, narrow: bool) -> Any:
    """One of the paper's figures: a column of panels for a narrow screen, a row otherwise."""
    levels = summary.levels(figure)
    quantities = ["gap", "violation"] if figure == "figure3" else ["gap"]
    count = len(levels)
    rows, columns = (len(quantities) * count, 1) if narrow else (len(quantities), count)
    size = (4.2, 3.1 * rows + 1.0) if narrow else (12.0, 3.5 * rows + 0.9)
    drawn, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for q, quantity in enumerate(quantities):
        for k, level in enumerate(levels):
            ax = axes[q * count + k, 0] if narrow else axes[q, k]
            _panel(ax, summary, figure, level, quantity)
            ax.set_title(rf"$\{letter} = 10^{{{round(np.log10(level))}}}$", fontsize=11)
            if narrow or k == 0:
                ax.set_ylabel(_ylabel(figure, quantity))
    handles, labels = axes[0, 0].get_legend_handles_labels()
    drawn.legend(
        handles,
        labels,
        loc="outside upper center",
        ncols=2 if narrow else 5 if len(labels) < 6 else 4,
        frameon=False,
        handlelength=3.2,
    )
    return drawn


def _panel(ax: Any, summary: Summary, figure: str, level: float, quantity: str) -> None:
    for turn, method in enumerate(summary.methods(figure, level)):
        draw_curve(ax, summary.median(figure, level, method, quantity), method, turn)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("passes over the data")


def _ylabel(figure: str, quantity: str) -> str:
    if quantity == "violation":
        return r"violation $\max(0, \|A^T x - b\|_\infty - \tau)$"
    return r"$|f(x) - f(x^*)|$" if figure == "figure3" else r"primal gap $F(x) - F(x^*)$"


def draw_theory(rows: list[dict[str, Any]], narrow: bool) -> Any:
    """Theorem 1 and Theorem 2: what was measured under what is promised."""
    size = (4.2, 6.8) if narrow else (11.0, 3.9)
    drawn, axes = plt.subplots(*((2, 1) if narrow else (1, 2)), figsize=size, layout="constrained")
    _bounds(
        axes[0], [r for r in rows if r["check"] == "theorem1" and "constrained" in r["case"]],
        "steps K", "Theorem 1: error of the averaged point",
    )  # fmt: skip
    _bounds(
        axes[1], [r for r in rows if r["check"] == "theorem2"], "restarts N", "Theorem 2: left side of (47)"
    )
    axes[0].set_xscale("log")
    return drawn


def _bounds(ax: Any, rows: list[dict[str, Any]], xlabel: str, title: str) -> None:
    colours = ["#5e3c99", "#1a7f8c", "#7f7f00", "#c2185b"]  # none of a method's
    for k, name in enumerate(dict.fromkeys(r["case"] for r in rows)):
        mine = [r for r in rows if r["case"] == name]
        x, marker = [r["x"] for r in mine], "osD^"[k % 4]
        label = name.replace("constrained, upsilon", r"$\upsilon$")
        ax.plot(x, [r["upper"] for r in mine], marker=marker, color=colours[k % 4], label=label)
        ax.plot(x, [r["bound"] for r in mine], marker=marker, color=colours[k % 4], ls="--", mfc="none")
    ax.plot([], [], color="#777777", ls="--", label="bound")
    ax.set_yscale("log")
    ax.set_xlabel(xlabel)
    ax.set_ylabel("99.9 % upper limit of the mean")
    ax.set_title(title, fontsize=11)
    ax.legend(frameon=False, fontsize=8)


def save(drawn: Any, stem: Path) -> Path:
    """stem.png and stem.svg; returns the PNG."""
    for suffix in (".svg", ".png"):
        drawn.savefig(
            stem.with_suffix(suffix), dpi=150, metadata={"Date": None} if suffix == ".svg" else None
        )
    plt.close(drawn)
    return stem.with_suffix(".png")
