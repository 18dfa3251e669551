"""Quality of a front in objective space, all objectives minimized, as `moocore` computes it."""

from numpy.typing import ArrayLike

from .point_set import as_points


def igd_plus(front: ArrayLike, reference: ArrayLike) -> float:
    """IGD+: the mean over the reference front of the least distance by which a point of the front
    falls short of it.

    (Ishibuchi et al., "Modified distance calculation in generational distance and inverted
    generational distance", EMO 2015.) Only objectives in which the point is worse count, so it
    never rewards a dominated front.

    Args:
        front: objective values found, one point a row.
        reference: objective values of the true front, one point a row.
    """
    front = as_points(front, "front")
    import moocore

    return float(moocore.igd_plus(front, ref=as_points(reference, "reference", front.shape[1])))
