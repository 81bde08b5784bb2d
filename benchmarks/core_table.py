"""One line of the benchmark's table, and the printing of it."""

from typing import NamedTuple


class Line(NamedTuple):
    """A measured figure and the bound that it should not exceed (None: for information)."""

    name: str
    figure: float | None
    bound: float | None
    unit: str = ""
    note: str = ""

    @property
    def met(self) -> str:
        if self.bound is None:
            return "-"
        if self.figure is None:
            return "?"
        return "yes" if self.figure <= self.bound else "NO"

    def __str__(self) -> str:
        figure = "?" if self.figure is None else f"{self.figure:.2f}{self.unit}"
        bound = "-" if self.bound is None else f"{self.bound:g}{self.unit}"
        return f"{self.name:<62} {figure:>9} {bound:>7} {self.met:>4}   {self.note}"


HEAD = f"{'line':<62} {'figure':>9} {'bound':>7} {'met':>4}   minimum (median), and what else was seen"
