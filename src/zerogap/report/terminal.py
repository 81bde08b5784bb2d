"""The terminal: colours through rich where it is installed, the same words without it."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

from zerogap.result.history import Record
from zerogap.result.result import Result

_COLUMNS = ("pass", "seconds", "objective", "best bound", "gap", "violation", "phase")
_WIDTHS = (8, 9, 15, 15, 10, 10, 0)


class Terminal:
    """Lines with a style. Styles are rich's; without rich, or when the output is no terminal, they vanish."""

    def __init__(self, stream: Any = None):
        self.stream = stream or sys.stdout
        self._rich: Any = None
        try:
            import rich.console
        except ImportError:
            return
        self._rich = rich.console.Console(file=self.stream, highlight=False, soft_wrap=True)

    def line(self, text: str = "", style: str | None = None) -> None:
        """Print one line, at once."""
        if self._rich is None:
            print(text, file=self.stream, flush=True)
        else:
            self._rich.print(text, style=style, markup=False)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]], indent: str = "") -> None:
        """Columns as wide as their widest cell; the first one left-aligned, the others right-aligned."""
        widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]

        def joined(cells: Sequence[str]) -> str:
            pairs = zip(cells, widths, strict=True)
            aligned = [c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(pairs)]
            return (indent + "  ".join(aligned)).rstrip()

        self.line(joined(head), "dim")
        for row in rows:
            self.line(joined(row))

    def progress(self) -> Callable[[Record], None]:
        """A callback for `zg.solve` that prints a line a check."""
        head = [self._cells(_COLUMNS)]

        def report(record: Record) -> None:
            while head:
                self.line(head.pop(), "dim")
            cells = (
                f"{record.pass_:.5g}", f"{record.seconds:.3f}", f"{record.primal:.8g}", f"{record.dual:.8g}",
                f"{record.gap:.2e}", f"{record.violation:.2e}", record.phase,
            )  # fmt: skip
            self.line(self._cells(cells))

        return report

    def _cells(self, cells: Sequence[str]) -> str:
        return " ".join(cell.rjust(width) for cell, width in zip(cells, _WIDTHS, strict=True))

    def result(self, result: Result) -> None:
        """Status, certificate and effort."""
        first, *rest = str(result).splitlines()
        self.line(first, "bold green" if result.solved else "bold yellow")
        for text in rest:
            self.line(text)
