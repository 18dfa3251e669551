"""A patch: a Bézier simplex over a face, with what is known of the set there; it learns from what
is seen and is refitted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np
from jaxtyping import Float

from ..bezier import design_matrix, elevate
from ..runs import kind
from ..simplex import controls_on_face, lobatto_nodes, n_controls
from .cloud import Cloud, empty_cloud
from .cloud_fit import FitTask, fit_cloud, supported_degree
from .filling import fill_inside
from .folds import fold_points
from .nodes import inner_nodes
from .probe import probe
from .schedule import RoundSchedule
from .survey import AbstractSurvey
from .tangents import face_tangents


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
        best: control points with the smallest held-out error so far.
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
    control_points: Float[np.ndarray, "n_controls n_variables"]
    degree: int
    best: Float[np.ndarray, "n_best n_variables"]
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

    @property
    def dimension(self) -> int:
        """How many objectives take part."""
        return len(self.members)

    @property
    def points(self) -> Float[np.ndarray, "n n_variables"]:
        """All points that it holds; the tangents of its cloud lie in their span."""
        return np.concatenate([self.control_points, self.best, self.cloud.points])

    def with_points(self, changed: Callable[[np.ndarray], np.ndarray]) -> "Patch":
        """With other coordinates for all points and tangents."""
        return replace(
            self,
            control_points=changed(self.control_points),
            best=changed(self.best),
            cloud=self.cloud.with_points(changed),
        )


@dataclass(frozen=True)
class Seen:
    """What a round saw of a patch: points of the set, points to call it back to, its largest
    distance, and how many nodes."""

    cloud: Cloud
    recall: Cloud
    error: float
    n_nodes: int

    def with_points(self, changed: Callable[[np.ndarray], np.ndarray]) -> "Seen":
        """With other coordinates for all points and tangents."""
        return replace(
            self, cloud=self.cloud.with_points(changed), recall=self.recall.with_points(changed)
        )


@dataclass(frozen=True)
class Goal:
    """What rounds aim at: the error to reach, relative to the diameter, and the largest degree."""

    target: float
    max_degree: int


def edge_patches(survey: AbstractSurvey) -> tuple[Patch, ...]:
    """Straight lines between all pairs of corners."""
    n_objectives, n_variables = survey.corners.shape
    nothing = empty_cloud(2, n_variables, survey.n_tangents)
    order = survey.schedule.rounds.first_order
    lines = {pair: survey.corners[list(pair)] for pair in combinations(range(n_objectives), 2)}
    return tuple(Patch(pair, 1, line, 1, line, 1, nothing, order) for pair, line in lines.items())


def inner_patch(edges: tuple[Patch, ...], survey: AbstractSurvey) -> Patch:
    """The smoothest surface with these edges, which are fixed."""
    n_objectives, n_variables = len(survey.corners), survey.width
    degree = max(edge.best_degree for edge in edges)
    control_points = np.zeros((n_controls(n_objectives, degree), n_variables))
    for edge in edges:
        rows = controls_on_face(edge.members, n_objectives, degree)
        control_points[rows] = elevate(edge.best, 2, edge.best_degree, degree)
    control_points = fill_inside(control_points, n_objectives, degree)
    nothing = empty_cloud(n_objectives, n_variables, survey.n_tangents)
    order = max(degree, survey.schedule.rounds.first_order)
    everything = tuple(range(n_objectives))
    error = max(edge.error for edge in edges)
    return Patch(
        everything,
        2,
        control_points,
        degree,
        control_points,
        degree,
        nothing,
        order,
        fixed_error=error,
    )


def improve(survey: AbstractSurvey, patches: tuple[Patch, ...], goal: Goal) -> tuple[Patch, ...]:
    """One round: look at every unfinished patch at fresh nodes, all in one batch, let each learn,
    and refit it."""
    unfinished = [patch for patch in patches if not patch.done]
    looks = look_at(survey, unfinished) if unfinished else []
    if survey.width != survey.corners.shape[1]:  # room that looks did not need
        patches, unfinished, looks = (
            _cut(parts, survey.width) for parts in (patches, unfinished, looks)
        )
    improved = {}
    for patch, seen in zip(unfinished, looks, strict=True):
        learned = _learn(patch, seen, goal, survey.schedule.rounds)
        improved[patch.members] = learned if learned.done else _refit(learned, seen, goal, survey)
    return tuple(improved.get(patch.members, patch) for patch in patches)


def resize(points: Float[np.ndarray, "n n_variables"], width: int) -> Float[np.ndarray, "n width"]:
    """Coordinates with zeros added, or left out, at the end."""
    return np.pad(points[:, :width], ((0, 0), (0, max(width - points.shape[1], 0))))


def _cut(parts: Sequence[Patch] | Sequence[Seen], width: int) -> tuple:
    """Patches or what was seen of them, with coordinates of this width."""
    return tuple(part.with_points(lambda points: resize(points, width)) for part in parts)


def look_at(survey: AbstractSurvey, patches: list[Patch]) -> list[Seen]:
    """What fresh nodes of all patches show."""
    n_objectives = len(survey.corners)
    nodes = [_fresh_nodes(patch, survey.schedule.rounds) for patch in patches]
    t = np.concatenate(
        [
            _embed(own, patch.members, n_objectives)
            for own, patch in zip(nodes, patches, strict=True)
        ]
    )
    x = np.concatenate(
        [
            design_matrix(own, patch.degree) @ patch.control_points
            for own, patch in zip(nodes, patches, strict=True)
        ]
    )
    tangents = None
    if survey.has_own_tangents or all(
        patch.error < survey.schedule.rounds.near for patch in patches
    ):
        along = (
            face_tangents(patch.control_points, own, patch.degree, survey.n_tangents)
            for own, patch in zip(nodes, patches, strict=True)
        )
        tangents = np.concatenate(list(along))
    cloud, distance, recall = probe(survey, t, x, tangents)
    seen = []
    for patch, (start, end) in zip(
        patches, pairwise(np.cumsum([0, *map(len, nodes)])), strict=True
    ):
        own, called = (
            part.take(_belongs(part, patch.members)).within(patch.members)
            for part in (cloud, recall)
        )
        seen.append(
            Seen(
                own,
                called,
                float(distance[start:end].max(initial=0.0) / survey.diameter),
                int(end - start),
            )
        )
    return seen


def _fresh_nodes(patch: Patch, rounds: RoundSchedule) -> Float[np.ndarray, "n dimension"]:
    """Nodes off the fixed faces, of an order not used before, and some next to folds, should the
    surface have any."""
    folds = fold_points(patch.control_points, patch.dimension, patch.degree, rounds.folds)
    folds = folds[(folds > 0).sum(axis=1) > patch.n_fixed]
    regular = (
        lobatto_nodes(2, patch.order).t[1:-1]
        if patch.dimension == 2
        else inner_nodes(patch.dimension, patch.order)
    )
    return np.concatenate([regular, folds])


def _embed(
    t: np.ndarray, members: tuple[int, ...], n_objectives: int
) -> Float[np.ndarray, "n n_objectives"]:
    """Coordinates of a face as coordinates of the whole simplex."""
    embedded = np.zeros((len(t), n_objectives))
    embedded[:, list(members)] = t
    return embedded


def _belongs(cloud: Cloud, members: tuple[int, ...]) -> np.ndarray:
    """Which points were seen from this face or from one of its own faces."""
    others = np.delete(np.arange(cloud.t.shape[1]), list(members))
    return np.asarray(~(cloud.t[:, others] > 0).any(axis=1))


def _learn(patch: Patch, seen: Seen, goal: Goal, rounds: RoundSchedule) -> Patch:
    """The patch with what was seen; finished if its error is small enough, or if rounds bring
    nothing any more."""
    error = max(seen.error, patch.fixed_error)
    improved = error < patch.error
    patch = replace(
        patch,
        cloud=patch.cloud.join(seen.cloud),
        best=patch.control_points if improved else patch.best,
        best_degree=patch.degree if improved else patch.best_degree,
        errors=(*patch.errors, error),
        n_seen=patch.n_seen + seen.n_nodes,
        n_failed=0 if improved else patch.n_failed + 1,
    )
    reached = error <= max(goal.target, patch.fixed_error) and patch.n_seen >= rounds.least_seen
    if reached or _stalled(patch, goal, rounds):
        return replace(patch, control_points=patch.best, degree=patch.best_degree, done=True)
    return patch


def _stalled(patch: Patch, goal: Goal, rounds: RoundSchedule) -> bool:
    """Whether the last rounds at the largest degree brought no gain, or there were too many
    rounds."""
    patience = rounds.patience if patch.dimension <= 3 else 1
    if patch.degree >= goal.max_degree and len(patch.errors) > patience:
        return min(patch.errors[-patience:]) > rounds.gain * min(patch.errors[:-patience])
    return len(patch.errors) >= rounds.most_rounds


def _astray(patch: Patch, rounds: RoundSchedule) -> bool:
    """Whether the last round made things clearly worse. Far from the set distances are rough: less
    is no reason to go back."""
    return rounds.near <= patch.error < rounds.gain * patch.errors[-1]


def _with_tangents(
    survey: AbstractSurvey, patch: Patch, cloud: Cloud, control_points: np.ndarray, degree: int
) -> Cloud:
    """The cloud with the tangents of this surface at its feet, instead of those of earlier surfaces
    that looks gave it.

    Far from the set those of Hessians, where there are any, are better; and with few variables
    everywhere.
    """
    if not survey.has_own_tangents and not (
        survey.measures and patch.error < survey.schedule.rounds.near
    ):
        return cloud
    return replace(
        cloud, tangents=face_tangents(control_points, cloud.t, degree, survey.n_tangents)
    )


def _refit(patch: Patch, seen: Seen, goal: Goal, survey: AbstractSurvey) -> Patch:
    """An unfinished patch moved to its cloud, in the smallest degree that explains it and that it
    determines."""
    schedule, rounds = survey.schedule, survey.schedule.rounds
    astray = _astray(patch, rounds)
    undone = astray or (patch.n_failed > 0 and patch.error < rounds.near)
    points, degree = (
        (patch.best, patch.best_degree) if undone else (patch.control_points, patch.degree)
    )
    error = patch.error if astray else patch.errors[-1]
    precision = rounds.precise * error * survey.diameter
    cloud, known = patch.cloud, patch.cloud.miss <= precision
    supported = supported_degree(cloud.take(known), patch.n_fixed, goal.max_degree, schedule)
    highest = min(supported, degree + rounds.growth + patch.n_failed, goal.max_degree)
    explained = (
        max(rounds.explained_target * goal.target, rounds.explained * error) * survey.diameter
    )
    while True:
        # of an edge, the degree was supported before
        freedom = min(supported, degree) if patch.n_fixed > 1 else degree
        cloud = _with_tangents(survey, patch, cloud, points, degree)
        task = FitTask(degree, patch.n_fixed, freedom, precision, error, schedule)
        points, cloud, distances = fit_cloud(points, cloud, task, None if undone else seen.recall)
        if degree >= highest or distances[known].max(initial=0.0) <= explained:
            break
        points, degree = elevate(points, patch.dimension, degree, degree + 1), degree + 1
    order = (
        max(degree + 2, patch.order + 1)
        if degree < goal.max_degree and patch.dimension == 2
        else patch.order + 1
    )
    return replace(patch, control_points=points, degree=degree, cloud=cloud, order=order)
