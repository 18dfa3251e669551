"""The interior: the whole surface fitted to all that is known of the set, its edges given."""

from dataclasses import dataclass, replace

import numpy as np

from ..bezier.design import design_matrix
from ..simplex import controls_on_face, n_controls
from .cloud import Cloud, empty_cloud
from .edges import MOST_ROUNDS, PRECISE, Edge
from .evaluator import Evaluator
from .fill import fill_inside
from .folds import fold_points
from .nodes import inner_nodes
from .polynomial import elevate, face_tangents
from .probe import NEAR, probe
from .surface_fit import fit_surface, supported_degree

MOST_FOLDS = 20
"""Points of a round that look at folds, where the surface has any."""


@dataclass(frozen=True)
class Interior:
    """The whole surface while its inside is fitted; `best` is the one with the smallest held-out error so far."""

    control_points: np.ndarray
    degree: int
    cloud: Cloud
    best: np.ndarray
    best_degree: int
    order: int
    errors: tuple[float, ...] = ()
    degrees: tuple[int, ...] = ()
    edge_error: float = 0.0
    done: bool = False

    @property
    def error(self) -> float:
        """The smallest held-out error, relative to the diameter; that of `best`."""
        return min(self.errors, default=1.0)


def start_interior(edges: tuple[Edge, ...], n_objectives: int, least_degree: int = 1) -> Interior:
    """The smoothest surface with the edges that were found."""
    degree = max(least_degree, *(edge.best_degree for edge in edges))
    control_points = np.zeros((n_controls(n_objectives, degree), edges[0].best.shape[1]))
    for edge in edges:
        rows = controls_on_face(edge.members, n_objectives, degree)
        control_points[rows] = elevate(edge.best, 2, edge.best_degree, degree)
    control_points = fill_inside(control_points, n_objectives, degree)
    error = max(edge.error for edge in edges)
    cloud = empty_cloud(n_objectives, control_points.shape[1])
    return Interior(control_points, degree, cloud, control_points, degree, max(degree, 5), edge_error=error)


def improve_interior(
    count: Evaluator, inside: Interior, corners: np.ndarray, diameter: float, target: float, max_degree: int
) -> Interior:
    """One round: measure the surface at fresh inner nodes, and refit it to everything known."""
    folds = fold_points(inside.control_points, count.n_objectives, inside.degree, MOST_FOLDS)
    t = np.concatenate([inner_nodes(count.n_objectives, inside.order), folds[(folds > 0).sum(axis=1) > 2]])
    x = design_matrix(t, inside.degree) @ inside.control_points
    tangents = face_tangents(inside.control_points, t, inside.degree, count.n_tangents) if inside.error < NEAR else None
    seen, distance, recall = probe(count, t, x, corners, diameter, tangents)
    inner = float(distance.max(initial=0.0) / diameter)
    error = max(inner, inside.edge_error)
    is_best = error < inside.error
    inside = replace(
        inside,
        cloud=inside.cloud.join(seen),
        best=inside.control_points if is_best else inside.best,
        best_degree=inside.degree if is_best else inside.best_degree,
        errors=(*inside.errors, error),
        degrees=(*inside.degrees, inside.degree),
    )
    if inner <= max(target, inside.edge_error) or _stalled(inside, max_degree):
        return replace(inside, done=True)
    return _refit(inside, recall, error, is_best, diameter, max_degree)


def _refit(inside: Interior, recall: Cloud, error: float, is_best: bool, diameter: float, max_degree: int) -> Interior:
    """The surface moved to the cloud, by as much freedom as the cloud determines; a higher degree if that is all used."""
    cloud, n_objectives = inside.cloud, inside.cloud.t.shape[1]
    points, degree = (inside.control_points, inside.degree) if is_best else (inside.best, inside.best_degree)
    precise = cloud.miss <= PRECISE * error * diameter
    affordable = supported_degree(cloud, precise, 2, max_degree)
    stagnates = len(inside.errors) > 1 and inside.errors[-1] > 0.2 * inside.errors[-2]
    if (is_best or inside.error < NEAR) and stagnates and affordable > degree:
        points, degree = elevate(points, n_objectives, degree, degree + 1), degree + 1
    freedom = min(affordable, degree)
    points, cloud, _ = fit_surface(
        points, cloud, degree, 2, PRECISE * error * diameter, error, freedom, recall=recall if is_best else None
    )
    return replace(inside, control_points=points, degree=degree, cloud=cloud, order=inside.order + 1)


def _stalled(inside: Interior, max_degree: int) -> bool:
    """Whether the last rounds at the largest degree brought no clear gain, or there were too many rounds."""
    patience = 2 if inside.cloud.t.shape[1] == 3 else 1
    if inside.degree >= max_degree and len(inside.errors) > 1 + patience:
        return min(inside.errors[-patience:]) > 0.5 * min(inside.errors[:-patience])
    return len(inside.errors) >= MOST_ROUNDS
