"""The page of a problem with maximized objectives and logarithmic variables: the user's signs and
values, as Python has them."""

import dataclasses

import numpy as np
import pytest

from bezierflow import Reason, decisions, explore
from bezierflow.answer import ErrorEstimate, Result
from solved import turned

SIGNS = {2: [1, -1], 3: [-1, 1, -1], 4: [1, 1, -1, 1]}


def maximized(solution):
    return turned(solution, *np.flatnonzero(np.array(SIGNS[solution.n_objectives]) < 0))


@pytest.fixture
def page_of(visit, tmp_path):
    return lambda solution: visit(explore(solution, tmp_path / "page.html"))


@pytest.mark.parametrize("which", [2, 3, 4])
def test_values_rates_and_words_have_the_users_signs(page_of, solutions, which):
    solution = maximized(solutions[which])
    page = page_of(solution)
    t = np.random.default_rng(1).dirichlet(3 * np.ones(which))
    page.evaluate("(t) => bezierflow.moveTo(t)", t.tolist())
    f, rates, ideal, nadir = page.evaluate("""(({ state, model }) => [
            state.f, model.rates(state.point).matrix, [...model.ideal], [...model.nadir],
        ])(bezierflow)""")
    np.testing.assert_allclose(f, np.asarray(solution.front(t)), rtol=1e-12)
    np.testing.assert_allclose(rates, decisions.rates(solution, t).matrix, rtol=1e-7)
    span = decisions.ranges(solution)
    np.testing.assert_allclose(ideal, span.ideal, atol=1e-2 * span.width.max())
    np.testing.assert_allclose(nadir, span.nadir, atol=1e-2 * span.width.max())
    assert page.get_by_text("higher is better").count() == sum(sign < 0 for sign in SIGNS[which])
    sides = page.locator(".bound label").all_inner_texts()
    assert sides == ["at least" if sign < 0 else "at most" for sign in SIGNS[which]]


@pytest.mark.parametrize("which", [2, 3, 4])
def test_bounds_and_the_best_within_them(page_of, solutions, which):
    solution, m = maximized(solutions[which]), SIGNS[which].index(-1)
    page, other = page_of(solution), (m + 1) % which
    page.locator(f"#bound-{m}").fill("400")
    limit, feasible = page.evaluate(f"[bezierflow.state.bounds[{m}], bezierflow.state.feasible]")
    span = decisions.ranges(solution)
    assert limit == pytest.approx(span.ideal[m] - 0.4 * span.width[m], abs=1e-2 * span.width[m])
    assert 0 < sum(feasible) < len(feasible)
    row = page.locator(".objective")
    row.nth(other).get_by_role("button").click()
    wish = {
        "maximize" if SIGNS[which][other] < 0 else "minimize": other,
        "subject_to": {m: (limit, None)},
    }
    expected, f = decisions.best(solution, **wish), page.evaluate("bezierflow.state.f")
    assert f[m] >= limit - 1e-6 * span.width[m]
    assert f[other] == pytest.approx(expected.f[other], abs=5e-3 * span.width[other])
    page.locator("#reset").click()
    row.nth(m).get_by_role("button", name="go to largest").click()
    assert page.evaluate("bezierflow.state.f")[m] == pytest.approx(
        span.ideal[m], abs=1e-3 * span.width[m]
    )


@pytest.mark.parametrize("which", [2, 3, "constrained"])
def test_an_atlas_answers_with_the_users_signs(page_of, atlases, which):
    solution = maximized(atlases[which])
    atlas, page, m = solution.pareto_set, page_of(solution), SIGNS[solution.n_objectives].index(-1)
    assert atlas.units.span[m] < 0
    rng = np.random.default_rng(0)
    t = rng.dirichlet(np.ones(atlas.n_objectives), 60)
    found = page.evaluate(
        "(points) => points.map((t) => (({ f, x, weights }) => ({ f, x, weights"
        " }))(bezierflow.model.point(t)))",
        t.tolist(),
    )
    np.testing.assert_allclose([one["f"] for one in found], atlas.front(t), atol=1e-11)
    np.testing.assert_allclose([one["weights"] for one in found], atlas.weights(t), atol=1e-10)
    on_front = next(one for one in t if atlas.label(one).full)
    page.evaluate("(t) => bezierflow.moveTo(t)", on_front.tolist())
    rates = np.array(
        page.evaluate("bezierflow.model.rates(bezierflow.state.point).matrix"), dtype=float
    )
    known = np.isfinite(rates)
    np.testing.assert_allclose(
        rates[known], decisions.rates(solution, on_front).matrix[known], rtol=1e-7
    )
    page.locator(f"#bound-{m}").fill("500")
    assert (
        page.evaluate("bezierflow.state.f")[m]
        >= page.evaluate(f"bezierflow.state.bounds[{m}]") - 1e-7
    )
    assert "at least" in page.locator(".bound label").all_inner_texts()


def test_scaled_and_logarithmic_variables_are_shown_as_themselves(page_of, solutions, atlases):
    for solution in (solutions[3], atlases[2]):
        n = solution.raveling.n_variables
        kinds = ("log10", "", "log")[:n] + ("",) * max(0, n - 3)
        names = dataclasses.replace(
            solution.names.complete(solution.n_objectives, n), transforms=kinds
        )
        scale = np.geomspace(2.0, 3e4, n)
        shown = dataclasses.replace(solution, names=names, raveling=solution.raveling.scaled(scale))
        page = page_of(shown)
        t = np.array(page.evaluate("[...bezierflow.state.t]"), dtype=float)
        x = page.evaluate("bezierflow.state.x")
        np.testing.assert_allclose(x, shown.flat_designs(t), rtol=1e-12)
        solved_for = np.asarray(solution.flat_designs(t))[0] / (
            scale[0] if solution is solutions[3] else 1.0
        )
        # designs of one surface are kept in the user's units
        assert x[0] == pytest.approx(scale[0] * 10**solved_for)


def test_a_doubtful_result_says_so_at_the_top(page_of, opened, solutions):
    doubtful = dataclasses.replace(
        solutions[3], result=Result(Reason.SUSPECT, "f2 still falls along <x3>")
    )
    page = page_of(doubtful)
    text = page.locator("#caution").inner_text()
    assert "suspect: f2 still falls along <x3>" in text
    red, green, blue = page.evaluate(
        "getComputedStyle(document.getElementById('caution')).color.match(/[0-9]+/g).map(Number)"
    )
    assert red > 2 * max(green, blue)
    assert "every" not in page.locator(".subtitle").inner_text()
    assert page.locator("#caution").bounding_box()["y"] < page.locator("h1").bounding_box()["y"]
    sure = opened(3)
    assert "every Pareto-optimal trade-off" in sure.locator(".subtitle").inner_text()
    assert sure.locator("#caution").count() == 0


def test_a_surface_that_is_far_off_claims_less(page_of, solutions):
    """A lifted method converges to the best surface of its degree, however far from the set that
    is."""
    error = solutions[2].error
    coarse = dataclasses.replace(
        solutions[2], known_error=dataclasses.replace(error, max=error.diameter / 10)
    )
    assert "near the Pareto front" in page_of(coarse).locator(".subtitle").inner_text()


def test_an_error_that_was_not_estimated_is_not_shown_as_a_number(page_of, solutions):
    unknown = dataclasses.replace(solutions[3], known_error=ErrorEstimate.unknown(1.0))
    assert "was not measured" in page_of(unknown).locator("#error").inner_text()
