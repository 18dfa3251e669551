from pathlib import Path

from click.testing import CliRunner

from bezierflow.cli import main, reproducing


def test_the_experiments_of_a_checkout_are_found():
    assert reproducing.experiments_root() == Path(__file__).parents[2]


def test_without_a_checkout_the_way_out_is_said(monkeypatch):
    monkeypatch.setattr(reproducing, "experiments_root", lambda: None)
    result = CliRunner().invoke(main, ["reproduce", "table1"])
    assert result.exit_code == 1
    assert "checkout" in result.output


def test_a_table_is_printed_kept_and_written_as_json(tmp_path):
    arguments = [
        "reproduce",
        "table1",
        "--trials",
        "2",
        "--method",
        "exact",
        "--output",
        str(tmp_path),
    ]
    result = CliRunner().invoke(main, [*arguments, "--json", str(tmp_path / "figures.json")])
    assert result.exit_code == 0, result.output
    assert "Table 1" in result.output
    assert "exact set: ours" in result.output
    kept = (tmp_path / "table1.csv").read_text()
    assert kept.startswith(
        "# command: bezierflow reproduce table1 --trials 2 --seed 0 --method exact"
    )
    assert '"mse"' in (tmp_path / "figures.json").read_text()


def test_an_unknown_method_is_a_clean_line(tmp_path):
    result = CliRunner().invoke(
        main, ["reproduce", "table1", "--method", "magic", "--output", str(tmp_path)]
    )
    assert result.exit_code == 2
    assert "there are proposed, baseline" in result.output
    assert "Traceback" not in result.output
