"""Cases where solvers of the same kind stall, each to a certified 1e-8.

    python -m benchmarks.stalls      a line per case; --small for a tenth of the rows

C is that of an SVM: l2 = 1 / (C n). Seeded data; the second fit of each case is timed, as the
first one compiles. The exit code is 1 when a case is missed.
"""

import argparse
import sys
import time
from typing import Any

import numpy as np

import zerogap as zg

TOL = 1e-8


def regression(n: int, t: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, t))
    return X, X @ rng.standard_normal(t) + rng.standard_t(3, n)


def pinball(C: float, n: int, t: int = 20) -> zg.Problem:
    X, y = regression(n, t)
    total = zg.sum_to(1.0)
    return zg.Problem(X, y, loss=zg.losses.Pinball(0.9), regularizer=zg.L2(1 / (C * n)), constraints=total)


def svm(C: float, n: int, t: int = 40, rows: int = 20) -> zg.Problem:
    rng = np.random.default_rng(1)
    X, m = regression(n, t, 1)
    B = rng.standard_normal((rows, t))
    equal = zg.Equal(B, B @ (0.3 * rng.standard_normal(t)))
    return zg.Problem(
        X, np.sign(m), loss="hinge", regularizer=zg.L2(1 / (C * n)), constraints=equal, fit_intercept=True
    )


def contradictory(n: int) -> zg.Problem:
    X, y = regression(n, 20, 2)
    rows = [zg.sum_to(1.0), zg.bounds(0.0, None), "x0 + x1 + x2 >= 1.5"]
    return zg.Problem(X, y, loss="absolute", regularizer=zg.L2(1e-3), constraints=rows, fit_intercept=True)


def shifted(shift: float, n: int) -> zg.Problem:
    X, y = regression(n, 20, 3)
    return zg.Problem(
        X, y + shift, loss=zg.losses.Pinball(0.9), regularizer=zg.L2(1 / n), constraints="x0 + x1 = 1",
        fit_intercept=True,
    )  # fmt: skip


def scaled(loss: Any, n: int, constraints: Any = ()) -> zg.Problem:
    """Columns of sizes 1e-3 .. 1e3."""
    X, y = regression(n, 20, 4)
    y = np.sign(y) if loss == "hinge" else y
    X = X * 10.0 ** np.linspace(-3, 3, 20)
    return zg.Problem(X, y, loss=loss, regularizer=zg.L2(1 / n), constraints=constraints, fit_intercept=True)


def cases(size: float) -> dict[str, tuple[Any, zg.Status]]:
    """Name -> (problem, the status that it should end with)."""
    n, m = int(10_000 * size), int(5_000 * size)
    solved = {f"pinball .9, sum(x) = 1, C = {C:g}": pinball(C, n) for C in (0.1, 10.0, 1000.0)}
    solved |= {f"SVM, 20 equalities, C = {C:g}": svm(C, m) for C in (1.0, 100.0)}
    solved |= {f"pinball .9, y + {shift:g}": shifted(shift, n) for shift in (0.0, 1000.0)}
    solved |= {f"{loss}, columns 1e-3..1e3": scaled(loss, m) for loss in ("hinge", "absolute")}
    solved["absolute, columns 1e-3..1e3, x0 = 2 x1"] = scaled("absolute", m, "x0 - 2*x1 = 0")
    out = {name: (problem, zg.Status.SOLVED) for name, problem in solved.items()}
    out["contradictory rows"] = contradictory(n), zg.Status.INFEASIBLE
    return out


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stalls", description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tenth of the rows")
    options = parser.parse_args(arguments)
    print(f"{'':<40} {'status':<11} {'gap':>8} {'violation':>9} {'passes':>7} {'seconds':>8}  met")
    missed = 0
    for name, (problem, wanted) in cases(0.1 if options.small else 1.0).items():
        zg.solve(problem, tol=TOL, random_state=0, warn=False)
        begun = time.perf_counter()
        result = zg.solve(problem, tol=TOL, random_state=0, warn=False)
        seconds = time.perf_counter() - begun
        c = zg.certify(problem, result.x, result.dual, result.intercept)
        proof = result.infeasibility
        met = result.status is wanted and (c.within(TOL) if proof is None else proof.verify())
        missed += not met
        gap, violation = (
            ("proof", f"{len(proof.rows)} rows") if proof else (c.relative_gap, c.scaled_violation)
        )
        figures = [f if isinstance(f, str) else f"{f:.1e}" for f in (gap, violation)]
        print(
            f"{name:<40} {result.status!s:<11} {figures[0]:>8} {figures[1]:>9} {result.passes:>7.0f} "
            f"{seconds:>8.3f}  {'yes' if met else 'NO'}",
            flush=True,
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
