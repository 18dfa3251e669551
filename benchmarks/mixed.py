"""Whole numbers and lists of values: RE22, RE23, RE25, RE35 and RE36 of Tanabe and Ishibuchi (2020)
against the points that they published.

    python -m benchmarks.mixed --references FOLDER [RE22 RE36 …]

FOLDER is `approximated_Pareto_fronts` of github.com/ryojitanabe/reproblems. A row per problem: how
the run ended and what it took; of the published points the share that a point of ours dominates by
more than 1e-6 of the ranges, and by how much at most; and the same the other way round.
"""

import argparse
import csv
import sys
import time
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import bezierflow as bf
from bezierflow.answer import best_levels

AREAS = (
    *(0.20, 0.31, 0.40, 0.44, 0.60, 0.62, 0.79, 0.80, 0.88, 0.93, 1.0, 1.20, 1.24, 1.32, 1.40),
    *(1.55, 1.58, 1.60, 1.76, 1.80, 1.86, 2.0, 2.17, 2.20, 2.37, 2.40, 2.48, 2.60, 2.64, 2.79),
    # the published list has "3,10", and so 3 and 10, where 3.10 was meant
    *(2.80, 3.0, 3.08, 10.0, 3.16, 3.41, 3.52, 3.60, 3.72, 3.95, 3.96, 4.0, 4.03, 4.20, 4.34),
    *(4.40, 4.65, 4.74, 4.80, 4.84, 5.0, 5.28, 5.40, 5.53, 5.72, 6.0, 6.16, 6.32, 6.60, 7.11),
    *(7.20, 7.80, 7.90, 8.0, 8.40, 8.69, 9.0, 9.48, 10.27, 11.0, 11.06, 11.85, 12.0, 13.0, 14.0),
    15.0,
)
WIRES = (
    *(0.092, 0.105, 0.12, 0.135, 0.148, 0.162, 0.177, 0.192, 0.207, 0.225, 0.244, 0.263, 0.283),
    *(0.307, 0.331, 0.362, 0.394, 0.4375, 0.5),
)


def violations(*g):
    """The sum of what constraints g ≥ 0 are violated by."""
    return sum(jnp.maximum(-one, 0.0) for one in g)


def re22(x):
    """A beam of reinforced concrete."""
    a, b, h = x
    g = violations(a * h - 7.735 * a**2 / b - 180.0, 4.0 - h / b)
    return jnp.array([29.4 * a + 0.6 * b * h, g])


def re23(x):
    """A pressure vessel."""
    s, h, r, length = x
    cost = 0.6224 * s * r * length + 1.7781 * h * r**2 + 3.1661 * s**2 * length + 19.84 * s**2 * r
    volume = jnp.pi * r**2 * length + 4.0 / 3.0 * jnp.pi * r**3
    return jnp.array([cost, violations(s - 0.0193 * r, h - 0.00954 * r, volume - 1296000)])


def re25(x):
    """A coil spring."""
    n, d, w = x
    factor = (4 * d / w - 1) / (4 * d / w - 4) + 0.615 * w / d
    stiffness = 11.5e6 * w**4 / (8 * n * d**3)
    free = 1000 / stiffness + 1.05 * (n + 2) * w
    given, rest = 300 / stiffness, 700 / stiffness
    g = violations(
        189000 - 8 * factor * 1000 * d / (jnp.pi * w**3),
        14 - free,
        d / w - 3,
        6 - given,
        free - given - rest - 1.05 * (n + 2) * w,
        1.25 - rest,
    )
    return jnp.array([jnp.pi**2 * d * w**2 * (n + 2) / 4, g])


def re35(x):
    """A speed reducer."""
    a, b, n, c, d, e, f = x
    weight = 0.7854 * a * b**2 * (10 * n**2 / 3 + 14.933 * n - 43.0934)
    weight += -1.508 * a * (e**2 + f**2) + 7.477 * (e**3 + f**3) + 0.7854 * (c * e**2 + d * f**2)
    stress = jnp.sqrt((745 * c / (b * n)) ** 2 + 1.69e7) / (0.1 * e**3)
    other = jnp.sqrt((745 * d / (b * n)) ** 2 + 1.575e8) / (0.1 * f**3)
    g = violations(
        1 / 27 - 1 / (a * b**2 * n),
        1 / 397.5 - 1 / (a * b**2 * n**2),
        1 / 1.93 - c**3 / (b * n * e**4),
        1 / 1.93 - d**3 / (b * n * f**4),
        40 - b * n,
        12 - a / b,
        a / b - 5,
        c - 1.5 * e - 1.9,
        d - 1.1 * f - 1.9,
        1300 - stress,
        1100 - other,
    )
    return jnp.array([weight, stress, g])


def re36(x):
    """A gear train."""
    off = jnp.abs(6.931 - x[2] / x[0] * x[3] / x[1])
    return jnp.array([off, jnp.max(x), violations(0.5 - off / 6.931)])


PROBLEMS = {
    "RE22": (re22, ([0.2, 1e-3, 0.0], [15.0, 20.0, 40.0]), {0: bf.Choice(*AREAS)}),
    "RE23": (
        re23,
        ([0.0625, 0.0625, 10.0, 10.0], [6.25, 6.25, 200.0, 240.0]),
        {0: bf.Steps(0.0625), 1: bf.Steps(0.0625)},
    ),
    "RE25": (
        re25,
        ([1.0, 0.6, 0.09], [70.0, 3.0, 0.5]),
        {0: bf.Integer(), 2: bf.Choice(*WIRES)},
    ),
    "RE35": (
        re35,
        ([2.6, 0.7, 17, 7.3, 7.3, 2.9, 5.0], [3.6, 0.8, 28, 8.3, 8.3, 3.9, 5.5]),
        {2: bf.Integer()},
    ),
    "RE36": (re36, (np.full(4, 12.0), np.full(4, 60.0)), dict.fromkeys(range(4), bf.Integer())),
}


def beaten(ours, theirs, span):
    """The share of their points that one of ours dominates by more than 1e-6 of the ranges in every
    objective, or equals in some and beats in others; and the largest lead."""
    lead = -best_levels(ours / span, theirs / span)[0]
    return float(np.mean(lead > 1e-6)), float(max(lead.max(), 0.0))


def row(name, references):
    """One problem, solved and compared."""
    function, bounds, variables = PROBLEMS[name]
    began = time.process_time()
    found = bf.minimize(function, bounds=bounds, variables=variables)
    seconds = time.process_time() - began
    published = np.loadtxt(Path(references) / f"reference_points_{name}.dat")
    ours = np.concatenate([np.asarray(found.front(found.set.sample_t)), np.asarray(found.F)])
    span = np.ptp(published, axis=0)
    mine, lead = beaten(ours, published, span)
    other, behind = beaten(published, ours, span)
    return {
        "problem": name,
        "reason": found.result.reason.value,
        "cpu_seconds": round(seconds, 1),
        "values": found.nfev,
        "pieces": sum(not piece.face for piece in found.set.pieces),
        "published_beaten": round(mine, 4),
        "by_at_most": f"{lead:.2g}",
        "ours_beaten": round(other, 4),
        "behind_at_most": f"{behind:.2g}",
        "message": found.message[:200],
    }


def main():
    """Prints rows as CSV."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--references", required=True)
    parser.add_argument("problems", nargs="*", default=list(PROBLEMS))
    given = parser.parse_args()
    writer = None
    for name in given.problems:
        found = row(name, given.references)
        if writer is None:
            writer = csv.DictWriter(sys.stdout, found)
            writer.writeheader()
        writer.writerow(found)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
