"""The report: what it says, for runs whose trouble is known."""

import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from click.testing import CliRunner

import bezierflow as bf
from bezierflow.cli import main
from bezierflow.stability import is_papers, known_curvature

BENT = bf.problems.Quadratic(np.array([[1.0, 4.0], [3.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 0.0]]))
STRAIGHT = bf.problems.Quadratic(np.ones((2, 2)), np.array([[0.0, 1.0], [1.0, 0.0]]))


def solved(problem, method, n, n_iterations, degree=2, x0=None):
    start = np.zeros(2) if x0 is None else x0
    return bf.minimize(
        problem, start, bf.lift(method, degree, bf.Uniform(n), n_iterations=n_iterations)
    )


@pytest.fixture(scope="module")
def by_gradient_descent():
    solution = solved(BENT, bf.GradientDescent(lambda k: 0.3 / k**0.5), 40, 60)
    return solution, bf.stability.report(solution, n_twins=6, n_runs=4)


def test_a_run_with_many_samples_needs_a_higher_degree(by_gradient_descent):
    solution, report = by_gradient_descent
    assert report.needs == "degree"
    assert "higher degree" in report.advice
    t = np.random.default_rng(0).dirichlet(np.ones(2), 4000)
    rms = np.sqrt(bf.metrics.mse(solution.pareto_set, BENT, t))
    assert report.parts.total == pytest.approx(rms, rel=0.1)
    np.testing.assert_array_equal(report.twins.ends[0], report.twins.control_points[0])
    np.testing.assert_allclose(report.twins.ends[0], solution.pareto_set.control_points, atol=1e-10)


def test_it_reads_and_it_is_plain_numbers(by_gradient_descent):
    _, report = by_gradient_descent
    text = str(report)
    for words in (
        "Had one sample been different",
        "Where the error comes from",
        "Generalization gap",
        report.advice,
    ):
        assert words in text
    figures = json.loads(json.dumps(report.figures()))
    assert figures["needs"] == "degree"
    assert figures["one_sample_moves"]["last_max"] >= figures["one_sample_moves"]["last_mean"] > 0


def test_a_run_with_few_samples_needs_more_of_them_and_x_may_be_any_pytree():
    objectives = lambda x: BENT(jnp.stack([x["a"], x["b"][0]]))
    solution = solved(objectives, bf.Newton(), 4, 3, x0={"a": 0.0, "b": np.zeros(1)})
    report = bf.stability.report(solution, n_twins=2, n_runs=8)
    assert report.needs == "samples"
    assert report.loss == "stationarity"  # a bare function has no Pareto map
    assert not report.parts.exact
    assert report.parts.n_missing == 0
    assert "1/√N" in report.advice


class Constant(eqx.Module):
    """A step size that is an argument of compiled programs: one program serves all of them."""

    value: np.ndarray

    def __call__(self, k):
        return self.value


@pytest.mark.parametrize(
    ("problem", "step_size", "needs"),
    [(BENT, 0.01, "iterations"), (STRAIGHT, 1.0, "nothing")],
    ids=["cut short", "exact"],
)
def test_what_a_run_needs_is_told_from_its_error(problem, step_size, needs):
    report = bf.stability.report(
        solved(problem, bf.Newton(Constant(np.array(step_size))), 40, 3), n_twins=2, n_runs=3
    )
    assert report.needs == needs
    # nothing to pull where every fit is exact
    assert problem is BENT or report.twins.distance.max() < 1e-10
    assert report.advice in str(report)


def without_gradients(x):
    return jax.pure_callback(lambda x: np.asarray(x), jax.ShapeDtypeStruct((2,), x.dtype), x)


@pytest.mark.usefixtures("unchecked")
def test_mistakes_are_named(by_gradient_descent, tmp_path):
    solution, _ = by_gradient_descent
    with pytest.raises(ValueError, match="n_twins must be a whole number of at least 2, got 1"):
        bf.stability.report(solution, n_twins=1)
    with pytest.raises(
        TypeError, match=r"solution must come from bezierflow\.minimize, got BezierSimplex"
    ):
        bf.stability.report(solution.pareto_set)
    solution.save(tmp_path / "solution.bez")
    with pytest.raises(ValueError, match="does not say how to make its run again"):
        bf.stability.report(bf.load(tmp_path / "solution.bez", objectives=BENT))
    with pytest.raises(TypeError, match="objectives must have gradients"):
        bf.stability.against_samples(
            bf.lift(bf.Newton(), 2), without_gradients, np.zeros(2), [8, 16, 32], 2
        )


@pytest.mark.slow
def test_the_command_line(tmp_path):
    file = tmp_path / "report.json"
    command = [
        "stability",
        "quadratic-2-2",
        "--degree",
        "1",
        "--samples",
        "4",
        "--iterations",
        "3",
        "--runs",
        "2",
    ]
    result = CliRunner().invoke(main, [*command, "--method", "newton", "--json", str(file)])
    assert result.exit_code == 0, result.output
    assert "Had one sample been different" in result.output
    assert json.loads(file.read_text())["n_samples"] == 4


class Half(bf.LeastSquares):
    """Not the refit of the theorems."""

    def __call__(self, design, weights, values, previous):
        return previous + 2 * (super().__call__(design, weights, values, previous) - previous)


class Bent(bf.problems.ScaledMED):
    """A subclass of quadratics that is none."""

    def _objectives(self, x):
        return super()._objectives(x) + jnp.sin(10 * x[0])


def test_the_papers_algorithm_is_told_by_exact_types():
    least = bf.lift(bf.GradientDescent(0.1), 2, bf.Uniform(12)).for_objectives(2)
    assert is_papers(least)
    for refit in (Half(), bf.PullBack()):
        assert not is_papers(bf.lift(bf.GradientDescent(0.1), 2, bf.Uniform(12), refit=refit))
    assert known_curvature(bf.problems.ScaledMED()) == (2.0, 6.0)
    assert known_curvature(Bent()) is None
