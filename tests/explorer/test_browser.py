"""The page in a real headless Chromium: what a person does with it, and what they see."""

import csv
import io
import json

import jax
import numpy as np
import optax
import pytest

from bezierflow import decisions, explore
from bezierflow.precision import double_precision
from bezierflow.simplex import multi_indices
from solved import distances_to_points

EVERY = [2, 3, 4, 6, "evil"]


def state(page):
    return page.evaluate(
        "({t: [...bezierflow.state.t], f: bezierflow.state.f, x: bezierflow.state.x})"
    )


def settle(page):
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.mark.parametrize("which", EVERY)
def test_polynomials_are_those_of_python(opened, solutions, which):
    page, solution = opened(which), solutions[which]
    n_objectives = solution.n_objectives
    t = np.vstack(
        [np.random.default_rng(0).dirichlet(np.ones(n_objectives), 6), np.eye(n_objectives)]
    )
    f, x, slopes, indices = page.evaluate(
        """(points) => [
            points.map((t) => bezierflow.model.front.evaluate(t)),
            points.map((t) => bezierflow.model.designs.evaluate(t)),
            points.map((t) => bezierflow.model.designs.derivative(t)),
            bezierflow.multiIndices(points[0].length, 4),
        ]""",
        t.tolist(),
    )
    np.testing.assert_allclose(
        f, np.asarray(solution.fitted_front.surface(t)), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(x, np.asarray(solution.flat_surface(t)), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        slopes, np.asarray(solution.flat_surface.derivative(t)), rtol=1e-12, atol=1e-11
    )
    np.testing.assert_array_equal(indices, multi_indices(n_objectives, 4))


@pytest.mark.parametrize("which", [2, 3, 4, 6])
def test_rates_are_those_of_python(opened, solutions, which):
    page, solution = opened(which), solutions[which]
    for t in np.random.default_rng(1).dirichlet(3 * np.ones(solution.n_objectives), 3):
        found = page.evaluate(
            "(t) => bezierflow.tradeoffRates(bezierflow.model.front, t, bezierflow.model.scale)",
            t.tolist(),
        )
        np.testing.assert_allclose(found, decisions.rates(solution, t).matrix, rtol=1e-8)


@pytest.mark.parametrize("n_objectives", [2, 3, 5])
def test_a_point_outside_goes_to_the_nearest_point_of_the_simplex(opened, n_objectives):
    points = np.random.default_rng(2).normal(scale=2, size=(20, n_objectives))
    found = opened(2).evaluate(
        "(points) => points.map(bezierflow.projectToSimplex)", points.tolist()
    )
    with double_precision():
        expected = np.asarray(jax.vmap(optax.projections.projection_simplex)(points))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_dragging_in_the_triangle_moves_the_point_and_everything_follows(opened, solutions):
    page = opened(3)
    before = state(page)
    box = page.locator("#pad").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.65)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.8, steps=5)
    page.mouse.up()
    settle(page)
    after = state(page)
    assert after["t"][0] > before["t"][0] + 0.1
    assert sum(after["t"]) == pytest.approx(1)
    t = np.array(after["t"])
    np.testing.assert_allclose(
        after["f"], np.asarray(solutions[3].fitted_front.surface(t)), rtol=1e-12
    )
    np.testing.assert_allclose(
        after["x"], np.asarray(solutions[3].flat_surface(t)), rtol=1e-12, atol=1e-12
    )
    shown = page.locator(".objective .value").first.inner_text().replace("−", "-")
    assert float(shown) == pytest.approx(after["f"][0], rel=1e-4)
    assert float(page.locator("#weights output").first.inner_text()) == pytest.approx(
        after["t"][0], abs=1e-3
    )


@pytest.mark.parametrize("which", EVERY)
def test_sliders_move_one_weight_and_keep_the_proportions_of_the_others(opened, which):
    page = opened(which)
    page.locator("#weight-1").fill("0.7")
    settle(page)
    t = state(page)["t"]
    assert t[1] == pytest.approx(0.7)
    assert t[0] == pytest.approx(0.3 / (len(t) - 1))
    page.locator("#weight-0").fill("1")
    page.locator("#weight-0").fill("0.5")  # the others were all 0: they share alike
    t = state(page)["t"]
    np.testing.assert_allclose(t[1:], 0.5 / (len(t) - 1))


def test_the_keyboard_reaches_and_moves_everything(opened):
    page = opened(3)
    page.locator("#pad").focus()
    before = state(page)["t"]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Shift+ArrowUp")
    after = state(page)["t"]
    assert after[2] == pytest.approx(before[2] + 0.06 / 0.866, abs=2e-3)
    turn = page.evaluate("document.getElementById('front').toDataURL()")
    page.locator("#front").focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    assert page.evaluate("document.getElementById('front').toDataURL()") != turn
    page.locator("#weight-0").focus()
    page.keyboard.press("End")
    assert state(page)["t"][0] == 1
    page.locator("#add").focus()
    page.keyboard.press("Enter")
    assert page.locator(".bookmarks tbody tr").count() == 1
    order = page.evaluate(
        "[...document.querySelectorAll('button, input, canvas:not([hidden])')].every((one) =>"
        " one.tabIndex >= 0)"
    )
    assert order


@pytest.mark.parametrize("which", [2, 3, 4, 6])
def test_a_bound_shades_what_it_excludes_and_snaps_the_point(opened, which):
    page = opened(which)
    settle(page)
    picture = page.evaluate("document.getElementById('front').toDataURL()")
    page.locator("#weight-1").fill("1")  # to where objective 0 is far from its best
    worst = state(page)["f"][0]
    page.locator("#bound-0").fill("300")
    settle(page)
    bound, feasible = page.evaluate("[bezierflow.state.bounds[0], bezierflow.state.feasible]")
    assert 0 < sum(feasible) < len(feasible)
    now = state(page)
    assert worst > bound
    assert now["f"][0] <= bound * (1 + 1e-6)
    assert now["f"][0] == pytest.approx(bound, rel=1e-3)  # as near to the wish as the bound allows
    assert page.evaluate("document.getElementById('front').toDataURL()") != picture
    page.evaluate("(t) => bezierflow.moveTo(t)", np.eye(len(now["t"]))[1].tolist())
    assert state(page)["f"][0] <= bound * (1 + 1e-6)
    assert page.locator("#message").is_hidden()


def test_bounds_that_nothing_meets_are_said_and_the_point_stays(opened):
    page = opened(3)
    for m in range(3):
        page.locator(f"#bound-{m}").fill("10")
    before = state(page)["t"]
    page.locator("#weight-0").fill("0.9")
    settle(page)
    assert page.locator("#message").is_visible()
    assert "Loosen one" in page.locator("#message").inner_text()
    assert state(page)["t"] == before
    page.locator("#reset").click()
    assert page.locator("#message").is_hidden()
    np.testing.assert_allclose(state(page)["t"], 1 / 3)


def test_go_to_least_finds_the_least_within_the_bounds(opened, solutions):
    page = opened(3)
    page.locator("#bound-1").fill("400")
    limit = page.evaluate("bezierflow.state.bounds[1]")
    page.get_by_role("button", name="go to least").first.click()
    expected = decisions.best(solutions[3], 0, {1: (None, limit)})
    assert state(page)["f"][0] == pytest.approx(
        expected.f[0], abs=2e-3 * decisions.ranges(solutions[3]).width[0]
    )


@pytest.mark.parametrize("which", [3, "evil"])
def test_bookmarks_are_compared_and_exported(opened, solutions, which):
    page, names = opened(which), solutions[which].names
    page.locator("#add").click()
    page.locator("#weight-0").fill("0.8")
    page.locator("#add").click()
    page.locator(".bookmarks tbody input").nth(1).fill('the "light", one')
    assert page.locator(".bookmarks tbody tr").count() == 2
    chosen = state(page)
    with page.expect_download() as waiting:
        page.locator("#csv").click()
    assert waiting.value.suggested_filename == "choices.csv"
    rows = list(csv.reader(io.StringIO(waiting.value.path().read_text(encoding="utf-8"))))
    assert rows[0][1:4] == list(names.objective_labels)
    assert rows[2][0] == 'the "light", one'
    np.testing.assert_array_equal(
        [float(cell) for cell in rows[2][1:]], [*chosen["f"], *chosen["t"], *chosen["x"]]
    )
    with page.expect_download() as waiting:
        page.locator("#json").click()
    exported = json.loads(waiting.value.path().read_text(encoding="utf-8"))
    assert exported["names"] == names.to_dict()
    assert exported["choices"][1]["x"] == chosen["x"]
    page.locator("#weight-1").fill("1")
    page.get_by_role("button", name="go", exact=True).nth(1).click()
    np.testing.assert_allclose(state(page)["t"], chosen["t"])
    page.get_by_role("button", name="Remove Choice 1").click()
    assert page.locator(".bookmarks tbody tr").count() == 1


def test_names_are_text_never_markup(opened, solutions):
    page = opened("evil")
    page.locator("#add").click()
    assert page.evaluate("document.querySelectorAll('img, b, i, main script').length") == 0
    assert page.evaluate("document.scripts.length") == 2
    assert page.locator("h1").inner_text() == "Study & <i>more</i>"
    for m, name in enumerate(solutions["evil"].names.objectives):
        assert page.locator(".objective h3").nth(m).inner_text() == name
    assert page.locator(".design th").nth(1).inner_text() == "$title"


@pytest.mark.parametrize("which", [2, 3, 4])
def test_clicking_the_front_picks_the_point_there(opened, which):
    page = opened(which)
    settle(page)
    before = state(page)["t"]
    front = page.locator("#front")
    box = front.bounding_box()
    front.click(position={"x": 0.25 * box["width"], "y": 0.3 * box["height"]})
    settle(page)
    assert state(page)["t"] != before


TOO_WIDE = """[...document.querySelectorAll("body *")].filter((one) => one.clientWidth && one.scrollWidth > one.clientWidth + 1
    && !["INPUT", "CANVAS"].includes(one.tagName) && !one.classList.contains("range") && !one.closest(".hidden")
    && getComputedStyle(one).display !== "inline").map((one) => one.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("width", [400, 900, 1280])
def test_nothing_is_wider_than_its_place(visit, opened, pages, width):
    """In a window that is made narrower, and one of them opened on a narrow screen."""
    for which in (3, 6, "evil"):
        page = (
            visit(pages[which], width=width)
            if (which, width) == ("evil", 400)
            else opened(which, width=width)
        )
        page.locator("#add").click()
        page.locator("#weight-1").fill("0.9")
        page.locator("#add").click()
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, which
        assert page.evaluate(TOO_WIDE) == [], which


def test_rates_fit_in_a_window_that_was_made_narrower_where_they_were_shorter(opened):
    page = opened(6)
    for width in (1440, 400):
        page.set_viewport_size({"width": width, "height": 900})
        page.locator("#weight-1").fill("0.9")
        settle(page)
        assert page.evaluate(TOO_WIDE) == [], width
        page.locator("#reset").click()
        settle(page)


def test_a_range_dragged_along_an_axis_keeps_what_is_in_it(opened):
    """Parallel coordinates of four objectives: both ends of a range limit the front, and a click
    takes them off."""
    page = opened(4)
    settle(page)
    x, top, bottom = page.evaluate(
        """(() => { const box = document.getElementById("parallel").getBoundingClientRect();
            return [box.left + Math.min(58, box.width / 8), box.top + 42, box.bottom - 22]; })()"""
    )
    page.mouse.move(x, top + 0.2 * (bottom - top))
    page.mouse.down()
    page.mouse.move(x + 3, top + 0.6 * (bottom - top), steps=4)
    page.mouse.up()
    settle(page)
    ideal, scale, values, feasible = page.evaluate(
        """(({ model, state }) =>
            [model.ideal[0], model.scale[0], model.sampleValues.map((f) => f[0]), state.feasible])(bezierflow)"""
    )
    loss = (np.array(values) - ideal) / scale
    assert (loss[feasible] > 0.18).all()
    assert (loss[feasible] < 0.62).all()
    assert np.array(feasible)[(loss > 0.22) & (loss < 0.58)].all()
    assert 0.18 < (state(page)["f"][0] - ideal) / scale < 0.62
    assert "not better than" in page.locator(".objective").first.inner_text()
    page.mouse.click(x, top + 0.4 * (bottom - top))
    assert all(page.evaluate("bezierflow.state.feasible"))
    page.locator("#parallel").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("bezierflow.state.bounds.map(Number.isFinite)") == [
        False,
        True,
        False,
        False,
    ]


def test_bookmarks_are_drawn_side_by_side(opened):
    page = opened(2)
    chart = page.locator(".comparison")
    page.locator("#add").click()
    assert chart.is_hidden()
    page.locator("#weight-1").fill("0.9")
    page.locator("#add").click()
    assert chart.is_visible()
    colors = page.evaluate("bezierflow.state.bookmarks.map(({ color }) => color)")
    assert set(colors) <= colors_on(page, ".comparison")


def colors_on(page, canvas):
    """The colors of a canvas's opaque pixels."""
    return set(
        page.evaluate(
            """(name) => {
            const canvas = document.querySelector(name), seen = new Set(), copy = new OffscreenCanvas(canvas.width, canvas.height);
            const context = copy.getContext("2d", { willReadFrequently: true });
            context.drawImage(canvas, 0, 0);
            const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
            const hex = (value) => value.toString(16).padStart(2, "0");
            for (let k = 0; k < data.length; k += 4) {
                if (data[k + 3] === 255) seen.add(`#${hex(data[k])}${hex(data[k + 1])}${hex(data[k + 2])}`);
            }
            return [...seen];
        }""",
            canvas,
        )
    )


@pytest.mark.parametrize("which", [2, 3, 4])
def test_canvases_follow_the_scheme_that_the_reader_prefers(opened, which):
    page = opened(which)
    page.locator("#add").click()
    canvases = ["#front", "#parallel" if which == 4 else "#pad"]
    rim = {}
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        settle(page)
        read = "getComputedStyle(document.documentElement).getPropertyValue('--panel').trim()"
        rim[scheme] = page.evaluate(read)
        for canvas in canvases:
            assert rim[scheme] in colors_on(page, canvas)
    for canvas in canvases:
        assert rim["dark"] not in colors_on(page, canvas)


def test_the_error_of_the_surface_is_shown(opened):
    page = opened(3)
    settle(page)
    assert "Surface error" in page.locator("#error").inner_text()
    assert "± 0" in page.locator(".tolerance").first.inner_text()


def test_numbers_are_written_for_people(opened):
    asked = [
        [0.5, 4],
        [-7.1e-15, 4, 60],
        [-7.1e-15, 2],
        [1234567.8, 3],
        [-2.5, 4, 1e13],
        [3.0, 4, 60],
    ]
    written = opened(3).evaluate(
        "(asked) => asked.map((one) => bezierflow.readable(...one))", asked
    )
    assert written == ["0.5", "0", "−7e−15", "1.2e+6", "0", "3"]


def test_of_very_many_variables_those_that_change_most_are_listed(visit, tmp_path):
    solution = distances_to_points(2, 2500)
    page = visit(explore(solution, tmp_path / "many.html"))
    shown = page.locator("#design th").all_inner_texts()
    ranges = np.ptp(np.asarray(solution.pareto_set.control_points), axis=0)
    widest = sorted(np.argsort(-ranges, kind="stable")[:200])
    assert shown == [f"x{i + 1}" for i in widest]
    assert "The 200 of 2500 variables that change most" in page.locator("#main").inner_text()
