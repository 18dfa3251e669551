"""Warnings of libraries stay inside; those of the user's own code do not."""

import warnings

import numpy as np
import pytest

from bezierflow.quiet import quiet


@quiet()
def computed():
    return np.log(np.array(-1.0)), np.array(1e308) * 10


def test_floating_point_warnings_are_not_shown_and_come_back_afterwards():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(computed()[0])
        with pytest.raises(RuntimeWarning):
            np.log(np.array(-1.0))


def test_warnings_of_the_users_own_code_are_shown():
    with pytest.warns(UserWarning, match="mine"), quiet():
        warnings.warn("mine", stacklevel=1)
