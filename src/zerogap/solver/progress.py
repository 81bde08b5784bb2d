"""Printing of progress, one line a check."""

import sys
from collections.abc import Callable
from typing import Any

from zerogap.result.history import Record

_HEAD = f"{'pass':>8} {'seconds':>9} {'primal':>16} {'dual':>16} {'gap':>10} {'violation':>10}  phase"


def _row(r: Record) -> str:
    return (
        f"{r.pass_:8.5g} {r.seconds:9.3f} {r.primal:16.9g} {r.dual:16.9g} {r.gap:10.3g} "
        f"{r.violation:10.3g}  {r.phase}"
    )


def reporter(progress: Any) -> list[Callable[[Record], Any]]:
    """A callback that prints, when progress is wanted."""
    if not progress:
        return []
    lines = iter([_HEAD])

    def report(record: Record) -> None:
        for head in lines:
            print(head, file=sys.stderr)
        print(_row(record), file=sys.stderr)

    return [report]
