import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.objectives import JaxEvaluator, block_size, in_blocks


@pytest.mark.parametrize("n", [0, 1, 4, 7])
def test_blocks_of_one_size_serve_any_number_of_rows(n):
    sizes = []

    def double(rows, other):
        sizes.append(len(rows))
        return 2 * rows, rows + other

    rows = np.arange(3.0 * n).reshape(n, 3)
    doubled, added = in_blocks(double, 4, rows, np.ones((n, 3)))
    np.testing.assert_array_equal(doubled, 2 * rows)
    np.testing.assert_array_equal(added, rows + 1)
    assert set(sizes) == {4}


def test_blocks_shrink_where_hessians_are_large():
    assert block_size(3, 10, 20_000_000) == 16
    assert block_size(3, 2000, 20_000_000) == 1


def test_hessians_of_many_variables_are_computed_a_few_at_a_time():
    def f(x):
        return jnp.stack([jnp.sum(x[:-1] * x[1:] ** 2), jnp.sum(x**4)])

    evaluator = JaxEvaluator(f, 2, 300)
    assert (evaluator.block, evaluator.hessian_block) == (16, 2)
    x = np.random.default_rng(0).normal(size=(5, 300))
    found = evaluator.hessians(x)
    np.testing.assert_allclose(found.gradients[:, 1], 4 * x**3)
    for row, (first, second) in zip(x, found.hessians, strict=True):
        np.testing.assert_allclose(second, np.diag(12 * row**2))
        assert first[3, 4] == first[4, 3] == 2 * row[4]
        assert first[4, 4] == 2 * row[3]
