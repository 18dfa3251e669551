"""What a person asks and gets: names, bounds that cannot be met, regions, rates, inverse maps,
polish."""

import numpy as np
import pytest

import bezierflow as bf
from bezierflow import decisions
from solved import solved, values, without_objectives

CENTER = np.array([0.3, 0.3, 0.4])


@pytest.fixture(scope="module")
def solution():
    problem = bf.problems.ScaledMED().with_names(
        objectives=["cost", "weight", "noise"],
        objective_units=["EUR", "kg", ""],
        variables=["a", "b", "c"],
    )
    return solved(problem, 5)


@pytest.fixture(scope="module")
def from_file(solution):
    return without_objectives(solution)


def test_objectives_by_name_and_by_number(solution):
    by_name = decisions.best(solution, minimize="cost", subject_to={"weight": (None, 2.0)})
    by_number = decisions.best(solution, minimize=0, subject_to={1: (None, 2.0)})
    np.testing.assert_array_equal(by_name.t, by_number.t)
    assert "weight at most 2" in by_name.question
    assert "cost [EUR]" in str(by_name)
    assert "weight [kg] = 2" in str(by_name)


def test_every_answer_says_how_sure_it_is(solution, from_file):
    exact, fitted = (decisions.knee(one) for one in (solution, from_file))
    assert exact.confidence.source == "objectives"
    assert fitted.confidence.source == "fitted front"
    assert (exact.confidence.front_error == 0).all()
    np.testing.assert_array_equal(fitted.confidence.front_error, from_file.fitted_front.max)
    assert exact.confidence.set_error == solution.error.rms
    assert exact.confidence.agreed >= 1
    assert exact.confidence.residual < 1e-8
    assert "problem's own objectives" in str(exact)
    assert "fitted front" in str(fitted)
    np.testing.assert_allclose(exact.f, fitted.f, atol=1e-6)


def test_a_wish_that_cannot_be_met_gets_the_nearest_answer_and_what_had_to_give(solution):
    span = decisions.ranges(solution)
    wish = {"cost": (None, span.ideal[0] + 0.01), "weight": (None, span.ideal[1] + 0.01)}
    choice = decisions.best(solution, minimize="noise", subject_to=wish)
    assert not choice.feasible
    gave = {relaxation.objective: relaxation for relaxation in choice.relaxed}
    assert set(gave) == {"cost", "weight"}
    assert gave["cost"].asked == wish["cost"][1]
    assert gave["cost"].by == pytest.approx(choice.f[0] - wish["cost"][1])
    assert "asked for at most" in str(choice)
    # No point of the front breaks its worst bound by less.
    f = values(solution.objectives, solution.pareto_set, bf.simplex.grid(3, 60))
    scale = solution.set.scale
    limits = np.array([wish["cost"][1], wish["weight"][1]])
    worst = ((f[:, :2] - limits) / scale[:2]).max(axis=1).min()
    assert ((choice.f[:2] - limits) / scale[:2]).max() <= worst + 1e-6


def test_a_bound_from_below_is_kept(solution):
    choice = decisions.best(solution, minimize="cost", subject_to={"cost": (2.0, None)})
    assert choice.f[0] == pytest.approx(2.0, abs=1e-6)
    assert choice.f[0] >= 2.0


def test_a_region_holds_in_every_question_and_can_be_narrowed(solution):
    region = decisions.keep(solution, {"cost": (None, 4.0)})
    narrow = decisions.keep(region, {"weight": (None, 5.0)})
    span, whole = decisions.ranges(narrow), decisions.ranges(solution)
    assert span.feasible
    assert span.nadir[0] <= 4.0 + 1e-9
    assert span.nadir[1] <= 5.0 + 1e-9
    assert (span.ideal >= whole.ideal - 1e-9).all()
    for choice in (
        decisions.best(narrow, "noise"),
        decisions.knee(narrow),
        decisions.compromise(narrow, {"noise": 1.0}),
        decisions.nearest(narrow, {"noise": 0.0}),
        decisions.robust(narrow, {"noise": (1.0, 2.0), "cost": (0.0, 0.1)}),
    ):
        assert (choice.f[:2] <= [4.0 + 1e-9, 5.0 + 1e-9]).all(), choice.question
        assert narrow.contains(choice.t) or (choice.f[:2] <= [4.0 + 1e-9, 5.0 + 1e-9]).all()
    assert not region.contains(np.array([0.0, 0.0, 1.0]))


def test_a_zoom_is_the_same_surface_over_a_part(solution):
    corners = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.1, 0.6]])
    part = decisions.zoom(solution, corners)
    t = np.random.default_rng(0).dirichlet(np.ones(3), 5)
    np.testing.assert_allclose(part.pareto_set(t), solution.pareto_set(t @ corners), atol=1e-12)
    np.testing.assert_allclose(part.front(t), solution.front(t @ corners), atol=1e-10)
    np.testing.assert_allclose(
        part.fitted_front.surface(t), solution.fitted_front.surface(t @ corners), atol=1e-10
    )
    inner = decisions.best(part, "cost")
    assert inner.f[0] >= decisions.best(solution, "cost").f[0] - 1e-12


def test_rates_are_the_slopes_of_the_front(solution, from_file):
    """Two objectives: the slope of the curve. Three: f_i changes by rate · df_j when the third is
    held."""
    two = solved(bf.problems.Quadratic.random(2, 4, seed=3), 5)
    t, step = np.array([0.4, 0.6]), 1e-6 * np.array([1.0, -1.0])
    after, before = (np.asarray(two.front(t + s)) for s in (step, -step))
    slope = (after - before)[0] / (after - before)[1]
    assert decisions.rates(two, t)[0, 1] == pytest.approx(slope, rel=1e-6)
    for one in (solution, from_file):
        rates = decisions.rates(one, CENTER)
        assert (rates.matrix[~np.eye(3, dtype=bool)] < 0).all()
        steps = 1e-6 * np.array([[1, -1, 0], [1, 0, -1]])
        moved = np.array(
            [np.asarray(one.front(CENTER + s)) - np.asarray(one.front(CENTER - s)) for s in steps]
        )
        # the combination that leaves noise alone
        held = moved[1, 2] * moved[0] - moved[0, 2] * moved[1]
        assert rates["cost", "weight"] == pytest.approx(held[0] / held[1], rel=1e-4)
        assert decisions.rate(one, CENTER, "cost", "weight") == rates[0, 1]
        assert rates.definite
    assert "one more of weight [kg] changes cost [EUR] by" in str(rates)


def test_weights_at_the_optimum_of_a_compromise_are_its_prices(solution):
    choice = decisions.compromise(solution, {"cost": 1.0, "weight": 2.0, "noise": 3.0})
    rates = decisions.rates(solution, choice.t)
    np.testing.assert_allclose(rates.weights / rates.weights[0], [1, 2, 3], rtol=1e-5)
    np.testing.assert_allclose(choice.weights, [1, 2, 3], rtol=1e-6)


def test_locate_finds_points_of_the_surface_and_measures_others(solution):
    x = np.asarray(solution.pareto_set(CENTER))
    there = decisions.locate(solution, x)
    np.testing.assert_allclose(there.t, CENTER, atol=1e-7)
    assert there.distance < 1e-9
    away = decisions.locate(solution, x + 0.1)
    dense = np.asarray(solution.pareto_set(bf.simplex.grid(3, 120)))
    assert away.distance <= np.linalg.norm(dense - (x + 0.1), axis=1).min() + 1e-12
    back = decisions.locate_front(solution, there.f)
    np.testing.assert_allclose(back.t, CENTER, atol=1e-5)
    assert back.distance < 1e-8


def test_polish_sheds_the_surface_s_own_error():
    problem = bf.problems.ScaledMED()
    rough = solved(problem, 2)
    choice = decisions.compromise(rough, [1.0, 1.0, 1.0])
    polished = decisions.polish(rough, choice)
    before, after = (float(problem.distance(np.asarray(one.x))) for one in (choice, polished))
    assert before > 1e-4
    assert after < 1e-8
    assert np.abs(polished.f - choice.f).max() < 0.1
    assert "polished by Newton" in polished.question
    slow = decisions.polish(rough, choice, bf.GradientDescent(0.5), n_iterations=200)
    assert float(problem.distance(np.asarray(slow.x))) < 1e-3 * before
    with pytest.raises(ValueError, match="without its objectives"):
        decisions.polish(without_objectives(rough), choice)


def test_polish_holds_on_a_concave_front():
    problem = bf.problems.Fonseca(2)
    rough = solved(problem, 3)
    choice = decisions.best(rough, 0, {1: (None, 0.7)})
    polished = decisions.polish(rough, choice)
    np.testing.assert_allclose(polished.f, choice.f, atol=0.02)


def test_designs_may_be_pytrees():
    import dataclasses

    import jax.numpy as jnp

    from bezierflow.bezier import BezierSimplex, Raveling

    flat = solved(bf.problems.ScaledMED(), 4)
    points = np.asarray(flat.pareto_set.control_points)
    nested = dataclasses.replace(
        flat,
        pareto_set=BezierSimplex({"a": points[:, :1], "b": points[:, 1:]}, 3, 4),
        objectives=lambda x: bf.problems.ScaledMED()(jnp.concatenate([x["a"], x["b"]])),
        raveling=Raveling.of({"a": np.zeros(1), "b": np.zeros(2)}),
    )
    choice, expected = decisions.knee(nested), decisions.knee(flat)
    np.testing.assert_allclose(choice.f, expected.f, atol=1e-9)
    np.testing.assert_allclose(choice.x["b"], np.asarray(expected.x)[1:], atol=1e-7)
    np.testing.assert_allclose(decisions.locate(nested, choice.x).t, choice.t, atol=1e-6)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda s: decisions.best(s, "speed"),
            "minimize: 'speed' is no objective; there are 'cost', 'weight', 'noise'",
        ),
        (
            lambda s: decisions.best(s, 3),
            "minimize must give each objective by name, or by its number from 0 to 2, got 3",
        ),
        (
            lambda s: decisions.best(s, 0, {"cost": "3"}),
            r"subject_to\['cost'\] must be a number, or \(lowest, highest\)",
        ),
        (
            lambda s: decisions.best_ratio(s, "cost", "noise"),
            "one objective that is maximized and one that is minimized, but cost and noise are both",
        ),
        (lambda s: decisions.best(s, 0, {"cost": (3.0, 1.0)}), "must have its lowest value first"),
        (lambda s: decisions.compromise(s, [1, 2]), "weights must hold 3 finite numbers"),
        (lambda s: decisions.compromise(s, [1, 2, -1]), "weights must hold numbers of at least 0"),
        (lambda s: decisions.nearest(s, [1, 2, np.nan]), "aspiration must hold 3 finite numbers"),
        (lambda s: decisions.robust(s, {"cost": (-1.0, 1.0)}), "weights must give"),
        (lambda s: decisions.rates(s, [0.5, 0.6, 0.2]), "t must hold points of the simplex"),
        (lambda s: decisions.locate(s, np.zeros(4)), "x must be one finite design of 3 variables"),
        (lambda s: decisions.zoom(s, np.ones((2, 3)) / 3), "vertices must be 3 points"),
        (lambda s: decisions.zoom(s, np.ones((3, 3)) / 3), "vertices must span a simplex"),
    ],
)
def test_misuse_is_named_at_the_door(solution, ask, message):
    with pytest.raises(ValueError, match=message):
        ask(solution)


def test_one_number_is_what_an_objective_must_not_exceed(solution):
    plain = decisions.best(solution, minimize=0, subject_to={"weight": 2.0})
    pair = decisions.best(solution, minimize=0, subject_to={"weight": (None, 2.0)})
    assert plain.question == pair.question
    np.testing.assert_array_equal(plain.t, pair.t)


@pytest.mark.usefixtures("unchecked")
def test_a_surface_alone_cannot_be_asked(solution):
    with pytest.raises(TypeError, match="a surface alone has no objectives"):
        decisions.knee(solution.pareto_set)
