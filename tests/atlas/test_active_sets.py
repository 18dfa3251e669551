"""Newton's method on active sets, and boxes with many variables, whose active sets are as many as
nodes."""

import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.atlas.active_sets import follow, solve_above
from bezierflow.atlas.local_solves import Ends, descend
from bezierflow.atlas.program import Program, scattered
from bezierflow.atlas.quadratic import Model
from bezierflow.objectives import feasible_set
from bezierflow.precision import double_precision


def pair(n_variables, seed=0):
    """Two distances with diagonal weights: the minimizer of a weighted sum in a box is a clipped
    mean."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-0.5, 1.5, (2, n_variables))
    scales = rng.uniform(0.5, 2.0, (2, n_variables)) / n_variables

    def f(x):
        return jnp.sum(scales * (x - centers) ** 2, axis=1)

    def best(w):
        weights = w[:, :, None] * scales
        return np.clip((weights * centers).sum(axis=1) / weights.sum(axis=1), 0, 1)

    return f, best


def program_of(f, n_variables, n_objectives=2):
    box = np.zeros(n_variables), np.ones(n_variables)
    program = Program(f, n_objectives, feasible_set(box, None, n_variables), box)
    program.ideal, program.span = np.zeros(n_objectives), np.ones(n_objectives)
    return program


def sphere(x):
    """An octant of the unit sphere in angles, which are saddle points at the edges of their range
    for chart points beside these."""
    angle = x * jnp.pi / 2
    return jnp.stack(
        [
            jnp.cos(angle[0]) * jnp.cos(angle[1]),
            jnp.cos(angle[0]) * jnp.sin(angle[1]),
            jnp.sin(angle[0]),
        ]
    )


def test_a_neighbor_tells_what_is_active():
    f, best = pair(12)
    program = program_of(f, 12)
    x = best(np.array([[0.5, 0.5], [0.52, 0.48]]))
    values = np.array([np.asarray(f(one)) for one in x])
    a = values - values.mean(axis=1, keepdims=True)
    start = descend(program, a[:1], np.full((1, 12), 0.5))
    one, found = follow(program, a[:1], start)
    assert found[0]
    np.testing.assert_allclose(one.z[0], x[0], atol=1e-6)
    other, found = follow(program, a[1:], Ends(one.z, one.r, one.mu, one.active, one.side))
    assert found[0]
    np.testing.assert_allclose(other.z[0], x[1], atol=1e-6)
    np.testing.assert_array_equal(other.side[0] != 0, (x[1] == 0) | (x[1] == 1))


def test_wrong_labels_are_mended():
    f, best = pair(8, seed=3)
    program = program_of(f, 8)
    x = best(np.array([[0.3, 0.7]]))
    values = np.asarray(f(x[0]))[None]
    a = values - values.mean(axis=1, keepdims=True)
    wrong = np.where(x == 0, 1, np.where(x == 1, -1, 0)).astype(int)
    begin = Ends(
        np.full((1, 8), 0.5), values, np.full((1, 2), 0.5), np.ones((1, 2), dtype=bool), wrong
    )
    end, found = follow(program, a, begin)
    assert found[0]
    np.testing.assert_allclose(end.z, x, atol=1e-6)


@pytest.mark.parametrize(
    ("edge", "f"),
    [
        ([0.0, 0.56], [0.634698, 0.772298, 0.02672]),
        ([0.9917, 0.0], [0.01309, 0.002397, 0.999911]),
        ([0.98, 1.0], [0.019533, 0.031075, 0.999326]),
    ],
)
def test_saddle_points_are_left(edge, f):
    with double_precision():
        program = program_of(sphere, 2, 3)
        true = np.array([f]) / np.linalg.norm(f)
        z, mu = np.array([edge]), np.full((1, 3), 1 / 3)
        side = np.where(z == 0, -1, np.where(z == 1, 1, 0))
        begin = Ends(z, program.values(z), mu, np.ones((1, 3), dtype=bool), side)
        ends, solved = solve_above(program, true - true.mean(), begin)
    assert solved[0]
    np.testing.assert_allclose(ends.r, true, atol=1e-9)


def test_a_pole_has_no_step():
    with double_precision():
        program = program_of(sphere, 2, 3)
        z = np.full((1, 2), 0.5)
        r, J = program.slopes(z)
    model = Model(program, (r[0] - r[0].mean(), z[0]), r[0], J[0], np.diag([np.inf, 1.0]))
    assert model.solve_cold() is None


def test_a_full_archive_keeps_ends_and_lone_points():
    c = np.concatenate([[0.0, 0.3], np.linspace(0.6, 0.61, 5000), [1.0]])
    f = np.stack([c, (1 - c) ** 2], axis=1)
    kept = scattered(f, 100)
    assert {0, 1, len(c) - 1} <= set(kept.tolist())
    assert 20 < len(kept) <= 100
    assert len(scattered(np.zeros((300, 2)), 100)) == 1


@pytest.mark.slow
def test_many_bounded_variables():
    n_variables = 120
    f, best = pair(n_variables)
    solution = bf.minimize(f, bounds=(np.zeros(n_variables), np.ones(n_variables)))
    assert solution.result.success
    w = np.linspace(0.02, 0.98, 60)
    true = np.array([np.asarray(f(x)) for x in best(np.stack([w, 1 - w], axis=1))])
    span = np.abs(solution.pareto_set.units.span)
    # the answer below each true point exceeds it in no objective, and the front says the same
    t = solution.t(true)
    answers = np.array([np.asarray(f(x)) for x in np.asarray(solution.pareto_set(t))])
    assert ((answers - true) / span).max() < 1e-6
    assert np.abs((solution.pareto_set.front(t) - true) / span).max() < 1e-6


def island(x):
    """Feasible in a small disc only, with hollows of the violation all around."""
    away = (x[0] - 0.83) ** 2 + (x[1] - 0.21) ** 2
    return 0.9 - jnp.exp(-away / 0.004) + 0.3 * jnp.sin(20 * x[0]) ** 2 * (away > 0.002)


@pytest.mark.slow
def test_a_box_is_explored_where_no_start_is_feasible():
    solution = bf.minimize(
        lambda x: jnp.array([x[0], x[1]]), bounds=(np.zeros(2), np.ones(2)), constraints=island
    )
    with double_precision():
        assert max(float(island(jnp.asarray(x))) for x in solution.spread(30).X) < 1e-6


def test_a_box_without_a_feasible_point_is_refused():
    with pytest.raises(ValueError, match="no feasible point"):
        bf.minimize(
            lambda x: jnp.array([x[0], x[1]]),
            bounds=(np.zeros(2), np.ones(2)),
            constraints=lambda x: jnp.sum(x**2) + 0.5,
        )
