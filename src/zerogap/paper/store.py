"""Finished work on disk: one small file a job while a run lasts, one tidy table a kind at its end."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

Rows = list[dict[str, Any]]

#: Columns of the stored table, in order: what every row has, what a point of a curve has, and what a
#: comparison of `theory` has (figure "theory", its check as `kind`, its case as `method`, no single seed).
SERIES = ("figure", "kind", "level", "seed", "method")
CURVE = ("pass", "primal", "violation", "bound", "gap", "dual_gap")
COMPARED = ("x", "seeds", "measured", "upper", "promised")


class Store:
    """Rows of finished jobs, kept under OUT/.parts until the run is complete, and after."""

    def __init__(self, out: Path):
        self.folder = out / ".parts"
        self.folder.mkdir(parents=True, exist_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"

    def has(self, key: str) -> bool:
        return self._path(key).exists()

    def put(self, key: str, rows: Rows) -> None:
        """Write to a temporary name first: a file that exists is complete."""
        temporary = self._path(key).with_suffix(".tmp")
        temporary.write_text(json.dumps(rows, default=float))
        os.replace(temporary, self._path(key))

    def get(self, key: str) -> Rows:
        return json.loads(self._path(key).read_text())


def tidy(rows: Rows) -> dict[str, np.ndarray]:
    """The columns of every plotted series, with the distance to F(x*) as `gap`; NaN where one has no meaning.

    gap       |primal - F(x*)|, F(x*) being the best certified lower bound of the instance
    dual_gap  D(u) - D(u*)
    x, seeds, measured, upper, promised    a comparison of the theory: K or another abscissa, how many
              seeds, their mean, its upper confidence limit, and the bound that it should stay below
    """
    best = {_where(r): r["bound"] for r in rows if r["table"] == "optima"}
    series = [r for r in rows if r["table"] == "series"]
    for r in series:
        r["gap"] = abs(r["primal"] - best[_where(r)])
        r["dual_gap"] = best[_where(r)] - r["bound"]
    theory = [_compared(r) for r in rows if r["table"] == "theory"]
    columns = SERIES + CURVE + COMPARED
    return {name: np.array([r.get(name, np.nan) for r in series + theory]) for name in columns}


def _compared(r: dict[str, Any]) -> dict[str, Any]:
    """A comparison as a row of the table."""
    own = {name: r[name] for name in ("x", "seeds", "measured", "upper")}
    return {
        "figure": "theory", "kind": r["check"], "seed": -1, "method": r["case"], "promised": r["bound"], **own
    }  # fmt: skip


def _where(r: dict[str, Any]) -> tuple[Any, ...]:
    return r["kind"], r["level"], r["seed"]


def write_table(columns: dict[str, np.ndarray], stem: Path) -> Path:
    """stem.parquet, or stem.csv where pyarrow is not installed."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        path = stem.with_suffix(".csv")
        with path.open("w") as file:
            file.write(",".join(columns) + "\n")
            for values in zip(*columns.values(), strict=True):
                file.write(",".join(map(str, values)) + "\n")
        return path
    path = stem.with_suffix(".parquet")
    pq.write_table(pa.table({name: pa.array(list(values)) for name, values in columns.items()}), path)
    return path


def read_table(path: Path) -> dict[str, np.ndarray]:
    """The columns of a written table."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        return {name: np.array(table[name].to_pylist()) for name in table.column_names}
    names, *lines = path.read_text().splitlines()
    columns = zip(*(line.split(",") for line in lines), strict=True)
    return {name: _parsed(values) for name, values in zip(names.split(","), columns, strict=True)}


def _parsed(values: tuple[str, ...]) -> np.ndarray:
    try:
        return np.array(values, dtype=float)
    except ValueError:
        return np.array(values)
