"""The core against its bounds: pass times, growth with empty columns, start-up, memory, reproducibility.

    python -m benchmarks.core                     everything (about three minutes)
    python -m benchmarks.core cpp acceleration    some of it: cpp acceleration padding startup memory bits
    python -m benchmarks.core --repeats 60        more turns for the pass times

Contestants of one line take turns in one process; its figure is the median of the quotients turn by turn, and
behind it stand minimum and median of each side's times. One thread. Exit code 1 when a bound is not met.
"""

import argparse
import os
import platform
import sys

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # before NumPy is imported

from collections.abc import Callable, Iterator

from benchmarks.core_bits import bits
from benchmarks.core_memory import memory
from benchmarks.core_passes import REPEATS, acceleration, against_cpp, padding
from benchmarks.core_startup import startup
from benchmarks.core_table import HEAD, Line


def sections(repeats: int) -> dict[str, Callable[[], Iterator[Line]]]:
    """The parts of the benchmark by name."""
    return {
        "cpp": lambda: against_cpp(repeats),
        "acceleration": lambda: acceleration(repeats),
        "padding": lambda: padding(repeats),
        "startup": startup,
        "memory": memory,
        "bits": bits,
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.core", description=__doc__.splitlines()[0])
    parser.add_argument("section", nargs="*", help=f"one of {', '.join(sections(0))} (default: all)")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="turns for each pass time")
    options = parser.parse_args(arguments)
    known = sections(options.repeats)
    unknown = set(options.section) - set(known)
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}; expected some of {', '.join(known)}")
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores\n\n{HEAD}")
    missed = 0
    for name in options.section or known:
        for line in known[name]():
            print(line, flush=True)
            missed += line.met == "NO"
    print(f"\n{missed} bounds missed" if missed else "\nevery bound met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
