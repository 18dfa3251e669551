"""The contract of a flow, and the one driver: what is said once and holds for every flow."""

from dataclasses import replace
from functools import cache

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import bezierflow as bf
from bezierflow.atlas import AtlasFlow
from bezierflow.evaluations import Evaluations
from bezierflow.flows import AbstractFlow, StochasticFlow, drive
from bezierflow.normal import NormalFlow, WeightsFlow
from bezierflow.objectives import feasible_set
from bezierflow.precision import double_precision

PROBLEM = bf.problems.ScaledMED()

BOX = feasible_set((-1.0, 0.5), None, 3)

FLOWS = {
    "lifted": bf.lift(bf.GradientDescent(lambda k: 1 / k), degree=2, sampler=bf.Uniform(20)),
    "lifted, nodes": bf.lift(bf.Newton(), degree=2),
    "lifted, rule on gradients": bf.lift(bf.Optax(optax.adam(0.05)), degree=2),
    "lifted, on the host": bf.lift(bf.SciPy("L-BFGS-B", n_steps=2), degree=1),
    "normal": NormalFlow(),
    "weights": WeightsFlow(max_degree=5),
    "atlas": AtlasFlow(BOX, (BOX.lower, BOX.upper), tol=1e-3),
}

OBJECTIVES = dict.fromkeys(FLOWS, PROBLEM) | {"atlas": lambda x: PROBLEM(x)[:2]}
"""An atlas of two objectives shows the same as one of three and costs less."""

KEYS = {
    "lifted": {"movement", "residual"},
    "lifted, nodes": {"movement", "residual"},
    "lifted, rule on gradients": {"movement"},
    "lifted, on the host": {"movement", "residual"},
    "normal": {"error", "degree"},
    "weights": {"miss", "degree"},
    "atlas": {"changes", "worst", "covered", "nodes"},
}


@pytest.fixture(params=FLOWS)
def name(request):
    return request.param


def begun(name, seed=0):
    objectives = OBJECTIVES[name]
    n_objectives = 3 if objectives is PROBLEM else 2
    flow, start = FLOWS[name].prepare(
        objectives, bf.BezierSimplex(np.full((1, 3), 0.1), n_objectives, 0)
    )
    return flow, flow.init(objectives, start, seed)


COMPILED = eqx.filter_jit(lambda flow, state: flow.step(PROBLEM, state))


def step(name, flow, state):
    compiled = isinstance(flow, bf.Flow) and not flow.method.runs_on_host
    return COMPILED(flow, state) if compiled else flow.step(OBJECTIVES[name], state)


def control_points(flow, state):
    return net(flow.surface(state))


def net(surface):
    if isinstance(surface, bf.BezierAtlas):
        return np.concatenate([np.ravel(patch.control_points) for patch in surface.patches])
    return np.asarray(surface.control_points)


def test_every_flow_of_the_room_is_tested_here():
    def final(cls):
        return (
            {cls}
            if not cls.__subclasses__()
            else set().union(*(final(sub) for sub in cls.__subclasses__()))
        )

    ours = {cls for cls in final(AbstractFlow) if cls.__module__.startswith("bezierflow")}
    # which takes batches: see test_stochastic.py
    assert ours - {StochasticFlow} == {type(flow) for flow in FLOWS.values()}


def test_a_fresh_state_has_a_surface_and_has_cost_nothing(name):
    with double_precision():
        flow, state = begun(name)
        assert not state.done
        assert flow.evaluations(state) == (0, 0, 0)
        assert flow.surface(state).n_objectives == (2 if name == "atlas" else 3)
        np.testing.assert_allclose(control_points(flow, state), 0.1)


def test_stepping_a_state_twice_gives_the_same_state_and_counts(name):
    with double_precision():
        flow, state = begun(name)
        for _ in range(3):
            before, spent = control_points(flow, state), flow.evaluations(state)
            (one, said), (two, again) = (step(name, flow, state) for _ in range(2))
            np.testing.assert_array_equal(control_points(flow, one), control_points(flow, two))
            np.testing.assert_array_equal(control_points(flow, state), before)
            assert flow.evaluations(one) == flow.evaluations(two)
            assert flow.evaluations(state) == spent
            assert sum(flow.evaluations(one)) > sum(spent)
            np.testing.assert_array_equal(list(said.values()), list(again.values()))
            assert set(said) == KEYS[name]
            if one.done:
                break
            state = one


def test_advancing_is_stepping(name):
    with double_precision():
        flow, state = begun(name)
        stepped, infos = state, []
        for _ in range(4):
            stepped, info = step(name, flow, stepped)
            infos.append(info)
            if stepped.done:
                break
        advanced = drive(replace(flow, n_iterations=len(infos)), OBJECTIVES[name], state)
        np.testing.assert_allclose(
            control_points(flow, advanced.state), control_points(flow, stepped), atol=1e-12
        )
        assert flow.evaluations(advanced.state) == flow.evaluations(stepped)
        for key in infos[0]:
            np.testing.assert_allclose(
                advanced.history[key], [float(info[key]) for info in infos], atol=1e-12
            )


def solve(name, **options):
    return bf.minimize(
        OBJECTIVES[name], np.full(3, 0.1), replace(FLOWS[name], n_iterations=6), **options
    )


@cache
def solved_alone(name):
    return solve(name)


@cache
def stopped_after_two(name):
    """The solution, and what its callback saw."""
    seen = []
    return (
        solve(name, callback=lambda iteration: seen.append(iteration) or iteration.number == 2),
        seen,
    )


def test_watching_changes_nothing(name):
    alone, watched = solved_alone(name), solve(name, callback=lambda iteration: None, progress=True)
    np.testing.assert_array_equal(net(alone.pareto_set), net(watched.pareto_set))
    assert alone.stats.evaluations == watched.stats.evaluations
    assert alone.result == watched.result
    assert set(alone.history) == KEYS[name]
    for key, values in alone.history.items():
        np.testing.assert_array_equal(values, watched.history[key])
        assert values.shape == (alone.stats.iterations,)


def test_a_callback_sees_every_iteration_and_can_stop(name):
    solution, seen = stopped_after_two(name)
    assert [iteration.number for iteration in seen] == [1, 2]
    assert solution.result.reason is bf.Reason.STOPPED
    assert not solution.result.success
    assert solution.stats.iterations == 2
    assert seen[-1].evaluations == solution.stats.evaluations
    np.testing.assert_array_equal(net(seen[-1].surface), net(solution.pareto_set))
    for key, values in solution.history.items():
        np.testing.assert_array_equal([iteration.info[key] for iteration in seen], values)


def test_an_interruption_keeps_what_there_is(name):
    def interrupt(iteration):
        if iteration.number == 2:
            raise KeyboardInterrupt

    interrupted, stopped = solve(name, callback=interrupt), stopped_after_two(name)[0]
    assert interrupted.result.reason is bf.Reason.INTERRUPTED
    assert interrupted.stats.iterations == 2
    np.testing.assert_array_equal(net(interrupted.pareto_set), net(stopped.pareto_set))


@pytest.mark.parametrize("n_iterations", [0, -3, 1.5, float("nan")])
@pytest.mark.usefixtures("unchecked")
def test_a_count_of_iterations_below_one_or_not_whole_is_refused(name, n_iterations):
    with pytest.raises(ValueError, match="n_iterations must be a whole number of at least 1, got"):
        bf.minimize(OBJECTIVES[name], np.zeros(3), replace(FLOWS[name], n_iterations=n_iterations))


@pytest.mark.parametrize("kind", [NormalFlow, WeightsFlow])
@pytest.mark.parametrize("budget", [0, 7, 40])
def test_a_budget_is_never_exceeded(kind, budget):
    seen = []
    solution = bf.minimize(
        PROBLEM,
        np.zeros(3),
        kind(budget=budget),
        callback=lambda iteration: seen.append(iteration.evaluations) and False,
    )
    assert (
        max(evaluations.objective for evaluations in [*seen, solution.stats.evaluations]) <= budget
    )
    assert not solution.result.success
    assert np.isfinite(net(solution.pareto_set)).all()


def test_a_limit_of_iterations_claims_nothing_more(name):
    solution = bf.minimize(OBJECTIVES[name], np.full(3, 0.1), replace(FLOWS[name], n_iterations=1))
    assert solution.stats.iterations == 1
    if name != "lifted, nodes":  # one Newton step on quadratics is the last one
        lifted = name.startswith("lifted")
        reason = bf.Reason.COMPLETED if lifted else bf.Reason.ITERATION_LIMIT
        assert solution.result.reason is reason
        assert solution.result.success == lifted
        assert "all 1 iterations were made" in solution.result.message


def test_how_it_was_made_can_be_written_down(name, tmp_path):
    solution = solved_alone(name)
    solution.save(tmp_path / "made.bez")
    assert bf.load(tmp_path / "made.bez").made_by == solution.made_by
    assert solution.made_by["seed"] == 0
    assert solution.made_by["n_iterations"] == 6
    assert solution.made_by["parametrization"] == {"normal": "free", "atlas": "chart"}.get(
        name, "weights"
    )


class Halving(AbstractFlow):
    """The smallest flow there can be: the flat surface through corners that go half of the way to
    given ones."""

    target: np.ndarray

    def init(self, objectives, start, seed):
        return Halfway(
            bf.BezierSimplex(
                np.broadcast_to(start.vertex(0), self.target.shape), len(self.target), 1
            ),
            0,
        )

    def step(self, objectives, state):
        P = (np.asarray(state.surface.control_points) + self.target) / 2
        distance = float(np.abs(P - self.target).max())
        return Halfway(bf.BezierSimplex(P, len(P), 1), state.k + 1, done=distance < 1e-9), {
            "distance": distance
        }


class Halfway:
    def __init__(self, surface, k, done=False):
        self.surface, self.k, self.done = surface, k, done

    @property
    def evaluations(self):
        return Evaluations(objective=self.k)


def test_a_flow_of_ones_own_needs_init_and_step_alone():
    squares = lambda x: jnp.array([jnp.sum((x - 1.0) ** 2), jnp.sum((x + 1.0) ** 2)])
    right = bf.minimize(squares, np.zeros(2), Halving(np.array([[1.0, 1.0], [-1.0, -1.0]])))
    assert right.result.reason is bf.Reason.CONVERGED
    np.testing.assert_allclose(right.history["distance"], 0.5 ** np.arange(1, 31))
    assert right.stats.evaluations == (30, 0, 0)
    wrong = bf.minimize(squares, np.zeros(2), Halving(np.array([[5.0, 5.0], [5.0, 5.1]])))
    assert wrong.result.reason is bf.Reason.SUSPECT
    assert not wrong.result.success
    with pytest.raises(ValueError, match=r"tol=0.1 goes with method"):
        bf.minimize(squares, np.zeros(2), Halving(np.eye(2)), tol=0.1)
    limited = bf.minimize(squares, np.zeros(2), Halving(np.eye(2), n_iterations=4))
    assert limited.stats.iterations == 4
    assert not limited.result.success
