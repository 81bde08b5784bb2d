"""What a race says: times to the targets, ratios, bars and aims, geometric means."""

import math
from collections.abc import Sequence
from typing import Any

TARGETS = (1e-3, 1e-6, 1e-9)
MAIN = 1e-6
GIB = 2**30
WIDTH = 52
#: In rows of `rule: short`, a best peer below SHORT seconds may be ahead by SLACK seconds.
SHORT, SLACK = 0.05, 0.01

Entry = dict[str, Any]


def best_value(entry: Entry) -> float:
    """The lowest value known: the reference's, or that of a feasible answer that beats it."""
    values = [entry["reference"].get("objective", math.inf)]
    for name, record in entry["solvers"].items():
        if not _leaves_l2_out(name):
            values += [r["objective"] for r in record["rungs"] if r["violation"] <= 1e-9]
    value = min(values)
    return max(value, entry["reference"].get("bound", -math.inf))


def _leaves_l2_out(name: str) -> bool:
    """LP solvers are judged without the L2 term: to their advantage."""
    return name in ("statsmodels", "sklearn-quantile")


def suboptimality(entry: Entry, rung: dict[str, Any]) -> float:
    """Relative, and no less than the violation."""
    best = best_value(entry)
    if not math.isfinite(best):
        return math.inf
    return max((rung["objective"] - best) / max(abs(best), 1e-300), rung["violation"], 0.0)


def rung_reaching(entry: Entry, solver: str, target: float) -> dict[str, Any] | None:
    """The quickest rung within the target and the limit."""
    record = entry["solvers"].get(solver)
    if record is None:
        return None
    limit = record.get("limit", 60.0)
    good = [r for r in record["rungs"] if suboptimality(entry, r) <= target and r["seconds"] <= limit]
    return min(good, key=lambda r: r["seconds"]) if good else None


def seconds_to(entry: Entry, solver: str, target: float) -> float:
    rung = rung_reaching(entry, solver, target)
    return rung["seconds"] if rung else math.inf


def best_peer(entry: Entry, target: float = MAIN) -> str | None:
    """The peer that is first at the target, or None."""
    peers = [name for name in entry["solvers"] if name != "zerogap"]
    reached = {name: seconds_to(entry, name, target) for name in peers}
    name = min(reached, key=reached.__getitem__, default=None)
    return name if name is not None and math.isfinite(reached[name]) else None


def outcome(entry: Entry, solver: str) -> str:
    """What the row says about how it ended."""
    record = entry["solvers"][solver]
    words = [record["status"]] if record["status"] else []
    rungs = record["rungs"]
    if rungs:
        least = min(suboptimality(entry, r) for r in rungs)
        final = rungs[-1]
        if least > TARGETS[-1]:
            words.append(f"comes to {least:.1e}")
        silent = not final["note"] and not final["warned"]
        if silent and least > 1e-3 and not record["status"] and solver not in ("sgd", "zerogap"):
            words.insert(0, "WRONG, silently")
        notes = [final["note"], *final["warned"]]
        words += [note[:70] for note in notes if note]
    return "; ".join(words)


def _time(seconds: float) -> str:
    return f"{seconds:9.4f}" if math.isfinite(seconds) else "        -"


def solver_line(entry: Entry, solver: str) -> str:
    """One line of the table."""
    times = " ".join(_time(seconds_to(entry, solver, target)) for target in TARGETS)
    rungs = entry["solvers"][solver]["rungs"]
    violation = f"{min(r['violation'] for r in rungs):8.1e}" if rungs else "       -"
    return f"{entry['cell']['name']:<{WIDTH}} {solver:<20} {times} {violation}  {outcome(entry, solver)}"


def ratio(entry: Entry) -> tuple[float, bool]:
    """Best peer's time / ours, and whether it is only a bound (the peer counts as the limit)."""
    ours = seconds_to(entry, "zerogap", MAIN)
    peer = best_peer(entry)
    limit = max((record.get("limit", 60.0) for record in entry["solvers"].values()), default=60.0)
    theirs = seconds_to(entry, peer, MAIN) if peer else limit
    ours = ours if math.isfinite(ours) else limit * (1.0 if peer else math.inf)
    return theirs / ours, peer is None


def verdicts(entry: Entry, row: dict[str, Any]) -> tuple[str, str]:
    """Are the bar and the aim met?"""
    ours = seconds_to(entry, "zerogap", MAIN)
    if not math.isfinite(ours):
        return "NO", "no"
    data = entry["cell"]["data"]
    bar, aim = row.get("bars", {}).get(data, row.get("bar")), row.get("aims", {}).get(data, row.get("aim"))
    if "seconds" in row:
        return ("yes" if ours <= row["seconds"][0] else "NO"), ("yes" if ours <= row["seconds"][1] else "no")
    value, _ = ratio(entry)
    peer = best_peer(entry)
    theirs = seconds_to(entry, peer, MAIN) if peer else math.inf
    met = value >= bar
    if row.get("rule") == "short" and theirs <= SHORT:
        met = ours <= theirs + SLACK
    return ("yes" if met else "NO"), ("yes" if value >= aim else "no")


def cell_line(entry: Entry, row: dict[str, Any]) -> str:
    """The ratio of one cell against its bar."""
    value, bound = ratio(entry)
    met, aimed = verdicts(entry, row)
    data = entry["cell"]["data"]
    bar, aim = row.get("bars", {}).get(data, row.get("bar")), row.get("aims", {}).get(data, row.get("aim"))
    if "seconds" in row:
        bar, aim = (f"{s:g} s" for s in row["seconds"])
    peer = best_peer(entry) or "none gets there"
    ours, theirs = seconds_to(entry, "zerogap", MAIN), seconds_to(entry, peer, MAIN)
    shown = f"{'>' if bound else ''}{value:.2f}"
    return (
        f"{entry['cell']['name']:<{WIDTH}} {_time(ours)} {_time(theirs)} {peer:<20} {shown:>8} "
        f"{bar!s:>5} {met:>4} {aim!s:>5} {aimed:>4}"
    )


def memory_lines(cells: list[Entry]) -> list[str]:
    """Cells of ours beyond 2 x the data + 1 GiB, and the largest cost of a process that starts."""
    lines, starts = [], []
    for entry in cells:
        record = entry["solvers"].get("zerogap", {})
        if record.get("peak") and record.get("bytes") is not None:
            allowed = 2 * record["bytes"] + GIB
            if record["peak"] > allowed:
                lines.append(
                    f"  {entry['cell']['name']}: {record['peak'] / GIB:.2f} GiB, allowed {allowed / GIB:.2f}"
                )
        if "importing" in record:
            starts.append(record["importing"] + record["warming"])
    head = "peak memory of zerogap, at most 2 x data + 1 GiB: " + (
        "exceeded by" if lines else "met in all cells"
    )
    tail = [f"start of a process (imports and a tiny solve by each phase): median {_median(starts):.2f} s"]
    return [head, *lines, *(tail if starts else [])]


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2] if values else math.nan


def chosen(name: str, only: Sequence[str]) -> bool:
    """Does the name contain one of the alternatives of each text?"""
    return all(any(part in name for part in text.split("|")) for text in only)


def full(suite: dict[str, Any], cells: dict[str, Entry], only: Sequence[str] = ()) -> str:
    """The whole table."""
    rows = {row["row"]: row for row in suite["rows"]}
    shown = [
        entry
        for entry in cells.values()
        if entry["cell"]["row"] in rows
        and any(chosen(f"{entry['cell']['name']}/{s}", only) for s in entry["solvers"])
    ]
    lines = [
        "",
        f"{'cell':<{WIDTH}} {'solver':<20} {'to 1e-3':>9} {'1e-6':>9} {'1e-9':>9} {'violat.':>8}  outcome",
    ]
    for entry in shown:
        lines += [solver_line(entry, solver) for solver in entry["solvers"]]
        gap = entry["reference"].get("gap")
        certified = "not certified" if gap is None else f"certified to {gap:.1e}"
        lines.append(f"{'':<{WIDTH}} {'(reference)':<20} {certified} {entry['reference'].get('status', '')}")
    lines += [
        "",
        "LP solvers (sklearn-quantile, statsmodels) leave the L2 term out, and are judged without it.",
        "",
        f"{'cell, at 1e-6':<{WIDTH}} {'zerogap':>9} {'peer':>9} {'best peer':<20} "
        f"{'ratio':>8} {'bar':>5} {'met':>4} {'aim':>5} {'met':>4}",
    ]
    raced = [entry for entry in shown if "zerogap" in entry["solvers"]]
    lines += [cell_line(entry, rows[entry["cell"]["row"]]) for entry in raced]
    lines.append("")
    for name, row in rows.items():
        mine = [entry for entry in raced if entry["cell"]["row"] == name]
        if mine:
            met = sum(verdicts(entry, row)[0] == "yes" for entry in mine)
            aimed = sum(verdicts(entry, row)[1] == "yes" for entry in mine)
            lines.append(
                f"{row['title'][:78]:<78} mean ratio {_mean(mine):8.2f}   bar met {met}/{len(mine)}   "
                f"aim met {aimed}/{len(mine)}"
            )
    if raced:
        lines.append(f"{'all':<78} mean ratio {_mean(raced):8.2f}   (geometric means)")
    return "\n".join([*lines, *memory_lines(raced)])


def _mean(entries: list[Entry]) -> float:
    """Geometric mean of the ratios."""
    logs = [math.log(max(ratio(entry)[0], 1e-9)) for entry in entries]
    return math.exp(sum(logs) / len(logs))
