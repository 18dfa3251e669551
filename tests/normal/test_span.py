import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.normal import Layout
from bezierflow.normal.span import Span, lengths, resize
from bezierflow.precision import double_precision


@pytest.fixture(params=["float64", "float32"])
def span(request):
    with double_precision():
        layout = Layout(request.param)
        rng = np.random.default_rng(0)
        first = rng.normal(size=(4, 50))
        # The third point is nearly a combination of the others: Gram matrices alone would lose what
        # is special about it.
        first[2] = first[0] + first[1] + 1e-3 * first[2]
        yield (*Span.of([jnp.asarray(first, layout.dtype)], 4, layout), first, rng, layout)


def precision(layout):
    return 50 * layout.rounding


def test_coordinates_keep_points_and_distances(span):
    found, coordinates, first, _, layout = span
    np.testing.assert_allclose(found.points(coordinates), first, atol=precision(layout))
    apart = np.linalg.norm(first[:, None] - first[None], axis=2)
    np.testing.assert_allclose(
        np.linalg.norm(coordinates[:, None] - coordinates[None], axis=2),
        apart,
        atol=10 * precision(layout),
    )


def test_new_directions_extend_the_basis_and_leave_old_coordinates_alone(span):
    found, coordinates, first, rng, layout = span
    used, new = found.used, rng.normal(size=(4, 50)).astype(layout.dtype)
    within, rest = found.project(jnp.array(new))
    grown = found.extended(rest, 0.0)
    beyond = grown.coordinates(rest)
    assert grown.used == used + 4
    assert found.used == used  # a span is never changed
    padded = resize(coordinates, grown.used)
    np.testing.assert_allclose(grown.points(padded), first, atol=precision(layout))
    whole = resize(within, grown.used) + beyond
    np.testing.assert_allclose(
        np.linalg.norm(whole, axis=1), np.linalg.norm(new, axis=1), rtol=precision(layout)
    )
    again, left = grown.project(jnp.array(new))
    np.testing.assert_allclose(lengths(layout, left), 0, atol=precision(layout))
    np.testing.assert_allclose(again, whole, atol=precision(layout))


def test_what_lies_in_the_span_adds_nothing(span):
    found, _, first, _, layout = span
    _, rest = found.project(jnp.asarray(first[1:] - first[:1], layout.dtype))
    assert found.extended(rest, precision(layout)) is found


def test_a_rotated_span_keeps_what_it_was_rotated_to(span):
    found, coordinates, first, _, layout = span
    _, _, right = np.linalg.svd(coordinates[:2], full_matrices=False)
    turned = found.rotated(right)
    assert turned.used == 2
    np.testing.assert_allclose(
        turned.points(coordinates[:2] @ right.T), first[:2], atol=precision(layout)
    )


def test_a_basis_of_several_blocks_grows_at_its_end(span):
    found, _, _, rng, layout = span
    for _ in range(5):
        new = jnp.asarray(rng.normal(size=(3, 50)), layout.dtype)
        found = found.extended(found.project(new)[1], 0.0)
    assert found.used == 4 + 15
    basis = np.concatenate([np.asarray(block) for block in found.blocks])
    np.testing.assert_allclose(
        basis @ basis.T, np.diag(np.arange(len(basis)) < found.used), atol=precision(layout)
    )
