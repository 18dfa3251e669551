"""Answers that are solved for: exact wherever the patches lead, whatever is active there."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

import bezierflow as bf
from bezierflow.answer import centered
from bezierflow.atlas.active_sets import follow
from bezierflow.atlas.local_solves import Ends, descend
from bezierflow.atlas.polishing import Polish
from bezierflow.atlas.program import Program
from bezierflow.atlas.quadratic import Model
from bezierflow.objectives import feasible_set
from bezierflow.precision import double_precision

rng = np.random.default_rng(3)
L, M = 4, 3
CENTERS = rng.uniform(-0.4, 1.4, (M, L))
ROOTS = rng.normal(size=(M, L, L)) / 2
HESSIANS = np.einsum("mij,mkj->mik", ROOTS, ROOTS) + 0.3 * np.eye(L)


def quadratics(x):
    d = x - CENTERS
    return jnp.einsum("mi,mij,mj->m", d, HESSIANS, d)


@pytest.fixture(scope="module")
def box():
    return bf.minimize(quadratics, None, bounds=(np.zeros(L), np.ones(L)), tol=1e-2)


def weighted(w):
    """An independent minimizer of the weighted sum within the box: SciPy's bounded least squares."""
    A = np.concatenate(
        [np.sqrt(v) * np.linalg.cholesky(H).T for v, H in zip(w, HESSIANS, strict=True)]
    )
    b = np.concatenate(
        [
            np.sqrt(v) * np.linalg.cholesky(H).T @ c
            for v, H, c in zip(w, HESSIANS, CENTERS, strict=True)
        ]
    )
    return lsq_linear(A, b, (0, 1), method="bvls", tol=1e-14).x


def exactly(x):
    with double_precision():
        return np.asarray(quadratics(jnp.asarray(x)))


@pytest.mark.slow
def test_answers_are_exact(box):
    assert box.result.reason is bf.Reason.CONVERGED
    span = np.abs(box.pareto_set.units.span)
    weights = rng.dirichlet(np.ones(M), 12) / span
    x = np.stack([weighted(w) for w in weights])
    f = np.stack([exactly(one) for one in x])
    t = box.t(f)
    np.testing.assert_allclose(box.front(t), f, atol=1e-7 * span.max())
    np.testing.assert_allclose(box.design(t), x, atol=1e-6)
    for w, true in zip(weights[:6], f, strict=False):
        assert w @ (exactly(box.at(weights=w)) - true) < 1e-8


def test_t_is_inverted_everywhere(box):
    t = rng.dirichlet(np.ones(M), 40)
    f = np.asarray(box.front(t))
    np.testing.assert_allclose(box.front(box.t(f)), f, atol=1e-8 * np.ptp(f))


def test_patches_alone_are_said_to_be_coarse(box):
    assert box.error.patches is not None
    assert box.error.front < 1e-6 < box.error.patches.front
    assert "solved for" in box.result.message


def program():
    feasible = feasible_set((np.zeros(L), np.ones(L)), lambda x: jnp.sum(x) - 2.5, L)
    return Program(quadratics, M, feasible, (np.zeros(L), np.ones(L)))


def test_any_label_leads_to_the_solution():
    """From labels that are wrong in everything, far from where it ends."""
    with double_precision():
        rows = program()
        first = rows.values(np.full((1, L), 0.5))[0, :M]
        rows.ideal, rows.span = first - 1, np.ones(M)
        a = rng.normal(size=(30, M)) * 0.4
        a -= a.mean(axis=1, keepdims=True)
        z = rng.random((30, L))
        active = rng.random((30, rows.n_rows)) < 0.5
        active[:, 0] = True
        side = rng.integers(-1, 2, (30, L))
        mu = np.full((30, rows.n_rows), 1 / M) * (np.arange(rows.n_rows) < M)
        found, good = follow(rows, a, Ends(z, rows.values(z), mu, active, side))
        slow = descend(rows, a, np.full((30, L), 0.4))
    assert good.all()
    assert rows.nearly_feasible(found.r).all()
    assert np.all(rows.merit(found.r, a) < rows.merit(slow.r, a) + 1e-7)


def test_a_program_from_nothing_has_the_solution_of_its_label():
    with double_precision():
        rows = program()
        z = np.full(L, 0.5)
        at = rows.look(z[None])
        H = np.tensordot(np.full(M, 1 / M), at.H[0, :M], axes=1)
        model = Model(rows, (np.zeros(M), z), at.r[0], at.J[0], H)
        cold = model.solve_cold()
        assert cold is not None
        exact = model.settle(cold.active, cold.side, 3)
    assert exact is not None
    np.testing.assert_allclose(cold.d, exact.d, atol=1e-5)
    np.testing.assert_allclose(cold.mu, exact.mu, atol=1e-4)


def test_slopes_are_those_of_the_answers(box):
    t = np.full(M, 1 / M)
    around = box.set.around(t, exact=True)
    step = 1e-5
    for k in range(M - 1):
        y = step * np.eye(M - 1)[k]
        up, down = (around.look(s * y) for s in (1, -1))
        slope = around.look(np.zeros(M - 1))[1][:, k]
        np.testing.assert_allclose((up[0] - down[0]) / (2 * step), slope, rtol=1e-3, atol=1e-3)


def test_a_file_with_its_objectives_solves_again(box, tmp_path):
    box.save(tmp_path / "box.bez")
    t = rng.dirichlet(np.ones(M), 10)
    exact = np.asarray(box.front(t))
    again = bf.load(tmp_path / "box.bez", objectives=quadratics)
    alone = bf.load(tmp_path / "box.bez")
    np.testing.assert_allclose(again.front(t), exact, atol=1e-8)
    assert np.abs(alone.front(t) - exact).max() > 1e-8


@pytest.mark.slow
def test_penalties_that_are_all_least_at_0():
    """A loss, a gap between groups and a ridge: the last two have a minimizer in common, and the
    front is flat towards it."""
    rng = np.random.default_rng(1)
    X, gap = rng.normal(size=(60, 4)), rng.normal(size=4)
    y = (X @ np.array([1.0, -1.0, 0.5, 0.0]) + rng.normal(size=60) > 0).astype(float)

    def objectives(w):
        score = X @ w
        loss = jnp.mean(jnp.logaddexp(0.0, score) - y * score)
        return jnp.array([loss, (gap @ w) ** 2, w @ w])

    solution = bf.minimize(objectives, np.zeros(4))
    assert solution.result.reason is bf.Reason.CONVERGED
    assert "f2 and f3 are least at one and the same design" in solution.result.message
    span = np.abs(solution.pareto_set.units.span)
    with double_precision():
        weighted = jax.jit(jax.value_and_grad(lambda w, v: v @ objectives(w)))
        for v in rng.dirichlet(np.ones(3), 8) / span:
            w = minimize(
                lambda w, v=v: [np.asarray(part, dtype=float) for part in weighted(w, v)],
                np.zeros(4),
                jac=True,
                method="BFGS",
                options={"gtol": 1e-11},
            ).x
            f = np.asarray(objectives(jnp.asarray(w)))
            np.testing.assert_allclose(solution.front(solution.t(f)), f, atol=1e-6 * span.max())


@pytest.mark.parametrize("known", [0.4, 0.672], ids=["better", "nearly as good"])
def test_answers_are_never_worse_than_the_archive(known):
    # Two wells along x0; the higher one is where the search starts.
    def f(x):
        well = 16 * (x[0] * (1 - x[0])) ** 2 - 0.2 * x[0]
        return jnp.stack([(x[1] - 1) ** 2, x[1] ** 2 + x[2] ** 2, (x[2] - 1) ** 2]) + well

    bounds = np.zeros(3), np.ones(3)
    with double_precision():
        program = Program(f, 3, feasible_set(bounds, None, 3), bounds)
        program.ideal, program.span = np.zeros(3), np.ones(3)
        start = np.array([[0.0, 0.5, 0.5]])
        a = centered(program.values(start))
        higher = Polish(program)(a, start)
        program.values(np.array([[1.0, known, 0.5]]))
        lower = Polish(program)(a, start)
    assert higher.z[0, 0] < 0.1
    np.testing.assert_allclose(lower.z, [[1.0, 0.5, 0.5]], atol=1e-8)
    assert (lower.f < higher.f - 0.19).all()


@pytest.mark.slow
def test_answers_on_a_constraint_are_not_measured_with_the_margin_of_nodes():
    solution = bf.minimize(
        quadratics,
        None,
        bounds=(np.zeros(L), np.ones(L)),
        constraints=lambda x: x[0] ** 2 + x[1] - 0.3,
        tol=1e-2,
    )
    x = np.asarray(solution.design(rng.dirichlet(np.ones(M), 40)))
    over = x[:, 0] ** 2 + x[:, 1] - 0.3
    assert np.sum(np.abs(over) < 1e-9) >= 5  # a good part of the set is on the constraint
    assert solution.error.violation < 1e-8
    assert solution.error.coverage == 1
    assert solution.result.reason is bf.Reason.CONVERGED


def test_answers_keep_constraints_where_a_search_does_not():
    # Where the search starts nothing says that the constraint holds beside x0 = 1.
    def f(x):
        return jnp.stack([(x[1] - 1) ** 2, x[1] ** 2 + x[2] ** 2, (x[2] - 1) ** 2]) + x[0]

    def g(x):
        return 0.05 - jnp.exp(-400 * (1 - x[0]) ** 2)

    bounds = np.zeros(3), np.ones(3)
    with double_precision():
        program = Program(f, 3, feasible_set(bounds, g, 3), bounds)
        start = np.array([[0.2, 0.5, 0.5]])
        known = np.array([[1.0, 0.5, 0.5], [1.0, 0.1, 0.1]])
        program.values(known)
        a = centered(program.values(known[:1])[:, :3])
        np.testing.assert_array_equal(Polish(program)(a, start).z, known[:1])
