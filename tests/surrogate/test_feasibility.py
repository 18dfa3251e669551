"""Constraints that only an evaluation tells: processes, probabilities, and the surface that ends
where they are expected to be 0."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

import bezierflow as bf
from bezierflow.gaussian import fit_posterior, mean_path
from bezierflow.metrics import nondominated
from bezierflow.surrogate import Gate, Known, Search, chance, find_sets, propose, shortfall

RNG = np.random.default_rng
BOX = ([0.0, 0.0], [1.0, 1.0])


def objectives(x):
    return np.stack([np.sum(x**2, axis=-1), np.sum((x - 1) ** 2, axis=-1)], axis=-1)


def limit(x):
    """At most 0 where x1 is at least 0.4."""
    return 0.4 - x[..., 0]


def processes(n=40):
    u = RNG(0).random((n, 2))
    _, posterior = fit_posterior(u, objectives(u), "none", (), "full")
    _, margins = fit_posterior(u, -limit(u)[:, None], "none", (), "full")
    return u, posterior, Gate.of_constraints(margins)


def test_probabilities_and_sets_keep_constraints():
    u, posterior, gate = processes()
    fresh = RNG(1).random((200, 2))
    inside = limit(fresh) < -0.02
    assert (chance((gate,), fresh)[inside] > 0.9).all()
    assert (chance((gate,), fresh)[limit(fresh) > 0.02] < 0.1).all()
    assert (shortfall((gate,), fresh)[inside] == 0).all()
    found = find_sets(mean_path(posterior), u, np.full(2, np.inf), RNG(0), (gate,))[0]
    assert limit(found.u).max() < 0.01
    # the end of the set lies on the constraint: without it, it would be the corner 0
    assert np.abs(found.u - [0.4, 0.0]).max(axis=1).min() < 0.05
    kept = limit(u) <= 0
    known = Known(u, np.zeros((0, 2)), np.zeros((0, 2)), (gate,), kept)
    proposed = propose(posterior, known, range(6), np.full(2, np.inf), 1.0, RNG(0))
    assert limit(proposed.u[proposed.on_surface]).max() < 0.02


@pytest.mark.slow
def test_evaluations_that_violate_constraints_improve_on_nothing():
    one = Search(BOX, 2, n_constraints=1, noise="none", seed=3)
    x = RNG(2).random((12, 2))
    one.tell(x, np.column_stack([objectives(x), limit(x)]))
    found = one.solution()
    best, kept = found.evaluated.nondominated, limit(x) <= 0
    assert not best[~kept].any()
    assert (best[kept] == nondominated(objectives(x)[kept])).all()
    designs = np.asarray(found.spread(20).X)
    assert limit(designs).max() < 0.01
    assert designs[:, 0].min() == pytest.approx(0.4, abs=0.02)
    assert "of the front lies along constraints" in found.message
    again = Search.restore(one.settings, told=[(None, *row) for row in zip(x, one._y, strict=True)])
    np.testing.assert_array_equal(again.ask(2), one.ask(2))


@pytest.mark.slow
def test_no_evaluation_keeps_the_constraints():
    one = Search(BOX, 2, n_constraints=1, noise="none")
    x = RNG(2).random((8, 2))
    one.tell(x, np.column_stack([objectives(x), 1.0 + x[:, 0]]))
    assert one.ask(2).shape == (2, 2)
    found = one.solution()
    assert found.result.doubtful
    assert "none of 8 evaluations keeps the constraints" in found.message


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [
        {"constraints": lambda x: limit(x)},
        {"constraints": NonlinearConstraint(lambda x: x[0], 0.4, np.inf)},
        {"constraints": LinearConstraint([[1.0, 0.0]], 0.4, np.inf)},
        {"constraints": bf.constraint(lambda x: x[0], name="load", lower=0.4)},
        {"n_constraints": 1},
    ],
    ids=["function", "nonlinear", "linear", "named", "returned"],
)
def test_all_forms_of_constraints_are_evaluated_with_each_design(given):
    seen = []

    def f(x):
        seen.append(x)
        return [*objectives(x), limit(x)] if "n_constraints" in given else objectives(x)

    own = {"n_constraints": given["n_constraints"]} if "n_constraints" in given else {}
    rest = {} if own else given
    found = bf.minimize(f, method=bf.Surrogate(**own), bounds=BOX, budget=16, **rest)
    assert len(seen) == 16
    assert limit(np.array(seen[6:])).max() < 0.1  # after the first ones, which are spread
    designs = np.asarray(found.spread(20).X)
    assert designs[:, 0].min() == pytest.approx(0.4, abs=0.01)
    assert found.made_by["constrained"] > 0


def test_constraints_that_cannot_be_are_refused():
    f, equal = objectives, NonlinearConstraint(lambda x: x[0], 0.5, 0.5)
    with pytest.raises(ValueError, match="must be inequalities with a Surrogate"):
        bf.minimize(f, method=bf.Surrogate(), bounds=BOX, budget=8, constraints=equal)
    with pytest.raises(TypeError, match=r"constraints: constraint 1 is 3\.0; give a Linear"):
        bf.minimize(f, method=bf.Surrogate(), bounds=BOX, budget=8, constraints=[3.0])
    with pytest.raises(ValueError, match="constraints must have 1 value"):
        bf.minimize(f, method=bf.Surrogate(), bounds=BOX, budget=8, constraints=lambda x: x)
    with pytest.raises(ValueError, match="n_constraints=2 goes with minimize"):
        bf.Study(BOX, 2, bf.Surrogate(n_constraints=2))
