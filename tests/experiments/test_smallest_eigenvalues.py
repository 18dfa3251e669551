"""U, Γ and what follows from it, and the law of λ_min(ZᵀZ): closed forms against simulation."""

import numpy as np
import pytest
from experiments.stability_bounds import (
    SmallestEigenvalueLaw,
    basis_norm_bound,
    coherence,
    draws_for,
    eta_chernoff,
    expected_smallest_eigenvalue,
    smallest_eigenvalue_law,
    smallest_eigenvalues,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.bezier import design_matrix
from bezierflow.simplex import grid
from bezierflow.stability import expected_gram, gram_root

SIZES = [(2, 1), (2, 4), (3, 2), (3, 3), (4, 2), (5, 3)]


@pytest.mark.parametrize(("n_objectives", "degree"), SIZES)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), sharpness=st.floats(0.05, 2.0))
def test_the_basis_is_longest_at_the_vertices(n_objectives, degree, seed, sharpness):
    U = basis_norm_bound(n_objectives, degree)
    t = np.random.default_rng(seed).dirichlet(np.full(n_objectives, sharpness), 50)
    assert np.all(np.linalg.norm(design_matrix(t, degree), axis=1) <= U + 1e-12)
    np.testing.assert_allclose(
        np.linalg.norm(design_matrix(np.eye(n_objectives), degree), axis=1), U
    )
    inner = t[t.max(axis=1) < 0.99]
    assert np.all(np.linalg.norm(design_matrix(inner, degree), axis=1) < U)


@pytest.mark.parametrize(("n_objectives", "degree"), SIZES)
def test_the_expected_gram_matrix_agrees_with_simulation(n_objectives, degree):
    Z = design_matrix(np.random.default_rng(1).dirichlet(np.ones(n_objectives), 100_000), degree)
    products = np.einsum("ni,nj->ij", Z, Z) / len(Z)
    noise = np.sqrt(np.einsum("ni,nj->ij", Z**2, Z**2)) / len(Z)
    assert np.all(np.abs(products - expected_gram(n_objectives, degree)) < 6 * noise)


@pytest.mark.parametrize(("n_objectives", "degree"), SIZES)
def test_its_smallest_eigenvalue_and_coherence_have_closed_forms(n_objectives, degree):
    gram = expected_gram(n_objectives, degree)
    np.testing.assert_allclose(
        np.linalg.eigvalsh(gram)[0], expected_smallest_eigenvalue(n_objectives, degree), rtol=1e-9
    )
    Z = design_matrix(grid(n_objectives, 8), degree)
    lengths = np.einsum("ni,ij,nj->n", Z, np.linalg.inv(gram), Z)
    np.testing.assert_allclose(lengths.max(), coherence(n_objectives, degree), rtol=1e-9)
    assert lengths[0] == pytest.approx(lengths.max())  # the first grid point is a vertex
    root = gram_root(n_objectives, degree)
    np.testing.assert_allclose(root @ root, gram, atol=1e-12)


def simulated(n_objectives, degree, n_samples, n_draws, seed):
    """λ_min the long way: one sample at a time, by singular values of Z."""
    generator = np.random.default_rng(seed)
    draw = lambda: design_matrix(generator.dirichlet(np.ones(n_objectives), n_samples), degree)
    return np.array([np.linalg.svd(draw(), compute_uv=False)[-1] ** 2 for _ in range(n_draws)])


@pytest.mark.parametrize(
    ("n_objectives", "degree", "n_samples"),
    [(2, 1, 4), (2, 3, 8), (3, 2, 12), (3, 3, 40), (4, 2, 30)],
)
def test_the_law_agrees_with_direct_simulation(n_objectives, degree, n_samples):
    law = smallest_eigenvalue_law(n_objectives, degree, n_samples, n_draws=4000, seed=3)
    found = simulated(n_objectives, degree, n_samples, 1500, seed=4)
    for p in (0.05, 0.25, 0.5, 0.9):
        within = law.quantile(p, confidence=0.999)
        below = [np.mean(found <= level) for level in (within.low, within.high)]
        noise = 4 * np.sqrt(p * (1 - p) / len(found))
        assert below[0] - noise <= p <= below[1] + noise
        assert within.low <= within.estimate <= within.high
    level = float(np.median(found))
    interval = law.probability(level, confidence=0.999)
    assert interval.low - 0.06 < 0.5 < interval.high + 0.06


def test_lambda_min_of_given_samples_is_that_of_the_gram_matrix():
    t = np.random.default_rng(0).dirichlet(np.ones(3), (5, 20))
    for value, sample in zip(smallest_eigenvalues(t, 2), t, strict=True):
        Z = design_matrix(sample, 2)
        np.testing.assert_allclose(value, np.linalg.eigvalsh(Z.T @ Z)[0], rtol=1e-9)


@pytest.mark.parametrize(("n_objectives", "degree"), [(2, 2), (3, 1)])
def test_for_many_samples_it_tends_to_the_closed_form(n_objectives, degree):
    law = smallest_eigenvalue_law(n_objectives, degree, 5000, n_draws=100)
    assert np.median(law.draws) / 5000 == pytest.approx(
        expected_smallest_eigenvalue(n_objectives, degree), rel=0.1
    )


@pytest.mark.parametrize("epsilon", [0.05, 0.3])
def test_eta_and_zeta_keep_their_promise_over_all_draws_of_a_run(epsilon):
    K, n_runs = 9, 400
    law = smallest_eigenvalue_law(3, 2, 15, n_draws=4 * draws_for(epsilon / (K + 1)))
    eta, zeta = law.eta(epsilon, K), law.zeta(epsilon, K)
    t = np.random.default_rng(8).dirichlet(np.ones(3), (n_runs, K + 1, 15))
    failed = np.min(smallest_eigenvalues(t, 2), axis=1) <= eta
    assert failed.mean() <= epsilon + 3 * np.sqrt(epsilon * (1 - epsilon) / n_runs)
    Z = np.stack([[design_matrix(sample, 2) for sample in run] for run in t[~failed][:20]])
    inverse = np.linalg.inv(Z.transpose(0, 1, 3, 2) @ Z)
    assert np.linalg.norm(inverse, axis=(2, 3)).max() < zeta
    assert eta > law.quantile(epsilon / (K + 1)).estimate / 20  # a bound, but not an empty one


def test_confidence_intervals_cover():
    """Of draws from a known law, the intervals hold the truth as often as they say, give or take
    chance."""
    generator = np.random.default_rng(5)
    covered = []
    for _ in range(300):
        law = SmallestEigenvalueLaw(np.sort(generator.uniform(size=400)), 2, 1, 2)
        quantile, probability = law.quantile(0.02, 0.9), law.probability(0.3, 0.9)
        covered.append(
            [quantile.low <= 0.02 <= quantile.high, probability.low <= 0.3 <= probability.high]
        )
    assert np.all(np.mean(covered, axis=0) > 0.9 - 3 * np.sqrt(0.09 / 300))


@pytest.mark.parametrize(("n_samples", "least"), [(2, 0.4), (4, 1.0), (8, 2.5)])
def test_small_eigenvalues_are_as_rare_as_the_theorem_says(n_samples, least):
    """P(λ_min ≤ s) falls at least like s^((N/D − n_c + 1)/2): exponents 1/2, 3/2 and 7/2 for two
    objectives in degree 1."""
    law = smallest_eigenvalue_law(2, 1, n_samples, n_draws=400_000)
    levels = np.quantile(law.draws, [1e-4, 1e-2])
    exponent = np.log(1e-2 / 1e-4) / np.log(levels[1] / levels[0])
    assert exponent > least


def test_the_moment_of_a_single_pair_has_no_limit_and_that_of_more_samples_has():
    """With N = n_c = 2 the mean of λ_min^(−1/2) is infinite: it grows with the number of draws.
    With N = 8 it does not."""
    few, many = (
        smallest_eigenvalue_law(2, 1, 8, n_draws=n).inverse_root_moment() for n in (2000, 200_000)
    )
    assert few.low < many.estimate < few.high
    draws = [
        smallest_eigenvalue_law(2, 1, 2, n_draws=n).inverse_root_moment().estimate
        for n in (200, 200_000)
    ]
    assert draws[1] > 1.3 * draws[0]


def test_the_closed_form_eta_is_below_the_simulated_one_and_grows_with_n():
    law = smallest_eigenvalue_law(2, 1, 400, n_draws=3000)
    eta = eta_chernoff(2, 1, 400, 9, 0.05)
    assert 0 < eta < law.eta(0.05, 9)
    assert eta_chernoff(2, 1, 40_000, 9, 0.05) / 40_000 == pytest.approx(
        expected_smallest_eigenvalue(2, 1), rel=0.1
    )
    assert eta_chernoff(3, 3, 100, 1000, 0.05) == 0


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: smallest_eigenvalue_law(3, 3, 9), "n_samples=9 is below the 10 control points"),
        (
            lambda: smallest_eigenvalue_law(3, 3, 100, n_draws=10**9),
            "n_draws=1,000,000,000 is above",
        ),
        (lambda: smallest_eigenvalue_law(3, 3, 10.5), "n_samples must be a whole number"),
        (
            lambda: smallest_eigenvalue_law(2, 1, 4, 200).eta(0.0, 10),
            "epsilon must be a number strictly between 0 and 1, got 0.0",
        ),
        (
            lambda: smallest_eigenvalue_law(2, 1, 4, 200).eta(1.0, 10),
            "epsilon must be a number strictly between 0 and 1, got 1.0",
        ),
        (
            lambda: smallest_eigenvalue_law(2, 1, 4, 200).eta(0.05, 1000),
            r"n_draws=200 draws say nothing sure .* take n_draws=\d+",
        ),
        (
            lambda: smallest_eigenvalue_law(2, 1, 4, 200).quantile(2),
            "p must be a number strictly between 0 and 1",
        ),
        (lambda: eta_chernoff(2, 1, 1, 10, 0.05), "n_samples=1 is below the 2 control points"),
    ],
)
def test_mistakes_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
