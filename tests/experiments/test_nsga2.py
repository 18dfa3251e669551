import sys

import numpy as np
import pytest
from experiments.all_at_once import all_at_once
from experiments.nsga2 import nsga2
from experiments.populations import population

from bezierflow.bezier import project
from bezierflow.problems import by_name


def test_without_jmetalpy_the_line_to_install_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jmetal.operator.crossover", None)
    with pytest.raises(ImportError, match=r"pip install 'bezierflow\[experiments\]'"):
        nsga2(by_name("scaled-med"), 10, seed=0)


@pytest.fixture
def _needs_jmetal():
    pytest.importorskip(
        "jmetal", reason="jMetalPy is not installed: pip install 'bezierflow[experiments]'"
    )


@pytest.mark.usefixtures("_needs_jmetal")
def test_the_fast_parts_change_nothing():
    problem = by_name("skew-3mmd")
    as_is = nsga2(problem, 20, seed=3, max_evaluations=400, exactly_as_jmetal=True)
    np.testing.assert_array_equal(nsga2(problem, 20, seed=3, max_evaluations=400), as_is)


@pytest.mark.usefixtures("_needs_jmetal")
def test_populations_come_near_the_set_and_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.populations.MAX_EVALUATIONS", 25_000)
    monkeypatch.setattr(
        "experiments.populations.nsga2", lambda *arguments: nsga2(*arguments, max_evaluations=1000)
    )
    problem = by_name("skew-3mmd")
    x = population(tmp_path, "skew-3mmd", 20, seed=0)
    assert problem.distance(x).mean() < 0.4  # random points of the box are 1.9 away on average
    monkeypatch.setattr(
        "experiments.populations.nsga2", lambda *arguments: pytest.fail("computed twice")
    )
    np.testing.assert_array_equal(population(tmp_path, "skew-3mmd", 20, seed=0), x)


def test_all_at_once_recovers_a_surface_from_its_points():
    problem = by_name("scaled-med")
    t = np.random.default_rng(0).dirichlet(np.ones(3), 100)
    corners = np.asarray(problem.pareto_map(np.eye(3)))
    x = np.concatenate([problem.pareto_map(t), corners])
    surface = all_at_once(x, corners, degree=3)
    # the flat simplex it starts from: 0.14
    assert np.sqrt(np.mean(project(surface, x)[1] ** 2)) < 0.02
