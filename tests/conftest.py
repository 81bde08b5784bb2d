"""Process-wide settings of the test run. They must come before NumPy and Numba are imported.

* One thread for BLAS and OpenMP: the runner starts a process per core, and sums stay reproducible.
* A compilation cache named by a hash of src/. Numba's own cache looks at the file of the compiled
  function only; a callee edited in another file would leave its cached callers stale.
"""

import contextlib
import hashlib
import os
import shutil
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
KEPT_CACHES = 4  # the current one and those that other runs may still be using


def hash_of_sources(folder: Path) -> str:
    """A hash of the names and contents of all files below `folder`, byte code aside."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


def numba_cache(parent: Path, name: str) -> Path:
    """Make the folder `name` in `parent`, the newest there, and drop the oldest of its siblings."""
    cache = parent / name
    cache.mkdir(parents=True, exist_ok=True)
    os.utime(cache)
    with contextlib.suppress(OSError):  # another run may be dropping the same ones
        newest_first = sorted(parent.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in [path for path in newest_first if path != cache][KEPT_CACHES - 1 :]:
            shutil.rmtree(old, ignore_errors=True)
    return cache


if "numba" in sys.modules:
    raise RuntimeError("numba was imported before tests/conftest.py could choose its cache folder")

for variable in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("MPLBACKEND", "Agg")

# Workers inherit the folder, so that they agree on it even when a file is saved meanwhile.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = str(
        numba_cache(REPOSITORY / ".cache" / "numba", hash_of_sources(REPOSITORY / "src"))
    )

from hypothesis import settings

settings.register_profile("ci", deadline=None, derandomize=True, max_examples=60)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser):
    parser.addoption(
        "--everything", action="store_true", help="run the reference methods on all problems that they fit"
    )
