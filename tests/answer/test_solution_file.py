"""Files of solutions: exact, complete, useful without the objectives' code."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf

PROBLEM = bf.problems.ScaledMED().with_names(
    objectives=["cost", "mass", "noise"],
    objective_units=["EUR", "kg", "dB"],
    variables=["a", "b", "c"],
)
T = np.random.default_rng(0).dirichlet(np.ones(3), 50)


@pytest.fixture(scope="module")
def solution():
    return bf.minimize(PROBLEM, np.zeros(3), bf.lift(bf.Newton(), degree=3), seed=3)


@pytest.fixture(scope="module")
def path(solution, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "pareto.bez"
    solution.save(path)
    return path


def test_everything_a_person_needs_comes_back(solution, path):
    loaded = bf.load(path)
    np.testing.assert_array_equal(
        loaded.pareto_set.control_points, solution.pareto_set.control_points
    )
    assert loaded.names == solution.names
    assert loaded.names.objective_labels == ("cost [EUR]", "mass [kg]", "noise [dB]")
    assert loaded.result == solution.result
    assert loaded.stats == solution.stats
    assert dataclasses.astuple(loaded.error) == dataclasses.astuple(solution.error)
    assert loaded.made_by["seed"] == 3
    assert "Newton" in loaded.made_by["method"]
    np.testing.assert_array_equal(loaded.history["movement"], solution.history["movement"])


def test_the_front_works_without_the_objectives_and_knows_its_error(solution, path):
    loaded = bf.load(path)
    assert loaded.objectives is None
    miss = np.abs(np.asarray(loaded.front(T)) - np.asarray(solution.front(T)))
    assert np.all(miss.max(axis=0) <= 3 * loaded.fitted_front.max + 1e-12)
    with pytest.raises(ValueError, match="objectives=f"):
        loaded.flat_objectives  # noqa: B018


def test_objectives_can_be_given_back(solution, path):
    loaded = bf.load(path, objectives=PROBLEM)
    np.testing.assert_array_equal(loaded.front(T), solution.front(T))


def test_the_same_solution_gives_the_same_bytes(solution, path, tmp_path):
    solution.save(tmp_path / "again.bez")
    assert (tmp_path / "again.bez").read_bytes() == path.read_bytes()


def test_pytrees_survive(tmp_path):
    objectives = lambda x: jnp.array(
        [jnp.sum((x["u"] - 1) ** 2) + x["v"] ** 2, jnp.sum(x["u"] ** 2) + (x["v"] - 2) ** 2]
    )
    solution = bf.minimize(objectives, {"u": np.zeros(2), "v": 0.0}, bf.lift(bf.Newton(), degree=1))
    solution.save(tmp_path / "tree.bez")
    loaded = bf.load(tmp_path / "tree.bez")
    t = np.array([0.5, 0.5])
    np.testing.assert_array_equal(loaded.pareto_set(t)["u"], solution.pareto_set(t)["u"])
    assert loaded.raveling == solution.raveling


def test_a_surface_alone_loads_as_a_surface(solution, tmp_path):
    solution.pareto_set.save(tmp_path / "surface.bez")
    assert isinstance(bf.load(tmp_path / "surface.bez"), bf.BezierSimplex)
    with pytest.raises(ValueError, match="holds a surface alone"):
        bf.load(tmp_path / "surface.bez", objectives=PROBLEM)


def test_mistakes_are_named_and_lose_nothing(solution, path, tmp_path):
    with pytest.raises(ValueError, match=r"must end in .bez"):
        solution.save(tmp_path / "pareto.csv")
    with pytest.raises(FileNotFoundError):
        bf.load(tmp_path / "nowhere.bez")
    before = path.read_bytes()
    (tmp_path / "cut.bez").write_bytes(before[: len(before) // 2])
    with pytest.raises(ValueError, match=r"damaged|cut off"):
        bf.load(tmp_path / "cut.bez")
