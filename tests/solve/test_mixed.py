"""Whole numbers, steps and choices: the answer against enumeration."""

import re

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint

import bezierflow as bf
from bezierflow.answer import best_levels
from bezierflow.metrics import nondominated

MATERIALS = {"steel": (0.0, 0.6), "aluminium": (0.35, 0.0)}


def bracket(x):
    """Costs and deflection: closed forms for each material and number of bolts."""
    cost, bend = MATERIALS[x["material"]]
    return [x["width"] ** 2 + 0.1 * x["bolts"] + cost, (2 - x["width"]) ** 2 / x["bolts"] + bend]


VARIABLES = {
    "bolts": bf.Integer(1, 2),
    "material": bf.Choice("steel", "aluminium"),
    "width": (0.0, 3.0),
}


def enumerated(n=20_001):
    width = np.linspace(0, 3, n)
    parts = [
        np.column_stack(bracket({"bolts": bolts, "material": material, "width": width}))
        for bolts in (1, 2)
        for material in MATERIALS
    ]
    f = np.concatenate(parts)
    return f[nondominated(f)]


@pytest.fixture(scope="module")
def solution():
    return bf.minimize(bracket, variables=VARIABLES)


def test_the_answer_is_that_of_enumeration(solution):
    truth, span = enumerated(), np.abs(solution.set.scale)
    got = np.asarray(solution.front(solution.t(truth[::20])))
    assert ((got - truth[::20]) / span).max() < 1e-6
    ours = np.asarray(solution.spread(200).F)
    assert best_levels(truth / span, ours / span)[0].max() < 1e-4
    assert solution.success
    assert "material = " in solution.message
    assert solution.error.front < 1e-6


def test_designs_have_the_users_own_values(solution):
    x = solution.design(np.array([1.0, 0.0]))
    assert (str(x["material"]), int(x["bolts"])) == ("steel", 1)
    # what the objectives say of the design is what the solution says
    named = {"bolts": int(x["bolts"]), "material": str(x["material"]), "width": float(x["width"])}
    np.testing.assert_allclose(bracket(named), solution.front(np.array([1.0, 0.0])))
    points = solution.spread(7)
    assert set(points.X["material"]) <= set(MATERIALS)
    lines = solution.to_csv(n=5).splitlines()
    assert lines[0] == "bolts,material,width,f1,f2,t1,t2"
    assert lines[1].startswith("1,steel,")
    assert '"steel"' in solution.to_json(n=3)
    assert solution.to_pandas(4)["material"].iloc[0] == "steel"


def test_pieces_have_a_choice_each(solution):
    own = [k for k, piece in enumerate(solution.set.pieces) if not piece.face]
    texts = [solution.set.piece_text(k, solution.names) for k in own]
    assert any(text.startswith("bolts = 1, material = steel") for text in texts)
    # one choice per piece: the designs of a piece have one material and number of bolts
    for k in own:
        t = solution.set.piece_points(k)
        designs = solution.design(t[len(t) // 4 : -len(t) // 4])
        assert len(set(designs["material"])) == len(set(designs["bolts"].tolist())) == 1


def test_a_file_has_all_of_it(solution, tmp_path):
    solution.save(tmp_path / "bracket.bez")
    loaded = bf.load(tmp_path / "bracket.bez")
    t = np.array([[0.3, 0.7], [0.9, 0.1]])
    assert loaded.design(t)["material"].tolist() == solution.design(t)["material"].tolist()
    np.testing.assert_allclose(loaded.front(t), solution.front(t), atol=1e-5)
    assert loaded.set.choice_text(0, loaded.names)


def test_questions_and_pictures(solution, tmp_path):
    knee = bf.decisions.knee(solution)
    assert f"material = {knee.x['material']}" in str(knee)
    near = bf.decisions.locate(solution, knee.x)
    assert near.distance < 1e-6
    polished = bf.decisions.polish(solution, knee)
    assert polished.x["material"] == knee.x["material"]
    np.testing.assert_allclose(polished.f, knee.f, atol=1e-5)
    ax = bf.plots.front(solution)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(set(labels)) == len(labels)
    page = bf.explore(solution, tmp_path / "page.html").read_text()
    assert "aluminium" in page
    with pytest.raises(ValueError, match="x must have one of 'steel', 'aluminium', got 'tin'"):
        bf.decisions.locate(solution, {**knee.x, "material": "tin"})


tables = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=12, max_size=12).map(
    np.array
)


@settings(max_examples=10, deadline=None)
@given(tables, st.booleans())
def test_designs_without_continuous_variables_are_enumerated(table, constrained):
    def f(x):
        row = jnp.asarray(x["a"] * 3 + x["b"] * 2, dtype=int)  # b has steps of a half
        return jnp.asarray(table, dtype=float)[row]

    given = {"constraints": lambda x: x["a"] + x["b"] - 3} if constrained else {}
    found = bf.minimize(f, variables={"a": bf.Integer(0, 3), "b": bf.Steps(0.5, 0, 1)}, **given)
    a, b = np.meshgrid(np.arange(4), np.array([0, 0.5, 1.0]), indexing="ij")
    rows = (3 * a + 2 * b).astype(int)[(a + b <= 3) | (not constrained)]
    truth = np.unique(table[rows], axis=0)
    truth = truth[nondominated(truth.astype(float))]
    mine = np.unique(np.round(np.asarray(found.front(found.set.sample_t)), 9), axis=0)
    np.testing.assert_array_equal(np.unique(mine, axis=0), truth)


@pytest.mark.slow
def test_a_vector_with_numbers_to_choose_from():
    def f(x):
        return jnp.array([x[0] ** 2 + x[1], (x[0] - 2) ** 2 + 4 / x[1]])

    within = LinearConstraint([[1.0, 1.0]], -np.inf, 4.5)
    found = bf.minimize(
        f,
        bounds=([0.0, 1.0], [3.0, 4.0]),
        variables={1: bf.Choice(4.0, 1.0)},
        constraints=within,
        maximize=[False, False],
    )
    x = np.asarray(found.spread(30).X)
    assert set(x[:, 1]) == {1.0, 4.0}
    assert (x.sum(axis=1) <= 4.5 + 1e-6).all()
    s = np.linspace(0, 3, 30_001)
    parts = [np.column_stack([s**2 + n, (s - 2) ** 2 + 4 / n])[s + n <= 4.5] for n in (1.0, 4.0)]
    truth = np.concatenate(parts)
    truth = truth[nondominated(truth)]
    got = np.asarray(found.front(found.t(truth[::50])))
    assert ((got - truth[::50]) / np.abs(found.set.scale)).max() < 1e-6


@pytest.mark.slow
def test_many_whole_numbers_by_relaxation_and_neighbors():
    def f(x):
        return [(x["n"] / 4) ** 2 + x["w"] ** 2, (x["n"] / 4 - 2) ** 2 + (x["w"] - 1) ** 2]

    found = bf.minimize(f, variables={"n": bf.Integer(-10, 30), "w": (-1.0, 2.0)})
    w = np.linspace(0, 1, 2001)
    parts = [
        np.column_stack([(n / 4) ** 2 + w**2, (n / 4 - 2) ** 2 + (w - 1) ** 2]) for n in range(9)
    ]
    truth = np.concatenate(parts)
    truth = truth[nondominated(truth)]
    got = np.asarray(found.front(found.t(truth[::20])))
    assert ((got - truth[::20]) / np.abs(found.set.scale)).max() < 1e-5
    assert "by the relaxation" in found.message
    # the bound is one: what is missing is no more than what it says
    assert found.result.reason is bf.Reason.CONVERGED


def test_no_choice_is_feasible():
    with pytest.raises(ValueError, match="no choice has a feasible point"):
        bf.minimize(
            lambda x: [x["a"], -x["a"]],
            variables={"a": bf.Integer(0, 3)},
            constraints=lambda x: 10.0 + x["a"],
        )


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, "variables must be a dict such as"),
        ({"a": (0, 1)}, "variables has continuous ones alone"),
        ({"a": bf.Integer()}, r"variables\['a'\] must have finite bounds"),
        ({"a": bf.Integer(3, 2)}, r"variables\['a'\] has no value between its bounds"),
        ({"a": bf.Steps(0.0, 0, 1)}, r"variables\['a'\]: step must be"),
        ({"a": bf.Steps(1e-9, 0, 1)}, "give it as a continuous variable"),
        ({"a": bf.Choice()}, "must have distinct values"),
        ({"a": bf.Choice("x", "x")}, "must have distinct values"),
        ({"a": bf.Choice("x", 1)}, "must have texts or numbers, not both"),
        ({"a": "integer"}, r"must be bf.Integer\(low, high\)"),
        ({0: bf.Integer(0, 2)}, "must have names for keys"),
        ({"a": bf.Integer(0, 2), "b": (3, 1)}, "low <= high"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_bad_variables(variables, message):
    with pytest.raises((TypeError, ValueError), match=message):
        bf.minimize(lambda x: [x["a"], -x["a"]], variables=variables)


def test_texts_need_names():
    with pytest.raises(ValueError, match="has texts, which no vector x can hold"):
        bf.minimize(lambda x: x, bounds=([0, 0], [1, 1]), variables={0: bf.Choice("a", "b")})
    with pytest.raises(ValueError, match=r"checkpoint=.* does not go with variables"):
        bf.minimize(bracket, variables=VARIABLES, checkpoint="folder")
    with pytest.raises(ValueError, match="'bolts' is not continuous"):
        bf.minimize(bracket, variables=VARIABLES, transforms={"bolts": "log"})


TABLE = {"a": 1.0}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "^objectives: the function looked up 'W', and its x has the names m, w$"),
        (
            {"method": bf.Surrogate(), "budget": 4},
            "failed at all .*, at m b, w 1.85765: .*looked up 'W', and its x has the names m, w$",
        ),
    ],
)
def test_a_misspelt_name_is_said(given, message):
    variables = {"m": bf.Choice("a", "b"), "w": (1.0, 2.0)}
    with pytest.raises((KeyError, ValueError)) as failed:
        bf.minimize(lambda x: [x["W"], (x["w"] - 1) ** 2], variables=variables, **given)
    assert re.search(message, str(failed.value))


def test_a_key_of_a_table_of_the_functions_own():
    with pytest.raises(KeyError, match="constraint 1: the function looked up 'b', and its x"):
        bf.minimize(
            lambda x: [x["w"], (x["w"] - 1) ** 2],
            variables={"m": bf.Choice("b"), "w": (1.0, 2.0)},
            constraints=lambda x: TABLE[x["m"]],
        )
