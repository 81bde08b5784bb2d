"""The command line, and the README's example."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from zerogap import cli

ROOT = Path(__file__).parents[1]


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.1 * rng.standard_normal(40)
    path = tmp_path / "table.csv"
    lines = [
        "a,b,c,y",
        *(",".join(map(repr, [*row, value])) for row, value in zip(X.tolist(), y.tolist(), strict=True)),
    ]
    path.write_text("\n".join(lines))
    return path


def test_demo_solves_both_datasets_and_draws(tmp_path, capsys):
    assert cli.main(["demo", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("SOLVED") == 2
    assert (tmp_path / "gap-versus-time.png").read_bytes().startswith(b"\x89PNG")


def test_fit_prints_json_with_named_coefficients(table, capsys):
    assert cli.main(["fit", str(table), "--loss", "absolute", "--intercept", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["status"] == "SOLVED"
    assert answer["primal"] - answer["dual"] <= 1e-6 * answer["primal"]
    assert answer["coefficients"] == pytest.approx({"a": 1.0, "b": -2.0, "c": 0.5}, abs=0.1)


def test_fit_writes_coefficients(table, tmp_path, capsys):
    out = tmp_path / "coefficients.csv"
    assert cli.main(["fit", str(table), "--target", "a", "--out", str(out)]) == 0
    assert "gap" in capsys.readouterr().out
    assert [line.split(",")[0] for line in out.read_text().split()] == ["name", "(intercept)", "b", "c", "y"]


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        (["--target", "z"], "expected one of a, b, c, y; got 'z'"),
        (["--loss", "hinges"], "expected one of absolute"),
        (["--algorithm", "magic"], "algorithm: expected one of auto"),
        (["--l2", "-1"], "expected >= 0; got -1.0"),
    ],
)
def test_fit_explains_what_is_wrong(table, capsys, extra, said):
    assert cli.main(["fit", str(table), *extra]) == 2
    assert said in capsys.readouterr().err


def test_info_names_the_algorithms(capsys):
    assert cli.main(["info"]) == 0
    assert "ardca-restart" in capsys.readouterr().out


def test_the_readme_example_prints_what_the_readme_shows(capsys):
    text = (ROOT / "README.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    shown = re.search(r"```text\n(.*?)```", text, re.DOTALL)
    assert code
    assert shown
    exec(code.group(1), {})
    printed = capsys.readouterr().out
    assert printed.split("\n")[0] == shown.group(1).split("\n")[0]
    for line in ("primal", "dual"):
        numbers = [float(re.search(rf"{line}\s+(\S+)", part).group(1)) for part in (printed, shown.group(1))]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-5)
