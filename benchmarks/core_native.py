"""The C++ baseline: built with g++ -O3 -march=native -ffast-math, called through ctypes."""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SOURCE = Path(__file__).with_name("core_kernels.cpp")
COMPILE = ("g++", "-O3", "-march=native", "-ffast-math", "-std=c++17", "-shared", "-fPIC")


def build() -> ctypes.CDLL | None:
    """The compiled baseline, or None where there is no g++."""
    if shutil.which(COMPILE[0]) is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "core_kernels.so"
        subprocess.run([*COMPILE, str(SOURCE), "-o", str(library)], check=True)
        return ctypes.CDLL(str(library))


def sdca_pass(library: ctypes.CDLL, X: Any, solver: Any) -> Callable[[Any], int]:
    """The baseline's counterpart of one SDCA pass: a function of a record with `order`, `u` and `s`.

    The steps, weights and labels are those of `solver`, an SdcaSolver over X.
    """
    terms = solver.work.terms
    constants = [_address(array) for array in (terms.y, terms.weight, solver.work.tau)]
    scale = ctypes.c_double(solver.work.f.scale)
    if isinstance(X, np.ndarray):
        name, rows = f"dense_{X.dtype}", [_address(X), ctypes.c_int64(X.shape[1])]
        pointers = None
    else:
        name = f"sparse_{X.data.dtype}_{X.indices.dtype}"
        pointers = X.indptr.astype(np.int64)
        rows = [_address(X.data), _address(X.indices), _address(pointers)]
    compiled = getattr(library, name)
    compiled.restype = ctypes.c_int64

    def run(point: Any, keep_alive: Any = pointers) -> int:
        order = point.order
        return compiled(
            _address(order), ctypes.c_int64(order.size), *rows, *constants, scale,
            _address(point.u), _address(point.s),
        )  # fmt: skip

    return run


def _address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
