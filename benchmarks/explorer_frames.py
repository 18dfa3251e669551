"""How long the explorer's page works for each frame of a drag, in a headless Chromium without a
graphics card.

`python benchmarks/explorer_frames.py` drags the point across the weight triangle (the line of two
objectives, a slider for four and more) with a bound in force, then turns the front of three
objectives, 120 moves each. Reported in milliseconds, median and 95th percentile: what the page's
own script does in one frame (values, pictures, tables), and the time from frame to frame. A page
that holds 60 frames a second has 16.7 ms for both and for what the browser does beside.
"""

import shutil
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

import bezierflow as bf

MOVES = 120

WATCH = """(() => {
    let spent = 0;
    const watched = (call) => function (...given) {
        const began = performance.now();
        try { return call.apply(this, given); } finally { spent += performance.now() - began; }
    };
    const ask = window.requestAnimationFrame.bind(window), listen = EventTarget.prototype.addEventListener;
    EventTarget.prototype.addEventListener = function (kind, call, ...rest) { listen.call(this, kind, watched(call), ...rest); };
    window.requestAnimationFrame = (call) => ask(watched(call));
    globalThis.watched = [];
    const count = (now) => { globalThis.watched.push([now, spent]); spent = 0; ask(count); };
    ask(count);
})()"""
"""Run before the page's own script: times whatever the page does in handlers of events and of
frames, frame by frame."""


def drag(page: Page, canvas: str) -> None:
    """The pointer goes round inside a canvas, one move a frame."""
    box = page.locator(canvas).bounding_box()
    assert box is not None
    middle = box["x"] + box["width"] / 2, box["y"] + 0.6 * box["height"]
    page.mouse.move(*middle)
    page.mouse.down()
    for k in range(MOVES):
        turn = 2 * np.pi * k / MOVES
        page.mouse.move(
            middle[0] + 0.2 * box["width"] * np.sin(turn),
            middle[1] + 0.2 * box["height"] * np.cos(turn),
        )
        page.evaluate("new Promise(requestAnimationFrame)")
    page.mouse.up()


def slide(page: Page) -> None:
    """The first weight goes up and down, one move a frame."""
    for k in range(MOVES):
        page.locator("#weight-0").fill(f"{0.5 - 0.4 * np.cos(2 * np.pi * k / MOVES):.3f}")
        page.evaluate("new Promise(requestAnimationFrame)")


def figures(page: Page, name: str) -> str:
    """A row of the table from what was watched since the last one."""
    frames, work = np.array(page.evaluate("watched.splice(0)")).T
    cells = [
        f"{np.median(part):.1f} / {np.quantile(part, 0.95):.1f}"
        for part in (work[work > 0.05], np.diff(frames))
    ]
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """Drags on four pages and prints a table."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    print("| what moves | the page's own work | frame to frame |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=program, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        for n_objectives, n_variables in ((2, 4), (3, 20), (4, 5), (6, 8)):
            problem = bf.problems.Quadratic.random(n_objectives, n_variables, seed=1)
            solution = bf.minimize(problem, np.zeros(n_variables), bf.lift(bf.Newton(), degree=3))
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.add_init_script(WATCH)
            page.goto(bf.explore(solution, Path(folder) / f"{n_objectives}.html").as_uri())
            page.locator("#bound-1").fill("700")
            page.evaluate("watched.splice(0)")
            drag(page, "#pad") if n_objectives <= 3 else slide(page)
            print(figures(page, f"the point, M = {n_objectives}"), flush=True)
            if n_objectives == 3:
                drag(page, "#front")
                print(figures(page, "the front in 3-D, M = 3"), flush=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
