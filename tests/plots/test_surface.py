"""Pictures: that they are drawn, of the right things; whether they are good is for eyes."""

import matplotlib
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.simplex import n_controls

matplotlib.use("Agg")


def surface(n_objectives, n_variables, degree=2):
    points = np.random.default_rng(0).normal(size=(n_controls(n_objectives, degree), n_variables))
    return bf.BezierSimplex(points, n_objectives, degree)


@pytest.mark.parametrize(("n_objectives", "n_variables"), [(2, 2), (2, 3), (3, 2), (3, 3)])
def test_every_shape_that_fits_on_paper_is_drawn(n_objectives, n_variables, tmp_path):
    shape = surface(n_objectives, n_variables)
    axes = bf.plots.surface(shape, truth=shape, net=True, title="both")
    labels = {text.get_text() for text in axes.get_legend().get_texts()}
    assert labels == {"Bézier simplex", "Pareto set", "control points"}
    axes.figure.savefig(tmp_path / "picture.png")
    matplotlib.pyplot.close(axes.figure)


def test_what_does_not_fit_is_said():
    with pytest.raises(ValueError, match="got 3 objectives in 4 variables"):
        bf.plots.surface(surface(3, 4))
