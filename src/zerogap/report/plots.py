"""Gap against time, for one result or several (needs matplotlib)."""

from collections.abc import Mapping
from pathlib import Path

from zerogap.result.result import Result

STYLES = ("-", "--", ":", "-.")


def gap_versus_time(results: Mapping[str, Result], path: Path | str) -> Path:
    """Write a picture of the certified gaps, relative to the objective, against seconds."""
    import matplotlib
    import numpy as np

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for k, (name, result) in enumerate(results.items()):
        history = result.history
        size = np.maximum(np.abs(history.primal), np.abs(history.dual))
        relative = np.maximum(history.gap / size, 1e-16)
        style = STYLES[k % len(STYLES)]
        ax.semilogy(1e3 * history.seconds, relative, style, marker="o", markersize=3.5, label=name)
    ax.set(xlabel="milliseconds", ylabel="certified relative gap", title="Gap against time")
    ax.grid(alpha=0.3)
    ax.legend()
    target = Path(path)
    figure.savefig(target, dpi=120)
    plt.close(figure)
    return target
