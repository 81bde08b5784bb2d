"""The examples of the docstrings and of README.md run, and print what stands there."""

import contextlib
import doctest
import importlib
import io
import re
from pathlib import Path

import pytest

import zerogap as zg

README = Path(__file__).resolve().parent.parent / "README.md"

#: Every public name whose docstring has an example, by the module that it stands in.
NAMES = (
    "Between", "ElasticNet", "Equal", "GroupLasso", "L2", "Problem", "certify", "losses", "solve", "solve_qp",
    "warmup",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_public_names(name):
    thing = getattr(zg, name)
    module = thing if name == "losses" else importlib.import_module(thing.__module__)
    label = module.__name__ if name == "losses" else f"{module.__name__}.{name}"
    found = [test for test in doctest.DocTestFinder().find(module) if test.name == label]
    assert sum(len(test.examples) for test in found) >= 2
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    report = io.StringIO()
    for test in found:
        runner.run(test, out=report.write)
    assert not runner.failures, report.getvalue()


def fence(kind):
    """The first block of a kind in README.md."""
    return re.search(rf"```{kind}\n(.*?)```", README.read_text(), re.S)[1]


def certified(text, name):
    return float(re.search(rf"^{name} +(\S+)", text, re.M)[1])


def test_the_first_example_of_the_readme():
    """It prints the certificate that stands below it, but for the time and the last digits of the gap."""
    source, shown = fence("python"), fence("text")
    assert len([line for line in source.splitlines() if line.strip()]) <= 7
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, str(README), "exec"), {})
    printed = printed.getvalue()
    assert printed.splitlines()[0] == shown.splitlines()[0] == f"SOLVED: {zg.Status.SOLVED.sentence}"
    assert len(printed.splitlines()) == len(shown.splitlines())
    for name in ("primal", "dual"):
        assert certified(shown, name) == pytest.approx(certified(printed, name), rel=1e-6)
    assert certified(shown, "gap") <= 1e-6 * certified(shown, "primal")


def test_the_examples_of_the_page_on_constraints():
    pytest.importorskip("pandas")
    page = README.parent / "docs" / "constraints.md"
    report = io.StringIO()
    with contextlib.redirect_stdout(report):
        failed, tried = doctest.testfile(
            str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
        )
    assert tried > 20
    assert not failed, report.getvalue()


def test_the_links_of_the_documents():
    """Every relative link of README.md, CONTRIBUTING.md and docs/ leads to a file."""
    root = README.parent
    pages = [README, root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]
    dead = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert not dead
