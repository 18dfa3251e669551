"""Surfaces from files, and as parts of larger archives. `BezierSimplex.save` writes them alone."""

from collections.abc import Mapping
from os import PathLike

import numpy as np

from .archives import Manifest
from .model import BezierSimplex
from .net import Net
from .net_files import describe_net, load_net, restore_net


def load_surface(path: str | PathLike[str]) -> BezierSimplex:
    """The surface in a file that `BezierSimplex.save` or pytorch-bsf wrote; the ending says the format. All in NumPy."""
    return BezierSimplex(*load_net(path))


def describe_surface(surface: BezierSimplex, name: str) -> tuple[Manifest, dict[str, np.ndarray]]:
    """The surface as a part of an archive: what goes into the manifest, and its arrays, `name/0` and onward."""
    return describe_net(Net(surface.control_points, surface.n_objectives, surface.degree), name)


def restore_surface(description: Manifest, arrays: Mapping[str, np.ndarray]) -> BezierSimplex:
    """The surface that `describe_surface` described."""
    return BezierSimplex(*restore_net(description, arrays))
