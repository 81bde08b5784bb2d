"""Compilation: the njit defaults, and the one registry that maps a NamedTuple type to its functions.

A *verb* is a function whose body depends on the type of its first argument, in Python and in compiled
code alike. Kernels call verbs; losses, regularisers, row storages and averages are NamedTuples that
bring their bodies. Dispatch is static (by type, while compiling), so a step pays nothing for it, and
because NamedTuple types are plain data the disk cache of the kernels hits in later processes.
"""

import functools
import hashlib
import marshal
import os
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any

import numba
from numba.extending import overload

# Reassociation and contraction let LLVM vectorise sums. `nnan` and `ninf` stay off, so that
# non-finite values remain detectable.
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}

#: Decorator of the compiled epochs: cached on disk, and running without the interpreter lock.
kernel = numba.njit(
    cache=True, nogil=True, fastmath=FASTMATH, error_model="numpy", boundscheck=False, _nrt=False
)
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


def _source_of(code: CodeType) -> bytes:
    """The whole file a function stands in (its helpers count too), or its byte code where there is none."""
    path = Path(code.co_filename)
    if path.parts[: len(_ROOT.parts)] == _ROOT.parts:
        return b""  # the package stamp covers it
    try:
        return path.read_bytes()
    except OSError:
        return marshal.dumps(code)


@functools.cache
def fingerprint(*functions: Callable[..., Any]) -> tuple[Any, ...]:
    """A tuple whose *type* encodes a hash of `functions` and of this package's sources.

    The disk cache of a kernel is keyed by argument types and by the kernel's own file. It does not
    notice an edited loss in a user's file, nor an edited helper in ours. Handing this tuple to the
    kernel puts the hash into the key: 24 bits, two to each element's type.
    """
    digest = hashlib.blake2b(_package_stamp(), digest_size=8)
    for function in functions:
        digest.update(_source_of(getattr(function, "py_func", function).__code__))
    bits = int.from_bytes(digest.digest()[:3], "little")
    return tuple((0, 0.0, False, None)[(bits >> (2 * k)) & 3] for k in range(12))
