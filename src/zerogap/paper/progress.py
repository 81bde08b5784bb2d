"""A progress bar with an estimate of the time left: rich's where it is installed, a plain line otherwise."""

import sys
import time
from types import TracebackType
from typing import Any


class Plain:
    """One line, rewritten on a terminal and repeated now and then elsewhere."""

    def __init__(self, done: float, total: float):
        self.done, self.total = done, total
        self._first, self._begun = done, time.monotonic()
        self._shown = -1e9

    def __enter__(self) -> "Plain":
        return self

    def __exit__(self, *_: Any) -> None:
        sys.stderr.write("\n")

    def advance(self, work: float, what: str) -> None:
        self.done += work
        now = time.monotonic()
        terminal = sys.stderr.isatty()
        if now - self._shown < (0.2 if terminal else 10.0) and self.done < self.total:
            return
        self._shown = now
        pace = (self.done - self._first) / max(now - self._begun, 1e-9)
        left = (self.total - self.done) / max(pace, 1e-9)
        share = self.done / self.total
        line = f"{share:6.1%}  {clock(now - self._begun)} elapsed, {clock(left)} left  {what[:50]:50}"
        sys.stderr.write(("\r" if terminal else "") + line + ("" if terminal else "\n"))
        sys.stderr.flush()


class Rich:
    """The same through rich."""

    def __init__(self, done: float, total: float):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        class Left(TextColumn):
            """The estimate, from the pace of this call alone."""

            def __init__(self, outer: "Rich"):
                super().__init__("")
                self.outer = outer

            def render(self, task: Any) -> Any:
                from rich.text import Text

                return Text(f"{clock(self.outer.left())} left", style="cyan")

        self._first = self._done = done
        self._total, self._begun = total, time.monotonic()
        self._bar = Progress(
            BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), Left(self),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
        )  # fmt: skip
        self._task = self._bar.add_task("starting", total=total, completed=int(done))

    def left(self) -> float:
        pace = (self._done - self._first) / max(time.monotonic() - self._begun, 1e-9)
        return (self._total - self._done) / pace if pace > 0 else float("inf")

    def __enter__(self) -> "Rich":
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def advance(self, work: float, what: str) -> None:
        self._done += work
        self._bar.update(self._task, advance=work, description=what)


def clock(seconds: float) -> str:
    """mm:ss"""
    if not seconds < 86400:
        return "--:--"
    return f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"


def bar(done: float, total: float) -> Plain | Rich:
    """A bar that starts at `done` of `total`."""
    if sys.stderr.isatty():
        try:
            return Rich(done, total)
        except ImportError:
            pass
    return Plain(done, total)
