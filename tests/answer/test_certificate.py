"""Certificates: they hold for every t, both ways, are near what is true, and refuse what they cannot
prove."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize as local_search

import bezierflow as bf
from bezierflow.answer import SCHEDULE
from bezierflow.bezier import project
from bezierflow.precision import double_precision

SCALED = bf.problems.ScaledMED()
CURVES = bf.problems.Quadratic.random(2, 3, seed=0)
CENTERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]])
DIRECTIONS = np.array([[0.1, -0.3, 0.4], [0.5, 0.2, -0.1], [-0.2, 0.6, 0.3]])


def exponentials(x):
    """Strongly convex, and its Hessians have no bound."""
    return jnp.sum((x - CENTERS) ** 2, axis=1) + jnp.exp(DIRECTIONS @ x)


def hyperbolic(x):
    """Strongly convex everywhere, entry by entry."""
    return jnp.sum(jnp.cosh(x - CENTERS) + (x - CENTERS) ** 2, axis=1)


def logistic(x):
    """Two logistic losses with a quadratic."""
    rows = np.array([[1.0, 0.5, -0.3], [-0.4, 1.0, 0.2], [0.3, -0.2, 1.0], [0.8, 0.8, 0.1]])
    signs = np.array([[1.0, 1.0, -1.0, 1.0], [-1.0, 1.0, 1.0, -1.0]])
    return jnp.mean(jax.nn.softplus(-signs * (rows @ x)), axis=1) + 0.1 * jnp.sum(x**2)


def cross_entropy(x):
    """Two softmax regressions on eight rows of two features, three classes, with a quadratic."""
    rows = np.random.default_rng(1).normal(size=(8, 2))
    classes = np.array([[0, 1, 2, 0, 1, 2, 0, 1], [2, 0, 1, 1, 0, 2, 2, 0]])
    found = jax.nn.log_softmax(rows @ x.reshape(2, 3))
    losses = [-jnp.mean(found[np.arange(8), each]) for each in classes]
    return jnp.stack(losses) + 0.1 * jnp.sum(x**2)


def smooth_maxima(x):
    """A smooth maximum of distances with a quadratic."""
    peaks = jax.scipy.special.logsumexp(x - 2 * CENTERS, axis=1)
    return peaks + 0.5 * jnp.sum((x - CENTERS) ** 2, axis=1)


def true_distance(solution, objectives):
    """The largest distance between surface and set that a search finds, both ways: at a grid with
    its faces, and from the worst of it uphill. Attained, unless the search for the point of the set
    nearest to the surface's worst ends in a local minimum: then it is too large."""
    M, surface = solution.n_objectives, solution.pareto_set
    t = bf.simplex.grid(M, {2: 400, 3: 40}.get(M, 14))

    def newton(w, x):
        def step(_, x):
            H = jnp.tensordot(w, jax.jacfwd(jax.jacfwd(objectives))(x), axes=1)
            return x - jnp.linalg.solve(H, w @ jax.jacfwd(objectives)(x))

        return jax.lax.fori_loop(0, 8, step, x)

    compiled = jax.jit(jax.vmap(newton))

    def minimizers(w, x):
        return np.asarray(compiled(w, x))

    def weights(v):
        return np.abs(v) / np.abs(v).sum()

    start = np.full((len(t), surface.n_variables), 0.2)
    points = minimizers(t, start)
    to_surface = project(surface, points)[1]

    def from_set(v):
        return -float(project(surface, minimizers(weights(v)[None], start[:1]))[1][0])

    def to_set(v):
        x = np.asarray(surface(weights(v)))
        near = t[np.linalg.norm(points - x, axis=1).argmin()]

        def away(u):
            return float(np.linalg.norm(x - minimizers(weights(u)[None], start[:1])[0]))

        options = {"xatol": 1e-12, "fatol": 1e-13, "maxiter": 400}
        return -local_search(away, near + 1e-9, method="Nelder-Mead", options=options).fun

    found = local_search(
        from_set, t[to_surface.argmax()] + 1e-9, method="Nelder-Mead", options={"maxiter": 60}
    )
    distances = np.linalg.norm(np.asarray(surface(t))[:, None] - points, axis=2).min(axis=1)
    worst = t[distances.argsort()[-1:]]
    return max(to_surface.max(), -found.fun, *(-to_set(v) for v in worst))


@pytest.mark.slow("curve", "maxima", "logistic")
@pytest.mark.parametrize(
    ("objectives", "flow", "assumes"),
    [
        (SCALED, bf.NormalFlow(degree=3), "nothing"),
        (SCALED, bf.WeightsFlow(degree=4), "nothing"),
        (CURVES, bf.NormalFlow(degree=3), "nothing"),
        (CURVES, bf.NormalFlow(), "nothing"),
        (hyperbolic, bf.NormalFlow(degree=2), "nothing"),
        (exponentials, bf.NormalFlow(degree=2), "only designs in the surface's box"),
        (logistic, bf.NormalFlow(degree=3), "only designs in the surface's box"),
        pytest.param(
            cross_entropy,
            bf.NormalFlow(degree=3),
            "only designs in the surface's box",
            marks=pytest.mark.slow,
        ),
        (smooth_maxima, bf.NormalFlow(degree=3), "only designs in the surface's box"),
        pytest.param(
            bf.problems.Quadratic.random(4, 4, seed=0),
            bf.NormalFlow(degree=3),
            "nothing",
            marks=pytest.mark.slow,
        ),
    ],
    ids=[
        "free",
        "weights",
        "curve",
        "exact",
        "cosh",
        "exp",
        "logistic",
        "softmax",
        "maxima",
        "four",
    ],
)
def test_the_bound_holds_and_is_near_the_truth(objectives, flow, assumes):
    n = 6 if objectives is cross_entropy else 3
    solution = bf.minimize(objectives, np.full(getattr(objectives, "n_variables", n), 0.2), flow)
    certificate = solution.certify()
    with double_precision():
        true = true_distance(solution, objectives)
    assert true <= float(certificate) <= 1.5 * true
    assert certificate.sampled <= float(certificate)
    assert assumes in certificate.assumes
    assert "proved:   within" in str(certificate)
    assert "sampled:" in str(certificate)
    assert "assumes:" in str(certificate)


@pytest.mark.slow
def test_nothing_is_called_seen_that_is_left_over_from_enclosures():
    """The set of a log-sum-exp and a square is a segment here, which the surface is to rounding."""
    solution = bf.minimize(
        lambda x: jnp.stack([jax.nn.logsumexp(x) + jnp.sum(x**2), jnp.sum((x - 1) ** 2)]),
        np.zeros(2),
    )
    certificate = solution.certify()
    assert certificate.sampled <= certificate.bound <= 1e-12


def test_an_error_that_samples_might_miss_is_in_the_bound():
    """A surface of degree 6 with one control point displaced."""
    solution = bf.minimize(SCALED, np.full(3, 0.2))
    points = np.array(solution.pareto_set.control_points)
    points[10] += np.array([0.0, 0.0, 0.01])
    bent = replace(solution, pareto_set=bf.BezierSimplex(points, 3, solution.degree))
    with double_precision():
        true = true_distance(bent, SCALED)
    assert true > 1e-4
    # an edge that is displaced within the set is compared with the edge of the set
    assert true <= float(bent.certify()) <= 3 * true


def _dent(x):
    """Distances to the corners of a triangle, seen through a bump of height 0.05 and width 0.02."""
    bump = 0.05 * jnp.exp(-jnp.sum((x[:2] - np.array([0.3, 0.4])) ** 2) / 0.02**2)
    y = x - bump * np.array([0.0, 0.0, 1.0])
    return jnp.stack([jnp.sum((y - c) ** 2) for c in CENTERS * np.array([1, 1, 0.0])])


def test_a_dent_between_samples_is_not_certified_away():
    """The plane triangle is the set but for the dent, which few samples see: no bound below its depth
    may be called proved."""
    solution = bf.minimize(SCALED, np.zeros(3), bf.NormalFlow(degree=1))
    flat = bf.BezierSimplex(CENTERS * np.array([1, 1, 0.0]), 3, 1)
    plane = replace(solution, pareto_set=flat, objectives=_dent)
    with pytest.raises(ValueError, match=r"could not be bounded|strongly convex"):
        plane.certify()


@pytest.fixture(scope="module")
def quadratic_curve():
    return bf.minimize(CURVES, np.zeros(3), bf.NormalFlow(degree=2))


def bent_with(rule):
    """A square whose derivative is given by a rule of its own."""
    square = jax.custom_jvp(lambda u: u**2)
    square.defjvp(rule)
    return square


@pytest.mark.parametrize(
    ("first", "message"),
    [
        (lambda x: jnp.sum(jnp.abs(x - 1)), "no rule for abs"),
        (lambda x: jnp.sum(jnp.maximum(x, 0.0) ** 3), "no rule for max"),
        (lambda x: jnp.sum(jnp.round(x) * x), "no rule for round"),
        (lambda x: jnp.sum(jnp.where(x > 0, x**2, 2 * x**2)), "no rule for gt"),
        (lambda x: jnp.sum(jax.lax.stop_gradient(x) * x), "no rule for stop_gradient"),
        (
            lambda x: jnp.sum(bent_with(lambda u, du: (u[0] ** 2, 3 * u[0] * du[0]))(x)),
            "no rule for custom_jvp_call",
        ),
        (lambda x: (x[0] - 1) ** 2, "objective 0 has the curvature 0"),
        (lambda x: jnp.sum(x**2) - 3 * jnp.sum(jnp.cos(x)), None),
        (lambda x: jnp.sum(x**2) + 3 * jnp.sum(jnp.cos(x)), "objective 0 has the curvature -"),
    ],
    ids=["abs", "max", "round", "where", "stop", "rule", "flat", "cosine", "concave"],
)
def test_what_cannot_be_proved_is_refused_in_one_line(quadratic_curve, first, message):
    def objectives(x):
        return jnp.stack([first(x), jnp.sum((x - 0.1) ** 2)])

    points = np.linspace(0.0, 0.1, 3)[:, None] * np.ones(3)
    surface = bf.BezierSimplex(points, 2, 2)
    near = replace(quadratic_curve, objectives=objectives, pareto_set=surface)
    if message is None:  # convex where the surface is, and not everywhere
        assert "surface's box" in near.certify().assumes
        return
    with pytest.raises(ValueError, match=message) as caught:
        near.certify()
    assert "\n" not in str(caught.value)


def test_convexity_that_is_only_seen_is_called_an_assumption(monkeypatch):
    """Without boxes to cut, intervals of the whole are too wide to prove it."""
    few = replace(SCHEDULE, certificate_boxes=0)
    monkeypatch.setattr("bezierflow.answer.certificate.SCHEDULE", few)
    certificate = bf.minimize(exponentials, np.zeros(3), bf.NormalFlow(degree=2)).certify()
    assert "that the objectives are convex, which was seen at 200 designs" in str(certificate)


def test_a_surface_far_from_the_set_is_refused_or_bounded(quadratic_curve):
    points = np.asarray(quadratic_curve.pareto_set.control_points)
    far = replace(quadratic_curve, pareto_set=bf.BezierSimplex(points + 3.0, 2, 2))
    with double_precision():
        assert float(far.certify()) >= true_distance(far, CURVES)


def test_bounds_are_refused():
    flow = bf.lift(bf.GradientDescent(0.1), 1, n_iterations=3)
    bounded = bf.minimize(CURVES, np.zeros(3), flow, bounds=(-5.0, 5.0))
    with pytest.raises(ValueError, match="certify is for problems without bounds"):
        bounded.certify()


def test_one_objective_is_refused():
    flow = bf.lift(bf.GradientDescent(0.1), 1, n_iterations=3)
    single = bf.minimize(lambda x: jnp.sum(x**2)[None], np.ones(2), flow)
    with pytest.raises(ValueError, match="objectives must be at least 2 to certify"):
        single.certify()
