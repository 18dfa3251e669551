"""Certified fronts: one file per problem whose run converged, in `src/bezierflow/fronts/data`, for
`bf.reference(name)`, and what people without this library take: a CSV file each.

    python -m benchmarks.fronts               # classical problems that have no row yet
    python -m benchmarks.fronts ZDT1 DTLZ2    # these, anew
    python -m benchmarks.fronts --publish     # the table and the picture of docs/fronts.md

`python -m benchmarks.engineering` and `python -m benchmarks.portfolios` keep the fronts of their
problems here as well. Objectives and constraints are as published, with default settings and two
minutes as time limit; only a run that converged is kept.
"""

import argparse
import csv
import gzip
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import jax.numpy as jnp
import numpy as np

import bezierflow as bf

from .atlas.problems import Bounded, binh_korn, constr_ex, dtlz, osyczka_kundu, zdt
from .rows import write_table

FOLDER = Path(bf.__file__).parent / "fronts" / "data"
ROOT = Path(__file__).parent.parent
POINTS, RESULTS = ROOT / "docs" / "data" / "fronts", ROOT / "benchmarks" / "results" / "fronts.csv"
COLUMNS = (
    *("problem", "objectives", "variables", "pieces", "error", "error_of_file", "coverage"),
    *("ideal", "nadir", "values", "hessians"),
)
PAGE = ROOT / "docs" / "fronts.md"
START, END = "<!-- table: python -m benchmarks.fronts --publish -->", "<!-- end of table -->"
SECONDS, N_POINTS = 120.0, 500
MOST_OF_A_FILE = 1e-3
"""A file is kept where its surface is as exact as this. Where it is coarse, as with three objectives
and many pieces, the points of the CSV file, which are solved for, are what is kept."""


def keep(name: str, found: bf.Solution) -> bool:
    """Writes the front of a run that converged, its row of the table and its points as CSV; says
    whether it did."""
    if found.result.reason is not bf.Reason.CONVERGED:
        return False
    if (found.error.patches or found.error).front <= MOST_OF_A_FILE:
        with TemporaryDirectory() as folder:
            found.save(Path(folder) / "front.bez")
            content = (Path(folder) / "front.bez").read_bytes()
        FOLDER.mkdir(parents=True, exist_ok=True)
        # without a date, so that the same front has the same bytes
        (FOLDER / f"{name}.bez.gz").write_bytes(gzip.compress(content, 9, mtime=0))
    POINTS.mkdir(exist_ok=True)
    points = found.spread(N_POINTS).F
    head = ",".join(found.names.objectives)
    np.savetxt(POINTS / f"{name}.csv", points, "%.12g", ",", header=head, comments="")
    write(read() | {name: row(name, found)})
    return True


def write(rows: dict[str, dict]) -> None:
    """All rows, by name."""
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows[name] for name in sorted(rows))


def read() -> dict[str, dict]:
    """The rows so far."""
    if not RESULTS.exists():
        return {}
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return {row["problem"]: row for row in csv.DictReader(file)}


def row(name: str, found: bf.Solution) -> dict[str, object]:
    """What is known about a front."""
    ideal, nadir = ends(found)
    return {
        "problem": name,
        "objectives": found.n_objectives,
        "variables": found.raveling.n_variables,
        "pieces": sum(not piece.face for piece in found.set.pieces),
        "error": f"{found.error.front:.2g}",
        "error_of_file": f"{(found.error.patches or found.error).front:.2g}",
        "coverage": found.error.coverage,
        "ideal": " ".join(f"{number:.10g}" for number in ideal),
        "nadir": " ".join(f"{number:.10g}" for number in nadir),
        "values": found.nfev,
        "hessians": found.nhev,
    }


def ends(found: bf.Solution) -> tuple[np.ndarray, np.ndarray]:
    """The ideal and the nadir point of a front: its ends where there are two objectives, else the
    ends and the searches for the worst values."""
    M = found.n_objectives
    worst = [end.t for end in found.extremes[M:]] if M > 2 else []
    signs = found.names.signs
    F = signs * np.asarray(found.front(np.array([*np.eye(M), *worst])))
    return signs * F[:M].min(axis=0), signs * F.max(axis=0)


def srinivas_deb() -> Bounded:
    """SRN (1994): a disc and a line."""

    def objectives(x):
        return jnp.array([(x[0] - 2) ** 2 + (x[1] - 1) ** 2 + 2, 9 * x[0] - (x[1] - 1) ** 2])

    def g(x):
        return jnp.array([(x[0] ** 2 + x[1] ** 2 - 225) / 225, (x[0] - 3 * x[1] + 10) / 10])

    return Bounded("SRN", objectives, 2, np.full(2, -20.0), np.full(2, 20.0), g=g)


def tanaka() -> Bounded:
    """TNK (1995): the front is on the constraint, in three pieces."""

    def objectives(x):
        return 1.0 * x

    def g(x):
        wave = 0.1 * jnp.cos(16 * jnp.arctan2(x[0], x[1]))
        return jnp.array([1 + wave - x[0] ** 2 - x[1] ** 2, jnp.sum((x - 0.5) ** 2) - 0.5])

    return Bounded("TNK", objectives, 2, np.full(2, 1e-12), np.full(2, np.pi), g=g)


def kursawe_as_published() -> Bounded:
    """Kursawe (1991) with |x|^0.8, whose slope at 0 is infinite."""

    def objectives(x):
        r = jnp.sqrt(x[:-1] ** 2 + x[1:] ** 2)
        return jnp.array(
            [jnp.sum(-10 * jnp.exp(-0.2 * r)), jnp.sum(jnp.abs(x) ** 0.8 + 5 * jnp.sin(x**3))]
        )

    return Bounded("Kursawe", objectives, 2, np.full(3, -5.0), np.full(3, 5.0))


CLASSICAL = {
    "ZDT1": zdt(1, 30),
    "ZDT2": zdt(2, 30),
    "ZDT3": zdt(3, 30),
    "BNH": binh_korn(),
    "SRN": srinivas_deb(),
    "TNK": tanaka(),
    "OSY": osyczka_kundu(),
    "ConstrEx": constr_ex(),
    "Kursawe": kursawe_as_published(),
    "ZDT4": zdt(4, 10),
    "ZDT6": zdt(6, 10),
    "DTLZ2": dtlz(2, 7),
    "DTLZ7": dtlz(7, 4),
}


def make(name: str, seconds: float) -> None:
    """Solves one problem and keeps its front if the run converged."""
    problem = CLASSICAL[name]
    began = time.process_time()
    found = bf.minimize(
        problem.objectives,
        bounds=(problem.lower, problem.upper),
        constraints=problem.constraints,
        time_limit=seconds,
    )
    kept = "kept" if keep(name, found) else "not kept"
    print(f"{name}: {kept}, {time.process_time() - began:.1f} s: {found.message[:200]}", flush=True)


def publish() -> None:
    """The table and the pictures of docs/fronts.md."""
    rows = read()
    text = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    text += [f"| {' | '.join(row[one] for one in COLUMNS)} |" for row in rows.values()]
    write_table(PAGE, START, END, "\n".join(["", *text, ""]))
    gallery(list(rows))


def gallery(names: list[str]) -> None:
    """A picture of every front: its points in units of its ranges."""
    import matplotlib.pyplot as plt

    columns = 6
    height = -(-len(names) // columns)
    figure = plt.figure(figsize=(2 * columns, 2.1 * height), layout="constrained")
    for number, name in enumerate(names):
        points = np.loadtxt(POINTS / f"{name}.csv", delimiter=",", skiprows=1)
        flat = points.shape[1] == 2
        shown = figure.add_subplot(height, columns, number + 1, projection=None if flat else "3d")
        shown.scatter(*points.T, s=0.6 if flat else 1.2, c=points[:, -1], cmap="viridis")
        shown.set_title(name, fontsize=9, pad=2)
        shown.tick_params(labelbottom=False, labelleft=False, length=0)
        if not flat:
            shown.tick_params(labelright=False, labeltop=False)
            shown.set_zticklabels([])
            shown.view_init(30, 45)
    figure.savefig(ROOT / "docs" / "images" / "fronts.png", dpi=110)


def main() -> None:
    """As the module says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fronts")
    parser.add_argument("problems", nargs="*", help=", ".join(CLASSICAL))
    parser.add_argument("--seconds", type=float, default=SECONDS, help="time limit of a problem")
    parser.add_argument("--publish", action="store_true")
    given = parser.parse_args()
    if given.publish:
        publish()
        return
    missing = [name for name in CLASSICAL if name not in read()]
    for name in given.problems or missing:
        make(name, given.seconds)


if __name__ == "__main__":
    main()
