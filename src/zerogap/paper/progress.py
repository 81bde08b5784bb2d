"""A progress bar with an estimate of the time left: rich's where it is installed, a plain line otherwise."""

import math
import sys
import time
from types import TracebackType
from typing import Any


class Pace:
    """How long the rest will take, from the pace of this call since its first piece was finished.

    What comes before, the start of the workers and their compiling, happens once and tells nothing.
    """

    def __init__(self, done: float, total: float):
        self._done, self._total = done, total
        self._first: tuple[float, float] | None = None  # work done and time when the first piece was

    def advance(self, work: float) -> None:
        self._done += work
        if self._first is None:
            self._first = self._done, time.monotonic()

    def left(self) -> float:
        """Seconds; infinity before there is a pace."""
        if self._done >= self._total:
            return 0.0
        if self._first is None or self._done <= self._first[0]:
            return math.inf
        seconds = time.monotonic() - self._first[1]
        return (self._total - self._done) * seconds / (self._done - self._first[0])


class Plain:
    """One line, rewritten on a terminal and repeated now and then elsewhere."""

    def __init__(self, done: float, total: float):
        self.done, self.total = done, total
        self._pace, self._begun = Pace(done, total), time.monotonic()
        self._shown = -1e9

    def __enter__(self) -> "Plain":
        return self

    def __exit__(self, *_: Any) -> None:
        sys.stderr.write("\n")

    def advance(self, work: float, what: str) -> None:
        self.done += work
        self._pace.advance(work)
        now = time.monotonic()
        terminal = sys.stderr.isatty()
        if now - self._shown < (0.2 if terminal else 10.0) and self.done < self.total:
            return
        self._shown = now
        share, left = self.done / self.total, clock(self._pace.left())
        line = f"{share:6.1%}  {clock(now - self._begun)} elapsed, {left} left  {what[:50]:50}"
        sys.stderr.write(("\r" if terminal else "") + line + ("" if terminal else "\n"))
        sys.stderr.flush()


class Rich:
    """The same through rich."""

    def __init__(self, done: float, total: float):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        class Left(TextColumn):
            """The estimate."""

            def __init__(self, pace: Pace):
                super().__init__("")
                self.pace = pace

            def render(self, task: Any) -> Any:
                from rich.text import Text

                return Text(f"{clock(self.pace.left())} left", style="cyan")

        self._pace = Pace(done, total)
        self._bar = Progress(
            BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), Left(self._pace),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
        )  # fmt: skip
        self._task = self._bar.add_task("starting", total=total, completed=int(done))

    def __enter__(self) -> "Rich":
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def advance(self, work: float, what: str) -> None:
        self._pace.advance(work)
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
