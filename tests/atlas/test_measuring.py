"""What measuring an atlas says of it, and where a search goes on from there."""

import numpy as np

from bezierflow.atlas import AtlasFlow
from bezierflow.atlas.building import AtlasState
from bezierflow.atlas.measuring import AtlasError
from bezierflow.flows import Run
from bezierflow.objectives import feasible_set

BOX = np.zeros(3), np.ones(3)


def goes_on_with(share_beaten):
    """What a flow goes on with where so many of 100 answers are beaten."""
    zeros, beaten = np.zeros(100), np.arange(100) < 100 * share_beaten
    better = np.tile([0.1, 0.2, 0.3], (int(beaten.sum()), 1))
    found = AtlasError(zeros, zeros, ~beaten, beaten, better, 0.0, 1.0, 1e-7)
    state = AtlasState(None, np.zeros((2, 3)), 0, 2)
    state.measured[7] = found
    flow = AtlasFlow(feasible_set(BOX, None, 3), BOX, n_auxiliary=1)
    run = Run(state, None, 1, {})
    assert flow.rivals(run, 8) is None  # another seed measures other answers
    return flow.rivals(run, 7)


def test_a_search_goes_on_with_what_beats_its_answers():
    """The user's variables of the better designs, without those that stand for kinks."""
    np.testing.assert_array_equal(goes_on_with(0.5), np.tile([0.1, 0.2], (50, 1)))


def test_what_holds_does_not_go_on():
    assert goes_on_with(0.0) is None
