"""What is behind a suspect result: the objective and the variable are named."""

import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.answer import Flag, by_cause


def bowls(x):
    return jnp.array([jnp.sum((x - 1) ** 2), jnp.sum((x + 1) ** 2)])


def message(extra, **arguments):
    """What a flow that cannot arrive says about the bowls with something added to them."""
    problem = bf.problems.Problem(lambda x: bowls(x) + extra(x), objective_names=["cost", "mass"])
    return bf.minimize(problem, np.zeros(3), bf.GradientDescent(0.1), **arguments).result.message


def falling(x):
    return jnp.array([0.0, -2 * x[2] ** 2 - x[2]])


def test_a_healthy_problem_has_no_cause():
    assert message(lambda x: jnp.zeros(2)).startswith("The whole front was found")


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (falling, "mass still falls along x3 at -1e+7: does it need a bound?"),
        (lambda x: jnp.array([jnp.exp(-x[1]) - (x[1] - 1) ** 2, 0.0]), "cost still falls"),
        (
            lambda x: jnp.array(
                [0.0, -jnp.sum((x + 1) ** 2) + jnp.exp(-x[0]) + x[1] ** 2 + x[2] ** 2]
            ),
            "never turns back along x1",
        ),
    ],
)
def test_an_objective_without_a_minimizer_is_named_with_its_variable(extra, words):
    assert words in message(extra)


def test_what_lies_beyond_bounds_is_no_cause():
    assert "does it need a bound" not in message(falling, bounds=(-3, 3))


def test_a_maximized_objective_rises():
    said = message(lambda x: -bowls(x) * jnp.array([0, 2]) - falling(x), maximize="mass")
    assert said.startswith("mass still rises along x3")


@pytest.mark.parametrize(
    ("kink", "words"),
    [
        (lambda x: jnp.abs(x[1]), "cost has kinks along x2 = 0:"),
        (lambda x: 3 * jnp.maximum(x[2] - 0.5, 0.0), "cost has kinks along x3 = 0.5:"),
    ],
)
def test_kinks_are_named_with_their_place(kink, words):
    said = message(lambda x: jnp.array([kink(x), 0.0]))
    assert words in said
    assert "ProximalGradient" in said


def test_kinks_that_are_smooth_are_none():
    assert "kinks" not in message(lambda x: jnp.array([jnp.abs(x[1]) ** 3, 0.0]))


def test_a_start_that_is_not_finite_is_refused_with_the_objective():
    root = lambda x: jnp.array([jnp.sum(x**2), jnp.sqrt(x[0] - 1)])
    with pytest.raises(ValueError, match="x0 gives nan in f2"):
        bf.minimize(root, np.zeros(2))
    with pytest.raises(ValueError, match="x0 gives nan in mass"):
        bf.minimize(bf.problems.Problem(root, objective_names=["cost", "mass"]), np.zeros(2))


def test_causes_come_before_symptoms():
    flags = (Flag.NOT_AT_TOLERANCE, Flag.CORNERS_MISSED, Flag.NOT_SIMPLICIAL, Flag.NOT_CONVERGED)
    assert by_cause(flags) == (Flag.NOT_CONVERGED, Flag.NOT_SIMPLICIAL)
    assert by_cause((Flag.NOT_AT_TOLERANCE,)) == (Flag.NOT_AT_TOLERANCE,)
    assert by_cause((Flag.NOT_AT_TOLERANCE, Flag.CORNERS_MISSED)) == (Flag.CORNERS_MISSED,)


def test_one_objective_says_what_it_is():
    solution = bf.minimize(lambda x: jnp.array([jnp.sum((x - 1) ** 2)]), np.zeros(2))
    assert (
        "There is one objective, so the set is a single point, its minimizer"
        in solution.result.message
    )
    np.testing.assert_allclose(solution.pareto_set(np.ones(1)), [1, 1], atol=1e-8)


def test_an_unbounded_objective_is_the_first_thing_said():
    solution = bf.minimize(
        lambda x: bowls(x) - jnp.array([0.0, (x[2] + 1) ** 2 + x[2]]),
        np.zeros(3),
        bf.lift(bf.Newton(), n_iterations=30),
    )
    # as asked for: nothing is claimed, nothing is looked for
    assert solution.result.reason is bf.Reason.COMPLETED
    solution = bf.minimize(
        lambda x: bowls(x) - jnp.array([0.0, (x[2] + 1) ** 2 + x[2]]),
        np.zeros(3),
        bf.GradientDescent(0.3),
    )
    assert not solution.result.success
    assert solution.result.message.startswith(
        "f2 still falls along x3 at 1e+7: does it need a bound?"
    )


def test_an_objective_that_falls_without_end_beyond_a_minimum_is_named():
    def cubic(x):
        return jnp.array([x[0] ** 3 - x[0] + x[1] ** 2, jnp.sum((x - 1) ** 2)])

    solution = bf.minimize(cubic, np.array([0.5, 0.5]))
    assert solution.result.reason is bf.Reason.SUSPECT
    assert solution.result.message.startswith("f1 still falls along x1 at -1e+7")
    assert solution.stats.evaluations.objective < 5000


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_an_end_of_the_answer_that_ran_away_is_named(seed):
    """Towards a pole, or as far out as a run can go."""

    def reciprocals(x):
        return jnp.array([1 / x[0] + x[0] + x[1] ** 2, 2 / x[0] ** 2 + x[0] ** 2 + (x[1] - 1) ** 2])

    solution = bf.minimize(reciprocals, np.array([0.7, 0.5]), seed=seed)
    assert solution.result.reason is bf.Reason.SUSPECT
    assert solution.result.message.startswith("f1 falls")
