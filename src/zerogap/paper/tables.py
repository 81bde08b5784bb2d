"""The page's tables: theory, slopes, counts. Stated orders and complexities are the paper's own words."""

import math
from typing import Any

import numpy as np

from zerogap.paper.claims import level_name, number
from zerogap.paper.curves import FIGURES
from zerogap.paper.problems import LEVELS, N
from zerogap.paper.summary import VANISHED, Summary, slope
from zerogap.reference.registry import METHODS

#: What each check of `theory` states.
STATEMENTS = {
    "theorem1": "Theorem 1: bounds on |E F(x̂) − F(x*)| and on the expected violation of the averaged point",
    "dual_rate": "Proposition 1: E D(u) − D(u*) falls like n²/K²",
    "not_averaged": "Proposition 2: bounds on objective and violation of x*(u) without averaging",
    "theorem2": "Theorem 2, (47): a restart every K steps contracts by its factor, K ∈ {n, 2n, 10n, 40n}",
    "theta_lemma": "Lemma on θ: its four properties, k ≤ 100 n",
    "coordinate_lemma": "Lemma on the coordinatewise Lipschitz constants Lⱼ",
    "convex_combination": "Lemma: uᵏ⁺¹ is a convex combination of u¹ … uᵏ and zᵏ⁺¹",
    "erm_lemma": "Lemma for ERM: K′ plain steps reach 9 max(ε, M²/(nμ)), in the primal 17 max(…)",
}

#: (figure, curve, quantity): the order in the paper's text as an exponent of the number of passes.
ORDERS = (
    ("figure2", "ARDCA-a", "gap", "−2", "O(n/√ε), Theorem 1"),
    ("figure2", "ARDCA-na", "gap", "−1", "O(1/K) without averaging"),
    ("figure2", "ARDCA-na", "dual_gap", "−2", "O(n²/K²), Proposition 1"),
    ("figure2", "SDCA", "gap", "−1", "O(n + 1/ε), nonsmooth loss"),
    ("figure2", "ADFGA", "gap", "−1", "O(1/ε), last primal point"),
    ("figure2", "ADFGA", "dual_gap", "−2", "O(1/√ε)"),
    ("figure2", "ASDCA", "gap", "→ 0", "linear to its bias, then flat"),
    ("figure3", "ARDCA-a", "gap", "−2", "O(n/√ε), Theorem 1"),
    ("figure3", "ARDCA-a", "violation", "−2", "O(n/√ε), Theorem 1"),
    ("figure3", "ARDCA-na", "gap", "−1", "O(1/K) without averaging"),
    ("figure3", "ARDCA-na", "violation", "−1", "O(1/K) without averaging"),
    ("figure3", "SDCA", "violation", "−1/2", "RDCA: dual O(n/ε), so primal O(n/ε²)"),
    ("figure3", "ADFGA", "violation", "−1", "O(1/ε)"),
)

#: The same for methods of the table of counts, on problem (2) and (3) at the first level.
COUNT_ORDERS = (
    ("absolute", "rdca", "dual_gap", "−1", "O(n/ε)"),
    ("absolute", "apcg", "dual_gap", "−2", "O(n/√ε)"),
    ("absolute", "approx", "dual_gap", "−2", "O(n/√ε)"),
    ("absolute", "dfga", "dual_gap", "−1", "O(1/ε)"),
    ("absolute", "adfga", "gap", "−2", "O(1/√ε), averaged"),
    ("absolute", "double-smoothing", "gap", "−2", "O(1/√ε log 1/ε)"),
    ("absolute", "catalyst", "gap", "−2", "O((n + √(n/ε)) log 1/ε)"),
    ("absolute", "spdc", "gap", "−2", "O((n + √(n/ε)) log 1/ε)"),
    ("absolute", "rpdg", "gap", "−2", "O((n + √(n/ε)) log 1/ε)"),
    ("absolute", "katyusha", "gap", "−2", "O(n log 1/ε + √(n/ε))"),
    ("sup", "dfga", "violation", "−1", "O(1/ε), averaged"),
    ("sup", "adfga", "violation", "−2", "O(1/√ε), averaged"),
    ("sup", "double-smoothing", "violation", "−2", "O(1/√ε log 1/ε)"),
)

#: Steps in a pass where they are not n: one full gradient, or Katyusha's 2n steps in three passes.
STEPS_A_PASS = {"dfga": 1.0, "adfga": 1.0, "double-smoothing": 1.0, "katyusha": 2.0 * N / 3.0}

#: What `x` of a comparison is.
ABSCISSA = {
    "theorem2": "N", "theta_lemma": "n", "coordinate_lemma": "j", "convex_combination": "k", "erm_lemma": "K′"
}  # fmt: skip

#: name -> (its complexity on a smooth loss, on a nonsmooth loss or with constraints).
COMPLEXITY = {
    "ardca": ("n/√ε", "n/√ε"),
    "ardca-restart": ("(n + √(n/(γμ))) log 1/ε", "(n + n/√κ) log 1/ε"),
    "ardca-erm": ("n log n + √(n/ε)", "n log n + √(n/ε)"),
    "algorithm-2": ("as ARDCA, whose iterates it writes out", "as ARDCA, whose iterates it writes out"),
    "rdca": ("(n + n/κ) log 1/ε", "n/ε (dual)"),
    "sdca": ("(n + 1/(γμ)) log 1/ε", "n log n + 1/ε"),
    "cdca": ("linear, no rate given", "linear, no rate given"),
    "asdca": ("(n + √(n/(γμ))) log 1/ε log² 1/(nγμ)", "(n + √(n/ε)) log 1/ε on the smoothed problem"),
    "apcg": ("(n + √(n/(γμ))) log 1/ε", "n/√ε (dual)"),
    "apcg-general": ("(n + √(n/(γμ))) log 1/ε", "n/√ε (dual)"),
    "approx": ("n/√ε (dual)", "n/√ε (dual)"),
    "dfga": ("1/ε (dual), in full gradients", "1/ε (dual), 1/ε² (primal)"),
    "adfga": ("1/√ε, in full gradients", "1/√ε (dual), 1/ε (last), 1/√ε (averaged)"),
    "double-smoothing": ("1/√ε log 1/ε, in full gradients", "1/√ε log 1/ε"),
    "spdc": ("(n + √(n/(γμ))) log 1/ε", "(n + √(n/ε)) log 1/ε"),
    "rpdg": ("(n + √(n/(γμ))) log 1/ε", "(n + √(n/ε)) log 1/ε"),
    "katyusha": ("(n + √(n/(γμ))) log 1/ε", "n log 1/ε + √(n/ε)"),
    "catalyst": ("(n + √(n/(γμ))) log 1/ε, up to logs", "(n + √(n/ε)) log 1/ε"),
}
PROBLEM = {"squared": "(1)", "absolute": "(2)", "sup": "(3)"}
TARGETS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


def theory_table(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line a check: how many comparisons, how many hold, and how close to its bound the closest comes."""
    lines = []
    for check, statement in STATEMENTS.items():
        mine = [r for r in rows if r["check"] == check]
        holds = sum(r["upper"] <= r["bound"] for r in mine)
        ratios = [r["upper"] / r["bound"] for r in mine if r["bound"] > 0]
        lines.append(
            {
                "statement": statement, "count": len(mine), "holds": holds,
                "seeds": _seeds([int(r["seeds"]) for r in mine]),
                "closest": number(max(ratios)) if ratios else "—",
                "verdict": "confirmed" if holds == len(mine) else "not",
                "abscissa": ABSCISSA.get(check, "K"), "rows": [_compared(r) for r in mine],
            }
        )  # fmt: skip
    return lines


def _seeds(found: list[int]) -> str:
    """How many seeds each mean is over, where there is one."""
    low, high = min(found, default=1), max(found, default=1)
    return "no mean" if high == 1 else f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _compared(r: dict[str, Any]) -> dict[str, Any]:
    """One comparison, its numbers in three digits."""
    shown = {name: f"{r[name]:.3g}".replace("-", "−") for name in ("measured", "upper", "bound")}
    return {"case": r["case"], "x": number(r["x"]), "holds": r["upper"] <= r["bound"], **shown}


def slope_table(summary: Summary) -> list[dict[str, Any]]:
    """Measured log-log slopes beside the stated orders: those of the figures, and of the counted runs."""
    lines, counted = [], []
    for figure, method, quantity, order, source in ORDERS:
        kind = FIGURES[figure].kind
        found = [_slope(summary, figure, kind, level, method, quantity) for level in summary.levels(figure)]
        lines.append(_slope_line(f"Figure {figure[-1]}", method, quantity, order, source, found))
    for kind, method, quantity, order, source in COUNT_ORDERS:
        found = [_slope(summary, "counts", kind, LEVELS[0], method, quantity)]
        counted.append(_slope_line(f"Problem {PROBLEM[kind]}", method, quantity, order, source, found))
    levels = [level_name(level) for level in LEVELS]
    return [
        {"title": "The methods of Figures 2 and 3", "levels": levels, "lines": lines},
        {
            "title": "The other methods, from the runs of the next section",
            "levels": levels[:1],
            "lines": counted,
        },
    ]


def _slope(
    summary: Summary, figure: str, kind: str, level: float, method: str, quantity: str
) -> tuple[float, tuple[float, float]]:
    floor = VANISHED if quantity == "violation" else summary.floor(kind, level)
    return slope(summary.median(figure, level, method, quantity, kind), floor)


def _slope_line(
    where: str, method: str, quantity: str, order: str, source: str, found: list[Any]
) -> dict[str, Any]:
    cells = []
    for value, window in found:
        shown = f"{value:.2f}".replace("-", "−") if math.isfinite(value) else "—"
        cells.append({"value": shown, "window": f"{window[0]:.0f}–{window[1]:.0f}"})
    return {
        "where": where, "method": method, "order": order, "source": source, "cells": cells,
        "what": {"gap": "primal", "dual_gap": "dual", "violation": "violation"}[quantity],
    }  # fmt: skip


def count_tables(summary: Summary) -> list[dict[str, Any]]:
    """Steps to each accuracy, for each of the three problems at its first level."""
    tables = []
    for kind, title, letter in (
        ("squared", "squared loss", "λ"), ("absolute", "absolute loss", "λ"), ("sup", "constraints", "τ")
    ):  # fmt: skip
        lines = []
        chosen = (summary.columns["figure"] == "counts") & (summary.columns["kind"] == kind)
        for method in METHODS:
            mine = chosen & (summary.columns["method"] == method)
            if not mine.any():
                continue
            limit = float(summary.columns["pass"][mine].max())
            lines.append(
                {
                    "method": method, "limit": f"{limit:,.0f}", "reached": _reached(summary, mine, kind),
                    "complexity": COMPLEXITY[method][0 if kind == "squared" else 1],
                    "cells": [
                        _cell(_passes_to(summary, mine, kind, eps), STEPS_A_PASS.get(method, N))
                        for eps in TARGETS
                    ],
                }
            )  # fmt: skip
        name = f"Problem {PROBLEM[kind]}, {title}, {letter} = {level_name(LEVELS[0])}"
        tables.append({"title": name, "lines": lines})
    return tables


def _cell(passes: float, steps_a_pass: float) -> dict[str, str]:
    """Steps and passes, or a dash."""
    if not math.isfinite(passes):
        return {"steps": "—", "passes": ""}
    return {"steps": f"{passes * steps_a_pass:,.0f}", "passes": f"{passes:,.0f}"}


def _reached(summary: Summary, mine: Any, kind: str) -> str:
    """The median over the seeds of the larger of relative gap and violation, at the last look."""
    c = summary.columns
    found = []
    for seed in sorted(set(c["seed"][mine].tolist())):
        last = np.flatnonzero(mine & (c["seed"] == seed))[-1]
        found.append(max(c["gap"][last] / summary.scale(kind, LEVELS[0]), c["violation"][last]))
    return f"{np.median(found):.0e}".replace("-", "−")


def _passes_to(summary: Summary, mine: Any, kind: str, eps: float) -> float:
    """The median over the seeds of the first pass from which gap and violation stay below eps."""
    found = []
    c = summary.columns
    for seed in sorted(set(c["seed"][mine].tolist())):
        rows = mine & (c["seed"] == seed)
        bad = (c["gap"][rows] > eps * summary.scale(kind, LEVELS[0])) | (c["violation"][rows] > eps)
        passes = c["pass"][rows]
        late = [k for k, wrong in enumerate(bad) if wrong]
        first = late[-1] + 1 if late else 0
        found.append(float(passes[first]) if first < passes.size else math.inf)
    found.sort()
    return found[len(found) // 2]
