"""Unions of sets against dense samples of what they are made of."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from bezierflow.answer import Member, Single, SurfaceSet, best_levels, unite
from bezierflow.bezier import BezierSimplex, Raveling
from bezierflow.metrics import nondominated
from bezierflow.simplex import grid


def distances(anchors, offsets):
    """The set of the squared distances to points, plus offsets: the simplex between the points."""
    M = len(anchors)
    surface = BezierSimplex(np.asarray(anchors, dtype=float), M, 1)

    def objectives(x):
        return jnp.sum((x - jnp.asarray(anchors)) ** 2, axis=1) + jnp.asarray(offsets)

    return SurfaceSet(surface, surface, objectives, lambda: pytest.fail("not needed"), np.ones(M))


def united(sets, single=None):
    L, n = sets[0].n_variables, len(sets)
    M = sets[0].n_objectives
    members = [
        Member(one, np.append(np.zeros(L), float(k)), np.arange(L)) for k, one in enumerate(sets)
    ]
    wide = np.full(L, 100.0)
    box = np.append(-wide, 0.0), np.append(wide, n - 1.0)
    values = (*((),) * L, tuple(f"choice {k}" for k in range(n)))
    nothing = Single(np.zeros((0, L + 1)), np.zeros((0, M)))
    return unite(members, single or nothing, box, values, Raveling.of(np.zeros(L + 1)))


def check(atlas, sets, n, tol):
    """The front of the union is as low as each of its sets, and no lower than their union."""
    M = sets[0].n_objectives
    t = grid(M, n)
    truth = np.concatenate([one.values(t) for one in sets])
    span = atlas.units.span
    best = truth[nondominated(truth)]
    asked = best[:: max(len(best) // 300, 1)]
    got = atlas.front(atlas.t(asked))
    assert ((got - asked) / span).max() < tol
    # a point of the union is never better than all that it is made of, up to the sample's spacing
    mine = atlas.front(grid(M, 60 if M == 2 else 20))
    level = best_levels(truth / span, mine / span)[0]
    assert level.min() > -tol
    assert level.max() < (2 / n if M == 2 else 4 / n)


numbers = st.floats(-1, 1).map(lambda value: round(value, 2))


@settings(max_examples=8, deadline=None)
@given(
    st.lists(
        st.tuples(numbers, numbers, numbers, numbers, numbers, numbers), min_size=1, max_size=4
    )
)
# the first set is the best on 1 % of its length alone, between the ends of the two others
@example(
    [
        (0.0, 0.0, 0.64, -0.16, -0.48, 0.23),
        (0.0, 0.0, 0.35, -0.33, -0.62, 0.3),
        (0.6, 0.0, 0.0, 0.0, -0.32, -0.63),
    ]
)
# the second set dips below the first by 1e-5: it crosses it twice within 1 % of its length
@example([(0.0, 0.0, 1.6, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0, 0.40098644, 0.37914644)])
def test_the_union_of_curves_is_their_lower_envelope(rows):
    apart = [row for row in rows if abs(row[0] - row[2]) > 0.1]
    assume(apart)
    sets = [distances([row[:2], row[2:4]], row[4:]) for row in apart]
    atlas, miss = united(sets)
    assert miss < 1e-8
    check(atlas, sets, 4000, 2e-6)


def test_a_set_ends_where_another_one_takes_over():
    # the second set is the first one moved: it is better at the end of f1 alone
    sets = [distances([[0.0], [1.0]], [0.0, 0.0]), distances([[0.0], [1.0]], [-0.2, 0.5])]
    atlas, _ = united(sets)
    own = sorted((piece for piece in atlas.pieces if not piece.face), key=lambda p: p.choice)
    assert [piece.choice for piece in own] == [((1, 0.0),), ((1, 1.0),)]
    # f2 = (1 − √f1)² and (1 − √(f1 + 0.2))² + 0.5 are equal there
    cross = brentq(lambda f: (1 - (f + 0.2) ** 0.5) ** 2 + 0.5 - (1 - f**0.5) ** 2, 1e-3, 0.5)
    f = atlas.units.ideal + atlas.units.span * atlas.points.f
    second = np.isin(atlas.points.patch, own[1].patches)
    assert f[second, 0].max() == pytest.approx(cross, abs=1e-5)
    assert f[~second, 0].min() == pytest.approx(cross, abs=1e-5)
    x = atlas(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert x.tolist() == [[0.0, 1.0], [1.0, 0.0]]  # ends and choices to the last bit


def test_single_designs_are_part_of_a_union():
    sets = [distances([[0.0], [1.0]], [0.0, 0.0])]
    # one below the curve at its middle, one above it
    single = Single(np.array([[5.0, 0.0], [6.0, 0.0]]), np.array([[0.1, 0.1], [0.6, 0.6]]))
    atlas, _ = united(sets, single)
    assert atlas(np.array([0.5, 0.5]))[0] == 5.0
    assert not (atlas.units.x(atlas.points.z)[:, 0] == 6.0).any()


def test_the_union_of_surfaces():
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    sets = [distances(corners, [0.0, 0.0, 0.0]), distances(corners, [-0.3, 0.1, 0.1])]
    atlas, miss = united(sets)
    assert miss < 1e-6
    own = [piece for piece in atlas.pieces if not piece.face]
    assert {piece.choice for piece in own} == {((2, 0.0),), ((2, 1.0),)}
    check(atlas, sets, 60, 2e-3)


def test_what_others_are_better_than_is_left_out():
    sets = [distances([[0.0], [1.0]], [0.0, 0.0]), distances([[0.0], [1.0]], [0.1, 0.1])]
    atlas, _ = united(sets)
    assert {piece.choice for piece in atlas.pieces} == {((1, 0.0),)}
