"""What is known and no patch covers: single points, which are part of the answer as patches of
dimension 0. An answer is never worse than what was evaluated on the way to it."""

import numpy as np
from jaxtyping import Bool, Float, Int

from ..answer import Label, Patch
from ..metrics import farthest_points
from .program import Program, nondominated
from .schedule import SCHEDULE


def lone_points(
    program: Program,
    z: Float[np.ndarray, "n n_free"],
    f: Float[np.ndarray, "n n_objectives"],
    lost: Bool[np.ndarray, " n"],
    first_region: int,
) -> list[Patch]:
    """The nondominated ones of designs that are lost, as patches."""
    M = program.n_objectives
    keep = np.flatnonzero(lost & nondominated(f)) if len(f) else np.zeros(0, dtype=int)
    keep = keep[
        np.sort(np.unique(np.round(f[keep] / SCHEDULE.alike), axis=0, return_index=True)[1])
    ]
    if len(keep) > SCHEDULE.most_points:
        keep = keep[farthest_points(f[keep], SCHEDULE.most_points, f[keep].argmin(axis=0))]
    out, region = [], first_region + groups(f[keep])
    first, nothing = np.arange(M) == 0, np.zeros(program.n_rows - M)
    for k, number in zip(keep, region.tolist(), strict=True):
        label = Label(
            first,
            nothing.astype(bool),
            np.zeros(program.n_free, dtype=int),
            program.n_inequalities,
            trimmed=False,
        )
        y = np.concatenate([z[k], f[k, :1], np.where(first, 1.0, f[k]), nothing])
        out.append(Patch(label, np.zeros((1, 0)), 0, y[None], np.zeros((0, 1)), 0.0, number))
    return out


def groups(f: Float[np.ndarray, "n n_objectives"]) -> Int[np.ndarray, " n"]:
    """A number for each point: the same for those between which there are only short ways."""
    from scipy.spatial import KDTree

    owner = np.arange(len(f))
    for i, j in KDTree(f).query_pairs(SCHEDULE.beside) if len(f) else ():
        owner[owner == owner[j]] = owner[i]
    return owner
