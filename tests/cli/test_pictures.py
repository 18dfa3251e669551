"""The commands plot and explore, on a file."""

import pytest
from click.testing import CliRunner

import bezierflow as bf
from bezierflow.cli import main
from solved import distances_to_points


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "result.bez"
    distances_to_points(3, 3).save(path)
    return path


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_plot_writes_a_picture_beside_the_file(file, tmp_path):
    result = run("plot", file)
    assert result.exit_code == 0, result.output
    assert file.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    result = run("plot", file, "--kind", "ternary", "-o", tmp_path / "heat.pdf")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "heat.pdf").read_bytes().startswith(b"%PDF")


def test_plot_lists_what_it_can_draw(file):
    result = run("plot", file, "--list")
    assert all(name in result.output for name in bf.plots.__all__)
    result = run("plot", file, "--kind", "piechart")
    assert result.exit_code == 2
    assert "must be one of" in result.output


def test_explore_writes_a_page(file):
    result = run("explore", file)
    assert result.exit_code == 0, result.output
    text = file.with_suffix(".html").read_text(encoding="utf-8")
    assert "<title>result</title>" in text


def test_a_surface_alone_is_refused_with_the_way_out(tmp_path):
    path = tmp_path / "surface.bez"
    distances_to_points(3, 3).pareto_set.save(path)
    for command in ("plot", "explore"):
        result = run(command, path)
        assert result.exit_code == 2
        assert "holds a surface alone" in result.output
