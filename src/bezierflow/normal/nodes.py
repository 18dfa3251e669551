"""Where the normal flow looks at the inside of a surface, and how high its degree may go."""

from functools import lru_cache

import numpy as np

from ..simplex import largest_degree_within, lobatto_nodes

MOST_CONTROLS = 300
"""Control points that the default degree may need for many objectives."""

MOST_NODES = 600
"""Inner nodes of one round; of more, an evenly spread choice is taken."""

LARGEST_NODE_SET = 5000
"""Nodes that are laid out to choose from."""


def largest_degree(n_objectives: int) -> int:
    """The default of max_degree: as high as pays for few objectives, and as the number of control
    points allows for many."""
    if n_objectives <= 5:
        return {1: 1, 2: 14, 3: 12, 4: 8, 5: 6}[n_objectives]
    return max(2, largest_degree_within(n_objectives, MOST_CONTROLS))


@lru_cache(maxsize=64)
def inner_nodes(n_objectives: int, order: int) -> np.ndarray:
    """The Lobatto nodes of this order that lie on no edge: three or more objectives take part.

    For many objectives the order is lowered until they can be laid out, and then a choice of them
    is taken, another for each order asked for.
    """
    t = lobatto_nodes(
        n_objectives, min(order, max(3, largest_degree_within(n_objectives, LARGEST_NODE_SET)))
    ).t
    t = t[(t > 0).sum(axis=1) > 2]
    if len(t) <= MOST_NODES:
        return t
    chosen = np.random.default_rng(order).choice(len(t), MOST_NODES, replace=False)
    return t[np.sort(chosen)]
