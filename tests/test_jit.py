"""Verbs, and the disk cache: hit by a second process, never by a kernel whose callees were edited."""

import os
import pickle
import sys
import types
from typing import NamedTuple

import numpy as np
import pytest
from numba import typeof
from numba.core.errors import TypingError
from support import run_python

import zerogap as zg
from zerogap import _jit
from zerogap._jit import fingerprint, kernel, verb


class Metres(NamedTuple):
    value: float


class Feet(NamedTuple):
    value: float


class Nothing(NamedTuple):
    pass


@verb
def length(thing, scale):
    """A length in metres, times `scale`"""


@length.on(Metres)
def _(thing, scale):
    return thing.value * scale


@length.on(Feet)
def _(thing, scale):
    return thing.value * 0.3048 * scale


@kernel
def compiled_length(thing, scale):
    return length(thing, scale)


# ---- verbs
def test_a_verb_picks_its_body_by_type():
    assert length(Metres(2.0), 3.0) == 6.0
    assert length(Feet(1.0), 2.0) == 0.6096
    assert compiled_length(Metres(2.0), 3.0) == 6.0
    assert compiled_length(Feet(1.0), 2.0) == 0.6096


def test_a_type_without_the_verb_is_named():
    with pytest.raises(TypeError, match=r"Nothing does not define 'length'"):
        length(Nothing(), 1.0)
    with pytest.raises((TypeError, TypingError), match="Nothing"):
        compiled_length(Nothing(), 1.0)


def test_a_verb_keeps_its_name_and_docstring():
    assert length.__name__ == "length"
    assert "in metres" in length.__doc__


def test_a_body_may_be_compiled_already():
    class Miles(NamedTuple):
        value: float

    length.define(Miles, kernel(lambda thing, scale: thing.value * 1609.344 * scale))
    assert length(Miles(2.0), 1.0) == 3218.688


def test_floating_point_stays_honest():
    """Sums may be reassociated, but non-finite values are not assumed away."""

    @kernel
    def finite(x):
        return x - x == 0.0

    assert finite(1.0)
    assert not finite(np.inf)
    assert not finite(np.nan)
    assert "nnan" not in _jit.FASTMATH
    assert "ninf" not in _jit.FASTMATH


# ---- fingerprints
def kind_of(*functions):
    fingerprint.cache_clear()
    return typeof(fingerprint(*functions))


def function_in(path, source, name="loss"):
    """A function whose code says that it stands in the file `path`."""
    path.write_text(source)
    module = types.ModuleType("users")
    exec(compile(source, str(path), "exec"), module.__dict__)
    return getattr(module, name)


def test_a_fingerprint_is_the_source_file(tmp_path):
    source = "def helper(u):\n    return u\n\n\ndef loss(u):\n    return helper(u)\n"
    first = kind_of(function_in(tmp_path / "users.py", source))
    assert first == kind_of(function_in(tmp_path / "users.py", source))
    edited_helper = source.replace("return u\n", "return 2 * u\n")
    assert first != kind_of(function_in(tmp_path / "users.py", edited_helper))


HELPER = "import numba\n\n\n@numba.njit\ndef clip(u):\n    return {}\n"


@pytest.mark.parametrize(
    ("statement", "call"), [("from helpers import clip", "clip(u)"), ("import helpers", "helpers.clip(u)")]
)
def test_a_helper_in_another_file_counts(tmp_path, monkeypatch, statement, call):
    """Called by name or through its module."""
    kinds = []
    for body in ("u", "2 * u", "u"):
        helpers = types.ModuleType("helpers")
        helpers.clip = function_in(tmp_path / "helpers.py", HELPER.format(body), "clip")
        monkeypatch.setitem(sys.modules, "helpers", helpers)
        source = f"{statement}\n\n\ndef loss(u):\n    return {call}\n"
        kinds.append(kind_of(function_in(tmp_path / "users.py", source)))
    assert kinds[0] == kinds[2] != kinds[1]


def test_constants_that_compiled_code_freezes_count(tmp_path, monkeypatch):
    """Numba makes constants of globals and of what a closure holds; their values may come from anywhere."""
    source = "WIDTH = float(__import__('os').environ['WIDTH'])\n\n\ndef loss(u):\n    return WIDTH * u\n"
    kinds = []
    for width in ("0.5", "0.25", "0.5"):
        monkeypatch.setenv("WIDTH", width)
        kinds.append(kind_of(function_in(tmp_path / "users.py", source)))
    assert kinds[0] == kinds[2] != kinds[1]

    def make(width):
        return lambda u: width * u

    assert kind_of(make(0.5)) == kind_of(make(0.5)) != kind_of(make(0.25))
    assert kind_of(make(np.ones(3))) == kind_of(make(np.ones(3))) != kind_of(make(np.zeros(3)))


def test_a_function_without_a_file_counts_by_its_code(tmp_path):
    def without_file(source):
        function = function_in(tmp_path / "gone.py", source)
        (tmp_path / "gone.py").unlink()
        return kind_of(function)

    first = without_file("def loss(u):\n    return u\n")
    assert first == without_file("def loss(u):\n    return u\n")
    assert first != without_file("def loss(u):\n    return u + 1.0\n")


def test_an_edited_file_of_the_package_changes_every_fingerprint(tmp_path, monkeypatch):
    folder = tmp_path / "package" / "inner"
    folder.mkdir(parents=True)
    (folder / "helper.py").write_text("x = 1\n")
    monkeypatch.setattr(_jit, "_ROOT", tmp_path / "package")
    first = _jit._package_stamp()
    assert first == _jit._package_stamp()
    (folder / "notes.txt").write_text("no code")
    assert first == _jit._package_stamp()
    status = (folder / "helper.py").stat()
    os.utime(folder / "helper.py", ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert first != _jit._package_stamp()
    (folder / "new.py").write_text("")
    assert len({first, _jit._package_stamp()}) == 2


def test_fingerprints_are_small_and_plain():
    """24 bits, two to each element's type; values do not matter, so nothing else may be in them."""
    salt = fingerprint(test_fingerprints_are_small_and_plain)
    assert len(salt) == 12
    assert {type(element) for element in salt} <= {int, float, bool, type(None)}
    assert pickle.loads(pickle.dumps(salt)) == salt


# ---- carriers
def test_a_carrier_is_known_by_its_name_alone():
    """A cache index that holds one can be read by a process that never saw the user's file."""
    mine = _jit.carrier(Metres, [lambda metres: metres.value])
    assert mine._fields == Metres._fields
    assert mine.__name__.startswith("Metres:value:")
    source = """
import json, pickle, sys
found = pickle.loads(bytes.fromhex(sys.argv[1]))
print(json.dumps([found.__name__, found(2.5).value]))
"""
    assert run_python(source, pickle.dumps(mine).hex()) == [mine.__name__, 2.5]
    assert pickle.loads(pickle.dumps(mine)) is mine
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = _jit.nonsense


def test_a_carrier_changes_with_the_functions():
    assert _jit.carrier(Metres, [np.sin]) is _jit.carrier(Metres, [np.sin])

    def make(width):
        return lambda u: width * u

    assert _jit.carrier(Metres, [make(1.0)]) is _jit.carrier(Metres, [make(1.0)])
    assert _jit.carrier(Metres, [make(1.0)]) is not _jit.carrier(Metres, [make(2.0)])
    assert _jit.carrier(Metres, [make(1.0)]) is not _jit.carrier(Feet, [make(1.0)])


def test_types_of_the_package_need_no_carrier():
    assert _jit.carrier(zg.losses.Pinball, []) is zg.losses.Pinball


# ---- the disk cache
CACHE_SCRIPT = """
import gc, json, sys, warnings
import numba.core.dispatcher
import zerogap as zg
from problems import BY_NAME

for name in sys.argv[1:]:
    for sparse in (False, True):
        for algorithm in ("sdca", "ardca"):
            zg.solve(BY_NAME[name].build(sparse), algorithm=algorithm, max_passes=3, warn=False)
stats = {}
for found in gc.get_objects():
    if isinstance(found, numba.core.dispatcher.Dispatcher) and found.__module__.startswith("zerogap"):
        hits, misses = found.stats.cache_hits, found.stats.cache_misses
        if hits or misses:
            stats[found.__qualname__] = [sum(hits.values()), sum(misses.values())]
print(json.dumps(stats))
"""


def test_a_second_process_compiles_nothing():
    """A loss without parameters and one with; dense and sparse; separable and group."""
    names = ["hinge-l2-none", "pinball-elastic_net-both", "squared-group-none"]
    run_python(CACHE_SCRIPT, *names)
    second = run_python(CACHE_SCRIPT, *names)
    assert {"sdca_epoch", "ardca_epoch", "loss_sum"} <= set(second)
    for kernel_name, (hits, misses) in second.items():
        assert misses == 0, kernel_name
        assert hits > 0
