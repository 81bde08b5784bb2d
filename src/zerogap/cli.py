"""The command line: `zerogap demo`, `zerogap fit`, `zerogap paper`, `zerogap info`."""

import argparse
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import zerogap as zg
from zerogap.data import datasets
from zerogap.data.io import Table, read_table
from zerogap.paper import command as paper
from zerogap.problem.loss_registry import resolve
from zerogap.report.plots import Panel, gap_versus_time
from zerogap.report.terminal import Terminal

#: What the demo compares `auto` with, and for how many seconds each.
RIVALS, RIVAL_SECONDS = ("ardca-restart", "sdca"), 3.0
DEMO_TOL = 1e-9


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="zerogap", description="Linear models with a certificate for every answer."
    )
    parser.add_argument("--version", action="version", version=f"zerogap {zg.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (_add_demo, _add_fit, paper.add_parser, _add_info):
        add(commands)
    args = parser.parse_args(arguments)
    try:
        return int(args.run(args))
    except (zg.ZeroGapError, OSError) as error:
        print(f"zerogap: {error}", file=sys.stderr)
        return 2


def _add_demo(commands: Any) -> None:
    demo = commands.add_parser("demo", help="fit two real datasets, with certificates and a picture")
    demo.add_argument("--out", type=Path, default=Path("demo"), help="folder of the picture (demo)")
    demo.set_defaults(run=run_demo)


def run_demo(args: argparse.Namespace) -> int:
    """Fit scikit-learn's diabetes data under constraints, and its breast cancer data without any."""
    args.out.mkdir(parents=True, exist_ok=True)
    terminal = Terminal()
    panels, solved = [], True
    for title, story, problem in (_diabetes(), _breast_cancer()):
        terminal.line(f"\n{title}", "bold")
        terminal.line(f"{story}\n")
        _compile(problem, terminal)
        result = zg.solve(problem, tol=DEMO_TOL, random_state=0, callbacks=[terminal.progress()], warn=False)
        terminal.line()
        terminal.result(result)
        solved &= result.solved
        panels.append(Panel(title, {"auto": result.history, **_rivals(problem, result, terminal)}))
    try:
        picture = gap_versus_time(panels, args.out / "gap-versus-time.png", DEMO_TOL)
    except ImportError:
        print("\nNo picture: pip install 'zerogap[plot]'", file=sys.stderr)
    else:
        terminal.line(f"\nGap against time: {picture}", "bold")
    return 0 if solved else 1


def _compile(problem: zg.Problem, terminal: Terminal) -> None:
    """Compile outside the clock; a later run finds the kernels on disk."""
    begun = time.perf_counter()
    terminal.line("compiling, once on this machine ...", "dim")
    for algorithm in ("newton", *RIVALS, "auto"):
        zg.solve(problem, algorithm=algorithm, max_passes=100, random_state=0, warn=False)
    terminal.line(f"... {time.perf_counter() - begun:.1f} s\n", "dim")


def _rivals(problem: zg.Problem, auto: zg.Result, terminal: Terminal) -> dict[str, zg.History]:
    """The histories of other algorithms on the same problem, and a table of how far they came."""
    results = {"auto": auto}
    for name in RIVALS:
        results[name] = zg.solve(
            problem, algorithm=name, tol=DEMO_TOL, max_passes=1_000_000, max_time=RIVAL_SECONDS,
            random_state=0, warn=False,
        )  # fmt: skip
    rows = [
        (name, f"{r.passes:.0f}", f"{r.seconds:.3f}", f"{r.certificate.relative_gap:.1e}",
         f"{r.certificate.violation:.1e}")
        for name, r in results.items()
    ]  # fmt: skip
    terminal.line()
    terminal.table(("algorithm", "passes", "seconds", "relative gap", "violation"), rows)
    return {name: results[name].history for name in RIVALS}


def _diabetes() -> tuple[str, str, zg.Problem]:
    X, y, names = datasets.diabetes()
    column = {name: np.eye(len(names))[j] for j, name in enumerate(names)}
    constraints = [
        zg.Between(column["bmi"], 0.0),
        zg.Between(column["bp"] - column["bmi"], -np.inf, 0.0),
        zg.Equal(np.ones(len(names)), 60.0),
    ]
    problem = zg.Problem(
        X, y, loss=zg.losses.Pinball(0.9), regularizer=zg.L2(1e-4),
        constraints=constraints, fit_intercept=True,
    )  # fmt: skip
    story = (
        "0.9 quantile of disease progression, 442 x 10, free intercept,\n"
        "subject to bmi >= 0, bp <= bmi, and coefficients that sum to 60\n"
        "minimise 1e-4/2 ||x||^2 + mean pinball loss"
    )
    return "diabetes, constrained quantile regression", story, problem


def _breast_cancer() -> tuple[str, str, zg.Problem]:
    X, y, _ = datasets.breast_cancer()
    problem = zg.Problem(X, y, loss="hinge", regularizer=zg.L2(1e-5))
    story = (
        "support vector machine, 569 x 30, weak regularisation (C = 1 / (l2 n) = 176)\n"
        "minimise 1e-5/2 ||x||^2 + mean hinge loss"
    )
    return "breast cancer, linear SVM", story, problem


def _add_fit(commands: Any) -> None:
    fit = commands.add_parser(
        "fit",
        help="fit a file: .csv with a header, .npz (X, y), or .svmlight",
        description="Minimise f(x) + weighted mean loss, with f(x) = l2/2 ||x||^2 + l1 ||x||_1, and print "
        "the certificate. Columns are used as they are. Exit code 0: solved; 1: the tolerance was not "
        "reached, what was found is printed all the same; 2: arguments or data cannot be used.",
        epilog="example: zerogap fit wine.csv --target quality --loss pinball:0.9 --intercept "
        "--constraint 'alcohol >= 0' --constraint 'acid - sugar = 1' --out wine-model.csv",
    )
    fit.add_argument("file", type=Path)
    fit.add_argument("--target", help="the target's column in a .csv (the last one), its array in a .npz (y)")
    fit.add_argument("--weight", help="column or array of sample weights")
    fit.add_argument(
        "--loss",
        default="squared",
        help=f"{', '.join(zg.losses.names())}; a parameter follows a colon, as in pinball:0.9 (squared)",
    )
    fit.add_argument("--l2", type=float, default=1e-4, help="l2/2 ||x||^2 (1e-4)")
    fit.add_argument("--l1", type=float, default=0.0, help="l1 ||x||_1 (0)")
    fit.add_argument("--intercept", action="store_true", help="add an unpenalised intercept")
    fit.add_argument(
        "--constraint",
        action="append",
        default=[],
        metavar="TEXT",
        help="such as 'a - 2*b >= 0', 'a + b = 1', '0 <= a <= 1'; names are columns (x0, x1, ... where the "
        "file has none) and stand for their coefficients, as does the word intercept; repeatable",
    )
    fit.add_argument("--algorithm", default="auto")
    fit.add_argument("--tol", type=float, default=1e-6)
    fit.add_argument("--max-time", type=float)
    fit.add_argument("--seed", type=int, default=0)
    fit.add_argument("--progress", action="store_true", help="a line a check, on stderr")
    fit.add_argument("--json", action="store_true", help="print JSON, coefficients included")
    fit.add_argument("--out", type=Path, help="write the coefficients as .csv")
    fit.set_defaults(run=run_fit)


def run_fit(args: argparse.Namespace) -> int:
    """Fit one file; exit code 1 when the tolerance was not reached."""
    table = read_table(args.file, args.target, args.weight)
    problem = zg.Problem(
        table.X, table.y, loss=parse_loss(args.loss), regularizer=zg.ElasticNet(args.l2, args.l1),
        constraints=args.constraint, sample_weight=table.sample_weight, fit_intercept=args.intercept,
        feature_names=table.features,
    )  # fmt: skip
    result = zg.solve(
        problem, algorithm=args.algorithm, tol=args.tol, max_time=args.max_time, random_state=args.seed,
        callbacks=[Terminal(sys.stderr).progress()] if args.progress else (), warn=False,
    )  # fmt: skip
    if args.json:
        print(json.dumps(_answer(result, table), indent=1, allow_nan=False))
    else:
        terminal = Terminal()
        terminal.line(str(problem), "bold")
        terminal.result(result)
    if args.out:
        values = zip(table.features, result.x.tolist(), strict=True)
        lines = [f"{name},{value!r}" for name, value in values]
        args.out.write_text(
            "\n".join(["name,coefficient", f"(intercept),{result.intercept!r}", *lines]) + "\n"
        )
    return 0 if result.solved else 1


def parse_loss(text: str) -> Any:
    """A loss from its name, or from name:parameter."""
    name, colon, parameter = text.partition(":")
    loss = resolve(name)
    if not colon:
        return loss
    if len(loss) != 1:
        raise zg.ProblemError(f"loss: {name} has no parameter; got {text!r}")
    try:
        number = float(parameter)
    except ValueError:
        raise zg.ProblemError(f"loss: expected a number after {name}:; got {parameter!r}") from None
    return resolve(type(loss)(number))


def _answer(result: zg.Result, table: Table) -> dict[str, Any]:
    """What `--json` prints. Numbers that are not finite (no bound yet) become null."""
    c = result.certificate
    numbers = {
        "primal": c.primal, "dual": c.dual, "gap": c.gap, "relative_gap": c.relative_gap,
        "violation": c.violation, "passes": result.passes, "seconds": result.seconds,
        "intercept": result.intercept,
    }  # fmt: skip
    return {
        "status": str(result.status),
        **{name: float(value) if np.isfinite(value) else None for name, value in numbers.items()},
        "coefficients": dict(zip(table.features, result.x.tolist(), strict=True)),
        "multipliers": [multiplier.tolist() for multiplier in result.multipliers],
    }


def _add_info(commands: Any) -> None:
    info = commands.add_parser("info", help="versions, losses and algorithms")
    info.set_defaults(run=run_info)


def run_info(args: argparse.Namespace) -> int:
    """What is installed and what there is to choose from."""
    import numba
    import scipy
    import sklearn

    from zerogap.solver.settings import ALGORITHMS

    print(f"zerogap {zg.__version__}, Python {platform.python_version()}, {platform.platform()}")
    versions = {"numpy": np, "scipy": scipy, "numba": numba, "scikit-learn": sklearn}
    print(", ".join(f"{name} {module.__version__}" for name, module in versions.items()))
    print(f"losses: {', '.join(zg.losses.names())}")
    print(f"algorithms: {', '.join(ALGORITHMS)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
