"""`reproduce` and `bench`, which need a checkout."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import bezierflow as bf
from bezierflow.cli import main

in_a_checkout = pytest.mark.skipif(
    not (Path(bf.__file__).parents[2] / "experiments" / "README.md").is_file(),
    reason="the package is installed without the scripts of its checkout, as a wheel is",
)


@pytest.mark.parametrize("command", ["reproduce table1", "bench"])
def test_without_a_checkout_the_way_out_is_said(tmp_path, command):
    """A copy of the package where nothing lies beside it, as where it was installed."""
    shutil.copytree(Path(bf.__file__).parent, tmp_path / "a" / "b" / "bezierflow")
    done = subprocess.run(
        [sys.executable, "-m", "bezierflow.cli", *command.split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "a" / "b")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "run this command in a checkout" in done.stderr


@in_a_checkout
def test_a_table_is_printed_kept_and_written_as_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the checkout is found from anywhere
    arguments = ["reproduce", "table1", "--trials", "2", "--method", "exact"]
    result = CliRunner().invoke(main, [*arguments, "--output", ".", "--json", "figures.json"])
    assert result.exit_code == 0, result.output
    assert "Table 1" in result.output
    assert "exact set: ours" in result.output
    kept = (tmp_path / "table1.csv").read_text()
    assert kept.startswith(
        "# command: bezierflow reproduce table1 --trials 2 --seed 0 --method exact"
    )
    assert '"mse"' in (tmp_path / "figures.json").read_text()


@in_a_checkout
def test_an_unknown_method_is_a_clean_line(tmp_path):
    result = CliRunner().invoke(
        main, ["reproduce", "table1", "--method", "magic", "--output", str(tmp_path)]
    )
    assert result.exit_code == 2
    assert "there are proposed, baseline" in result.output
    assert "Traceback" not in result.output
