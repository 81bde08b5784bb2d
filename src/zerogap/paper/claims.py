"""What the paper's text says about each figure, beside what came out here. Verdicts follow from numbers."""

import dataclasses
import math

import numpy as np

from zerogap.paper.curves import FIGURES
from zerogap.paper.summary import VANISHED, Summary, end, straightness

#: Two orders of magnitude is the least that "orders" can mean.
ORDERS = 2.0
#: A curve counts as linearly convergent when it falls by at least a decade and log(gap) is straighter in the
#: number of passes than in its logarithm.
DECADES = 1.0


@dataclasses.dataclass(frozen=True)
class Claim:
    """A sentence of the paper, the verdict, and the numbers behind it, one line a level."""

    figure: str
    text: str
    verdict: str
    measured: str


def verdict(holds: list[bool]) -> str:
    """confirmed where it holds throughout, partly where somewhere, not where nowhere."""
    return "not" if not any(holds) else "confirmed" if all(holds) else "partly"


def number(value: float) -> str:
    """Three digits, or a dash for what never happened."""
    if not math.isfinite(value):
        return "—"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def signed(value: float, digits: int = 1) -> str:
    """With its sign, the minus a proper one."""
    return f"{value:+.{digits}f}".replace("-", "−")


def level_name(level: float) -> str:
    """1e-3 as 10^-3, for text."""
    return "10" + "".join("⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".index(c)] for c in str(round(math.log10(level))))


def lead(summary: Summary, figure: str, level: float, mine: str, rival: str, quantity: str = "gap") -> float:
    """Orders of magnitude by which `mine` is ahead of `rival`.

    The mean over the last decade of passes before either meets rounding: beyond, nothing tells them apart.
    """
    a = summary.median(figure, level, mine, quantity)
    b = summary.median(figure, level, rival, quantity)
    floor = VANISHED if quantity == "violation" else summary.floor(FIGURES[figure].kind, level)
    last = min(end(a, floor), end(b, floor))
    grid = np.geomspace(last / 10, last, 20)
    return float(np.mean(np.log10(b.at(grid)) - np.log10(a.at(grid))))


def leads(
    summary: Summary, figure: str, mine: str, rivals: list[str], quantity: str = "gap"
) -> dict[float, dict[str, float]]:
    """`lead` for every level and rival."""
    return {
        level: {rival: lead(summary, figure, level, mine, rival, quantity) for rival in rivals}
        for level in summary.levels(figure)
    }


def told(found: dict[float, dict[str, float]], letter: str) -> str:
    """The leads in words, one line a level."""
    return "\n".join(
        f"{letter} = {level_name(level)}: "
        + ", ".join(f"{rival} {signed(orders)}" for rival, orders in of.items())
        for level, of in found.items()
    )


LEAD = (
    "Orders of magnitude ahead (negative: behind), over the last decade of passes before one of the two "
    "meets rounding:\n"
)


def all_claims(summary: Summary) -> list[Claim]:
    """Every claim, in the order of the figures."""
    return [*_figure1(summary), *_figure2(summary), *_figure3(summary), *_figure4(summary)]


def _figure1(s: Summary) -> list[Claim]:
    slow = leads(s, "figure1", "ARDCA-restart", ["SDCA", "ADFGA"])
    fast = leads(s, "figure1", "ARDCA-restart", ["APCG", "ASDCA"])
    both = [all(v > 0 for v in of.values()) for of in fast.values()]
    one = [any(v > 0 for v in of.values()) for of in fast.values()]
    some = "confirmed" if any(both) else "partly" if any(one) else "not"
    return [
        Claim(
            "figure1",
            "“ARDCA-restart outperforms the non-accelerated SDCA and non-randomized ADFGA for a wide "
            "range of λ”",
            verdict([v > 0 for of in slow.values() for v in of.values()]),
            LEAD + told(slow, "λ") + "\n" + _passes(s, ["ARDCA-restart", "SDCA", "ADFGA"]),
        ),
        Claim(
            "figure1",
            "“ARDCA-restart is superior to APCG and ASDCA for some values of λ”",
            some,
            LEAD + told(fast, "λ") + "\n" + _passes(s, ["ARDCA-restart", "APCG", "ASDCA"]),
        ),
    ]


def _passes(s: Summary, methods: list[str], eps: float = 1e-6) -> str:
    parts = []
    for level in s.levels("figure1"):
        target = eps * s.scale(FIGURES["figure1"].kind, level)
        reached = ", ".join(f"{m} {number(s.median('figure1', level, m).reach(target))}" for m in methods)
        parts.append(f"λ = {level_name(level)}: {reached}")
    return f"Passes to a relative gap of {level_name(eps)}:\n" + "\n".join(parts)


def _linear(s: Summary, figure: str, level: float, method: str) -> tuple[bool, str]:
    """Does the curve fall linearly? With R^2 against passes / against their logarithm, in words."""
    found = straightness(s.median(figure, level, method), s.floor(FIGURES[figure].kind, level))
    linear, power, fallen = found
    return bool(linear > power and fallen >= DECADES), f"{linear:.2f}/{power:.2f} ({fallen:.1f} decades)"


LINEAR = "R² of log(gap) against passes / against log(passes), over the last 1.5 decades above rounding:\n"


def _figure2(s: Summary) -> list[Claim]:
    found = leads(s, "figure2", "ARDCA-a", ["ARDCA-na", "ASDCA", "SDCA", "ADFGA"])
    smallest = [min(of.values()) for of in found.values()]
    first = "partly" if any(v > 0 for v in smallest) else "not"
    if all(v >= ORDERS for v in smallest):
        first = "confirmed"
    behind = leads(s, "figure2", "ASDCA", ["ARDCA-a", "ARDCA-na", "SDCA", "ADFGA"])
    poor = [max(-v for v in of.values()) >= ORDERS for of in behind.values()]
    worst = ", ".join(f"{max(-v for v in of.values()):.1f}" for of in behind.values())
    average = [of["ARDCA-na"] for of in found.values()]
    smooth = {level: _linear(s, "figure1", level, "ASDCA") for level in s.levels("figure1")}
    return [
        Claim(
            "figure2",
            "“ARDCA-a yields the best result by orders of magnitude”",
            first,
            LEAD + told(found, "λ"),
        ),
        Claim(
            "figure2",
            "“ASDCA with regularization does not perform well”",
            verdict(poor),
            f"Orders of magnitude behind the best method, over the three λ: {worst}.",
        ),
        Claim(
            "figure2",
            "“… although it converges linearly when φᵢ is smooth” (ASDCA in Figure 1)",
            verdict([straight for straight, _ in smooth.values()]),
            LINEAR + "\n".join(f"λ = {level_name(level)}: {words}" for level, (_, words) in smooth.items()),
        ),
        Claim(
            "figure2",
            "Averaging the primal solutions improves on the last primal solution (ARDCA-a against ARDCA-na)",
            verdict([v > 0 for v in average]),
            "Orders of magnitude gained by averaging, over the three λ: "
            + ", ".join(signed(v, 2) for v in average) + ".",
        ),
    ]  # fmt: skip


def _figure3(s: Summary) -> list[Claim]:
    claims = []
    for quantity, what in (("gap", "the primal gap"), ("violation", "the constraint function value")):
        found = leads(s, "figure3", "ARDCA-a", ["ARDCA-na", "SDCA", "ADFGA"], quantity)
        best = [v > 0 for of in found.values() for v in of.values()]
        claims.append(
            Claim(
                "figure3",
                f"“ARDCA-a performs the best in … reducing {what}”",
                verdict(best),
                LEAD + told(found, "τ"),
            )
        )
    return claims


def _figure4(s: Summary) -> list[Claim]:
    levels = s.levels("figure4")
    periods = [m for m in s.methods("figure4", levels[0]) if m.startswith("ARDCA-restart")]
    straight: list[bool] = []
    notes = []
    for level in levels:
        words = []
        for method in [*periods, "SDCA", "CDCA"]:
            holds, measured = _linear(s, "figure4", level, method)
            straight.append(holds)
            words.append(f"{_short(method)} {measured}")
        notes.append(f"λ = {level_name(level)}: " + ", ".join(words))
    rivals = ["SDCA", "CDCA", "ADFGA"]
    ahead = {
        level: {m: min(lead(s, "figure4", level, m, r) for r in rivals) for m in periods} for level in levels
    }
    best = [max(of.values()) > 0 for of in ahead.values()]
    wide = [v > 0 for of in ahead.values() for v in of.values()]
    shown = "\n".join(
        f"λ = {level_name(level)}: " + ", ".join(f"{_short(m)} {signed(v)}" for m, v in of.items())
        for level, of in ahead.items()
    )
    return [
        Claim(
            "figure4", "“ARDCA, SDCA and CDCA all converge linearly”", verdict(straight),
            LINEAR + "\n".join(notes),
        ),
        Claim(
            "figure4", "“ARDCA with suitable K performs the best”", verdict(best),
            "Orders of magnitude ahead of the best of SDCA, CDCA and ADFGA, likewise:\n" + shown,
        ),
        Claim(
            "figure4", "Restarting helps for a wide range of inner iteration numbers K", verdict(wide),
            f"{sum(wide)} of {len(wide)} pairs of K and λ are ahead of all three rivals.",
        ),
    ]  # fmt: skip


def _short(method: str) -> str:
    return method.replace("ARDCA-restart ", "")
