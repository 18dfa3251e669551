"""Curves of a front followed from one active set to the next, against closed forms."""

import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.answer import Label, Patch
from bezierflow.atlas.active_sets import Curvature
from bezierflow.atlas.arc_cover import front_arcs, held
from bezierflow.atlas.arcs import trace
from bezierflow.atlas.holding import Active, hold, signs, switched
from bezierflow.atlas.local_solves import Ends
from bezierflow.atlas.measuring import fair_level
from bezierflow.atlas.mesh import Mesh
from bezierflow.atlas.program import Program
from bezierflow.objectives import feasible_set
from bezierflow.precision import double_precision

L = 12


def pair(seed=0):
    """Two weighted distances: the best design for weights is a clipped mean, so that all active
    sets along the front are known."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-0.5, 1.5, (2, L))
    scales = rng.uniform(0.5, 2.0, (2, L)) / L

    def f(x):
        return jnp.sum(scales * (x - centers) ** 2, axis=1)

    def free(w):
        weights = np.asarray(w)[:, :, None] * scales
        return (weights * centers).sum(axis=1) / weights.sum(axis=1)

    return f, free


def program_of(f, n=L, upper=1.0):
    box = np.zeros(n), np.full(n, upper)
    return Program(f, 2, feasible_set(box, None, n), box)


def weights(n):
    w = np.linspace(1, 0, n)
    return np.stack([w, 1 - w], axis=1)


def solution(program, x, w):
    """A design on the front as a start, with its coordinate."""
    z = x[None]
    side = np.where(z <= 0, -1, np.where(z >= 1, 1, 0))
    r = program.values(z)
    active = np.ones((1, 2), dtype=bool)
    return Ends(z, r, w[None], active, side), float((r[0, 0] - r[0, 1]) / np.sqrt(2))


def nothing_better(c, level):
    return False


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_arcs_are_the_active_sets_along_a_front(seed):
    f, free = pair(seed)
    program = program_of(f)
    w = weights(20001)[1:-1]
    x = np.clip(free(w), 0, 1)
    side = np.where(x <= 0, -1, np.where(x >= 1, 1, 0))
    sets = side[np.append(True, (side[1:] != side[:-1]).any(axis=1))]
    begin, c = solution(program, x[0], w[0])
    end = solution(program, x[-1], w[-1])[1]
    trail = trace(program, begin, (c, end), 1e-9, nothing_better)
    assert abs(trail.reached - end) < 1e-8
    found = [trail.patches[0].label.side]
    for patch in trail.patches[1:]:
        if (patch.label.side != found[-1]).any():
            found.append(patch.label.side)
    np.testing.assert_array_equal(found, sets)
    for patch in trail.patches:
        at = np.linspace(-patch.domain[1, 1], patch.domain[0, 1], 7)[:, None]
        y = patch(at)
        mu = y[:, L + 1 :]
        designs = np.where(patch.label.side == 0, y[:, :L], patch.label.side > 0)
        np.testing.assert_allclose(designs, np.clip(free(mu), 0, 1), atol=1e-6)


def test_hessians_of_quadratics_are_computed_once():
    f, free = pair()
    program = program_of(f)
    w = weights(11)[1:-1]
    x = np.clip(free(w), 0, 1)
    begin, c = solution(program, x[0], w[0])
    trail = trace(program, begin, (c, solution(program, x[-1], w[-1])[1]), 1e-9, nothing_better)
    assert len(trail.patches) > 5
    assert program.evaluator.evaluations.hessian <= 2


def test_an_active_set_is_held_beyond_its_end():
    """A variable at its bound keeps there although its multiplier is negative, one that is free
    leaves the box."""
    f, free = pair()
    program = program_of(f)
    w = weights(9)[4:5]
    x = np.clip(free(w), 0, 1)
    begin, c = solution(program, x[0], w[0])
    active = Active(begin.active[0], begin.side[0])
    far = np.array([c + 0.4])
    held = hold(Curvature(program), active, far, begin.z, begin.mu)
    assert held.ok[0]
    assert signs(program, active, held.y).min() < -1e-3
    mu = held.mu[0] / held.mu[0].sum()
    fixed = np.where(active.side > 0, 1.0, 0.0)
    true = np.where(active.side == 0, free(mu[None])[0], fixed)
    np.testing.assert_allclose(held.z[0], true, atol=1e-8)
    # The slope is that of the solutions.
    near = hold(Curvature(program), active, far + 1e-5, held.z, held.mu)
    np.testing.assert_allclose((near.y - held.y)[0] / 1e-5, held.slope[0], atol=1e-3)


def test_a_change_of_sign_switches_one_thing():
    f, _ = pair()
    program = program_of(f)
    active = Active(np.ones(2, dtype=bool), np.zeros(L, dtype=int))
    lower = switched(program, active, 3)
    upper = switched(program, active, L + 3)
    assert lower.side[3] == -1
    assert upper.side[3] == 1
    assert switched(program, upper, L + 3).side[3] == 0
    assert switched(program, active, 2 * L) is None  # the front ends


def test_hessians_that_change_are_computed_anew():
    def f(x):
        return jnp.stack([jnp.exp(x[0]) + x[1] ** 4, jnp.exp(-2 * x[0]) + (x[1] - 1.0) ** 4])

    program = program_of(f, 2, upper=2.0)
    x = np.array([0.3, 0.5])
    z = x[None] / 2
    r = program.values(z)
    c = float((r[0, 0] - r[0, 1]) / np.sqrt(2))
    active = Active(np.ones(2, dtype=bool), np.zeros(2, dtype=int))
    at = hold(Curvature(program), active, np.array([c]), z, np.full((1, 2), 0.5))
    assert at.ok[0]
    begin = Ends(at.z, program.values(at.z), at.mu, active.rows[None], active.side[None])
    trail = trace(program, begin, (c, c + 0.5), 1e-9, nothing_better)
    assert trail.reached == pytest.approx(c + 0.5)
    for patch in trail.patches:
        at = np.linspace(-patch.domain[1, 1], patch.domain[0, 1], 9)[:, None]
        y = patch(at)
        values = np.asarray([f(2 * point) for point in y[:, :2]])
        np.testing.assert_allclose(values, patch.label.values(y, at), atol=1e-7)
        # Weighted slopes vanish: the designs are on the front.
        u, v, mu = 2 * y[:, 0], 2 * y[:, 1], y[:, 3:5]
        by_u = mu[:, 0] * np.exp(u) - 2 * mu[:, 1] * np.exp(-2 * u)
        by_v = 4 * (mu[:, 0] * v**3 + mu[:, 1] * (v - 1) ** 3)
        np.testing.assert_allclose(by_u, 0, atol=1e-5)
        np.testing.assert_allclose(by_v, 0, atol=1e-5)


def test_a_curve_with_an_infinite_slope_is_followed_to_its_end():
    def f(x):
        return jnp.stack([x[0], 1 - jnp.sqrt(x[0]) + jnp.sum(x[1:])])

    solution = bf.minimize(f, None, bounds=(np.zeros(4), np.ones(4)))
    assert solution.success
    t = solution.t(np.array([[1e-8, 1 - 1e-4], [1e-6, 1 - 1e-3]]))
    np.testing.assert_allclose(solution.front(t), [[1e-8, 1 - 1e-4], [1e-6, 1 - 1e-3]], atol=1e-6)


@pytest.mark.slow
def test_many_bounded_variables_take_few_hessians():
    rng = np.random.default_rng(4)
    n = 60
    centers = rng.uniform(-0.5, 1.5, (2, n))
    scales = rng.uniform(0.5, 2.0, (2, n)) / n

    def f(x):
        return jnp.sum(scales * (x - centers) ** 2, axis=1)

    solution = bf.minimize(f, None, bounds=(np.zeros(n), np.ones(n)))
    assert solution.success
    assert solution.stats.evaluations.hessian < 300
    w = weights(101)[:, :, None] * scales
    x = np.clip((w * centers).sum(axis=1) / w.sum(axis=1), 0, 1)
    true = np.asarray([f(point) for point in x])
    found = solution.front(solution.t(true))
    assert np.abs((found - true) / np.ptp(true, axis=0)).max() < 1e-7


def straight(design, low, high, levels):
    """An arc at one design whose level changes from one number to another."""
    label = Label(np.ones(2, dtype=bool), np.zeros(0, dtype=bool), np.zeros(1, dtype=int), 0)
    control_points = np.array([[design, level, 0.5, 0.5] for level in levels])
    domain = np.array([[1.0, high], [-1.0, -low]])
    return Patch(label, np.array([[low], [high]]), 1, control_points, domain, 0.0)


@pytest.mark.parametrize("followed", [False, True])
def test_a_dip_of_another_curve_is_held_where_it_was_followed_to_its_end(followed):
    """Below a long arc a short one of another design, with the same things active. The level of a
    front is continuous, so that one that ends lower was left too early."""
    long, first = straight(0.1, -0.5, 0.5, (0, 0)), straight(0.9, 0.2, 0.3, (0, -0.05))
    arcs = [
        long,
        first,
        straight(0.9, 0.3, 0.4 if followed else 0.36, (-0.05, 0.0 if followed else -0.02)),
    ]
    box, nodes = (np.zeros(1), np.ones(1)), np.array([[-0.4], [0.35], [0.45]])
    stretches = held(arcs, nodes, np.array([0.0, -0.025, 0.0]), box, 1e-6)
    assert stretches.tolist() == [True, followed]
    if followed:
        made = front_arcs(arcs, np.zeros((0, 2)), box, 1e-7, 0)[:-2]
        ends = sorted((-patch.domain[1, 1], patch.domain[0, 1]) for patch in made)
        np.testing.assert_allclose(
            ends, [(-0.5, 0.2), (0.2, 0.3), (0.3, 0.4), (0.4, 0.5)], atol=1e-3
        )


def test_what_is_only_locally_optimal_is_no_answer():
    """Two wells whose order changes along the front: each answers where it is the lower one."""

    def f(x):
        well = 30 * ((x[1] - 0.5) ** 2 - 0.09) ** 2
        return jnp.stack([x[0] + well + 0.2 * x[1], (1 - x[0]) ** 2 + well + 0.2 * (1 - x[1])])

    solution = bf.minimize(f, None, bounds=(np.zeros(2), np.ones(2)))
    assert solution.success
    F = np.asarray(solution.F)
    worse = (F[None] <= F[:, None] + 1e-7).all(axis=2) & (F[None] < F[:, None] - 1e-5).any(axis=2)
    assert not worse.any()
    u, v = np.meshgrid(np.linspace(0, 1, 400), np.linspace(0, 1, 400))
    dense = np.asarray(f(jnp.stack([jnp.asarray(u.ravel()), jnp.asarray(v.ravel())]))).T
    best = (dense[None] - F[:, None]).max(axis=2).min(axis=1)
    assert best.min() > -1e-6
    assert {bool(y) for y in solution.X[:, 1] > 0.5} == {False, True}


def tilted():
    """Both objectives fall with x1 at rate 1, down to the constraint x1 >= 0."""

    def f(x):
        return jnp.stack([x[0] + x[1], 1 - x[0] + x[1]])

    box = np.array([0.0, -1.0]), np.array([1.0, 1.0])
    return Program(f, 2, feasible_set(box, lambda x: -x[1], 2), box), box


def test_what_a_violation_brings_is_no_gain():
    program, _ = tilted()
    with double_precision():
        x = np.array([[0.5, 0.0], [0.5, -5e-7]])
        r = program.values((x - program.origin) / program.unit)
    a, mu = np.zeros((2, 2)), np.array([[0.5, 0.5, 1.0]] * 2)
    kept, left = fair_level(program, r, a)
    assert kept - left > 4e-7
    kept, left = fair_level(program, r, a, mu)
    assert abs(kept - left) < 1e-10


def test_a_gap_stays_one_when_its_ends_move_a_little():
    mesh = Mesh(tilted()[0], 1e-7)
    mesh.gap_ends = np.array([[0.1, 0.3], [0.3, 0.31]])
    ends = np.array([[0.1001, 0.2999], [0.1, 0.305], [0.15, 0.2], [0.3, 0.3103]])
    assert mesh.were_gaps(ends).tolist() == [True, False, False, False]
