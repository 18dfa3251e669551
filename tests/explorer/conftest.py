"""A real headless Chromium for the page's tests, if there is one on this machine."""

import dataclasses
import os
import shutil
from pathlib import Path

import pytest

from bezierflow import explore, load
from bezierflow.names import Names
from solved import distances_to_points

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="session")
def browser():
    program = os.environ.get("BEZIERFLOW_BROWSER") or next(
        filter(None, map(shutil.which, BROWSERS)), None
    )
    if program is None:
        pytest.skip(
            "no Chromium on this machine: install it (Debian: `make browser`) or set"
            " BEZIERFLOW_BROWSER to its path"
        )
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="no playwright: pip install 'bezierflow[browser]'"
    )
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield chromium
        chromium.close()


NAMES = {
    2: Names(objectives=("Cost", "Emissions"), objective_units=("k€", "t")),
    3: Names(objectives=("Cost", "Mass", "Noise"), objective_units=("k€", "kg", "dB")),
    4: Names(),
    6: Names(),
    "evil": Names(
        objectives=(EVIL, "</script><script>alert(2)</script>", '"quoted", & <b>bold</b>'),
        variables=(EVIL, "$title", "y"),
    ),
}


@pytest.fixture(scope="session")
def solutions():
    sizes = {2: (2, 3), 3: (3, 20, 5, 10), 4: (4, 5), 6: (6, 8), "evil": (3, 3)}
    return {which: distances_to_points(*size, names=NAMES[which]) for which, size in sizes.items()}


@pytest.fixture(scope="session")
def pages(solutions, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return {
        which: explore(one, folder / f"{which}.html", title="Study & <i>more</i>")
        for which, one in solutions.items()
    }


@pytest.fixture(scope="session")
def atlases():
    """Two objectives with gaps and an isolated point, three and four in a box, two with
    constraints; see `make_atlases`."""
    found = {
        which: load(Path(__file__).parent / "atlases" / f"{which}.bez")
        for which in (2, 3, 4, "constrained")
    }
    return found | {3: dataclasses.replace(found[3], names=NAMES["evil"].complete(3, 3))}


@pytest.fixture(scope="session")
def atlas_pages(atlases, tmp_path_factory):
    folder = tmp_path_factory.mktemp("atlas_pages")
    return {
        which: explore(one, folder / f"{which}.html", title="Study & <i>more</i>")
        for which, one in atlases.items()
    }


@pytest.fixture
def opened(visit_again, pages):
    """The page of one surface."""
    return lambda which, **window: visit_again(pages[which], **window)


@pytest.fixture
def opened_atlas(visit_again, atlas_pages):
    """The page of an atlas."""
    return lambda which, **window: visit_again(atlas_pages[which], **window)


@pytest.fixture
def visit(browser):
    """Opens a page; at the end there must have been no error, no dialog and no request but the file
    itself."""
    troubles, opened = [], []

    def visit(path, **window):
        opened.append(open_page(browser, path, troubles, **window))
        return opened[-1]

    yield visit
    for page in opened:
        page.context.close()
    assert troubles == []


@pytest.fixture(scope="session")
def kept_pages(browser):
    """Pages that stay open from one test to the next, each with what went wrong on it: most of the
    time goes into opening."""
    kept = {}
    yield kept
    for page, _ in kept.values():
        page.context.close()


FIRST_STATE = """() => {
    const { bookmarks, state } = bezierflow;
    state.bookmarks.length = bookmarks.count = 0;
    bookmarks.update();
    document.getElementById("reset").click();
    document.activeElement.blur();
    scrollTo(0, 0);
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


@pytest.fixture
def visit_again(browser, kept_pages):
    """As `visit`, but a page that is open already is brought back to its first state; a front that
    was turned stays so."""
    visited = []

    def visit_again(path, width=1440, height=900):
        if path in kept_pages:
            page, troubles = kept_pages[path]
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate(FIRST_STATE)
        else:
            troubles = []
            page = open_page(browser, path, troubles, width, height)
            kept_pages[path] = page, troubles
        visited.append(path)
        return page

    yield visit_again
    found = {path: list(kept_pages[path][1]) for path in visited}
    for path in found:
        kept_pages[path][1].clear()
    assert not any(found.values()), found


def open_page(browser, path, troubles, width=1440, height=900, touch=False, before=""):
    """A page in a context of its own, after a script `before`; errors, dialogs and requests but the
    file itself are put down as troubles."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, accept_downloads=True, has_touch=touch
    )
    page = context.new_page()
    page.add_init_script(before)
    page.on(
        "console",
        lambda message: message.type in ("error", "warning") and troubles.append(message.text),
    )
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on(
        "dialog", lambda dialog: (troubles.append(f"dialog: {dialog.message}"), dialog.dismiss())
    )
    address = path.as_uri()
    page.on(
        "request",
        lambda request: (
            request.url.split(":")[0] == "blob"
            or request.url == address
            or troubles.append(request.url)
        ),
    )
    page.goto(address)
    return page
