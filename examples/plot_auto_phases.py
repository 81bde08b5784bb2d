"""
The phases of ``algorithm="auto"``
==================================

A linear SVM, l2/2 ||x||^2 + mean hinge loss, on seeded data whose columns have scales from 0.03 to 30: the
certified gap against time, coloured by the phase that ran. Run as a script, it writes ``docs/auto.png``.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import zerogap as zg

COLOURS = {"sdca": "#4477aa", "ardca": "#228833", "newton": "#cc3311"}
MARKERS = {"sdca": "o", "ardca": "s", "newton": "^"}


def problem(n: int = 20_000, t: int = 2_000) -> zg.Problem:
    """Sparse rows, columns of very different size, noisy labels, weak regularisation."""
    rng = np.random.default_rng(0)
    X = sp.random(n, t, density=0.01, format="csr", random_state=0, data_rvs=rng.standard_normal)
    X = sp.csr_array(X @ sp.diags_array(10.0 ** rng.uniform(-1.5, 1.5, t)))
    y = np.sign(X @ rng.standard_normal(t) / 10 + rng.standard_normal(n))
    return zg.Problem(X, y, loss="hinge", regularizer=zg.L2(1e-4))


def draw(results: dict[str, zg.Result]) -> plt.Figure:
    """Gap against seconds; auto in the colours of its phases, the others thin and grey."""
    figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for name, style in (("sdca", ":"), ("ardca-restart", "--"), ("newton", "-.")):
        history = results[name].history
        ax.semilogy(history.seconds, history.gap, style, color="0.6", label=f"{name} alone")
    history = results["auto"].history
    ax.semilogy(history.seconds, history.gap, color="black", linewidth=1)
    for phase in dict.fromkeys(history.phase):
        chosen = history.phase == phase
        ax.semilogy(
            history.seconds[chosen], history.gap[chosen], MARKERS[phase],
            color=COLOURS[phase], label=f"auto: {phase}",
        )  # fmt: skip
    ax.set(xlabel="seconds", ylabel="certified gap", title="SVM, 20,000 x 2,000, column scales 0.03 .. 30")
    ax.grid(alpha=0.3)
    ax.legend()
    return figure


def main() -> None:
    instance = problem()
    results = {}
    for name in ("sdca", "ardca-restart", "newton", "auto"):
        zg.solve(instance, algorithm=name, max_passes=40, warn=False)  # compile outside the picture
        results[name] = zg.solve(instance, algorithm=name, max_time=8, warn=False, random_state=0)
        print(f"{name:14} {results[name]!r}")
    draw(results).savefig(Path(__file__).parents[1] / "docs" / "auto.png", dpi=110)


if __name__ == "__main__":
    main()
