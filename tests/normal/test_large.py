"""The normal flow without Hessian matrices, from the user's side, and what it shares with the one
that has them."""

import os
import re
import subprocess
import sys
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.answer import Flag
from bezierflow.bezier import BezierSimplex
from bezierflow.normal import Settings, advance, begin, estimate_error
from bezierflow.precision import double_precision
from solved import distances_to_points

L = 24


def quadratics(seed=5):
    rng = np.random.default_rng(seed)
    bases = [np.linalg.qr(rng.normal(size=(L, L)))[0] for _ in range(2)]
    return bf.problems.Quadratic(
        [b @ np.diag(6 ** rng.random(L)) @ b.T for b in bases], rng.normal(size=(2, L))
    )


PROBLEM = quadratics()


def farthest(solution):
    t = np.linspace(0, 1, 41)
    x = np.asarray(solution.pareto_set(np.stack([t, 1 - t], axis=1)), dtype=float)
    return PROBLEM.distance(x).max() / solution.error.diameter


@pytest.fixture(scope="module")
def solution():
    return bf.minimize(PROBLEM, np.zeros(L), bf.NormalFlow(hessian="free"))


def test_it_comes_as_near_to_the_set_as_it_says(solution):
    assert solution.result.reason is bf.Reason.CONVERGED
    assert farthest(solution) <= 3 * solution.error.relative
    assert solution.error.relative <= 1e-6
    assert solution.error.flags == ()
    assert solution.stats.evaluations.hessian == 0
    assert 100 < solution.gradient_equivalents / 2 < 5000  # most of it for designs all over


def test_a_finished_surface_is_accepted_as_it_is(solution):
    again = bf.minimize(PROBLEM, solution, bf.NormalFlow(hessian="free"))
    assert again.stats.iterations == 0
    np.testing.assert_array_equal(
        again.pareto_set.control_points, solution.pareto_set.control_points
    )


@pytest.mark.parametrize("budget", [0, 40, 150])
def test_a_budget_is_never_exceeded_and_a_run_goes_on_after_it(budget):
    flow = bf.NormalFlow(hessian="free", budget=budget)
    short = bf.minimize(PROBLEM, np.zeros(L), flow)
    assert int(short.stats.evaluations.objective) <= budget
    assert Flag.BUDGET_SPENT in short.error.flags
    assert np.isfinite(short.pareto_set.control_points).all()


def test_gradients_alone_do(solution):
    other = bf.minimize(PROBLEM, np.zeros(L), bf.NormalFlow(hessian="none"))
    assert farthest(other) < 1e-6
    assert other.stats.evaluations.hessian == 0


@pytest.mark.slow
def test_float32_arrays_stay_float32_and_come_to_1e6():
    single = bf.minimize(
        PROBLEM, jnp.zeros(L, jnp.float32), bf.NormalFlow(hessian="free", tol=1e-5)
    )
    assert single.pareto_set.control_points.dtype == np.float32
    assert farthest(single) < 1e-5
    assert single.made_by["dtype"] == "float32"


@double_precision()
def ended(objectives, x0, hessian="auto"):
    settings = Settings(hessian=hessian)
    state = begin(objectives, np.asarray(x0, dtype=float), settings)
    while not state.done:
        state = advance(objectives, settings, state)
    return state, estimate_error(objectives, state.surface, tol=1e-6, settings=settings)


def tied(x):
    """The first objective does not see x[0]: of its minimizers the one nearest to the other's is
    wanted."""
    return jnp.stack([jnp.sum(x[1:] ** 2), jnp.sum((x - 1) ** 2)])


@pytest.mark.parametrize(("n_variables", "hessian"), [(10, "auto"), (300, "auto"), (300, "none")])
def test_ties_are_broken_and_flagged_whatever_the_number_of_variables(n_variables, hessian):
    state, error = ended(tied, np.full(n_variables, 3.0), hessian)
    assert state.flags == error.flags == (Flag.MINIMIZER_NOT_UNIQUE,)
    expected = np.stack([np.eye(1, n_variables)[0], np.ones(n_variables)])
    np.testing.assert_allclose(state.surface.control_points[[0, -1]], expected, atol=1e-5)
    assert error.relative < 1e-6


def two_wells(x):
    """Each objective has two wells along x[0]; those on the left are deeper."""
    rest = 0.02 * jnp.sum(x[2:] ** 2)
    tilt = x[0] / 2 + rest
    return jnp.stack(
        [
            (x[0] ** 2 - 1) ** 2 + tilt + 0.02 * x[1] ** 2,
            ((x[0] - 0.5) ** 2 - 1) ** 2 + tilt + 0.02 * (x[1] - 1) ** 2,
        ]
    )


@pytest.mark.slow("300")
@pytest.mark.parametrize("n_variables", [10, 300])
def test_a_run_starts_again_in_better_wells_whatever_the_number_of_variables(n_variables):
    state, error = ended(two_wells, np.eye(1, n_variables)[0])
    assert state.n_restarts >= 1
    assert state.flags == error.flags == ()
    corners = np.asarray(state.surface.control_points)[[0, -1], :2]
    np.testing.assert_allclose(corners, [[-1.05745, 0.0], [-0.55745, 1.0]], atol=1e-4)


def test_a_better_well_that_ends_no_run_is_flagged_and_named():
    """A point of the deeper well beats the surface, and the corner there makes no simplex."""

    def objectives(x):
        bowl = 0.02 * jnp.sum(x[2:] ** 2)
        first = (x[0] ** 2 - 1) ** 2 + x[0] / 2 + 0.02 * x[1] ** 2
        return jnp.stack([first + bowl, (x[0] - 1.5) ** 2 + 0.02 * (x[1] - 1) ** 2 + bowl])

    state, error = ended(objectives, np.eye(1, 300)[0])
    assert state.n_restarts == 1
    assert Flag.BETTER_ELSEWHERE in state.flags or Flag.NOT_SIMPLICIAL in error.flags
    assert state.rival is None or state.rival.shape == (300,)


def test_a_surface_that_is_exact_is_measured_as_such():
    centers = np.random.default_rng(0).normal(size=(3, 200))
    solution = bf.minimize(lambda x: jnp.sum((x - centers) ** 2, axis=1), np.zeros(200))
    assert solution.result.reason is bf.Reason.CONVERGED
    assert solution.degree == 1
    assert solution.error.relative < 1e-12
    assert solution.error.n_probes > 0
    assert solution.error.coverage == 1


def n_compiled(n_variables, caplog):
    """How many programs with arrays of that many variables a run compiles. The set is the same for
    every number."""
    centers = np.zeros((2, n_variables))
    centers[0, :3], centers[1, :3] = (1.0, 0.5, 0.0), (0.0, 0.3, 1.0)
    caplog.clear()
    with jax.log_compiles():
        bf.minimize(
            lambda x: jnp.sum((x - centers) ** 2, axis=1),
            np.zeros(n_variables),
            bf.NormalFlow(hessian="free", tol=1e-2),
        )
    said = [record.getMessage() for record in caplog.records]
    return sum(
        line.startswith("Compiling") and re.search(rf"\b{n_variables}\b", line) is not None
        for line in said
    )


@pytest.mark.slow
def test_the_number_of_compiled_programs_does_not_grow_with_the_variables(caplog):
    """Both numbers are above 1000: with up to 500 variables a Hessian at the start chooses their
    units, and with up to 1000 it is seen whether the set is thin, by some programs more.
    """
    few, many = n_compiled(1201, caplog), n_compiled(3001, caplog)
    assert 5 < many == few < 40


def curvature_of(flow, n_variables):
    return flow.prepare(
        lambda x: jnp.stack([jnp.sum(x**2), jnp.sum((x - 1) ** 2)]),
        BezierSimplex(np.zeros((1, n_variables)), 2, 0),
    )[0].hessian


def test_many_variables_go_without_hessians_by_themselves():
    assert curvature_of(bf.NormalFlow(), 10) == "dense"
    assert curvature_of(bf.NormalFlow(), 1000) == "free"
    assert curvature_of(bf.NormalFlow(hessian="dense"), 1000) == "dense"
    assert curvature_of(bf.NormalFlow(hessian="none"), 10) == "none"


@pytest.mark.usefixtures("unchecked")
def test_misuse_is_refused_at_the_door():
    with pytest.raises(TypeError, match=r"float32 or float64.*bfloat16"):
        bf.minimize(PROBLEM, jnp.zeros(L, jnp.bfloat16))
    with pytest.raises(ValueError, match=r"dtype must be.*bfloat16"):
        bf.NormalFlow(dtype="bfloat16")
    with pytest.raises(ValueError, match="hessian must be"):
        bf.NormalFlow(hessian="sparse")


SPLIT = """
import jax, numpy as np, jax.numpy as jnp, bezierflow as bf
from jax.sharding import Mesh
c = np.random.default_rng(0).normal(size=(2, 16))
d = 1 + np.arange(16.0)[None] * np.array([[0.2], [0.1]])
f = lambda x: jnp.sum(d * (x - c) ** 2, axis=1)
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("nodes", "variables"))
flow = bf.NormalFlow(hessian="free", mesh=mesh, tol=1e-4)
solution = bf.minimize(f, np.zeros(16), flow)
t = np.linspace(0, 1, 21)
x = np.asarray(solution.pareto_set(np.stack([t, 1 - t], axis=1)))
s = np.linspace(0, 1, 20001)[:, None]
exact = ((1 - s) * d[0] * c[0] + s * d[1] * c[1]) / ((1 - s) * d[0] + s * d[1])
print(len(jax.devices()), max(np.linalg.norm(exact - row, axis=1).min() for row in x), solution.result.reason.value)
try:
    bf.minimize(lambda x: jnp.stack([jnp.sum(x**2), jnp.sum((x - 1) ** 2)]), np.zeros(15), flow)
except ValueError as error:
    print(error)
"""


@pytest.mark.slow
def test_nodes_and_variables_are_split_over_devices():
    flags = (
        "--xla_force_host_platform_device_count=4 --xla_backend_optimization_level=0"
        " --xla_llvm_disable_expensive_passes=true"
    )
    environment = {**os.environ, "XLA_FLAGS": flags}
    out = subprocess.run(
        [sys.executable, "-c", SPLIT], capture_output=True, text=True, check=True, env=environment
    ).stdout.splitlines()
    n, farthest_point, reason = out[0].split()
    assert (n, reason) == ("4", "converged")
    assert float(farthest_point) < 1e-3
    assert "mesh must split 15 variables evenly" in out[1]


def test_errors_at_single_points_are_left_out_where_hessians_are_too_large():
    solution = replace(
        distances_to_points(2, 2500),
        objectives=lambda x: jnp.stack([jnp.sum(x**2), jnp.sum((x - 1) ** 2)]),
    )
    assert np.isnan(solution.error_at(np.array([[0.5, 0.5]]))).all()
    with pytest.raises(ValueError, match="2500 variables are too many"):
        bf.plots.error(solution)


@pytest.mark.slow
def test_single_precision_finds_minimizers_of_many_variables():
    """Residuals of conjugate gradients below what products are exact to leave no descent."""
    n = 30_000
    band = jnp.asarray(1.1 + np.cos(np.arange(n)), jnp.float32)

    def objectives(x):
        return jnp.stack([jnp.sum(band * (x - 1) ** 2), jnp.sum((x + 1) ** 2 / band) + x[0] ** 2])

    flow = bf.NormalFlow(tol=1e-4, hessian="free", dtype="float32")
    solution = bf.minimize(objectives, np.zeros(n, np.float32), flow)
    assert solution.result.success
    assert Flag.NOT_CONVERGED not in solution.error.flags
