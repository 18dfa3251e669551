"""The page of an atlas in a real headless Chromium: the browser asks its patches as Python does,
and says what holds."""

import csv
import dataclasses
import io
import json
import re

import numpy as np
import pytest

from bezierflow import decisions, explore

EVERY = [2, 3, 4]

ASKED = """(points) => points.map((t) => {
    const { f, x, weights, number, holds } = bezierflow.model.point(t);
    return { f, x, weights, number, holds };
})"""


def state(page):
    return page.evaluate(
        "({t: [...bezierflow.state.t], f: bezierflow.state.f, x: bezierflow.state.x})"
    )


def settle(page):
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def places(atlas, n=300):
    """All over the simplex, and on the set with its edges."""
    M, rng = atlas.n_objectives, np.random.default_rng(0)
    on_set = atlas.points.f[rng.integers(len(atlas.points.f), size=n)]
    on_set = on_set + 1e-3 * rng.normal(size=(n, M))
    around = 1 / M - (on_set - on_set.mean(axis=1, keepdims=True)) / (M - 1)
    t = np.maximum(np.concatenate([rng.dirichlet(np.ones(M), n), around]), 0)
    return t / t.sum(axis=1, keepdims=True)


def numbers(atlas, t):
    """The patches that answer at t."""
    return atlas.ask(atlas.place(t)).number


def void(atlas):
    """A place whose answer has an objective that is better than asked."""
    t = places(atlas)
    full = np.array([patch.label.full for patch in atlas.patches])
    return t[np.flatnonzero(~full[numbers(atlas, t)])[0]]


@pytest.mark.slow("2", "4")
@pytest.mark.parametrize("which", [*EVERY, "constrained"])
def test_answers_are_those_of_python(opened_atlas, atlases, which):
    atlas = atlases[which].pareto_set
    t = places(atlas)
    found = opened_atlas(which).evaluate(ASKED, t.tolist())
    answering = numbers(atlas, t)
    dimensions = {atlas.patches[number].label.dimension for number in answering}
    # inside and beside the front, but where it covers the whole simplex
    assert len(dimensions) > 1 or which == "constrained"
    # where two patches say the same, rounding decides who answers
    same = np.array([one["number"] for one in found]) == answering
    assert same.mean() > 0.99
    np.testing.assert_array_equal(
        np.array([one["holds"] for one in found])[same], atlas.holds(t)[same]
    )
    scale = np.abs(atlas.units.ideal) + atlas.units.span
    np.testing.assert_allclose(
        [one["f"] for one in found] / scale, atlas.front(t) / scale, atol=1e-12
    )
    np.testing.assert_allclose([one["x"] for one in found], atlas.flat(t), atol=1e-12)
    np.testing.assert_allclose([one["weights"] for one in found], atlas.weights(t), atol=1e-11)


def test_a_place_that_no_patch_knows_is_answered_nearby(visit, atlases, tmp_path):
    whole = atlases[3]
    full = tuple(patch for patch in whole.pareto_set.patches if patch.label.full)
    solution = dataclasses.replace(
        whole, pareto_set=dataclasses.replace(whole.pareto_set, patches=full)
    )
    page = visit(explore(solution, tmp_path / "page.html"))
    t = [0.0, 0.45, 0.55]
    page.evaluate("(t) => bezierflow.moveTo(t)", t)
    settle(page)
    assert "No patch holds here" in page.locator("#place").inner_text()
    known = np.array(page.evaluate("bezierflow.model.knownValues"))
    a = solution.pareto_set.place(np.array(t))[0]
    near = np.array(page.evaluate("bezierflow.model.places"))[(known - a).max(axis=1).argmin()]
    np.testing.assert_allclose(state(page)["x"], solution.pareto_set.flat(near), atol=1e-12)
    np.testing.assert_allclose(state(page)["f"], solution.pareto_set.front(near), atol=1e-12)


@pytest.mark.slow("2", "4")
@pytest.mark.parametrize("which", EVERY)
def test_rates_are_those_of_python(opened_atlas, atlases, which):
    page, solution = opened_atlas(which), atlases[which]
    atlas = solution.pareto_set
    for t in [void(atlas), *places(atlas)[-4:]]:
        shown = page.evaluate(
            "(t) => bezierflow.model.rates(bezierflow.model.point(t)).matrix", t.tolist()
        )
        found, expected = np.array(shown, dtype=float), decisions.rates(solution, t).matrix
        priced = atlas.weights(t) * atlas.units.span > 1e-9
        both = np.outer(priced, priced)
        np.testing.assert_allclose(found[both], expected[both], rtol=1e-8)
        assert np.isnan(found[~both]).all()


def test_a_gap_is_shown_and_said(opened_atlas, atlases):
    page, atlas = opened_atlas(2), atlases[2].pareto_set
    settle(page)
    curves = [piece for piece in atlas.pieces if piece.dimension == 1]
    assert len(curves) > 1
    u = np.linspace(0.01, 0.99, 4001)  # short of where the simplex ends
    t = np.column_stack([u, 1 - u])
    on_front = np.array([patch.label.full for patch in atlas.patches])[numbers(atlas, t)]
    changes = u[np.flatnonzero(np.diff(on_front.astype(int)))]
    drawn = page.evaluate("""(() => {
            const { model } = bezierflow, mesh = model.mesh(true);
            const ends = new Map();
            for (const cell of mesh.cells.filter((_, k) => model.isFull(mesh.pieces[k]))) {
                for (const k of cell) ends.set(k, (ends.get(k) ?? 0) + 1);
            }
            return [...ends].filter(([, n]) => n === 1).map(([k]) => mesh.points[k][0]).sort((a, b) => a - b);
        })()""")
    drawn = [end for end in drawn if 0.01 < end < 0.99]
    np.testing.assert_allclose(drawn, changes, atol=1e-3)
    gap = float(changes[:2].mean())
    page.evaluate("(t) => bezierflow.moveTo(t)", [gap, 1 - gap])
    settle(page)
    text = page.locator("#place").inner_text()
    assert "In a gap of the front" in text
    assert "better than asked" in text


def test_cells_lie_on_their_pieces(opened_atlas, atlases):
    """The middle of a cell of the simplex is answered by the piece that the cell is drawn for, but
    for the thinnest cells."""
    corners, pieces = opened_atlas(3).evaluate("""(() => {
            const mesh = bezierflow.model.mesh(true), areas = [...mesh.cells.keys()].filter((k) => mesh.cells[k].length === 3);
            return [areas.map((k) => mesh.cells[k].map((corner) => mesh.points[corner])), areas.map((k) => mesh.pieces[k])];
        })()""")
    corners = np.array(corners)
    sides = corners[:, 1:] - corners[:, :1]
    area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2
    assert area.sum() == pytest.approx(np.sqrt(3) / 2, rel=1e-2)  # of the simplex
    expected = atlases[3].set.owners(corners.mean(axis=1))
    assert area[np.array(pieces) == expected].sum() > 0.995 * area.sum()
    assert len(set(pieces)) > 6


@pytest.mark.parametrize("which", [2, 3])
def test_dragging_on_the_pad_moves_the_point_and_everything_follows(opened_atlas, atlases, which):
    page, atlas = opened_atlas(which), atlases[which].pareto_set
    box = page.locator("#pad").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.55, steps=4)
    page.mouse.up()
    settle(page)
    now = state(page)
    assert now["t"][0] > 1 / which + 0.02  # to the left the first objective is better
    assert sum(now["t"]) == pytest.approx(1, abs=1e-12)
    t = np.array(now["t"])
    np.testing.assert_allclose(now["f"], atlas.front(t), atol=1e-12)
    np.testing.assert_allclose(now["x"], atlas.flat(t), atol=1e-12)
    shown = page.locator(".objective .value").first.inner_text().replace("−", "-")
    assert float(shown) == pytest.approx(now["f"][0], rel=1e-4)
    page.mouse.click(box["x"] + 5, box["y"] + 5)  # outside: to the edge of what is drawn
    settle(page)
    loss = atlas.place(np.array(state(page)["t"], dtype=float))
    assert np.ptp(loss) == pytest.approx(1, abs=2e-5)


@pytest.mark.slow("2", "4")
@pytest.mark.parametrize("which", EVERY)
def test_a_slider_is_what_is_accepted_of_its_objective(opened_atlas, atlases, which):
    """The others keep their differences, and what is traded off comes out as the sliders say."""
    page, atlas = opened_atlas(which), atlases[which].pareto_set
    before = np.array(state(page)["t"])
    page.locator("#weight-1").fill("0.3")
    settle(page)
    now = state(page)
    accepted = atlas.units.ideal[1] + 0.3 * atlas.units.span[1]
    t = np.array(now["t"])
    if atlas.label(t).objectives[1]:
        assert now["f"][1] == pytest.approx(accepted, abs=1e-6 * atlas.units.span[1])
    else:
        assert now["f"][1] <= accepted
    others = [m for m in range(which) if m != 1]
    np.testing.assert_allclose(np.diff(t[others]), np.diff(before[others]), atol=1e-9)
    assert float(page.locator("#weight-1").input_value()) == pytest.approx(0.3, abs=1.1e-3)


def test_the_keyboard_moves_the_point(opened_atlas):
    page = opened_atlas(3)
    page.locator("#pad").focus()
    before = state(page)["t"]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Shift+ArrowUp")
    after = state(page)["t"]
    assert after[2] > before[2] + 0.02
    assert after[0] - before[0] == pytest.approx(after[1] - before[1])
    page.locator("#weight-0").focus()
    page.keyboard.press("ArrowLeft")
    assert state(page)["t"][0] > after[0]  # less is accepted of the first objective
    page.locator(".piece").nth(1).focus()
    page.keyboard.press("Enter")
    settle(page)
    assert page.locator(".piece").nth(1).get_attribute("aria-current") == "true"
    assert page.evaluate(
        "[...document.querySelectorAll('button, input, canvas:not([hidden])')].every((one) =>"
        " one.tabIndex >= 0)"
    )


@pytest.mark.slow("2", "4")
@pytest.mark.parametrize("which", EVERY)
def test_a_bound_shades_what_it_excludes_and_snaps_the_point(opened_atlas, which):
    page = opened_atlas(which)
    page.locator("#weight-0").fill("0.9")
    settle(page)
    picture = page.evaluate("document.getElementById('front').toDataURL()")
    page.locator("#bound-0").fill("300")
    settle(page)
    bound, feasible = page.evaluate("[bezierflow.state.bounds[0], bezierflow.state.feasible]")
    assert 0 < sum(feasible) < len(feasible)
    assert state(page)["f"][0] <= bound + 1e-6
    assert page.evaluate("document.getElementById('front').toDataURL()") != picture


@pytest.mark.slow("2", "4")
@pytest.mark.parametrize("which", EVERY)
def test_go_to_least_finds_the_least(opened_atlas, atlases, which):
    page, units = opened_atlas(which), atlases[which].pareto_set.units
    page.locator("#bound-1").fill("500")
    limit = page.evaluate("bezierflow.state.bounds[1]")
    page.get_by_role("button", name="go to least").first.click()
    expected = decisions.best(atlases[which], 0, {1: (None, limit)})
    assert state(page)["f"][0] == pytest.approx(expected.f[0], abs=1e-2 * units.span[0])


def test_what_is_active_is_said(opened_atlas, atlases):
    page, atlas = opened_atlas(3), atlases[3].pareto_set
    names = atlases[3].names
    piece = next(
        piece for piece in atlas.pieces if piece.dimension == 2 and (piece.side == 1).any()
    )
    f = atlas.points.f[np.isin(atlas.points.patch, piece.patches)]
    middle = f[np.argsort(np.linalg.norm(f - f.mean(axis=0), axis=1))[0]]
    t = atlas.t(atlas.units.ideal + middle * atlas.units.span)
    page.evaluate("(t) => bezierflow.moveTo(t)", t.tolist())
    settle(page)
    i = int(np.flatnonzero(piece.side == 1)[0])
    assert f"{names.variables[i]} at its upper bound" in page.locator("#place").inner_text()
    assert "at upper bound" in page.locator(".design tr").nth(i).inner_text()
    assert page.locator('.piece[aria-current="true"]').count() == 1


def test_active_constraints_are_said(opened_atlas, atlases):
    page, atlas = opened_atlas("constrained"), atlases["constrained"].pareto_set
    labels = [patch.label for patch in atlas.patches]
    assert {label.n_inequalities for label in labels} == {1}
    assert all(label.constraints[1] for label in labels)  # the equality, of which nothing is said
    seen = set()
    for t in atlas.t(atlas.units.ideal + atlas.points.f[::40] * atlas.units.span):
        said = page.evaluate(
            "(t) => bezierflow.model.describe(bezierflow.model.point(t)).join(' ')", t.tolist()
        )
        active = bool(atlas.label(t).constraints[0])
        assert ("inequality 1" in said) == active
        assert "inequality 2" not in said
        named = page.evaluate(
            """(t) => {
              const model = bezierflow.model;
              model.inequalities = ["stress <= 250 MPa"];
              const said = model.describe(model.point(t)).join(" ");
              model.inequalities = [];
              return said;
            }""",
            t.tolist(),
        )
        assert ("stress <= 250 MPa" in named) == active
        seen.add(active)
    assert len(seen) > 1


def test_bookmarks_are_exported(opened_atlas, atlases):
    page, names = opened_atlas(3), atlases[3].names
    page.locator("#weight-0").fill("0.6")
    page.locator("#add").click()
    chosen = state(page)
    with page.expect_download() as waiting:
        page.locator("#csv").click()
    rows = list(csv.reader(io.StringIO(waiting.value.path().read_text(encoding="utf-8"))))
    assert rows[0][4] == f"t: {names.objectives[0]}"
    np.testing.assert_array_equal(
        [float(cell) for cell in rows[1][1:]], [*chosen["f"], *chosen["t"], *chosen["x"]]
    )
    with page.expect_download() as waiting:
        page.locator("#json").click()
    assert (
        json.loads(waiting.value.path().read_text(encoding="utf-8"))["choices"][0]["x"]
        == chosen["x"]
    )
    page.locator("#weight-1").fill("0.2")
    page.get_by_role("button", name="go", exact=True).click()
    np.testing.assert_allclose(state(page)["t"], chosen["t"])


def test_names_are_text_never_markup(opened_atlas, atlases):
    page = opened_atlas(3)
    page.locator("#add").click()
    page.evaluate("(t) => bezierflow.moveTo(t)", void(atlases[3].pareto_set).tolist())
    settle(page)
    assert page.evaluate("document.querySelectorAll('img, b, i, main script').length") == 0
    assert "better than asked" in page.locator("#place").inner_text()


@pytest.mark.slow("1440")
@pytest.mark.parametrize("width", [400, 1440])
def test_nothing_is_wider_than_the_window(opened_atlas, width):
    for which in EVERY:
        page = opened_atlas(which, width=width)
        page.locator("#add").click()
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, which


@pytest.mark.slow("2", "4")
@pytest.mark.parametrize("which", EVERY)
def test_clicking_the_front_picks_the_point_there(opened_atlas, which):
    page = opened_atlas(which)
    settle(page)
    before = state(page)["t"]
    front = page.locator("#front")
    box = front.bounding_box()
    front.click(position={"x": 0.25 * box["width"], "y": 0.3 * box["height"]})
    settle(page)
    assert state(page)["t"] != before


def test_pages_are_small_and_whole(atlas_pages, atlases):
    for which, path in atlas_pages.items():
        text = path.read_text(encoding="utf-8")
        assert path.stat().st_size < 300_000
        assert "http" not in re.sub(r"http-equiv", "", text)
        assert f"The run: {str(atlases[which].result)[:12]}" in text


def test_a_page_in_a_frame_that_is_not_shown_waits(opened_atlas):
    """Without sizes there is no shortest column; shown again, the page is as it was."""
    page = opened_atlas(2)
    shown = page.locator("main").inner_text()
    for display in ("none", ""):
        page.evaluate(
            "(display) => { document.body.style.display = display; dispatchEvent(new"
            " Event('resize')); }",
            display,
        )
    assert page.locator("main").inner_text() == shown


def test_a_surrogate_is_shown_by_its_predictions(visit, atlases, tmp_path):
    """How many answers hold says nothing of a surrogate: its errors are those of evaluations that
    it had not seen."""
    error = dataclasses.replace(
        atlases[2].error,
        front=None,
        coverage=None,
        n_samples=6,
        max=0.0125,
        rms=0.0075,
        by_objective=(0.3, 0.2),
    )
    page = visit(
        explore(dataclasses.replace(atlases[2], known_error=error), tmp_path / "surrogate.html")
    )
    text = page.locator("#error").inner_text()
    assert "hold" not in text
    assert all(word in text for word in ("surrogate", "last 6", "0.0125", "0.0075"))
    assert "surrogate" in page.locator(".tolerance").first.get_attribute("title")


def test_the_error_is_shown(opened_atlas, atlases):
    page = opened_atlas(2)
    settle(page)
    assert "fresh answers hold" in page.locator("#error").inner_text()
    worst = atlases[2].error.front * atlases[2].pareto_set.units.span[0]
    assert float(
        page.locator(".tolerance").first.inner_text().strip("± ").replace("−", "-")
    ) == pytest.approx(worst, rel=0.5)
