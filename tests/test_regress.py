"""benchmarks/regress.py: what counts as slower."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import regress

CASE = next(iter(regress.CASES))


def verdict(before, after):
    """(failures, the first case's line), all other cases being the same on both sides."""
    base, head = dict.fromkeys(regress.CASES, 1.0), dict.fromkeys(regress.CASES, 1.0)
    lines, failures = regress.compare({**base, CASE: before}, {**head, CASE: after})
    assert not any("SLOWER" in line for line in lines[1:])
    return failures, lines[0]


def test_slower_is_slower_by_a_share_and_by_an_amount():
    assert verdict(0.100, 0.150)[0] == 1
    assert "SLOWER" in verdict(0.100, 0.150)[1]
    assert verdict(0.100, 0.118)[0] == 0  # 18 ms and 18 %
    assert verdict(0.010, 0.025)[0] == 0  # 150 %, but 15 ms
    assert verdict(1.000, 1.150)[0] == 0  # 150 ms, but 15 %
    assert verdict(0.150, 0.100)[0] == 0


def test_a_case_that_fails_only_now_counts():
    assert verdict(0.1, "STALLED") == (1, verdict(0.1, "STALLED")[1])
    assert "FAILS NOW: STALLED" in verdict(0.1, "STALLED")[1]
    assert verdict("TypeError: old", "STALLED")[0] == 0
    assert "new (base: TypeError: old)" in verdict("TypeError: old", 0.1)[1]


def test_the_least_of_the_turns_counts():
    runs = [dict.fromkeys(regress.CASES, seconds) for seconds in (0.3, 0.2, 0.4)]
    assert regress.least(runs)[CASE] == 0.2
    runs[1][CASE] = "MAX_TIME"
    assert regress.least(runs)[CASE] == "MAX_TIME"
