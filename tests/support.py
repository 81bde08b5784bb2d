"""Small helpers that several test files share."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import problems
import pytest
import reference

import zerogap as zg

EPS = float(np.finfo(np.float64).eps)

#: Two parameter sets for every loss that has parameters.
LOSS_CASES = [(name, parameters) for name, parameters in problems.LOSSES.items()] + [
    ("smoothed_hinge", {"width": 1.5}),
    ("pinball", {"quantile": 0.1}),
    ("huber", {"delta": 2.0}),
    ("epsilon_insensitive", {"epsilon": 0.0}),
    ("squared_epsilon_insensitive", {"epsilon": 0.0}),
]
LOSS_IDS = ["-".join([name, *map(str, parameters.values())]) for name, parameters in LOSS_CASES]


def loss_object(name, parameters):
    """The zg.losses object of a loss in the tests' neutral description."""
    return getattr(zg.losses, "".join(part.capitalize() for part in name.split("_")))(**parameters)


def random_dual(instance, rng, size=2.0):
    """A random point of the dual domain of a `reference.Instance`."""
    low, high = instance.domain()
    low, high = np.maximum(low, -size), np.minimum(high, size)
    return np.where(low < high, rng.uniform(low, high), low)


def random_primal(instance, rng, size=1.0):
    """A random point of the box of a `reference.Instance`."""
    x = size * rng.standard_normal(instance.rows.shape[1])
    if isinstance(instance.f, reference.Separable):
        x = np.clip(x, instance.f.lower, instance.f.upper)
    return x


def relative_difference(a, b):
    """The largest entry of |a - b|, relative to the largest entry of |b|."""
    return float(np.max(np.abs(a - b)) / max(float(np.max(np.abs(b))), 1e-300))


def refused(error, action, *parts):
    """`action` raises exactly this error, whose text has all the parts."""
    with pytest.raises(error) as caught:
        action()
    assert type(caught.value) is error
    for part in parts:
        assert part in str(caught.value)


def run_file(path, *arguments, **environment):
    """Run a script in another process, the tests' folder on its path; returns what it prints."""
    return _run([path, *arguments], environment)


def run_python(source, *arguments, **environment):
    """The same for a source text; what it prints is read as JSON."""
    return json.loads(_run(["-c", source, *arguments], environment))


def _run(command, environment):
    search = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-W", "error", *map(str, command)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, search)), **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
