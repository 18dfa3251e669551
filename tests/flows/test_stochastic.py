"""Training on batches: what a step is, that it finds the set, what it says of bad batches, and that
states are plain arrays."""

import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import bezierflow as bf
from bezierflow.bezier import design_matrix
from bezierflow.flows import average_along
from bezierflow.precision import double_precision

A = np.array([[1.0, -2.0, 0.5], [-1.0, 0.0, 2.0]], np.float32)
T = bf.simplex.grid(2, 8)


def losses(x, batch):
    """Squared distances to two points blurred by the batch: the weighted sum is least at Σ t_m a_m
    plus the batch's mean."""
    return jnp.stack(
        [jnp.mean(jnp.sum((x["w"] - a - batch) ** 2, axis=-1)) + jnp.sum(x["b"] ** 2) for a in A]
    )


X0 = {"w": jnp.zeros(3), "b": jnp.ones(1)}
BATCHES = list(np.random.default_rng(0).normal(size=(4, 6, 3)).astype(np.float32))
FLOW = bf.lift(bf.Optax(optax.adam(0.1)), 2, bf.Stratified(2)).stochastic()


def train(batches, n_iterations=None, x0=X0, flow=FLOW, **settings):
    return bf.train(losses, x0, flow, batches=batches, n_iterations=n_iterations, **settings)


INIT = eqx.filter_jit(lambda flow, start, seed: flow.init(losses, start, seed))
STEP = eqx.filter_jit(lambda flow, state, batch: flow.step(losses, state, batch))


def flat(P):
    return np.concatenate([np.asarray(leaf).ravel() for leaf in jax.tree.leaves(P)])


@pytest.mark.parametrize(
    ("refit", "n_samples"), [(None, 2), (bf.PullBack(), 5), (bf.LeastSquares(), 5)]
)
def test_a_step_is_the_pull_back_or_the_refit_of_the_gradients(refit, n_samples):
    """SGD: P − α ∇_P of the mean loss at the drawn t, as JAX differentiates it through the surface;
    or P − α (ZᵀZ)⁻¹ZᵀG."""
    t, alpha, batch = (
        np.random.default_rng(1).dirichlet(np.ones(2), n_samples),
        0.3,
        np.asarray(BATCHES[0], float),
    )
    with double_precision():
        flow = bf.lift(bf.Optax(optax.sgd(alpha)), 2, bf.Fixed(t), refit=refit).stochastic()
        P = jax.tree.map(lambda leaf: np.random.default_rng(2).normal(size=(3, *leaf.shape)), X0)
        after, info = STEP(flow, INIT(flow, bf.BezierSimplex(P, 2, 2), 0), batch)

        def mean_loss(P):
            values = jax.vmap(lambda x: losses(x, batch))(bf.BezierSimplex(P, 2, 2)(jnp.asarray(t)))
            return jnp.mean(jnp.sum(values * t, axis=1)), values

        (loss, values), G_P = jax.jit(jax.value_and_grad(mean_loss, has_aux=True))(P)
        if isinstance(refit, bf.LeastSquares):
            Z = design_matrix(t, 2)
            G_P = jax.tree.map(lambda g: np.linalg.solve(Z.T @ Z / n_samples, g), G_P)
    np.testing.assert_allclose(
        flat(after.control_points), flat(P) - alpha * flat(G_P), rtol=1e-9, atol=1e-10
    )
    np.testing.assert_allclose(
        [info["loss"], info["f1"], info["f2"]], [loss, *np.asarray(values).mean(axis=0)], rtol=1e-12
    )


def test_gradient_descent_with_few_samples_is_pulled_back_too():
    """Algorithm 2 with N = 2 points for 4 control points: P − α ZᵀG/N."""
    problem, t, alpha = (
        bf.problems.Quadratic.random(2, 3, seed=0),
        np.array([[0.3, 0.7], [0.8, 0.2]]),
        0.1,
    )
    with double_precision():
        P = np.random.default_rng(3).normal(size=(4, 3))
        for method in (bf.GradientDescent(alpha), bf.Optax(optax.sgd(alpha))):
            flow = bf.lift(method, 3, bf.Fixed(t)).for_objectives(2)
            assert isinstance(flow.refit, bf.PullBack)
            iterate = eqx.filter_jit(
                lambda flow, surface, key: flow.iterate(problem, flow.begin(surface, key))[0]
            )
            stepped = iterate(
                flow, bf.BezierSimplex(P, 2, 3), jax.random.key(0)
            ).surface.control_points
            Z = design_matrix(t, 3)
            G = np.einsum(
                "nml,nm->nl", np.asarray(jax.jit(jax.vmap(jax.jacobian(problem)))(Z @ P)), t
            )
            np.testing.assert_allclose(stepped, P - alpha * Z.T @ G / 2, rtol=1e-9, atol=1e-12)
    assert isinstance(
        bf.lift(bf.GradientDescent(alpha), 3, bf.Uniform(4)).for_objectives(2).refit,
        bf.LeastSquares,
    )


def test_shared_leaves_and_split_batches_have_the_gradient_of_what_they_mean():
    """A shared leaf is one parameter for all t; a split batch gives each t its own part."""
    t, alpha, batch = np.array([[0.3, 0.7], [0.9, 0.1]]), 0.2, np.asarray(BATCHES[0], float)
    with double_precision():
        flow = bf.lift(bf.Optax(optax.sgd(alpha)), 2, bf.Fixed(t)).stochastic(
            shared={"w": False, "b": True}, split=True
        )
        state = INIT(flow, bf.BezierSimplex.constant({"w": np.ones(3), "b": np.ones(1)}, 2, 0), 0)
        assert state.control_points["b"].shape == (1,)

        def mean_loss(P):
            w = design_matrix(t, 2) @ P["w"]
            parts = [
                t[n] @ losses({"w": w[n], "b": P["b"]}, batch[3 * n : 3 * n + 3]) for n in range(2)
            ]
            return (parts[0] + parts[1]) / 2

        gradient = jax.jit(jax.grad(mean_loss))(state.control_points)
        after = STEP(flow, state, batch)[0]
    np.testing.assert_allclose(
        flat(after.control_points), flat(state.control_points) - alpha * flat(gradient), rtol=1e-10
    )
    bent = flow.surface(after).control_points
    assert bent["b"].shape == (3, 1)
    assert np.ptp(np.asarray(bent["b"])) == 0


def test_with_keys_and_a_schedule_the_surface_finds_the_set():
    """N = 2 samples for 3 control points: the weighted sums are least on the segment between the
    two points."""
    noisy = lambda x, key: losses(x, 0.3 * jax.random.normal(key, (4, 3)))
    method = bf.Optax(optax.adam(optax.cosine_decay_schedule(0.1, 600)))
    flow = bf.lift(method, 2, bf.Stratified(2), n_iterations=600)
    solution = bf.train(noisy, X0, flow, seed=1)
    found = solution.pareto_set(T)
    np.testing.assert_allclose(found["w"], T @ A, atol=0.08)
    np.testing.assert_allclose(found["b"], 0, atol=0.08)
    assert solution.result.reason is bf.Reason.COMPLETED
    assert solution.result.success
    assert solution.stats.evaluations.jacobian == 1200
    assert solution.history["loss"].shape == (600,)
    # E_t of t_1 t_2 |a_1 − a_2|², and the noise in three variables
    least = np.sum((A[0] - A[1]) ** 2) / 6 + 3 * 0.3**2
    assert abs(solution.history["loss"][-100:].mean() - least) < 0.15


def test_minimize_makes_the_steps_of_a_loop_of_ones_own_and_goes_on_where_it_was():
    state = INIT(FLOW, bf.BezierSimplex.constant(X0, 2, 0), 7)
    for k in range(8):
        state, _ = STEP(FLOW, state, BATCHES[k % 4])
    whole, half = train(BATCHES, 8, seed=7), train(BATCHES, 4, seed=7)
    np.testing.assert_array_equal(flat(whole.pareto_set.control_points), flat(state.control_points))
    rest = train(BATCHES, 4, x0=half, seed=7)
    np.testing.assert_array_equal(flat(rest.pareto_set.control_points), flat(state.control_points))
    assert (
        np.abs(
            flat(train(BATCHES, 8, seed=8).pareto_set.control_points) - flat(state.control_points)
        ).max()
        > 1e-3
    )


def test_states_are_plain_arrays(tmp_path):
    """A state that went through a file of plain arrays makes the same next step."""
    state, _ = STEP(FLOW, INIT(FLOW, bf.BezierSimplex.constant(X0, 2, 0), 3), BATCHES[0])
    leaves, treedef = jax.tree.flatten(state)
    np.savez(tmp_path / "state.npz", *leaves)
    with np.load(tmp_path / "state.npz") as file:
        restored = jax.tree.unflatten(treedef, [jnp.asarray(file[name]) for name in file.files])
    one, other = (STEP(FLOW, start, BATCHES[1])[0] for start in (state, restored))
    np.testing.assert_array_equal(flat(one), flat(other))


def test_the_front_is_that_of_the_held_out_batch():
    solution = bf.train(
        losses, X0, FLOW, batches=BATCHES, held_out=BATCHES[3], names=("near", "far")
    )
    assert solution.stats.iterations == 4
    assert solution.names.objectives == ("near", "far")
    assert flat(solution.pareto_set.control_points).dtype == np.float32
    x = solution.pareto_set(T)
    expected = [
        losses(jax.tree.map(lambda leaf, n=n: leaf[n], x), BATCHES[3]) for n in range(len(T))
    ]
    np.testing.assert_allclose(solution.front(T), expected, rtol=1e-5)


def generator(n):
    yield from BATCHES[:n]


@pytest.mark.parametrize(
    ("batches", "n_iterations", "reason", "made", "words"),
    [
        (generator(4), None, bf.Reason.COMPLETED, 4, "batches ended after 4"),
        (generator(3), 9, bf.Reason.OUT_OF_BATCHES, 3, "batches ended after 3"),
        (
            [*BATCHES[:2], BATCHES[2][:5]],
            9,
            bf.Reason.OUT_OF_BATCHES,
            2,
            r"batch 3 has the form .*\(5, 3\).*drop_last=True",
        ),
        ([*BATCHES[:2], BATCHES[2][:5]], None, bf.Reason.OUT_OF_BATCHES, 2, "batch 3"),
        (
            [BATCHES[0], BATCHES[1] * np.nan],
            9,
            bf.Reason.NON_FINITE,
            1,
            r"in iteration 2 f1 was not finite at t=\[",
        ),
    ],
)
def test_batches_that_end_change_or_break_end_the_run_with_a_reason(
    batches, n_iterations, reason, made, words
):
    solution = train(batches, n_iterations)
    assert solution.result.reason is reason
    assert solution.stats.iterations == made
    assert re.search(words, solution.message)
    np.testing.assert_array_equal(
        flat(solution.pareto_set.control_points),
        flat(train(BATCHES, made).pareto_set.control_points),
    )


def test_steps_that_an_optimizer_skips_are_said_and_the_run_goes_on():
    flow = bf.lift(bf.Optax(optax.apply_if_finite(optax.sgd(0.1), 3)), 1, bf.Stratified(2))
    solution = train([BATCHES[0], BATCHES[1] * np.nan, BATCHES[2]], 3, flow=flow)
    assert solution.result.reason is bf.Reason.COMPLETED
    assert solution.result.success
    assert "in 1 of them a loss was not finite" in solution.message
    assert np.isfinite(flat(solution.pareto_set.control_points)).all()


def test_an_equinox_model_in_mixed_precision_keeps_its_types_and_its_functions():
    model = eqx.nn.MLP(3, 2, 4, 1, key=jax.random.key(0))

    def errors(model, batch):
        assert model.layers[0].weight.dtype == jnp.float32
        model = jax.tree.map(
            lambda leaf: leaf.astype(jnp.bfloat16) if eqx.is_inexact_array(leaf) else leaf, model
        )
        return jnp.mean(jax.vmap(model)(batch.astype(jnp.bfloat16)) ** 2, axis=0)

    method = bf.Optax(optax.adam(1e-2, mu_dtype=jnp.bfloat16))
    solution = bf.train(errors, model, bf.lift(method, degree=1), batches=BATCHES, n_iterations=3)
    trained = eqx.combine(solution.pareto_set(np.array([0.5, 0.5])), model)
    assert trained(jnp.ones(3)).shape == (2,)
    assert {leaf.dtype for leaf in jax.tree.leaves(solution.pareto_set.control_points)} == {
        np.dtype(np.float32)
    }
    assert solution.front(T).shape == (9, 2)


def test_averages_along_the_surface_are_those_of_each_point():
    surface = bf.BezierSimplex({"w": np.eye(3)[:2], "b": np.zeros((2, 1))}, 2, 1)
    found = average_along(surface, lambda x, batch: {"mean": jnp.mean(batch @ x["w"])}, BATCHES, T)[
        "mean"
    ]
    np.testing.assert_allclose(
        found, [np.mean([batch @ w for batch in BATCHES]) for w in T @ np.eye(3)[:2]], rtol=1e-4
    )


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: train([]), ValueError, "batches must hold at least one batch"),
        (lambda: train(3), TypeError, "batches must be an iterable"),
        (lambda: train([{"x": "text"}]), TypeError, "batch 1 has a leaf 'text'"),
        (lambda: train(None), ValueError, "n_iterations must be given"),
        (lambda: bf.train(3, X0, FLOW), TypeError, "objectives must be a function"),
        (lambda: train(BATCHES, 0), ValueError, "n_iterations must be a whole number"),
        (lambda: train(BATCHES, flow="auto"), ValueError, "method must be a rule on gradients"),
        (lambda: train(BATCHES, flow=bf.Newton()), TypeError, "method must be a rule on gradients"),
        (
            lambda: train(BATCHES, x0={"w": jnp.zeros(3, jnp.bfloat16), "b": jnp.ones(1)}),
            TypeError,
            "float32 or float64 .* bfloat16",
        ),
        (
            lambda: train(BATCHES, x0={"w": np.zeros(3, int)}),
            ValueError,
            "at least one array of floating-point",
        ),
        (
            lambda: train(
                BATCHES, flow=bf.lift(FLOW.method, 2, FLOW.sampler, refit=bf.LeastSquares())
            ),
            ValueError,
            "LeastSquares",
        ),
        (
            lambda: train(BATCHES, flow=bf.lift(FLOW.method).stochastic(shared=True)),
            ValueError,
            "shared must leave",
        ),
        (
            lambda: train(BATCHES, flow=bf.lift(FLOW.method).stochastic(split=True)),
            ValueError,
            "multiple of n_samples=4, got",
        ),
        (
            lambda: bf.train(lambda x, b: jnp.ones((2, 2)), X0, FLOW, batches=BATCHES),
            ValueError,
            "one number for each",
        ),
    ],
)
def test_mistakes_are_named_at_the_door(make, error, words):
    with pytest.raises(error, match=words):
        make()
