"""The bounds as formulas: against the update rule itself, written out in NumPy."""

import numpy as np
import pytest
from experiments.stability_bounds import (
    CurvatureBounds,
    PaperBounds,
    SharperBounds,
    smallest_eigenvalues,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.bezier import design_matrix
from bezierflow.simplex import n_controls


def fitted(t, field, degree):
    """(ZᵀZ)⁻¹ Zᵀ G for a gradient field over t."""
    return np.linalg.lstsq(design_matrix(t, degree), field(t))[0]


def worst_field(generator, n_variables):
    """A field of unit vectors that changes fast and at random with t: about as hard as |G_n| ≤ 1
    allows."""
    frequency = 100 * generator.standard_normal((3, n_variables))

    def field(t):
        waves = np.sign(np.sin(t @ frequency))
        return waves / np.linalg.norm(waves, axis=1, keepdims=True)

    return field


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 100_000),
    degree=st.integers(1, 3),
    surplus=st.integers(0, 30),
    alpha=st.floats(0.01, 1.0),
    mu=st.floats(0.1, 50.0),
)
def test_one_step_and_growth_hold_for_any_gradients(seed, degree, surplus, alpha, mu):
    generator = np.random.default_rng(seed)
    N = n_controls(3, degree) + surplus
    t = generator.dirichlet(np.ones(3), N)
    twin = t.copy()
    twin[generator.integers(N)] = generator.dirichlet(np.ones(3))
    field = worst_field(generator, 2)
    step, step_twin = (alpha * mu * fitted(sample, field, degree) for sample in (t, twin))
    smallest = smallest_eigenvalues(np.stack([t, twin]), degree)
    sharper = SharperBounds(mu, N, np.array([alpha]), smallest[:1], smallest[1:])
    eta = smallest.min()
    paper = PaperBounds(mu, N, eta, np.sqrt(n_controls(3, degree)) / eta)
    assert (
        np.linalg.norm(step)
        <= float(sharper.one_step(1)) * (1 + 1e-9)
        <= float(paper.one_step()) * (1 + 1e-8)
    )
    apart = np.linalg.norm(step - step_twin)
    assert apart <= float(sharper.growth(1)) * (1 + 1e-9)
    assert apart <= float(paper.growth()) * (1 + 1e-9)
    assert float(paper.divergence(5, 2)) == pytest.approx(
        float(paper.growth()) + 6 * float(paper.one_step())
    )
    assert float(paper.stability(5)) == float(paper.divergence(5, 1))


def test_the_growth_falls_like_one_over_n_where_the_papers_does_not():
    """With λ_min = N/560, as for three objectives in degree 3 and many samples."""
    N = np.array([1e3, 1e4, 1e5, 1e6])
    sharper = [
        float(
            SharperBounds(1.0, int(n), np.ones(1), np.full(1, n / 560), np.full(1, n / 560)).growth(
                1
            )
        )
        for n in N
    ]
    paper = [float(PaperBounds(1.0, int(n), n / 560, np.sqrt(10) * 560 / n).growth()) for n in N]
    np.testing.assert_allclose(sharper[-2] / sharper[-1], 10, rtol=0.01)
    np.testing.assert_allclose(paper[-2] / paper[-1], 1, rtol=0.01)


def test_the_sharper_divergence_adds_what_later_steps_may_add():
    bounds = SharperBounds(2.0, 9, np.array([1.0, 0.5, 0.25]), np.full(3, 1.0), np.full(3, 1.0))
    assert float(bounds.one_step(2)) == pytest.approx(0.5 * 2 * 3)
    assert float(bounds.divergence(1)) == pytest.approx(float(bounds.growth(1)) + 2 * (3 + 1.5))
    assert float(bounds.divergence(3)) == float(bounds.growth(3))
    assert float(bounds.stability()) == float(bounds.divergence(1))
    assert "Lipschitz" in str(bounds.stability())


def test_curvature_makes_later_iterations_forget():
    alpha = np.full(4, 0.25)
    bounds = CurvatureBounds(alpha, (2.0, 4.0), np.ones(4), np.array([9.0, 1.0, 1.0, 2.0]), 3, 3)
    np.testing.assert_allclose(bounds.factors()[1:], [0.25 + 0.25, 0.25 + 0.25, 0.25 + 0.5])
    assert float(bounds.rms(4)) == 1
    assert float(bounds.rms(1)) == pytest.approx(0.5 * 0.5 * 0.75)
    assert float(bounds.divergence(4)) == pytest.approx(np.sqrt(560))
    assert float(bounds.stability()) == pytest.approx(10)  # √R = 10 control points


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("k", [0, 4, 1.5])
def test_an_iteration_out_of_range_is_refused(k):
    bounds = SharperBounds(1.0, 9, np.ones(3), np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="k must be"):
        bounds.divergence(k)
    with pytest.raises(ValueError, match="k must be"):
        PaperBounds(1.0, 9, 1.0, 1.0).divergence(3, k)
