"""The page: figures drawn, claims judged, tables filled, everything embedded in one HTML file."""

import base64
import platform
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2

from zerogap.paper import figures
from zerogap.paper.claims import all_claims, level_name, number
from zerogap.paper.curves import FIGURES, LOOKS, restart_period
from zerogap.paper.problems import LEVELS, MU, NOISE_VARIANCE, N, T
from zerogap.paper.store import Rows, read_table, tidy, write_table
from zerogap.paper.summary import Summary
from zerogap.paper.tables import TARGETS, count_tables, slope_table, theory_table

LETTERS = {"figure1": "lambda", "figure2": "lambda", "figure3": "tau", "figure4": "lambda"}


def write_page(out: Path, rows: Rows, facts: dict[str, Any], quick: bool) -> Path:
    """Write the table of series, the figures and index.html; returns the page's path."""
    table = write_table(tidy(rows), out / "series")
    optima = [r for r in rows if r["table"] == "optima"]
    summary = Summary(read_table(table), optima)
    theory = summary.theory()
    claims = all_claims(summary)
    sections = [_section(out, summary, name, claims) for name in FIGURES]
    template = resources.files("zerogap.paper").joinpath("page.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    text = environment.from_string(template).render(
        sections=sections, theory=theory_table(theory), slopes=slope_table(summary),
        counts=count_tables(summary), targets=[level_name(eps) for eps in TARGETS],
        theory_picture=_pictures(out, "theory", lambda narrow: figures.draw_theory(theory, narrow)),
        setting=_setting(summary, facts, table), quick=quick,
        levels=[level_name(level) for level in LEVELS],
    )  # fmt: skip
    page = out / "index.html"
    page.write_text(text, encoding="utf-8")
    return page


def _section(out: Path, summary: Summary, name: str, claims: list[Any]) -> dict[str, Any]:
    """What the page says about one figure."""
    figure = FIGURES[name]
    letter = LETTERS[name]
    notes = [summary.optimum_note(figure.kind, level) for level in summary.levels(name)]
    return {
        "number": name[-1],
        "title": figure.title,
        "pictures": _pictures(
            out, name, lambda narrow: figures.draw_figure(summary, name, letter, narrow)
        ),
        "letter": {"lambda": "λ", "tau": "τ"}[letter],
        "optima": [
            {
                "level": level_name(note["level"]), "value": f"{note['value']:.6g}",
                "gap": _tiny(note["gap"]), "relative": _tiny(note["relative"]), "how": note["how"],
            }
            for note in notes
        ],
        "claims": [claim for claim in claims if claim.figure == name],
        "first_phases": [note["first_phase"] for note in notes],
        "alignment": f"{notes[0]['alignment']:.2f}",
        "seeds": summary.seeds(name),
    }  # fmt: skip


def _tiny(gap: float) -> str:
    """A gap, which may have vanished in rounding."""
    return f"{gap:.1e}" if gap > 0 else "below rounding"


def _pictures(out: Path, name: str, draw: Any) -> dict[str, str]:
    """The wide and the narrow form of a figure, saved and embedded."""
    wide = figures.save(draw(False), out / name)
    narrow = figures.save(draw(True), out / f"{name}-narrow")
    return {"wide": _embedded(wide), "narrow": _embedded(narrow)}


def _embedded(path: Path) -> str:
    return "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()


def _setting(summary: Summary, facts: dict[str, Any], table: Path) -> dict[str, Any]:
    """The numbers of the page's opening and closing paragraphs."""
    return {
        "t": T, "n": N, "mu": MU, "noise": f"{NOISE_VARIANCE:g}", "seeds": summary.seeds("figure1"),
        "looks": LOOKS, "minutes": number(facts["seconds"] / 60),
        "processor": number(facts["processor_seconds"] / 60), "jobs": facts["jobs"], "kept": facts["kept"],
        "table": table.name, "points": f"{summary.columns['gap'].size:,}", "machine": platform.machine(),
        "python": platform.python_version(),
        "periods": [f"{restart_period(level)}n" for level in LEVELS],
    }  # fmt: skip
