"""Makes the pictures at the top of the README: run `python docs/first_pictures.py` (needs pymoo,
matplotlib, Pillow, playwright and Chromium).

`first.png`, `first-page.png`: what the README's first example makes, run as it stands there.

`against-points.png`: scaled-MED as plain NumPy code, without derivatives. `bezierflow.minimize`
solves it and says how often it called the objectives; NSGA-II of pymoo gets as many calls.
`flow.gif`: the surface of lifted gradient descent on the same problem, iteration by iteration, with
a short step so that one can follow it. The script prints the figures that the README names.
"""

import io
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

import bezierflow as bf

if TYPE_CHECKING:
    from mpl_toolkits.mplot3d.axes3d import Axes3D

IMAGES = Path(__file__).parent / "images"

STEP_SIZE = 0.02
"""Short enough to follow: gradient descent on these objectives is stable for steps up to 1/3."""

FRAMES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 28, 34, 40, 48, 60, 80, 110, 150)
"""The iterations that are drawn."""

POPULATION = 100


def main() -> None:
    """All pictures."""
    mpl.use("Agg")
    first_example()
    problem = bf.problems.ScaledMED()
    against_points(problem)
    flow(problem)


def first_example() -> None:
    """The picture and the page of the README's first example."""
    from playwright.sync_api import sync_playwright

    readme = (IMAGES.parent.parent / "README.md").read_text()
    code, place, names = readme.split("```python\n")[1].split("```")[0], Path.cwd(), {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        os.chdir(folder)
        exec(code, names)
        os.chdir(place)
        mpl.pyplot.gcf().savefig(IMAGES / "first.png", dpi=80)
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
            args=["--headless", "--no-sandbox", "--disable-gpu"],
        )
        tab = browser.new_page(viewport={"width": 1280, "height": 760})
        tab.goto((Path(folder) / "pareto.html").as_uri())
        tab.wait_for_timeout(500)
        tab.screenshot(path=IMAGES / "first-page.png")
        browser.close()


def against_points(problem: Any) -> None:
    """A surface and a cloud of points, each from the same number of calls of the objectives."""
    import matplotlib.pyplot as plt

    counted = Counted()
    solution = bf.minimize(counted, np.zeros(3))
    calls = counted.calls  # before the picture asks for more
    print(solution)
    X, F, their_calls = nsga2(calls)
    t = np.random.default_rng(0).dirichlet(np.ones(3), 2000)
    distances = np.asarray(problem.distance(np.asarray(solution.pareto_set(t))))
    print(f"{calls} calls of the objectives, {their_calls} by NSGA-II, whose generations are whole")
    print(
        f"surface: largest distance to the exact Pareto set at 2000 random t {distances.max():.1e}"
    )
    off = np.asarray(problem.distance(X))
    print(
        f"NSGA-II: {len(X)} points, median distance {np.median(off):.1e}, largest {off.max():.1e}"
    )
    figure = plt.figure(figsize=(11, 9))
    for row, (name, cloud) in enumerate(
        ((f"NSGA-II: {len(X)} points", (X, F)), ("bezierflow: a surface", ()))
    ):
        for column, (draw, space) in enumerate(
            ((bf.plots.surface, "designs"), (bf.plots.front, "objectives"))
        ):
            ax: Axes3D = figure.add_axes(
                (0.03 + 0.5 * column, 0.54 - 0.5 * row, 0.46, 0.42), projection="3d"
            )
            draw(solution, ax=ax)
            heading = f"{name} ({space}), {their_calls if cloud else calls:,} evaluations"
            figure.text(0.25 + 0.5 * column, 0.965 - 0.5 * row, heading, ha="center")
            ax.set_box_aspect(None, zoom=1.1)
            ax.get_legend().remove()
            if cloud:
                for drawn in (*ax.collections, *ax.lines):
                    drawn.remove()
                ax.scatter(*cloud[column].T, s=9, color="#d9603b", depthshade=False)
                for edge in edges(problem):
                    seen = edge if space == "designs" else np.array([plain(x) for x in edge])
                    ax.plot(*seen.T, color="#999999", linewidth=0.8)
    figure.savefig(IMAGES / "against-points.png", dpi=80)


def edges(problem: Any) -> list[np.ndarray]:
    """The exact Pareto sets of the pairs of objectives."""
    share = np.linspace(0, 1, 50)[:, None]
    corners = np.eye(3)
    return [
        np.asarray(problem.pareto_point((1 - share) * corners[i - 1] + share * corners[i]))
        for i in range(3)
    ]


class Counted:
    """`plain`, and how often it was called. JAX's tracers cannot become arrays of NumPy, so that
    there are no derivatives."""

    calls = 0

    def __call__(self, x: Any) -> np.ndarray:
        """The objectives."""
        x = np.asarray(x, dtype=float)  # with a tracer this raises, and is no call
        self.calls += 1
        return plain(x)


def plain(x: np.ndarray) -> np.ndarray:
    """scaled-MED in NumPy: squared distances to three points, each variable scaled differently in
    each objective."""
    scales = np.array([[1.0, 3.0, 2.0], [2.0, 1.0, 3.0], [3.0, 2.0, 1.0]])
    points = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, -1.0]])
    return np.sum(scales * (x - points) ** 2, axis=1)


def nsga2(calls: int) -> tuple[np.ndarray, np.ndarray, int]:
    """NSGA-II's first front after so many calls and the rest of that generation, within a box
    around the set; and its calls."""
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import ElementwiseProblem
    from pymoo.optimize import minimize

    class Plain(ElementwiseProblem):
        def __init__(self) -> None:
            super().__init__(n_var=3, n_obj=3, xl=-2.0, xu=2.0)

        def _evaluate(self, x: np.ndarray, out: dict[str, Any], *_: Any, **__: Any) -> None:
            out["F"] = plain(x)

    result = minimize(Plain(), NSGA2(pop_size=POPULATION), ("n_eval", calls), seed=0)
    return np.atleast_2d(result.X), np.atleast_2d(result.F), int(result.algorithm.evaluator.n_eval)


def flow(problem: Any) -> None:
    """The iterations of lifted gradient descent as one animated picture."""
    import matplotlib.pyplot as plt
    from PIL import Image

    kept: dict[int, Any] = {}

    def keep(iteration: Any) -> None:
        if iteration.number in FRAMES:
            kept[iteration.number] = iteration.surface

    method = bf.lift(
        bf.GradientDescent(step_size=lambda k: STEP_SIZE), degree=3, sampler=bf.Uniform(100)
    )
    solution = bf.minimize(
        problem,
        np.array([0.9, 0.9, 0.9]),
        replace(method, n_iterations=FRAMES[-1]),
        seed=0,
        callback=keep,
    )
    pictures = []
    for k, surface in kept.items():
        figure = plt.figure(figsize=(5.0, 4.0))
        ax: Axes3D = figure.add_axes((-0.1, -0.05, 1.2, 1.15), projection="3d")
        bf.plots.surface(surface, truth=problem.pareto_point, net=True, ax=ax)
        figure.text(0.5, 0.94, f"iteration {k}", ha="center")
        ax.set(xlim=(-0.1, 1.1), ylim=(-0.1, 1.1), zlim=(-1.1, 1.1))
        ax.set_box_aspect(None, zoom=1.2)
        ax.view_init(elev=22, azim=45)
        ax.set_axis_off()
        ax.get_legend().remove()
        data = io.BytesIO()
        figure.savefig(data, dpi=90, format="png")
        plt.close(figure)
        pictures.append(Image.open(data).convert("RGB").quantize(64, dither=Image.Dither.NONE))
    target = IMAGES / "flow.gif"
    durations = [220] * (len(pictures) - 1) + [2500]
    pictures[0].save(
        target, save_all=True, append_images=pictures[1:], duration=durations, loop=0, optimize=True
    )
    print(
        f"{target.name}: {len(pictures)} pictures, {target.stat().st_size / 1000:.0f} kB;"
        f" {solution.result.reason.value}"
    )


if __name__ == "__main__":
    main()
