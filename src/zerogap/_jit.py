"""Compilation: the njit defaults, and the one registry that maps a NamedTuple type to its functions.

A *verb* is a function whose body depends on the type of its first argument, in Python and in compiled
code alike. Kernels call verbs; losses, regularisers, row storages and averages are NamedTuples that
bring their bodies. Dispatch is static (by type, while compiling), so a step pays nothing for it, and
because NamedTuple types are plain data the disk cache of the kernels hits in later processes.
"""

import collections
import functools
import hashlib
import inspect
import marshal
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba.extending import overload

# Reassociation and contraction let LLVM vectorise sums. `nnan` and `ninf` stay off, so that
# non-finite values remain detectable.
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}

#: Decorator of the compiled epochs: cached on disk, and running without the interpreter lock.
_KERNEL: dict[str, Any] = {"cache": True, "nogil": True, "boundscheck": False, "_nrt": False}
kernel: Any = numba.njit(fastmath=FASTMATH, error_model="numpy", **_KERNEL)
#: Decorator of scalar helpers that verbs share.
inline = numba.njit(fastmath=FASTMATH, error_model="numpy", boundscheck=False)


class Verb:
    """A function that picks its body by the type of its first argument."""

    def __init__(self, stub: Callable[..., Any]):
        self.name = stub.__name__
        self.bodies: dict[type, Callable[..., Any]] = {}

    def body_for(self, kind: type) -> Callable[..., Any]:
        try:
            return self.bodies[kind]
        except KeyError:
            raise TypeError(f"{kind.__name__} does not define {self.name!r}") from None

    def define(self, kind: type, body: Callable[..., Any]) -> None:
        """Register `body` (plain Python or njit) for the NamedTuple type `kind`."""
        self.bodies[kind] = getattr(body, "py_func", body)

    def on(self, *kinds: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorator form of `define`."""

        def register(body: Callable[..., Any]) -> Callable[..., Any]:
            for kind in kinds:
                self.define(kind, body)
            return body

        return register


def verb(stub: Callable[..., Any]) -> Any:
    """Turn a documented stub into a verb: callable from Python and from compiled code."""
    table = Verb(stub)

    def dispatch(first, *rest):
        return table.body_for(type(first))(first, *rest)

    call: Any = functools.wraps(stub)(dispatch)

    @overload(
        call,
        strict=False,
        jit_options={"fastmath": FASTMATH, "error_model": "numpy", "forceinline": True},
    )
    def resolve(*types):
        return table.body_for(types[0].instance_class)

    call.on = table.on
    call.define = table.define
    return call


_ROOT = Path(__file__).parent
#: Packages whose functions need no look: Numba has its own versions of them, and the stamp covers ours.
_STABLE = {*sys.stdlib_module_names, "numba", "numpy", "scipy", __name__.partition(".")[0]}


def _package_stamp() -> bytes:
    """Names, sizes and times of our own files: an edited callee must not meet a cached caller."""
    digest = hashlib.blake2b(digest_size=8)
    for folder, folders, files in os.walk(_ROOT):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                status = os.stat(os.path.join(folder, name))
                digest.update(f"{name}:{status.st_size}:{status.st_mtime_ns};".encode())
    return digest.digest()


def _source_of(function: FunctionType) -> bytes:
    """The whole file a function stands in, or its byte code where there is none."""
    code = function.__code__
    try:
        return Path(code.co_filename).read_bytes()
    except OSError:  # a notebook's cell: its "file" is another one in every process
        return marshal.dumps(code.replace(co_filename=""))


def _ingredients(thing: Any, seen: set[int]) -> Iterator[bytes]:
    """What compiled code is made of: sources of functions, and the constants and helpers that they name."""
    thing = getattr(thing, "py_func", thing)
    if isinstance(thing, (bool, int, float, complex, str, bytes, tuple, np.generic)):
        yield repr(thing).encode()
    if isinstance(thing, np.ndarray):
        yield thing.tobytes()
    if not isinstance(thing, FunctionType) or id(thing) in seen:
        return
    seen.add(id(thing))
    if thing.__module__.partition(".")[0] in _STABLE:
        return
    yield _source_of(thing)
    named = inspect.getclosurevars(thing)
    for name, value in sorted({**named.globals, **named.nonlocals}.items()):
        if inspect.ismodule(value):
            parts = [getattr(value, attribute, None) for attribute in thing.__code__.co_names]
        else:
            parts = [value]
        for part in parts:
            yield name.encode()
            yield from _ingredients(part, seen)


def _digest(functions: Iterable[Callable[..., Any]], start: bytes) -> "hashlib.blake2b":
    digest = hashlib.blake2b(start, digest_size=8)
    seen: set[int] = set()
    for function in functions:
        for part in _ingredients(function, seen):
            digest.update(part)
    return digest


@functools.cache
def fingerprint(*functions: Callable[..., Any]) -> tuple[Any, ...]:
    """A tuple whose *type* encodes a hash of `functions` and of this package's sources.

    The disk cache of a kernel is keyed by argument types and by the kernel's own file. It does not
    notice an edited loss in a user's file, nor an edited helper in ours. Handing this tuple to the
    kernel puts the hash into the key: 24 bits, two to each element's type.
    """
    bits = int.from_bytes(_digest(functions, _package_stamp()).digest()[:3], "little")
    return tuple((0, 0.0, False, None)[(bits >> (2 * k)) & 3] for k in range(12))


def carrier(kind: Any, functions: Iterable[Callable[..., Any]]) -> Any:
    """A NamedTuple type that stands for `kind` in compiled code, and that its name alone describes.

    A kernel's cache has one index for all programs, with the types of its arguments pickled in it. A
    type of a user's file would stand there as a reference to that file, which other programs cannot
    read, and a type of a script would never be found again. This one any process makes from its name:
    the fields, and a digest of the functions.
    """
    if kind.__module__.partition(".")[0] == __name__.partition(".")[0]:
        return kind
    digest = _digest(functions, kind.__name__.encode()).hexdigest()
    return _carrier_named(":".join([kind.__name__, *kind._fields, digest]))


def _carrier_named(name: str) -> Any:
    if name not in globals():
        made: Any = collections.namedtuple("Carrier", name.split(":")[1:-1])  # type: ignore[misc]
        made.__name__ = made.__qualname__ = name
        made.__module__ = __name__
        globals()[name] = made
    return globals()[name]


def __getattr__(name: str) -> Any:
    """Carriers, when a cache index asks for them."""
    if ":" not in name:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _carrier_named(name)
