"""The tables of the documentation, written from the results on file: `python -m experiments.pages`
in a checkout.

A page has `<!-- table: NAME -->` before and `<!-- end of table -->` behind each of them; what is
between is replaced.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from . import convergence, stability
from .given_points import FITS, FLOWS
from .methods import METHODS
from .rendering import markdown as table_of_lines
from .samplers import SAMPLERS, SIZES
from .tables import PAPER, TABLE1, TABLE2, Line, Table, lines, read_rows
from .trial_files import TrialFile

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "experiments" / "results"
PAGES = tuple(
    ROOT / "docs" / f"{name}.md"
    for name in ("reproduction", "stability", "convergence", "reliability")
)
N_TRIALS = 20

Row = dict[str, str]


def markdown(headings: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """A table in Markdown; the first columns are texts, the others numbers."""
    lines = [
        list(headings),
        ["---"] * texts + ["---:"] * (len(headings) - texts),
        *(list(row) for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def results(name: str) -> list[Row]:
    """The rows of a result on file."""
    return read_rows(RESULTS / f"{name}.csv")


def grouped(rows: Iterable[Row], by: Sequence[str]) -> dict[tuple[str, ...], list[Row]]:
    """Rows by the values of some of their columns, in the order in which these appear."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[column] for column in by), []).append(row)
    return groups


def mean(rows: Iterable[Row], column: str) -> float:
    """The mean of a column."""
    return float(np.mean([float(row[column]) for row in rows]))


def _lines(table: Table, scores: Sequence[str] = ()) -> list[Line]:
    file = TrialFile.on_file(RESULTS / f"{table.name}.csv")
    found = lines(table, file, N_TRIALS, 0, table.methods)
    return [line for line in found if not scores or line.score in scores]


def verdicts() -> str:
    """Who is better in each row of Table 2 under each norm, by the paper's test."""
    by_norm = [
        {
            (line.problem, line.score.removesuffix("_l1"), line.size): line
            for line in _lines(TABLE2, s)
        }
        for s in NORMS
    ]
    rows = []
    for key in by_norm[0]:
        cells = [_verdict(found[key]) for found in by_norm]
        rows.append([key[0], key[1].upper(), str(key[2]), *cells])
    return markdown(["problem", "score", "N, p", "Euclidean", "L1"], rows, 3)


NORMS = (("gd", "igd"), ("gd_l1", "igd_l1"))


def _verdict(line: Line) -> str:
    assert line.verdict is not None
    names = list(METHODS)[:2]
    better = "neither" if line.verdict.better is None else METHODS[names[line.verdict.better]].title
    return f"{better} (p = {line.verdict.p_value:.1e})"


def ratios() -> str:
    """Ours over the paper's in each row of Table 2: both norms, and the L1 norm with the paper's
    columns exchanged."""
    euclidean, absolute = (_lines(TABLE2, scores) for scores in NORMS)
    ours = {(line.problem, line.score.removesuffix("_l1"), line.size): line for line in absolute}
    rows = []
    for line in euclidean:
        key = (line.problem, line.score, line.size)
        other = ours[line.problem, "igd" if line.score == "gd" else "gd", line.size]
        cells = []
        for name in list(METHODS)[:2]:
            paper = line.paper[name][0]
            cells += [f"{found.cells[name].mean / paper:.2f}" for found in (line, ours[key], other)]
        rows.append([line.problem, line.score.upper(), str(line.size), *cells])
    norms = ("Euclidean", "L1", "L1, GD and IGD exchanged")
    titles = [f"{METHODS[name].title}: {norm}" for name in list(METHODS)[:2] for norm in norms]
    return markdown(["problem", "score", "N, p", *titles], rows, 3)


def sensitivity() -> str:
    """The baseline under other choices."""
    columns = ("mse", "set_mse", "population_distance")
    rows = [
        [key[0], *(f"{mean(own, c):.2e}" for c in columns)]
        for key, own in grouped(results("sensitivity"), ["choice"]).items()
    ]
    return markdown(
        ["choice", "MSE", "squared distance to the set", "mean distance of the population"], rows
    )


def reach() -> str:
    """What weighted sums reach."""
    rows = [
        [
            row["problem"],
            f"{100 * float(row['reached']):.0f} %",
            f"{float(row['largest_jump']):.2f}",
            f"{float(row['diameter']):.2f}",
        ]
        for row in results("reach")
    ]
    return markdown(
        [
            "problem",
            "part of the set reached",
            "largest jump of argmin Σ t_m f_m",
            "diameter of the set",
        ],
        rows,
    )


def group_lasso() -> str:
    """The non-smooth group lasso by degree."""
    rows = []
    for row in results("group_lasso"):
        percent = [
            f"{100 * float(row[c]):.2f} %"
            for c in ("largest_excess", "mean_excess", "largest_excess_after_step")
        ]
        within = [row[c] for c in ("within_1_percent", "within_1_percent_after_step")]
        rms = f"{float(row['rms_coefficients']):.1e}"
        rows.append(
            [row["variant"], row["degree"], *percent[:2], within[0], percent[2], within[1], rms]
        )
    titles = [
        "largest excess",
        "mean excess",
        "weights within 1 %",
        "after step: largest",
        "after step: within 1 %",
    ]
    return markdown(["form", "degree", *titles, "RMS error of β"], rows)


def given_points() -> str:
    """Both fits beside the published ones."""
    published = {
        tuple(row[c] for c in FIT_KEY): row for row in read_rows(PAPER / "given_points.csv")
    }
    rows = []
    fits = [row for row in results("given_points") if row["method"] in FITS]
    for (instance, degree, size), own in grouped(fits, ["instance", "degree", "size"]).items():
        cells = []
        for method in FITS:
            mine = [row for row in own if row["method"] == method]
            theirs = published.get((instance, method, degree, size))
            cells += [
                "" if theirs is None else f"{float(theirs['mean']):.3e}",
                f"{mean(mine, 'mse'):.3e}",
            ]
        rows.append([instance, degree, size, *cells])
    titles = [f"{method}: {whose}" for method in FITS for whose in ("published", "ours")]
    return markdown(["instance", "degree", "N", *titles], rows)


FIT_KEY = ("instance", "method", "degree", "size")


def without_points() -> str:
    """What flows reach without any given point: the MSE against exact minimizers, and Jacobians +
    Hessians."""
    flows = [row for row in results("given_points") if row["method"] in FLOWS]
    rows = []
    for (instance, degree), own in grouped(flows, ["instance", "degree"]).items():
        cells = {
            r[
                "method"
            ]: f"{float(r['mse_exact']):.1e} ({int(r['jacobians']):,} + {int(r['hessians']):,})"
            for r in own
        }
        rows.append([instance, degree, *(cells[method] for method in FLOWS)])
    return markdown(["instance", "degree", *FLOWS], rows)


def dtlz() -> str:
    """What a simplex represents of problems that are not simplicial."""
    titles = {
        "flow": "Algorithm 2",
        "fit-set": "fit to the exact set",
        "fit-front": "fit to the exact front",
    }
    rows = []
    for row in results("dtlz"):
        title, degree = (
            (titles[row["method"]], row["degree"])
            if row["method"] in titles
            else ("exact front (floor)", "")
        )
        rows.append(
            [
                row["problem"],
                title,
                degree,
                *(f"{float(row[c]):.2e}" for c in ("gd", "igd", "largest_gap")),
            ]
        )
    return markdown(["problem", "surface", "degree", "GD", "IGD", "largest gap"], rows, 2)


def two_objectives() -> str:
    """The flow beside a hypervolume curve and continuation."""
    from .two_objectives import CURVE_METHODS

    rows = []
    for (problem, method), own in grouped(results("two_objectives"), ["problem", "method"]).items():
        rows.append(
            [
                problem,
                CURVE_METHODS[method][0],
                *(f"{mean(own, c):.2e}" for c in ("gd", "igd", "distance")),
            ]
        )
    return markdown(["problem", "method", "GD", "IGD", "mean distance to the set"], rows, 2)


def degrees() -> str:
    """The best fits' errors by degree and the factor."""
    file = TrialFile.on_file(RESULTS / "convergence_degree.csv")
    shown = ("1", "2", "3", "4", "6", "8", "10")
    rows = []
    for (problem, title), own in grouped(file.rows, ["problem", "map"]).items():
        errors = {row["degree"]: f"{float(row['rms']):.1e}" for row in own}
        factor = convergence.rate(file, problem, title)
        rows.append(
            [
                problem,
                title,
                *(errors[d] for d in shown),
                "exact" if factor is None else f"{factor:.2f}",
            ]
        )
    return markdown(["problem", "map", *(f"D = {d}" for d in shown), "factor"], rows, 2)


def iterations() -> str:
    """Algorithm 2 against iterations and N."""
    file = TrialFile.on_file(RESULTS / "convergence_iterations.csv")
    rows = [
        [f"N = {n}", *(f"{error:.2e}" for error in convergence.mean_errors(file, n))]
        for n in convergence.N_SAMPLES
    ]
    return markdown(["", *(f"k = {k:,}" for k in convergence.PLACES)], rows)


def limits() -> str:
    """The zero of the mean field by sampler and N."""
    rows = [
        [
            row["sampler"],
            row["n_samples"],
            f"{float(row['mse']):.2e}",
            f"{float(row['kappa']):.2f}",
            f"{float(row['monotonicity']):.2f}",
            f"{float(row['at_zero']):.2f}",
            "yes" if row["converges"] == "True" else "no",
        ]
        for row in results("convergence_limits")
    ]
    titles = ["sampler", "N", "MSE of P_N", "E κ_N", "a, proved", "a, near P_N", "theorem holds"]
    return markdown(titles, rows)


def samplers() -> str:
    """Algorithm 2 by sampler and N: mean and standard deviation of the exact MSE."""
    groups = grouped(results("samplers"), ["sampler", "size"])
    rows = []
    for title in SAMPLERS:
        cells = []
        for size in SIZES:
            values = [float(row["mse"]) for row in groups.get((title, str(size)), [])]
            cell = f"{np.mean(values):.2e}" if values else ""
            cells.append(cell + (f"±{np.std(values, ddof=1):.0e}" if len(values) > 1 else ""))
        rows.append([title, *cells])
    return markdown(["sampler", *(f"N = {size}" for size in SIZES)], rows)


def certificates() -> str:
    """Proved, sampled and true distances."""
    rows = []
    for row in results("certificates"):
        bound, true = float(row["bound"]), float(row["true"])
        numbers = [f"{float(row[c]):.2g}" for c in ("true", "estimate", "bound")]
        seconds = f"{float(row['seconds']):.1f}"
        rows.append([row["problem"], row["degree"], *numbers, f"{bound / true:.2f}", seconds])
    titles = [
        "true",
        "estimated (`error.max`)",
        "proved (`certify()`)",
        "proved over true",
        "CPU s",
    ]
    return markdown(["problem", "degree", *titles], rows)


def gaps() -> str:
    """Losses at seen and at fresh examples."""
    rows = [
        [
            row["problem"],
            row["method"],
            row["loss"].replace("|", "\\|").replace("*", "\\*"),
            row["size"],
            *(f"{float(row[c]):.2g}" for c in ("seen", "fresh")),
            f"{float(row['gap']):.2g} ({float(row['low']):.2g} to {float(row['high']):.2g})",
        ]
        for row in results("gaps")
    ]
    return markdown(["problem", "method", "loss", "N, p", "seen", "fresh", "gap"], rows)


def corank() -> str:
    """Independence of gradients on the exact sets."""
    rows = [
        [row["problem"], *(f"{float(row[c]):.2g}" for c in ("independence", "curvature"))]
        for row in results("corank")
    ]
    return markdown(["problem", "least σ_{M−1}/σ_1", "least curvature"], rows)


def normal() -> str:
    """The normal flow's surfaces of fixed degree."""
    rows = [
        [
            row["problem"],
            row["degree"],
            f"{float(row['rms']):.1e}",
            f"{float(row['largest']):.1e}",
            row["jacobians"],
            row["hessians"],
        ]
        for row in results("convergence_normal")
    ]
    return markdown(["problem", "degree", "RMS", "largest", "Jacobians", "Hessians"], rows)


def moments() -> str:
    """E λ_min^(−1/2) by N."""
    rows = [
        [
            f"{row['n_samples']:.0f}",
            (
                f"{row['inverse_root']:.2f} ({row['inverse_root_low']:.2f} to"
                f" {row['inverse_root_high']:.2f})"
            ),
        ]
        for row in stability.read("stability_eigenvalues.csv")
        if row["n_samples"] > 30
    ]
    return markdown(["N", "mean of λ_min^(−½), 95 % interval"], rows)


TABLES: Mapping[str, Callable[[], str]] = {
    "table1": lambda: table_of_lines(_lines(TABLE1)).strip(),
    "table2": lambda: table_of_lines(_lines(TABLE2, NORMS[0])).strip(),
    "table2-l1": lambda: table_of_lines(_lines(TABLE2, NORMS[1])).strip(),
    "table2-exact": (
        lambda: table_of_lines(_lines(TABLE2, ("gd_exact", "igd_exact", "distance"))).strip()
    ),
    "verdicts": verdicts,
    "ratios": ratios,
    "sensitivity": sensitivity,
    "reach": reach,
    "group-lasso": group_lasso,
    "given-points": given_points,
    "without-points": without_points,
    "dtlz": dtlz,
    "two-objectives": two_objectives,
    "degrees": degrees,
    "iterations": iterations,
    "limits": limits,
    "samplers": samplers,
    "certificates": certificates,
    "gaps": gaps,
    "corank": corank,
    "normal": normal,
    "moments": moments,
    "stability-iterations": stability.iterations_table,
    "stability-settings": stability.settings_table,
    "stability-slopes": stability.slopes_table,
    "stability-spread": stability.spread_table,
}
"""Every table by its name in the pages."""

MARKED = re.compile(r"(<!-- table: ([\w-]+) -->\n)(.*?)(<!-- end of table -->)", re.DOTALL)


def filled(text: str) -> str:
    """The text of a page with all its tables made anew."""
    return MARKED.sub(lambda found: f"{found[1]}\n{TABLES[found[2]]()}\n\n{found[4]}", text)


def main() -> None:
    """Writes the pages."""
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
