"""Surfaces from files, and as parts of larger archives. `BezierSimplex.save` writes them alone."""

from collections.abc import Iterable, Mapping
from os import PathLike

import numpy as np

from .archives import Manifest
from .model import BezierSimplex
from .net import Net
from .net_files import check_members, describe_net, leaf_names, load_net, restore_net
from .untrusted import file_at_fault


def load_surface(path: str | PathLike[str]) -> BezierSimplex:
    """The surface in a file that `BezierSimplex.save` or pytorch-bsf wrote; the ending says the
    format. All in NumPy."""
    net = load_net(path)
    with file_at_fault(path):
        return BezierSimplex(*net)


def describe_surface(surface: BezierSimplex, name: str) -> tuple[Manifest, dict[str, np.ndarray]]:
    """The surface as a part of an archive: what goes into the manifest, and its arrays, `name/0`
    and onward."""
    return describe_net(Net(surface.control_points, surface.n_objectives, surface.degree), name)


def restore_surface(description: Manifest, arrays: Mapping[str, np.ndarray]) -> BezierSimplex:
    """The surface that `describe_surface` described."""
    return BezierSimplex(*restore_net(description, arrays))


def check_arrays(
    arrays: Mapping[str, np.ndarray], descriptions: Iterable[Manifest], others: Iterable[str]
) -> None:
    """Raises where an archive has arrays that neither a description of a surface nor `others`
    names."""
    check_members(arrays, set(others).union(*map(leaf_names, descriptions)))
