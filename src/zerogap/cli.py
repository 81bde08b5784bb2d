"""The command line: `zerogap demo`, `zerogap fit`, `zerogap paper`, `zerogap info`."""

import argparse
import json
import platform
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import zerogap as zg
from zerogap.data import datasets
from zerogap.paper import command as paper
from zerogap.report.plots import gap_versus_time


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
    results = {}
    for title, story, problem in (_diabetes(), _breast_cancer()):
        print(f"\n{title}\n{story}\n", flush=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            zg.solve(problem, max_passes=1, warn=False)  # compile outside the clock
        results[title] = zg.solve(problem, tol=1e-9, progress=True, random_state=0)
        print(f"\n{results[title]}", flush=True)
    try:
        picture = gap_versus_time(results, args.out / "gap-versus-time.png")
    except ImportError:
        print("\nNo picture: pip install 'zerogap[plot]'", file=sys.stderr)
    else:
        print(f"\nGap against time: {picture}")
    return 0 if all(result.solved for result in results.values()) else 1


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
    fit = commands.add_parser("fit", help="fit a file: .npz (X, y), .svmlight, or .csv with a header")
    fit.add_argument("file", type=Path)
    fit.add_argument("--target", help="the target's column in a .csv (the last one)")
    fit.add_argument("--loss", default="squared", help=", ".join(zg.losses.names()))
    fit.add_argument("--l2", type=float, default=1e-4, help="l2/2 ||x||^2 (1e-4)")
    fit.add_argument("--l1", type=float, default=0.0, help="l1 ||x||_1 (0)")
    fit.add_argument("--intercept", action="store_true", help="add an unpenalised intercept")
    fit.add_argument("--algorithm", default="auto")
    fit.add_argument("--tol", type=float, default=1e-6)
    fit.add_argument("--max-time", type=float)
    fit.add_argument("--seed", type=int, default=0)
    fit.add_argument("--progress", action="store_true", help="a line a check")
    fit.add_argument("--json", action="store_true", help="print JSON, coefficients included")
    fit.add_argument("--out", type=Path, help="write the coefficients as .csv")
    fit.set_defaults(run=run_fit)


def run_fit(args: argparse.Namespace) -> int:
    """Fit one file; exit code 1 when the tolerance was not reached."""
    X, y, names = read_file(args.file, args.target)
    problem = zg.Problem(
        X, y, loss=args.loss, regularizer=zg.ElasticNet(args.l2, args.l1), fit_intercept=args.intercept
    )
    result = zg.solve(
        problem, algorithm=args.algorithm, tol=args.tol, max_time=args.max_time,
        random_state=args.seed, progress=args.progress, warn=False,
    )  # fmt: skip
    c = result.certificate
    if args.json:
        answer = {
            "status": str(result.status), "primal": c.primal, "dual": c.dual, "gap": c.gap,
            "relative_gap": c.relative_gap, "passes": result.passes, "seconds": result.seconds,
            "intercept": result.intercept, "coefficients": dict(zip(names, result.x.tolist(), strict=True)),
        }  # fmt: skip
        print(json.dumps(answer, indent=1))
    else:
        print(f"{problem}\n{result}")
    if args.out:
        lines = [f"{name},{value!r}" for name, value in zip(names, result.x.tolist(), strict=True)]
        args.out.write_text(
            "\n".join(["name,coefficient", f"(intercept),{result.intercept!r}", *lines]) + "\n"
        )
    return 0 if result.solved else 1


def read_file(path: Path, target: str | None) -> tuple[Any, np.ndarray, list[str]]:
    """X, y and the columns' names."""
    if path.suffix == ".npz":
        with np.load(path) as archive:
            missing = [key for key in ("X", "y") if key not in archive]
            if missing:
                raise zg.DataError(f"{path}: expected arrays X and y; got {', '.join(archive) or 'none'}")
            X, y = archive["X"], archive["y"]
    elif path.suffix == ".csv":
        return _read_csv(path, target)
    else:
        from sklearn.datasets import load_svmlight_file

        X, y = load_svmlight_file(str(path))[:2]
    return X, y, [f"x{j}" for j in range(X.shape[1])]


def _read_csv(path: Path, target: str | None) -> tuple[np.ndarray, np.ndarray, list[str]]:
    with path.open() as lines:
        names = [name.strip() for name in lines.readline().split(",")]
    wanted = target or names[-1]
    if wanted not in names:
        raise zg.DataError(f"--target: expected one of {', '.join(names)}; got {wanted!r}")
    table = np.genfromtxt(path, delimiter=",", skip_header=1, ndmin=2)
    k = names.index(wanted)
    return np.delete(table, k, axis=1), table[:, k], names[:k] + names[k + 1 :]


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
