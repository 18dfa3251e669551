"""What is wrong with objectives is said early: derivatives of the user's, noise, jumps, poles; and
nothing is called converged where it has no values."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.precision import double_precision
from bezierflow.solve import Call, jump_beside

START = np.array([0.4, -0.3])


def values(x):
    return np.array(
        [(x[0] - 1) ** 2 + 0.4 * x[0] * x[1] + 2 * x[1] ** 2, x[0] ** 2 + (x[1] - 1.5) ** 2]
    )


def gradients(x):
    return np.array(
        [[2 * (x[0] - 1) + 0.4 * x[1], 0.4 * x[0] + 4 * x[1]], [2 * x[0], 2 * (x[1] - 1.5)]]
    )


def hessians(x):
    return np.array([[[2, 0.4], [0.4, 4]], [[2, 0], [0, 2.0]]])


def forgetful(x):
    """Without the cross term of the first objective by the second variable."""
    return gradients(x) - np.array([[0, 0.4 * x[0]], [0, 0]])


def one_percent_off(x):
    return gradients(x) * np.array([[1, 1], [1.01, 1]])


BOX = {"bounds": (np.array([-0.5, -1]), np.array([2, 1]))}


@pytest.mark.parametrize("options", [{}, BOX, {"maximize": True}], ids=["free", "box", "maximized"])
@pytest.mark.parametrize("start", [START, np.zeros(2)], ids=["start", "zero"])
@pytest.mark.parametrize(
    ("jac", "entry"), [(forgetful, "f1 .* by x2"), (one_percent_off, "f2 .* by x1")]
)
def test_a_wrong_jac_is_refused_with_both_values(jac, entry, start, options):
    signs = -1 if "maximize" in options else 1
    objectives = bf.Objectives(lambda x: signs * values(x), jac=lambda x: signs * jac(x))
    with pytest.raises(ValueError, match=f"the gradient of {entry} it is") as caught:
        bf.minimize(objectives, start, **options)
    wrong, right, *x = map(float, re.findall(r"-?\d+\.?\d*(?:e-?\d+)?(?![\d:])", said(caught)))
    m, i = (0, 1) if jac is forgetful else (1, 0)
    np.testing.assert_allclose(wrong, signs * jac(np.array(x))[m, i], rtol=1e-4)
    np.testing.assert_allclose(right, signs * gradients(np.array(x))[m, i], rtol=1e-4)


def said(caught):
    """The numbers of a message: from "it is" on."""
    return str(caught.value).split("it is", 1)[1]


def test_a_wrong_hess_is_refused():
    wrong = bf.Objectives(
        values, gradients, lambda x: hessians(x) * np.array([1, 1.1])[:, None, None]
    )
    with pytest.raises(ValueError, match=r"the Hessian of f2 .* give 2, at x ="):
        bf.minimize(wrong, START)


@pytest.mark.parametrize("hess", [None, hessians], ids=["jac", "jac and hess"])
def test_right_derivatives_are_kept_and_not_called_differences(hess):
    solution = bf.minimize(bf.Objectives(values, gradients, hess), START)
    assert solution.result.success
    assert "derivatives are finite differences" not in solution.result.message


@pytest.mark.parametrize("level", [1e-7, 1e-5])
def test_noise_in_values_does_not_make_a_right_jac_wrong(level):
    rng = np.random.default_rng(0)
    noisy = bf.Objectives(lambda x: values(x) + level * rng.normal(size=2), gradients)
    assert "gradient" not in " ".join(bf.check(noisy, START).problems)


def test_a_kink_does_not_make_a_right_jac_wrong():
    kinked = bf.Objectives(
        lambda x: values(x) + np.abs(x).sum(), lambda x: gradients(x) + np.sign(x)
    )
    assert bf.check(kinked, np.zeros(2)).ok


def test_a_wrong_rule_for_jax_is_refused():
    @jax.custom_jvp
    def square(x):
        return x**2

    square.defjvp(lambda x, v: (square(*x), 2.2 * x[0] * v[0]))
    with pytest.raises(ValueError, match="the gradient of f1"):
        bf.minimize(lambda x: jnp.array([square(x[0]) + x[1] ** 2, jnp.sum((x - 1) ** 2)]), START)


def test_small_budgets_have_no_calls_for_a_comparison():
    calls = []
    counted = bf.Objectives(lambda x: calls.append(1) or values(x), gradients)
    solution = bf.minimize(counted, START, budget=40, **BOX)
    assert len(calls) == solution.stats.evaluations.objective <= 40


def bowls(x):
    return jnp.array([jnp.sum((x - 1) ** 2), jnp.sum((x + 0.5) ** 2)])


@pytest.mark.parametrize("radius", [0.02, 0.3])
@pytest.mark.parametrize("bounds", [None, (-2.0, 2.0)], ids=["free", "box"])
def test_a_part_without_values_is_flagged_with_its_share_and_place(radius, bounds):
    """Derivatives are finite in the disc, where values are not."""
    center = 0.25
    hole = lambda x: jnp.where(jnp.sum((x - center) ** 2) < radius**2, jnp.nan, 0.0)
    solution = bf.minimize(lambda x: bowls(x) + hole(x), np.ones(2), bounds=bounds)
    assert solution.result.reason is bf.Reason.SUSPECT
    share, x, y = re.search(
        r"f1 is nan at (\S+)% of \d+ points, the first x = \[\s*(\S+),\s+(\S+)\]",
        solution.result.message,
    ).groups()
    # the set is the segment between the minimizers
    assert float(share) / 100 == pytest.approx(2 * radius / (1.5 * np.sqrt(2)), abs=0.005)
    assert np.hypot(float(x) - center, float(y) - center) <= radius + 1e-5
    assert solution.error.coverage == pytest.approx(1 - float(share) / 100, abs=1e-3)


class Noisy:
    """Counts its calls."""

    def __init__(self, level):
        self.level, self.n, self.rng = level, 0, np.random.default_rng(1)

    def __call__(self, x):
        self.n += 1
        return values(x) + self.level * self.rng.normal(size=2)


@pytest.mark.parametrize("start", [START, np.array([0.0, 1.5])], ids=["start", "minimizer"])
@pytest.mark.parametrize("options", [{}, BOX], ids=["free", "box"])
def test_noise_ends_a_run_within_a_thousand_calls(start, options):
    noisy = Noisy(0.1)
    solution = bf.minimize(noisy, start, **options)
    assert noisy.n == solution.stats.evaluations.objective <= 1000
    assert solution.result.reason is bf.Reason.SUSPECT
    assert "bf.Surrogate()" in solution.result.message
    assert re.match(r"values of f[12] have noise of about \de-0[12]", solution.result.message)


@pytest.mark.slow("jump-box")
@pytest.mark.parametrize("bounds", [None, ([-1.0, -1.0], [2.0, 2.0])], ids=["free", "box"])
@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (lambda x: jnp.where(x[0] > 0.3, 0.7, 0.0), "f1 jumps up by 0.7 as x1 rises past 0.3:"),
        (lambda x: 1 / (x[0] - 0.35), "f1 falls without end towards x1 = 0.35:"),
    ],
    ids=["jump", "pole"],
)
def test_a_jump_or_a_pole_is_named_with_its_place(extra, words, bounds):
    solution = bf.minimize(
        lambda x: bowls(x) + jnp.array([1.0, 0.0]) * extra(x), np.array([0.9, 0.8]), bounds=bounds
    )
    assert solution.result.reason is bf.Reason.SUSPECT
    assert solution.result.message.startswith(words)
    assert solution.stats.evaluations.objective < 10_000


@pytest.mark.slow
def test_a_root_is_no_pole():
    # It falls for as long as one looks towards 0, but by less and less.
    solution = bf.minimize(
        lambda x: jnp.stack([x[0] ** 0.1 + (x[1] - 1) ** 2, (x[0] - 1) ** 2 + x[1] ** 2]),
        bounds=(np.zeros(2), np.ones(2)),
    )
    assert "without end" not in solution.result.message
    np.testing.assert_allclose(solution.design(np.eye(2)[0]), [0.0, 1.0], atol=1e-6)
    np.testing.assert_allclose(solution.design(np.eye(2)[1]), [1.0, 0.0], atol=1e-6)


@pytest.mark.parametrize("place", [0.41, 1.7])
def test_a_small_jump_is_told_from_a_slope_next_to_the_set_alone(place):
    objectives = lambda x: jnp.array(
        [
            jnp.sum(x**2) + jnp.where(x[0] > place, 1e-3, 0.0),
            jnp.sum((x - jnp.array([1.0, 0.5])) ** 2) + jnp.sqrt(jnp.abs(x[1] - 0.2)),
        ]
    )
    call = Call(objectives, np.zeros(2), method=bf.NormalFlow())
    answer = bf.BezierSimplex(np.array([[0.0, 0.0], [1.0, 0.5]]), 2, 1)
    with double_precision():
        words = jump_beside(call.read_problem(), answer)
    said = "f1 jumps by 0.001 next to the answer, where x1 passes 0.41"
    assert words.startswith(said) if place < 1 else words == ""


@pytest.mark.parametrize("bounded", [False, True])
def test_a_set_along_the_edge_of_the_domain_is_said_unless_bounds_know_it(bounded):
    objectives = lambda x: jnp.array(
        [jnp.sum((x - jnp.array([end, -1.0])) ** 2) + 0 * jnp.sqrt(x[1]) for end in (0.0, 1.0)]
    )
    box = (np.array([-1.0, 0.0]), np.array([2.0, 1.0])) if bounded else None
    call = Call(objectives, np.full(2, 0.5), bounds=box, method=bf.NormalFlow())
    answer = bf.BezierSimplex(np.array([[0.0, 0.0], [1.0, 0.0]]), 2, 1)
    with double_precision():
        words = jump_beside(call.read_problem(), answer)
    said = "f1 has no values next to 100% of the answer, as beyond x2 = 0"
    assert words == "" if bounded else words.startswith(said)


@pytest.mark.slow
def test_a_jump_far_from_the_set_does_not_matter():
    solution = bf.minimize(
        lambda x: bowls(x) + jnp.where(x[0] > 4, 5.0, 0.0),
        np.array([0.9, 0.8]),
        bounds=(np.array([-2.0, 0.0]), np.array([6.0, 2.0])),
    )
    assert solution.result.reason is bf.Reason.CONVERGED


@pytest.mark.parametrize("sign", [1, -1])
def test_an_objective_without_end_is_named_with_its_direction(sign):
    solution = bf.minimize(
        lambda x: jnp.array([sign * x[0] + x[1] ** 2, jnp.sum((x - 1) ** 2)]),
        START,
        bounds=(np.array([-np.inf, -1]), np.array([np.inf, 1])),
    )
    assert solution.result.reason is bf.Reason.SUSPECT
    end = "-1e+7" if sign > 0 else "1e+7"
    assert solution.result.message.startswith(f"f1 still falls along x1 at {end}:")
