"""Check the size budgets of the source: lines per file and function, positional parameters.

    python tools/check_budgets.py [path ...]        (default: src)

Prints one line per offender, `file:line: what is too big`, and exits with 1 when there is any.

* A function's lines run from its `def` to its end, less its docstring; functions defined inside it
  count towards it.
* `self` and `cls` are no parameters, nor is what can only be given by keyword. NamedTuples and
  dataclasses have generated constructors, so their fields are free.
* A kernel is a function decorated with a name in KERNEL_DECORATORS.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 400
FUNCTION_LINES = 60
KERNEL_LINES = 40
POSITIONAL_PARAMETERS = 8
KERNEL_DECORATORS = {"kernel", "njit", "jit"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def check_file(path: Path) -> Iterator[str]:
    """Yield one message per budget that the file exceeds."""
    source = path.read_text(encoding="utf-8")
    lines = len(source.splitlines())
    if lines > FILE_LINES:
        yield f"{path}:1: {lines} lines, at most {FILE_LINES} in a file"
    tree = ast.parse(source, filename=str(path))
    methods = {id(node) for owner in ast.walk(tree) if isinstance(owner, ast.ClassDef) for node in owner.body}
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    for function in sorted(functions, key=lambda node: node.lineno):
        yield from check_function(path, function, is_method=id(function) in methods)


def check_function(path: Path, function: Function, is_method: bool) -> Iterator[str]:
    """Yield one message per budget that the function exceeds."""
    where = f"{path}:{function.lineno}: {function.name}"
    kind, limit = "function", FUNCTION_LINES
    if KERNEL_DECORATORS & set(decorator_names(function)):
        kind, limit = "kernel", KERNEL_LINES
    lines = body_lines(function)
    if lines > limit:
        yield f"{where} has {lines} lines, at most {limit} in a {kind} (docstring not counted)"
    count = positional_parameters(function, is_method)
    if count > POSITIONAL_PARAMETERS:
        yield f"{where} has {count} positional parameters, at most {POSITIONAL_PARAMETERS}"


def body_lines(function: Function) -> int:
    """Lines from `def` to the end of the function, less its docstring."""
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function, clean=False) is not None:
        docstring = function.body[0]
        assert docstring.end_lineno is not None
        lines -= docstring.end_lineno - docstring.lineno + 1
    return lines


def positional_parameters(function: Function, is_method: bool) -> int:
    """Parameters that can be given by position, less `self` or `cls`."""
    count = len(function.args.posonlyargs) + len(function.args.args)
    bound = is_method and "staticmethod" not in decorator_names(function)
    return max(count - 1, 0) if bound else count


def decorator_names(function: Function) -> Iterator[str]:
    """Last names of the decorators: `numba.njit(cache=True)` gives `njit`."""
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(called, ast.Attribute):
            yield called.attr
        elif isinstance(called, ast.Name):
            yield called.id


def python_files(places: list[str]) -> Iterator[Path]:
    """The Python files named or found below `places`, each of which must exist."""
    for place in map(Path, places):
        if not place.exists():
            raise SystemExit(f"check_budgets: no such file or folder: {place}")
        yield from sorted(place.rglob("*.py")) if place.is_dir() else [place]


def main(arguments: list[str]) -> int:
    files = list(python_files(arguments or ["src"]))
    if not files:
        raise SystemExit("check_budgets: no Python file found")
    offences = [message for path in files for message in check_file(path)]
    print("\n".join([*offences, f"size budgets: {len(files)} files, {len(offences)} offences"]))
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
