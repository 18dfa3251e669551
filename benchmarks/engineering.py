"""The suite RE and CRE of Tanabe and Ishibuchi (2020), all problems without whole numbers, against the
ideal and nadir points and the fronts that they published.

    python -m benchmarks.engineering --published FOLDER             # problems that have no row yet
    python -m benchmarks.engineering --published FOLDER --again RE21 CRE23

FOLDER is a checkout of github.com/ryojitanabe/reproblems, for its `approximated_Pareto_fronts` and
`ideal_nadir_points`. Settings are defaults, with two minutes as time limit. A row per problem, in
`results/engineering.csv`: how the run ended and what it took; ideal and nadir point; of the published
points the share that a point of ours dominates by more than 1e-6 of the ranges, and by how much at
most; and the same the other way round. Ours are answers spread over the front and those above the
published points; nothing is published for CRE.

The formulas are those of the paper's supplement. The last objective of RE31 to RE33, RE41, RE42 and
RE61 is the sum of what constraints are violated by; CRE has them as constraints. RE91 draws four
of its variables at random whenever it is evaluated; here they are at their means.
"""

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

import bezierflow as bf

from .atlas.problems import re21, re24, re31, re32, re33, re37
from .fronts import ends, keep
from .mixed import beaten, violations

RESULTS = Path(__file__).parent / "results" / "engineering.csv"
COLUMNS = (
    *("problem", "objectives", "reason", "estimate", "coverage", "pieces", "values", "hessians"),
    *("cpu_seconds", "ideal", "nadir", "published_ideal", "published_nadir", "published_beaten"),
    *("by_at_most", "ours_beaten", "behind_at_most", "message"),
)
SECONDS = 120.0

Function = Callable[[Any], Any]


def truss_violated(x):
    """RE31: volume, stress, and how much of three limits is exceeded."""
    volume, stress = re31().objectives(x)
    other = 80 * jnp.sqrt(1 + x[2] ** 2) / (x[2] * x[1])
    return jnp.array([volume, stress, violations(0.1 - volume, 1e5 - stress, 1e5 - other)])


def violated(problem, units):
    """The two objectives of a problem, and the sum of the violations of its constraints in these
    units."""
    return lambda x: jnp.array(
        [*problem.objectives(x), violations(*(-jnp.array(units) * problem.g(x)))]
    )


def crash(x):
    """RE34: mass, acceleration and intrusion of a vehicle in a crash."""
    a, b, c, d, e = x
    mass = 1640.2823 + 2.3573285 * a + 2.3220035 * b + 4.5688768 * c + 7.7213633 * d + 4.4559504 * e
    acceleration = 6.5856 + 1.15 * a - 1.0427 * b + 0.9738 * c + 0.8364 * d - 0.3695 * a * d
    acceleration += 0.0861 * a * e + 0.3628 * b * d - 0.1106 * a**2 - 0.3437 * c**2 + 0.1764 * d**2
    intrusion = -0.0551 + 0.0181 * a + 0.1024 * b + 0.0421 * c - 0.0073 * a * b + 0.024 * b * c
    intrusion += -0.0118 * b * d - 0.0204 * c * d - 0.008 * c * e - 0.0241 * b**2 + 0.0109 * d**2
    return jnp.array([mass, acceleration, intrusion])


def side_impact(x):
    """CRE31: weight of a car, force on the pubis, and mean velocity of two pillars."""
    a, b, c, d, e, f, g = x
    weight = 1.98 + 4.9 * a + 6.67 * b + 6.98 * c + 4.01 * d + 1.78 * e + 1e-5 * f + 2.73 * g
    return jnp.array([weight, 4.72 - 0.5 * d - 0.19 * b * c, sum(pillars(x)) / 2])


def pillars(x):
    a, b, c, _, e, f, g = x
    return 10.58 - 0.674 * a * b - 0.67275 * b, 16.45 - 0.489 * c * g - 0.843 * e * f


def side_impact_rows(x):
    """CRE31: ten limits, g ≤ 0."""
    a, b, c, d, e, f, g = x
    lower, upper = pillars(x)
    viscous = (
        0.261 - 0.0159 * a * b - 0.06486 * a - 0.019 * b * g + 0.0144 * c * e + 0.0154464 * f,
        0.214
        + 0.00817 * e
        - (0.045195 + 0.0135168) * a
        + 0.03099 * b * f
        - 0.018 * b * g
        + (0.007176 + 0.023232) * c
        - 0.00364 * e * f
        - 0.018 * b**2,
        0.74 - 0.61 * b - 0.031296 * c - 0.031872 * g + 0.227 * b**2,
    )
    ribs = (
        28.98 + 3.818 * c - 4.2 * a * b + 1.27296 * f - 2.68065 * g,
        33.86 + 2.95 * c - 5.057 * a * b - 3.795 * b - 3.4431 * g + 1.45728,
        46.36 - 9.9 * b - 4.4505 * a,
    )
    load = 1.16 - 0.3717 * b * d - 0.0092928 * c
    force = 4.72 - 0.5 * d - 0.19 * b * c
    return jnp.array(
        [
            *(load - 1, *(one - 0.32 for one in viscous), *(one - 32 for one in ribs)),
            *(force - 4, lower - 9.9, upper - 15.7),
        ]
    )


def ship(x):
    """CRE32: transportation cost, weight and annual cargo (negative) of a bulk carrier, with what
    its limits need."""
    length, beam, depth, draft, speed, block = x
    displacement = 1.025 * length * beam * draft * block
    froude = 0.5144 * speed / jnp.sqrt(9.8065 * length)
    a = 4977.06 * block**2 - 8105.61 * block + 4456.51
    b = -10847.2 * block**2 + 12817.0 * block - 6960.32
    power = displacement ** (2 / 3) * speed**3 / (a + b * froude)
    outfit = length**0.8 * beam**0.6 * depth**0.3 * block**0.1
    steel = 0.034 * length**1.7 * beam**0.7 * depth**0.4 * block**0.5
    weight = steel + outfit + 0.17 * power**0.9
    capital = 0.2 * 1.3 * (2000 * steel**0.85 + 3500 * outfit + 2400 * power**0.8)
    dead = displacement - weight
    days, daily = 5000 / 24 * speed, 0.19 * power * 24 / 1000 + 0.2
    cargo = dead - daily * (days + 5) - 2 * dead**0.5
    trips = 350 / (days + 2 * (cargo / 8000 + 0.5))
    voyages = (1.05 * daily * days * 100 + 6.3 * dead**0.8) * trips
    costs = capital + 40000 * dead**0.3 + voyages
    return jnp.array([costs / (cargo * trips), weight, -cargo * trips]), dead, froude


def ship_rows(x):
    """CRE32: nine limits, g ≤ 0."""
    length, beam, depth, draft, _, block = x
    _, dead, froude = ship(x)
    stability = 0.53 * draft + (0.085 * block - 0.002) * beam**2 / (draft * block) - 1
    return jnp.array(
        [
            *(6 - length / beam, length / depth - 15, length / draft - 19),
            *(draft - 0.45 * dead**0.31, draft - 0.7 * depth - 0.7, dead - 5e5, 3000 - dead),
            *(froude - 0.32, 0.07 * beam - stability + 0.52 * depth),
        ]
    )


def water(x):
    """CRE51: five costs of a storm drainage system."""
    a, b, c = x
    return jnp.array(
        [
            106780.37 * (b + c) + 61704.67,
            3000 * a,
            305700 * 2289 * b / (0.06 * 2289) ** 0.65,
            250 * 2289 * jnp.exp(-39.75 * b + 9.9 * c + 2.74),
            25 * (1.39 / (a * b) + 4940 * c - 80),
        ]
    )


def water_rows(x):
    """CRE51: seven limits, g ≤ 0."""
    a, b, c = x
    ab = a * b
    return jnp.array(
        [
            0.00139 / ab + 4.94 * c - 0.08 - 1,
            0.000306 / ab + 1.082 * c - 0.0986 - 1,
            12.307 / ab + 49408.24 * c + 4051.02 - 50000,
            2.098 / ab + 8046.33 * c - 696.71 - 16000,
            2.138 / ab + 7883.39 * c - 705.04 - 10000,
            # times, where the other rows divide: as published
            0.417 * ab + 1721.26 * c - 136.54 - 2000,
            0.164 / ab + 631.13 * c - 54.48 - 550,
        ]
    )


def car(x):
    """RE91: side impact again, with four random variables at their means (two of them 0)."""
    a, b, c, d, e, f, g = x
    h, i = 0.345, 0.192
    ribs = (
        28.98 + 3.818 * c - 4.2 * a * b + 6.63 * f * i - 7.77 * g * h,
        33.86 + 2.95 * c - 5.057 * a * b - 11 * b * h - 9.98 * g * h + 22 * h * i,
        46.36 - 9.9 * b - 12.9 * a * h,
    )
    abdomen = 0.261 - 0.0159 * a * b - 0.188 * a * h - 0.019 * b * g + 0.0144 * c * e
    upper = 0.214 + 0.00817 * e - 0.131 * a * h - 0.0704 * a * i + 0.03099 * b * f - 0.018 * b * g
    upper += 0.0208 * c * h + 0.121 * c * i - 0.00364 * e * f - 0.018 * b**2
    parts = (
        1.16 - 0.3717 * b * d - 0.484 * c * i,
        (abdomen + 0.08045 * f * i) / 0.32,
        upper / 0.32,
        (0.74 - 0.61 * b - 0.163 * c * h - 0.166 * g * i + 0.227 * b**2) / 0.32,
        sum(ribs) / 3 / 32,
        (4.72 - 0.5 * d - 0.19 * b * c) / 4,
        (10.58 - 0.674 * a * b - 1.95 * b * h) / 9.9,
        (16.45 - 0.489 * c * g - 0.843 * e * f) / 15.7,
    )
    weight = 1.98 + 4.9 * a + 6.67 * b + 6.98 * c + 4.01 * d + 1.75 * e + 1e-5 * f + 2.73 * g
    return jnp.array([weight, *(jnp.maximum(part, 0.0) for part in parts)])


CAR = ([0.5, 0.45, 0.5, 0.5, 0.875, 0.4, 0.4], [1.5, 1.35, 1.5, 1.5, 2.625, 1.2, 1.2])
SHIP = ([150.0, 20.0, 13.0, 10.0, 14.0, 0.63], [274.32, 32.31, 25.0, 11.71, 18.0, 0.75])
WATER = ([0.01] * 3, [0.45, 0.1, 0.1])
BEAM_UNITS, BRAKE_UNITS = (13600.0, 30000.0, 1.0, 6000.0), (1.0, 1.0, 1.0, 1.0)


def plus_violations(f: Function, g: Function) -> Function:
    return lambda x: jnp.array([*f(x), violations(*(-g(x)))])


def _box(problem: Any) -> tuple[np.ndarray, np.ndarray]:
    return problem.lower, problem.upper


PROBLEMS: dict[str, tuple[Function, Any, Function | None]] = {
    "RE21": (re21().objectives, _box(re21()), None),
    "RE24": (re24().objectives, _box(re24()), None),
    "RE31": (truss_violated, _box(re31()), None),
    "RE32": (violated(re32(), BEAM_UNITS), _box(re32()), None),
    "RE33": (violated(re33(), BRAKE_UNITS), _box(re33()), None),
    "RE34": (crash, (np.ones(5), np.full(5, 3.0)), None),
    "RE37": (re37().objectives, _box(re37()), None),
    "RE41": (plus_violations(side_impact, side_impact_rows), CAR, None),
    "RE42": (plus_violations(lambda x: ship(x)[0], ship_rows), SHIP, None),
    "RE61": (plus_violations(water, water_rows), WATER, None),
    "RE91": (car, CAR, None),
    "CRE21": (re31().objectives, _box(re31()), re31().g),
    "CRE22": (re32().objectives, _box(re32()), re32().g),
    "CRE23": (re33().objectives, _box(re33()), re33().g),
    "CRE31": (side_impact, CAR, side_impact_rows),
    "CRE32": (lambda x: ship(x)[0], SHIP, ship_rows),
    "CRE51": (water, WATER, water_rows),
}
"""Objectives, bounds, and constraints g(x) ≤ 0. CRE24 and CRE25 have whole numbers, as RE22, RE23,
RE25, RE35 and RE36 do (`benchmarks/mixed.py`)."""


def measure(name: str, published: Path, seconds: float) -> dict[str, object]:
    """One problem, solved and compared; a run that converged is kept as a certified front."""
    f, bounds, g = PROBLEMS[name]
    began = time.process_time()
    found = bf.minimize(f, bounds=bounds, constraints=g, time_limit=seconds)
    spent = time.process_time() - began
    keep(name, found)
    ideal, nadir = ends(found)
    row: dict[str, object] = {
        "problem": name,
        "objectives": found.n_objectives,
        "reason": found.result.reason.name,
        "estimate": f"{found.error.front:.2g}",
        "coverage": found.error.coverage,
        "pieces": sum(not piece.face for piece in found.set.pieces),
        "values": found.nfev,
        "hessians": found.nhev,
        "cpu_seconds": round(spent, 1),
        "ideal": digits(ideal),
        "nadir": digits(nadir),
        "message": found.message[:200],
    }
    path = published / "approximated_Pareto_fronts" / f"reference_points_{name}.dat"
    if path.exists():
        points = np.loadtxt(path)
        row |= against(found, points)
        for kind in ("ideal", "nadir"):
            file = published / "ideal_nadir_points" / f"{kind}_point_{name}.dat"
            row[f"published_{kind}"] = digits(np.loadtxt(file).ravel())
    return row


def against(found: bf.Solution, points: np.ndarray) -> dict[str, object]:
    """Our answers against published points, both ways."""
    t = np.concatenate([found.set.sample_t, found.t(points)])
    ours = np.concatenate([np.asarray(found.front(t)), found.F])
    span = np.ptp(points, axis=0)
    mine, lead = beaten(ours, points, span)
    other, behind = beaten(points, ours, span)
    return {
        "published_beaten": round(mine, 4),
        "by_at_most": f"{lead:.2g}",
        "ours_beaten": round(other, 4),
        "behind_at_most": f"{behind:.2g}",
    }


def digits(numbers: np.ndarray) -> str:
    return " ".join(f"{number:.10g}" for number in numbers)


def read() -> dict[str, dict[str, Any]]:
    """The rows so far."""
    if not RESULTS.exists():
        return {}
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return {row["problem"]: row for row in csv.DictReader(file)}


def write(rows: dict[str, dict[str, Any]]) -> None:
    """All rows, in the order of the suite."""
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows[name] for name in PROBLEMS if name in rows)


def main() -> None:
    """As the module says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engineering")
    parser.add_argument("--published", type=Path, required=True)
    parser.add_argument("--again", nargs="+", default=(), choices=PROBLEMS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="time limit of a problem")
    given = parser.parse_args()
    rows = read()
    for name in given.again or [name for name in PROBLEMS if name not in rows]:
        rows[name] = measure(name, given.published, given.seconds)
        print(rows[name], flush=True)
        write(rows)


if __name__ == "__main__":
    main()
