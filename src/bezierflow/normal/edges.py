"""Edges: the Pareto set of each pair of objectives alone, a curve between two minimizers, fitted degree by degree."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ..bezier.design import design_matrix
from ..simplex import lobatto_nodes
from .cloud import Cloud, empty_cloud
from .evaluator import Evaluator
from .folds import fold_points
from .polynomial import elevate, face_tangents
from .probe import NEAR, probe
from .surface_fit import fit_surface, supported_degree

FIRST_ORDER = 5
"""Order of the first nodes on an edge: four between its ends."""

PRECISE = 0.05
"""Points that may miss the set by more than this share of the error do not count as known, and weigh less."""

ENOUGH = 0.02
"""A degree is high enough for now if its fit leaves only this share of the error: the next round will see with better points."""

MOST_FOLDS = 4
"""Points of a round that look at folds, where the curve has any."""

MOST_ROUNDS = 12
"""Rounds at all."""

MOST_ROUNDS_AT_LAST = 2
"""Rounds at the largest degree without a clear gain before an edge is left as it is."""


@dataclass(frozen=True)
class Edge:
    """A curve between minimizers i and j: control points of its degree, what is known of the set, and its held-out errors."""

    members: tuple[int, int]
    control_points: np.ndarray
    degree: int
    cloud: Cloud
    best: np.ndarray
    errors: tuple[float, ...] = ()
    order: int = FIRST_ORDER
    done: bool = False

    @property
    def error(self) -> float:
        """The smallest held-out error, relative to the diameter; that of `best`."""
        return min(self.errors, default=1.0)

    @property
    def best_degree(self) -> int:
        """The degree of `best`."""
        return len(self.best) - 1


def start_edges(vertices: np.ndarray) -> tuple[Edge, ...]:
    """Straight lines between all pairs of minimizers."""
    n_objectives, n_variables = vertices.shape
    none = empty_cloud(n_objectives, n_variables)
    lines = [(pair, vertices[list(pair)]) for pair in combinations(range(n_objectives), 2)]
    return tuple(Edge(pair, line, 1, none, line) for pair, line in lines)


def improve_edges(
    count: Evaluator, edges: tuple[Edge, ...], corners: np.ndarray, diameter: float, target: float, max_degree: int
) -> tuple[Edge, ...]:
    """One round: measure every unfinished edge at fresh nodes, all in one batch, and refit each to all it has learned."""
    open_edges = [edge for edge in edges if not edge.done]
    inner = [_nodes(edge) for edge in open_edges]
    t = [_embed(nodes, edge.members, count.n_objectives) for nodes, edge in zip(inner, open_edges, strict=True)]
    x = [design_matrix(nodes, edge.degree) @ edge.control_points for nodes, edge in zip(inner, open_edges, strict=True)]
    tangents = None
    if all(edge.error < NEAR for edge in open_edges):
        looked_at = zip(inner, open_edges, strict=True)
        tangents = np.concatenate([face_tangents(e.control_points, at, e.degree, count.n_tangents) for at, e in looked_at])
    cloud, distance, recall = probe(count, np.concatenate(t), np.concatenate(x), corners, diameter, tangents)
    ends = np.cumsum([0, *map(len, inner)])
    improved = {}
    for k, edge in enumerate(open_edges):
        error = float(distance[ends[k] : ends[k + 1]].max() / diameter)
        mine = np.flatnonzero(cloud.faces[:, edge.members].all(axis=1))
        back = np.flatnonzero((recall.t[:, edge.members] > 0).all(axis=1))
        improved[edge.members] = _improve(edge, cloud.take(mine), recall.take(back), error, diameter, target, max_degree)
    return tuple(improved.get(edge.members, edge) for edge in edges)


def _nodes(edge: Edge) -> np.ndarray:
    """Fresh nodes between the ends, and some where the curve turns back, should it do so: mostly just past a corner."""
    between = lobatto_nodes(2, edge.order).t[1:-1]
    return np.concatenate([between, fold_points(edge.control_points, 2, edge.degree, MOST_FOLDS)])


def _improve(edge: Edge, seen: Cloud, recall: Cloud, error: float, diameter: float, target: float, max_degree: int) -> Edge:
    """The edge after a round: finished, or refitted in the smallest degree that explains what is known of the set."""
    is_best = error < edge.error
    edge = replace(
        edge,
        best=edge.control_points if is_best else edge.best,
        errors=(*edge.errors, error),
        cloud=edge.cloud.join(seen),
    )
    if error <= target or _stalled(edge, max_degree):
        return replace(edge, control_points=edge.best, degree=edge.best_degree, done=True)
    line = replace(edge.cloud, t=edge.cloud.t[:, edge.members], faces=edge.cloud.faces[:, edge.members])
    back_line = replace(recall, t=recall.t[:, edge.members], faces=recall.faces[:, edge.members])
    precise = line.miss <= PRECISE * error * diameter
    affordable = supported_degree(line, precise, 1, max_degree)
    # Near the set, a round that made things worse is taken back and tried again with more points and hardly more freedom. Far
    # from it distances are too rough to judge a round by.
    back = not is_best and edge.error < NEAR
    points = edge.best if back else edge.control_points
    degree = len(points) - 1
    affordable = min(affordable, degree + (1 if back else 2))
    bold = is_best and error < NEAR and len(edge.errors) > 1 and error > 0.3 * edge.errors[-2]
    while True:
        points, line, left = fit_surface(points, line, degree, 1, PRECISE * error * diameter, error, bold=bold, recall=back_line)
        if degree >= affordable or left[precise].max(initial=0.0) <= max(0.3 * target, ENOUGH * error) * diameter:
            break
        points, degree = elevate(points, 2, degree, degree + 1), degree + 1
    t = edge.cloud.t.copy()
    t[:, edge.members] = line.t
    order = max(degree + 2, edge.order + 1) if degree < max_degree else edge.order + 1
    return replace(edge, control_points=points, degree=degree, cloud=replace(edge.cloud, t=t), order=order)


def _stalled(edge: Edge, max_degree: int) -> bool:
    """Whether the last rounds, at the largest degree or not, brought nothing."""
    recent = edge.errors[-MOST_ROUNDS_AT_LAST:]
    if edge.degree >= max_degree and len(edge.errors) > MOST_ROUNDS_AT_LAST:
        return min(recent) > 0.5 * min(edge.errors[: -len(recent)])
    return len(edge.errors) >= MOST_ROUNDS


def _embed(nodes: np.ndarray, members: tuple[int, int], n_objectives: int) -> np.ndarray:
    t = np.zeros((len(nodes), n_objectives))
    t[:, members] = nodes
    return t
