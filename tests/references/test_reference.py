"""Certified fronts of benchmark problems against what is known of them in closed form."""

import numpy as np
import pytest

import bezierflow as bf
from bezierflow.fronts import available


@pytest.mark.parametrize("name", available())
def test_every_front_is_of_a_run_that_converged_and_no_answer_dominates_another(name):
    found = bf.reference(name)
    assert found.result.reason is bf.Reason.CONVERGED
    F = found.names.signs * np.asarray(found.front(found.set.sample_t[::5]))
    error = found.set.front_error(found.error)
    lead = (F[:, None] - F[None]).min(axis=2).max()
    assert lead <= 2 * np.max(error) + 1e-6 * np.ptp(F, axis=0).max()


def test_zdt1_has_its_closed_form_and_its_volume():
    found = bf.reference("ZDT1")
    F = found.spread(200).F
    np.testing.assert_allclose(F[:, 1], 1 - np.sqrt(F[:, 0]), atol=1e-6)
    np.testing.assert_allclose(F[[0, -1]], [[0, 1], [1, 0]], atol=1e-3)
    volume = bf.metrics.hypervolume(found, [1.1, 1.1])
    assert abs(volume - (0.11 + 0.1 + 2 / 3)) <= volume.error
    assert volume.error < 1e-5


def test_zdt3_has_the_volume_of_its_formula_across_the_gaps_between_its_pieces():
    f1 = np.linspace(0, 1, 1_000_001)
    f2 = 1 - np.sqrt(f1) - f1 * np.sin(10 * np.pi * f1)
    # what is dominated up to (1.1, 1.1) at each f1 is what is above the least f2 so far
    exact = np.trapezoid(1.1 - np.minimum.accumulate(f2), f1) + 0.1 * (1.1 - f2.min())
    volume = bf.metrics.hypervolume(bf.reference("ZDT3"), [1.1, 1.1])
    assert volume.error < 1e-5
    assert abs(volume - exact) <= volume.error + 1e-6


def test_re21_has_the_ends_of_its_formula():
    """Both objectives are monotone in x1, x2 and x4: the ends are at bounds."""
    r2 = np.sqrt(2)

    def f(x):
        volume = 200 * (2 * x[0] + r2 * x[1] + np.sqrt(x[2]) + x[3])
        return np.array([volume, 0.01 * (2 / x[0] + 2 * r2 / x[1] - 2 * r2 / x[2] + 2 / x[3])])

    ends = np.asarray(bf.reference("re21").front(np.eye(2)))
    light, stiff = (f(np.array(x)) for x in ([1, r2, r2, 1], [3, 3, r2, 3]))
    np.testing.assert_allclose(ends, [light, stiff], rtol=1e-9)
    answers = bf.reference("RE21", f).spread(20)
    np.testing.assert_allclose(answers.F, [f(x) for x in answers.X], rtol=1e-12)


def test_a_name_without_a_front_is_answered_with_those_that_have_one():
    with pytest.raises(ValueError, match=r"name must be one of .*RE21.*got 'RE99'"):
        bf.reference("RE99")
