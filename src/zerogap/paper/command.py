"""The `paper` subcommand."""

import argparse
import sys
from pathlib import Path
from typing import Any


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """--out and --quick."""
    parser.add_argument("--out", type=Path, default=Path("paper-out"), help="folder of the page (paper-out)")
    parser.add_argument("--quick", action="store_true", help="3 seeds and a fifth of the passes")


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add `paper` to the subcommands of the command line."""
    parser = subparsers.add_parser(
        "paper", help="rebuild the paper's experiments and theory checks as one page", description=run.__doc__
    )
    add_arguments(parser)
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Rebuild the paper's figures, check its theorems by numbers, and write DIR/index.html.

    Ctrl-C keeps the finished series; the same command continues from them.
    """
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as missing:
        print(f"zerogap paper needs {missing.name}: pip install 'zerogap[paper]'", file=sys.stderr)
        return 2
    from zerogap.paper.page import write_page
    from zerogap.paper.run import complete

    args.out.mkdir(parents=True, exist_ok=True)
    try:
        rows, facts = complete(args.out, args.quick)
    except KeyboardInterrupt:
        kept = len(list((args.out / ".parts").glob("*.json")))
        print(f"\nInterrupted: {kept} finished pieces are kept; the same command continues.", file=sys.stderr)
        return 130
    page = write_page(args.out, rows, facts, args.quick)
    print(page)
    return 0
