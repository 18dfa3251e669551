"""Makes the pictures in docs/images: run `python docs/pictures.py`. The page's picture needs
Chromium and playwright."""

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

import bezierflow as bf
from bezierflow import decisions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    """All pictures, from one run."""
    problem = bf.problems.ScaledMED().with_names(
        objectives=["Cost", "Mass", "Noise"], objective_units=["EUR", "kg", "dB"]
    )
    solution = bf.minimize(problem, np.zeros(3), bf.lift(bf.Newton(), degree=4))
    design = gearbox()
    choices = {
        "knee": decisions.knee(design),
        "least Cost with Mass ≤ 15 kg": decisions.best(design, "Cost", {"Mass": (None, 15.0)}),
        "least regret, 1 kg for 1 to 5 k€": decisions.robust(
            design, {"Cost": (1, 1), "Mass": (1, 5), "Noise": (1, 1)}
        ),
    }
    pictures = {
        "front-choices": bf.plots.front(design, choices=choices).figure,
        "error": bf.plots.error(solution).figure,
        "paths": bf.plots.paths(solution),
        "atlas": atlas(boxed := in_a_box()),
    }
    for name, figure in pictures.items():
        figure.savefig(IMAGES / f"{name}.png", dpi=110)
    with tempfile.TemporaryDirectory() as folder:
        photograph(
            bf.explore(design, Path(folder) / "page.html", title="Gearbox study"),
            "explorer",
            "420",
            "0.62",
        )
        photograph(
            bf.explore(boxed, Path(folder) / "atlas.html", title="Three sites"),
            "explorer-atlas",
            "800",
            "0.12",
        )


def in_a_box() -> bf.Solution:
    """Distances to three points, within bounds that cut most of the straight triangle off."""
    problem = bf.problems.Problem(
        distances,
        objective_names=["Cost", "Mass", "Noise"],
        objective_units=["k€", "kg", "dB"],
        n_variables=3,
    )
    return bf.minimize(problem, None, bounds=(np.full(3, 0.1), np.full(3, 0.7)))


def atlas(solution: bf.Solution) -> "Figure":
    """The simplex with its regions, the designs, and the front."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12.5, 4.2), layout="constrained")
    bf.plots.chart(
        solution, ax=figure.add_subplot(1, 3, 1), title="the simplex, a color for each piece"
    )
    for place, draw, title in ((2, bf.plots.surface, "designs"), (3, bf.plots.front, "front")):
        ax = draw(solution, ax=figure.add_subplot(1, 3, place, projection="3d"), title=title)
        ax.get_legend().remove()
    return figure


def distances(x: Any) -> Any:
    """Squared distances to three points, two of them outside of the box."""
    points = np.array([[1.5, 0.2, 0.4], [-0.3, 0.9, 0.1], [0.2, -0.5, 1.4]])
    return jnp.sum((x - points) ** 2, axis=1)


def gearbox() -> bf.Solution:
    """Three quadratic objectives of twenty variables, under names a design team might use."""
    problem = bf.problems.Quadratic.random(3, 20, seed=4)
    named = problem.with_names(
        objectives=["Cost", "Mass", "Noise"], objective_units=["k€", "kg", "dB"]
    )
    return bf.minimize(named, np.zeros(20), bf.lift(bf.Newton(), degree=5))


def photograph(page: Path, name: str, bound: str, slider: str) -> None:
    """The page after a person has set a bound, moved the third slider and kept two choices."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = driver.chromium.launch(
            executable_path=program, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        tab = browser.new_page(viewport={"width": 1440, "height": 900})
        tab.set_default_timeout(120_000)
        tab.goto(page.as_uri())
        tab.locator("#add").click()
        tab.locator(".bookmarks input").fill("Balanced")
        tab.locator("#bound-1").fill(bound)
        tab.locator("#weight-2").fill(slider)
        tab.locator("#add").click()
        tab.locator(".bookmarks input").nth(1).fill("Quiet, light")
        tab.locator("h1").click()
        tab.wait_for_timeout(200)
        tab.screenshot(path=IMAGES / f"{name}.png", full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
