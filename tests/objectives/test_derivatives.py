import numpy as np

from bezierflow.objectives import Derivatives, replace_rows


def some(n, hessians=True):
    rng = np.random.default_rng(n)
    parts = rng.normal(size=(n, 2)), rng.normal(size=(n, 3)), rng.normal(size=(n, 3, 2))
    return Derivatives(*parts, rng.normal(size=(n, 3, 2, 2)) if hessians else None)


def test_joining_and_taking_are_inverse():
    first, second = some(4), some(3)
    both = first.join(second)
    for name in ("points", "values", "gradients", "hessians"):
        np.testing.assert_array_equal(
            getattr(both.take(np.arange(4, 7)), name), getattr(second, name)
        )
        np.testing.assert_array_equal(
            getattr(both.take(np.arange(7) < 4), name), getattr(first, name)
        )


def test_hessians_are_kept_only_if_both_have_them():
    assert some(2).join(some(2, hessians=False)).hessians is None


def test_replacing_rows_leaves_the_original_alone():
    array = np.zeros((3, 2))
    changed = replace_rows(array, np.array([1]), np.array([[5.0, 6.0]]))
    assert array.sum() == 0
    np.testing.assert_array_equal(changed, [[0, 0], [5, 6], [0, 0]])
