"""Tables from files: CSV, NumPy's npz (dense, or the parts of a CSR matrix) and svmlight."""

import csv
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from zerogap.exceptions import DataError

Array = np.ndarray

_SVMLIGHT = (".svm", ".svmlight", ".libsvm")
_CSR_PARTS = ("data", "indices", "indptr", "shape")


class Table(NamedTuple):
    """What a file holds: X, y, weights (or None) and one name per column of X (x0, x1, ... without names)."""

    X: Any
    y: Array
    sample_weight: Array | None
    features: tuple[str, ...]


def read_table(path: str | Path, target: str | None = None, weight: str | None = None) -> Table:
    """Read a table; the suffix says how.

    csv, tsv   `target` is a column's name or number (default: the last column); all others are features
    npz        arrays X (or data, indices, indptr, shape of a CSR matrix) and y, or the key `target`
    svm, svmlight, libsvm (also .gz, .bz2)   the target stands first in every line
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"data: no such file: {path}")
    kind = path.suffix.lower()
    if kind in (".gz", ".bz2"):
        kind = Path(path.stem).suffix.lower()
    if kind in (".csv", ".tsv"):
        return _read_csv(path, target, weight)
    if kind == ".npz":
        return _read_npz(path, target or "y", weight)
    if kind in _SVMLIGHT:
        return _read_svmlight(path, target, weight)
    known = ", ".join((".csv", ".tsv", ".npz", *_SVMLIGHT))
    raise DataError(f"data: expected a file ending in one of {known}; got {path.name!r}")


def _read_csv(path: Path, target: str | None, weight: str | None) -> Table:
    with path.open(newline="", encoding="utf-8-sig") as file:
        first = file.readline()
        rest = file.readline().strip()
        delimiter = max(",;\t", key=first.count)
        columns = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
    if not columns:
        raise DataError(f"data: {path.name} is empty")
    named = not all(_is_number(name) for name in columns)
    names = columns if named else _numbered(len(columns))
    chosen = _column(names, target if target is not None else names[-1], "target")
    weighing = None if weight is None else _column(names, weight, "weight column")
    features = [k for k in range(len(names)) if k not in (chosen, weighing)]
    if not features:
        raise DataError(f"data: {path.name} has no column besides the target; is the delimiter right?")
    options: dict[str, Any] = {
        "delimiter": delimiter,
        "skiprows": int(named),
        "encoding": "utf-8-sig",
        "comments": None,
    }
    if named and not rest:
        raise DataError(f"data: {path.name} has a header but no rows")

    def read(where: list[int], kind: type) -> Array:
        return np.loadtxt(path, dtype=kind, usecols=where, quotechar='"', ndmin=2, **options)

    try:
        X = read(features, float)
        weights = None if weighing is None else read([weighing], float)[:, 0]
        y = read([chosen], str)[:, 0]
    except (ValueError, IndexError) as error:
        raise DataError(f"data: {_blame(path, delimiter, names, named, chosen) or error}") from error
    return Table(X, _numbers_if_possible(y), weights, tuple(names[k] for k in features))


def _numbered(count: int) -> list[str]:
    return [f"x{k}" for k in range(count)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _numbers_if_possible(y: Array) -> Array:
    try:
        return y.astype(np.float64)
    except ValueError:
        return np.char.strip(y)


def _column(names: list[str], wanted: str, role: str) -> int:
    if wanted in names:
        return names.index(wanted)
    if wanted.lstrip("-").isdigit() and -len(names) <= int(wanted) < len(names):
        return int(wanted) % len(names)
    raise DataError(f"{role}: expected one of {', '.join(names)}; got {wanted!r}")


def _blame(path: Path, delimiter: str, names: list[str], named: bool, target: int) -> str | None:
    """Which cell cannot be read."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        for number, row in enumerate(csv.reader(file, delimiter=delimiter), start=1):
            if (named and number == 1) or not row:
                continue
            if len(row) != len(names):
                return f"{path.name} line {number}: expected {len(names)} columns; got {len(row)}"
            for k, cell in enumerate(row):
                if k != target and not _is_number(cell):
                    shown = repr(cell) if cell.strip() else "an empty cell"
                    return f"{path.name} line {number}, column {names[k]}: expected a number; got {shown}"
    return None


def _read_npz(path: Path, target: str, weight: str | None) -> Table:
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    if "X" in arrays:
        X: Any = arrays["X"]
    elif all(part in arrays for part in _CSR_PARTS):
        parts = tuple(arrays[part] for part in _CSR_PARTS[:3])
        X = sp.csr_array(parts, shape=tuple(int(size) for size in arrays["shape"]))
    else:
        raise DataError(
            f"data: {path.name} needs an array X, or {', '.join(_CSR_PARTS)} of a CSR matrix; "
            f"it has {', '.join(arrays) or 'nothing'}"
        )
    for role, key in (("target", target), ("weight", weight)):
        if key is not None and key not in arrays:
            raise DataError(f"{role}: {path.name} has no array {key!r}; it has {', '.join(arrays)}")
    weights = None if weight is None else arrays[weight]
    names = arrays.get("features")
    features = _numbered(X.shape[-1]) if names is None else [str(name) for name in names]
    return Table(X, arrays[target], weights, tuple(features))


def _read_svmlight(path: Path, target: str | None, weight: str | None) -> Table:
    from sklearn.datasets import load_svmlight_file

    if target is not None or weight is not None:
        raise DataError("target: an svmlight file has its target in front of every line, and no weights")
    try:
        X, y = load_svmlight_file(str(path))
    except ValueError as error:
        raise DataError(f"data: {path.name} is not in svmlight format: {error}") from error
    return Table(sp.csr_array(X), y, None, tuple(_numbered(X.shape[1])))
