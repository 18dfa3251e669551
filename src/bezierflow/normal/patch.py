"""A patch: a Bézier simplex over a face, with what is known of the set there; it learns from what
is seen and is refitted."""

from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np

from ..bezier import design_matrix, elevate
from ..kinds import kind
from ..simplex import controls_on_face, n_controls
from .cloud import Cloud, probe
from .curvature import Curvature, Rows, at_width
from .fit import FitTask, fit_cloud, supported_degree
from .schedule import Schedule
from .shape import face_tangents, fill_inside, fold_points, inner_nodes


@kind("normal.patch/1")
@dataclass(frozen=True)
class Patch:
    """A Bézier simplex over the face of the objectives `members`. Its t, here and in the cloud, are
    coordinates of that face.

    Attributes:
        members: the objectives that take part.
        n_fixed: faces of this many objectives or fewer are given and stay: 1 for the vertices, 2
            for the edges too.
        control_points: of the surface that is looked at next.
        degree: of that surface.
        best: control points with the smallest held-out error so far.
        best_degree: their degree.
        cloud: points of the set that are known.
        order: Lobatto order of the next nodes.
        errors: held-out errors of all rounds, relative to the diameter.
        fixed_error: the error of the fixed faces, which the patch cannot mend.
        n_seen: nodes looked at so far.
        n_failed: rounds in a row, up to now, that did not lower the error.
        done: whether the patch is finished; `control_points` is then `best`.
    """

    members: tuple[int, ...]
    n_fixed: int
    control_points: Rows
    degree: int
    best: Rows
    best_degree: int
    cloud: Cloud
    order: int
    errors: tuple[float, ...] = ()
    fixed_error: float = 0.0
    n_seen: int = 0
    n_failed: int = 0
    done: bool = False

    @property
    def error(self) -> float:
        """The held-out error of `best`."""
        return min(self.errors, default=np.inf)


def edge_patches(curvature: Curvature) -> tuple[Patch, ...]:
    """Straight lines between all pairs of corners."""
    corners = curvature.corners
    nothing = Cloud.empty(2, corners.shape[1], curvature.n_tangents)
    order = curvature.schedule.first_order
    lines = {pair: corners[list(pair)] for pair in combinations(range(len(corners)), 2)}
    return tuple(Patch(pair, 1, line, 1, line, 1, nothing, order) for pair, line in lines.items())


def inner_patch(edges: tuple[Patch, ...], curvature: Curvature) -> Patch:
    """The smoothest surface with these edges, which are fixed."""
    n_objectives, width = curvature.evaluator.n_objectives, edges[0].best.shape[1]
    degree = max(edge.best_degree for edge in edges)
    points = np.zeros((n_controls(n_objectives, degree), width))
    for edge in edges:
        rows = controls_on_face(edge.members, n_objectives, degree)
        points[rows] = elevate(edge.best, 2, edge.best_degree, degree)
    points = fill_inside(points, n_objectives, degree)
    nothing = Cloud.empty(n_objectives, width, curvature.n_tangents)
    order = max(degree, curvature.schedule.first_order)
    everything = tuple(range(n_objectives))
    error = max(edge.error for edge in edges)
    return Patch(everything, 2, points, degree, points, degree, nothing, order, fixed_error=error)


def improve(
    curvature: Curvature, patches: tuple[Patch, ...], target: float, max_degree: int
) -> tuple[Patch, ...]:
    """One round: look at every unfinished patch at fresh nodes, all in one batch, let each learn,
    and refit it, towards an error of `target` relative to the diameter."""
    unfinished = [patch for patch in patches if not patch.done]
    if not unfinished:
        return patches
    looks = look_at(curvature, unfinished)
    width, improved = curvature.width, {}
    for patch, (cloud, recall, error, n_nodes) in zip(unfinished, looks, strict=True):
        # looks may not have needed all of the width that was reserved for them
        learned = _learn(
            at_width(patch, width),
            at_width(cloud, width),
            error,
            n_nodes,
            target,
            max_degree,
            curvature.schedule,
        )
        if not learned.done:
            learned = _refit(learned, at_width(recall, width), target, max_degree, curvature)
        improved[patch.members] = learned
    return tuple(improved.get(patch.members, at_width(patch, width)) for patch in patches)


def look_at(curvature: Curvature, patches: list[Patch]) -> list[tuple[Cloud, Cloud, float, int]]:
    """What fresh nodes of all patches show of each: points of the set, points to call it back to,
    its largest distance, and how many nodes there were.

    Nodes are off the fixed faces, of an order not used before, and some are next to folds, should
    the surface have any.
    """
    numbers, M, nodes = curvature.schedule, curvature.evaluator.n_objectives, []
    for patch in patches:
        size = len(patch.members)
        folds = fold_points(patch.control_points, size, patch.degree, numbers.folds)
        folds = folds[(folds > 0).sum(axis=1) > patch.n_fixed]
        nodes.append(np.concatenate([inner_nodes(size, patch.order), folds]))
    # looks at a node: the first one, those that follow it, a recall
    width = curvature.reserve((numbers.following + 2) * sum(map(len, nodes)))
    t, x, tangents = [], [], []
    for own, patch in zip(nodes, patches, strict=True):
        points = at_width(patch, width).control_points
        embedded = np.zeros((len(own), M))
        embedded[:, list(patch.members)] = own
        t.append(embedded)
        x.append(design_matrix(own, patch.degree) @ points)
        tangents.append(face_tangents(points, own, patch.degree, curvature.n_tangents))
    # one batch for all patches, so curvature is borrowed for all of them or for none
    near = all(patch.error < numbers.near for patch in patches)
    cloud, distance, recall = probe(curvature, *map(np.concatenate, (t, x, tangents)), near=near)
    seen = []
    for patch, (start, end) in zip(
        patches, pairwise(np.cumsum([0, *map(len, nodes)])), strict=True
    ):
        error = float(distance[start:end].max(initial=0.0) / curvature.diameter)
        own = cloud.on_face(patch.members), recall.on_face(patch.members)
        seen.append((*own, error, int(end - start)))
    return seen


def _learn(
    patch: Patch,
    cloud: Cloud,
    error: float,
    n_nodes: int,
    target: float,
    max_degree: int,
    numbers: Schedule,
) -> Patch:
    """The patch with what was seen; finished if its error is small enough, or if rounds bring
    nothing any more."""
    error = max(error, patch.fixed_error)
    improved = error < patch.error
    patch = replace(
        patch,
        cloud=patch.cloud.join(cloud),
        best=patch.control_points if improved else patch.best,
        best_degree=patch.degree if improved else patch.best_degree,
        errors=(*patch.errors, error),
        n_seen=patch.n_seen + n_nodes,
        n_failed=0 if improved else patch.n_failed + 1,
    )
    reached = error <= max(target, patch.fixed_error) and patch.n_seen >= numbers.least_seen
    patience = numbers.patience if len(patch.members) <= 3 else 1
    if patch.degree >= max_degree and len(patch.errors) > patience:
        latest, before = min(patch.errors[-patience:]), min(patch.errors[:-patience])
        stalled = latest > numbers.gain * before
    else:
        stalled = len(patch.errors) >= numbers.most_rounds
    if reached or stalled:
        return replace(patch, control_points=patch.best, degree=patch.best_degree, done=True)
    return patch


def _refit(
    patch: Patch, recall: Cloud | None, target: float, max_degree: int, curvature: Curvature
) -> Patch:
    """An unfinished patch moved to its cloud, in the smallest degree that explains it and that it
    determines."""
    numbers, diameter, size = curvature.schedule, curvature.diameter, len(patch.members)
    # Far from the set distances are rough: only a round that made things clearly worse is undone.
    astray = numbers.near <= patch.error < numbers.gain * patch.errors[-1]
    undone = astray or (patch.n_failed > 0 and patch.error < numbers.near)
    points, degree = patch.control_points, patch.degree
    if undone:  # what was seen beyond the boundary belongs to the surface that is given up
        points, degree, recall = patch.best, patch.best_degree, None
    error = patch.error if astray else patch.errors[-1]
    precision = numbers.precise * error * diameter
    cloud, known = patch.cloud, patch.cloud.miss <= precision
    supported = supported_degree(cloud.take(known), patch.n_fixed, max_degree, numbers)
    highest = min(supported, degree + numbers.growth + patch.n_failed, max_degree)
    # target is the tolerance with a margin; below the tolerance nothing needs to be explained
    explained = numbers.explained * max(error, target / numbers.margin) * diameter
    while True:
        # of an edge, the degree was supported before
        freedom = min(supported, degree) if patch.n_fixed > 1 else degree
        if curvature.borrows_tangents:
            tangents = face_tangents(points, cloud.t, degree, curvature.n_tangents)
            cloud = replace(cloud, tangents=tangents)
        task = FitTask(degree, patch.n_fixed, freedom, precision, error, numbers)
        points, cloud, distances = fit_cloud(points, cloud, task, recall)
        if degree >= highest or distances[known].max(initial=0.0) <= explained:
            break
        points, degree = elevate(points, size, degree, degree + 1), degree + 1
    order = patch.order + 1  # other nodes than before, so that the next error is held-out
    if degree < max_degree and size == 2:  # a curve that may still grow
        order = max(degree + 2, order)
    return replace(patch, control_points=points, degree=degree, cloud=cloud, order=order)
