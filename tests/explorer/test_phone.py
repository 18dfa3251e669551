"""The page in a hand: fingers, a window of 400 pixels, long names, and the marks of evaluations."""

import dataclasses

import numpy as np
import pytest

from bezierflow import explore
from bezierflow.answer import Evaluated
from bezierflow.metrics import nondominated
from bezierflow.names import Names

PHONE = {"width": 400, "height": 800, "touch": True}

LONG = (
    "Total annualized cost of ownership",
    "maximum_von_Mises_stress_at_the_root",
    "Life-cycle greenhouse gas emissions",
    "Geschwindigkeitsbegrenzungsüberschreitung",
)

WRITTEN = """(() => {
    const original = CanvasRenderingContext2D.prototype.fillText;
    globalThis.written = [];
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const width = this.measureText(text).width, from = { left: 0, right: -1, center: -0.5 }[this.textAlign] * width;
        const ends = [from, from + width].map((dx) => this.getTransform().transformPoint(new DOMPoint(x + dx, y)));
        const inside = ends.every((end) => end.x > -1 && end.x < this.canvas.width + 1 && end.y > 0 && end.y < this.canvas.height);
        written.push([text, inside]);
        return original.call(this, text, x, y);
    };
})();"""


class Fingers:
    """Touches of a page, as a screen reports them: no mouse is involved."""

    def __init__(self, page):
        self.session, self.page = page.context.new_cdp_session(page), page

    def send(self, kind, *places):
        points = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(places)]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def drag(self, start, by, *others):
        """One finger, so far; others are put down on the way and stay."""
        path = np.linspace(start, np.add(start, by), 12)
        self.send("touchStart", path[0])
        for place in path[1:3]:
            self.send("touchMove", place)
        if others:
            self.send("touchStart", path[2], *others)
        for place in path[3:]:
            self.send("touchMove", place, *others)
        self.send("touchEnd")
        settle(self.page)


def settle(page):
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def middle(page, name):
    """The middle of a canvas, once it is in the window."""
    page.locator(name).scroll_into_view_if_needed()
    box = page.locator(name).bounding_box()
    return np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])


def picture(page):
    return page.evaluate("document.getElementById('front').toDataURL()")


def chosen(page):
    return page.evaluate("[...bezierflow.state.t]")


@pytest.mark.parametrize("kind", ["surface", "atlas"])
def test_a_front_of_three_objectives_is_turned_by_a_finger(visit, pages, atlas_pages, kind):
    page = visit({"surface": pages, "atlas": atlas_pages}[kind][3], **PHONE)
    fingers, center = Fingers(page), middle(page, "#front")
    scrolled, t, first = page.evaluate("scrollY"), chosen(page), picture(page)
    fingers.drag(center, (90, 0))
    turned = picture(page)
    fingers.drag(center, (0, 60))  # tilted, where a page would scroll
    assert len({first, turned, picture(page)}) == 3
    assert page.evaluate("scrollY") == scrolled
    assert chosen(page) == t, "to turn is not to pick"
    page.touchscreen.tap(*np.subtract(center, (30, 20)))
    settle(page)
    assert chosen(page) != t


def test_a_second_finger_does_not_make_the_front_jump(visit, pages):
    pictures = []
    for others in ([], [(100, 500)]):
        page = visit(pages[3], **PHONE)
        center = middle(page, "#front")
        Fingers(page).drag(center, (90, 0), *others)
        page.wait_for_timeout(200)  # the fine picture comes after the last turn
        pictures.append(picture(page))
    assert pictures[0] == pictures[1]


def test_the_point_follows_a_finger_on_the_pad(visit, pages):
    page = visit(pages[3], **PHONE)
    center, before = middle(page, "#pad"), chosen(page)
    Fingers(page).drag(center, (-60, 60))
    assert chosen(page)[0] > before[0] + 0.1


def test_the_window_scrolls_over_pairs_of_objectives(visit, pages):
    """Their pictures are higher than a phone."""
    page = visit(pages[6], **PHONE)
    box = page.locator("#front").bounding_box()
    assert box["height"] > PHONE["height"]
    page.evaluate("(y) => scrollTo(0, y)", box["y"])
    scrolled, t = page.evaluate("scrollY"), chosen(page)
    Fingers(page).drag((200, 600), (0, -350))
    assert page.evaluate("scrollY") > scrolled + 200
    assert chosen(page) == t


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize(("kind", "which"), [("surface", n) for n in (2, 3, 4)] + [("atlas", 3)])
def test_names_of_axes_are_wrapped_and_inside(
    visit, solutions, atlases, tmp_path, kind, which, width
):
    solution = {"surface": solutions, "atlas": atlases}[kind][which]
    units = ("k€ per year", "MPa", "", "kg CO2 equivalent")[:which]
    names = Names(objectives=LONG[:which], objective_units=units)
    complete = names.complete(which, solution.raveling.n_variables)
    named = dataclasses.replace(solution, names=complete)
    page = visit(explore(named, tmp_path / "long.html"), width=width, before=WRITTEN)
    settle(page)
    texts = page.evaluate("written")
    assert [text for text, inside in texts if not inside] == []
    lines = " ".join(text for text, _ in texts)
    assert "…" not in lines
    letters = "".join(lines.split())
    for name in (*LONG[:which], *filter(None, units)):
        assert "".join(name.split()) in letters


@pytest.mark.parametrize("which", [2, 3, 4])
def test_evaluations_are_marked_where_their_values_are(visit, solutions, pages, tmp_path, which):
    solution, rng = solutions[which], np.random.default_rng(0)
    F = np.asarray(solution.fitted_front.surface(rng.dirichlet(np.ones(which), 7)))
    span = np.ptp(np.asarray(solution.fitted_front.surface(np.eye(which))), axis=0)
    F = np.vstack([F, F[:3] + 0.1 * span, F[:1] + 50 * span])  # dominated; far away
    evaluated = Evaluated(np.zeros((len(F), solution.raveling.n_variables)), F, nondominated(F))
    page = visit(explore(dataclasses.replace(solution, evaluated=evaluated), tmp_path / "e.html"))
    settle(page)
    known = page.evaluate("bezierflow.model.evaluated")
    np.testing.assert_array_equal([one["f"] for one in known], F)
    assert [one["best"] for one in known] == nondominated(F).tolist()
    assert not known[-1]["shown"]
    hint = page.locator("#front-hint").inner_text()
    n_outside = sum(not one["shown"] for one in known)
    assert f"Circles: the {nondominated(F).sum()} best of 11 evaluations" in hint
    assert f"{n_outside} lie outside" in hint
    without = visit(pages[which])
    settle(without)
    assert picture(page) != picture(without)
    assert "evaluations" not in without.locator("#front-hint").inner_text()
    # a circle is white in its middle
    if which == 2:
        place = """([f]) => {
            const { model } = bezierflow, canvas = document.getElementById("front"), ratio = canvas.width / canvas.clientWidth;
            const x = 64 + model.height(0, f[0]) * (canvas.clientWidth - 86), y = canvas.clientHeight - 48 - model.height(1, f[1]) * (canvas.clientHeight - 68);
            return [...canvas.getContext("2d").getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data];
        }"""
        inside = next(one["f"] for one in known if one["best"] and one["shown"])
        assert page.evaluate(place, [inside]) == [255] * 4
        assert without.evaluate(place, [inside]) != [255] * 4
