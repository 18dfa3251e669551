"""The studies behind `docs/stability.md`: stability and generalization gap against N, and against
the iteration k.

    python -m experiments.stability scaling scaled-med    stability and gap against N for three methods, one problem
    python -m experiments.stability iterations            bounds and twins against the iteration of the exchange
    python -m experiments.stability eigenvalues           the law of λ_min against N
    python -m experiments.stability settings              twins against K, D and the step-size rule
    python -m experiments.stability figures               draws docs/figures/stability_*.png from the results
    python -m experiments.stability tables                prints the results as the tables of docs/stability.md

Each but the last two writes a CSV into experiments/results, its command in the first line; minutes
each on two cores.
"""

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import optax

import bezierflow as bf
from bezierflow import stability
from bezierflow.precision import double_precision

from . import stability_bounds as bounds

RESULTS = Path(__file__).parent / "results"
FIGURES = Path(__file__).parent.parent / "docs" / "figures"
N_SAMPLES = (20, 40, 80, 160, 320, 640)

PROBLEMS = {
    "scaled-med": (0.0, 0),
    "quadratic-3-5": (0.0, 0),
    "quadratic-2-3": (0.0, 0),
    "warped-scaled-med": (0.0, 20),
    "skew-3med": (0.4, 0),
    "skew-3mmd": (0.4, 0),
}
"""Each with the coordinate every control point starts from, and c in gradient descent's step size
1/(k+c).

Where a problem is bent, steps of length 1 lead away from it. The skew problems have an infinite
gradient at (1, 0, 0).
"""

METHODS = {
    "gradient-descent": (lambda c: bf.GradientDescent(lambda k: 1 / (k + c)), 100, 32),
    "newton": (lambda c: bf.Newton(), 10, 96),
    "adam": (lambda c: bf.Optax(optax.adam(optax.cosine_decay_schedule(0.1, 100))), 100, 32),
}
"""Each with its number of iterations K and of independent runs."""


def scaling(name: str) -> None:
    """One row for each method and N; slopes in a file of their own."""
    start, c = PROBLEMS[name]
    problem = bf.problems.by_name(name)
    rows, slopes = [], []
    for method, (make, n_iterations, n_runs) in METHODS.items():
        flow, x0 = bf.lift(make(c), degree=3), np.full(problem.n_variables, start)
        found = stability.against_samples(flow, problem, x0, N_SAMPLES, n_iterations, n_runs=n_runs)
        about = {"problem": name, "method": method, "n_iterations": n_iterations, "n_runs": n_runs}
        rows += [about | row for row in found.rows()]
        slopes += [about | {"of": of} | slope_columns(s) for of, s in found.slopes.items()]
        print(about, {of: str(s) for of, s in found.slopes.items()}, flush=True)
        write(f"stability_scaling_{name}.csv", rows)
        write(f"stability_slopes_{name}.csv", slopes)


def slope_columns(slope: stability.Interval | None) -> dict[str, float | str]:
    """A slope with its interval; empty cells where a value had no logarithm."""
    if slope is None:
        return dict.fromkeys(("slope", "low", "high"), "")
    return {"slope": slope.estimate, "low": slope.low, "high": slope.high}


def harmonic(k: jax.Array) -> jax.Array:
    """The paper's step size, α^(k) = 1/k."""
    return 1 / k


def paper_setting(
    n_iterations: int, degree: int = 3, step_size: Callable[[jax.Array], Any] = harmonic
) -> stability.Setting:
    """Algorithm 2 as the paper runs it on scaled-MED, from P = 0, with N = 100."""
    flow = bf.lift(bf.GradientDescent(step_size), degree, bf.Uniform(100))
    surface = bf.BezierSimplex.constant(np.zeros(3), 3, degree)
    return stability.Setting(flow, bf.problems.ScaledMED(), surface, n_iterations)


def iterations() -> None:
    """The paper's run (N = 100, K = 1000): what twins do and what the bounds say, against the
    iteration of the exchange."""
    K, epsilon = 1000, 0.05
    places = np.array([2, 5, 10, 20, 50, 100, 200, 500, 800, 1000])
    with double_precision():
        setting = paper_setting(K)
        N, key = setting.n_samples, jax.random.key(0)
        exchange = stability.Exchange.random(np.repeat(places, 6), N, 3)
        twins = stability.empirical_stability(setting, exchange, keys=key[None])
        own = bounds.run_bounds(stability.trace(setting, key), setting.objectives)
    law = bounds.smallest_eigenvalue_law(3, 3, N, bounds.draws_for(epsilon / (K + 1)))
    paper = bounds.PaperBounds(own.sharper.mu, N, law.eta(epsilon, K), law.zeta(epsilon, K))
    rows = [
        {
            "k": int(k),
            "observed_mean": float(twins.distance[exchange.k == k].mean()),
            "observed_max": float(twins.distance[exchange.k == k].max()),
            "paper": float(paper.divergence(K, int(k))),
            "sharper": float(own.sharper.divergence(int(k))),
            "curvature": float(own.curvature.divergence(int(k))),
        }
        for k in places
    ]
    print(
        f"mu={own.sharper.mu:.4g} eta={paper.eta:.4g} zeta={paper.zeta:.4g}"
        f" curvature={own.curvature.curvature}"
    )
    write("stability_iterations.csv", rows)


def eigenvalues() -> None:
    """λ_min(ZᵀZ)/N for M = 3, D = 3 against N: its median, its quantile for ε = 0.05 and K = 1000,
    and the closed forms."""
    rows = []
    for N in (10, 12, 15, 20, 30, 50, 100, 200, 500, 1000):
        law = bounds.smallest_eigenvalue_law(3, 3, N, n_draws=2000 if N > 100 else 20_000)
        low = law.quantile(0.05 / 11)
        row = {
            "n_samples": N,
            "median": float(np.median(law.draws)),
            "quantile": low.estimate,
            "low": low.low,
            "high": low.high,
        }
        moment = law.inverse_root_moment()
        row |= {"limit": N * bounds.expected_smallest_eigenvalue(3, 3)}
        rows.append(
            row
            | {
                "inverse_root": moment.estimate,
                "inverse_root_low": moment.low,
                "inverse_root_high": moment.high,
            }
        )
    write("stability_eigenvalues.csv", rows)


def settings() -> None:
    """Scaled-MED, N = 100: how far one exchanged example moves the surface, against K, D and the
    step-size rule."""
    rows = []
    rules = {"1/k": lambda k: 1 / k, "1/(4√k)": lambda k: 0.25 / k**0.5, "0.2": lambda k: 0.2}
    cases = [
        (25, 3, "1/k"),
        (100, 3, "1/k"),
        (400, 3, "1/k"),
        (100, 2, "1/k"),
        (100, 4, "1/k"),
        (100, 3, "1/(4√k)"),
        (100, 3, "0.2"),
    ]
    for K, degree, rule in cases:
        places = np.repeat([max(2, K // 10), K // 2, K], 12)
        with double_precision():
            keys = jax.random.split(jax.random.key(0), 12)
            exchange = stability.Exchange.random(places, 100, 3)
            twins = stability.empirical_stability(
                paper_setting(K, degree, rules[rule]), exchange, keys=keys
            )
        early, middle, last = (
            float(twins.sup_loss[places == k].mean()) for k in (places[0], places[12], K)
        )
        rows.append(
            {
                "K": K,
                "D": degree,
                "step size": rule,
                "k = K/10": early,
                "k = K/2": middle,
                "k = K": last,
            }
        )
        print(rows[-1], flush=True)
    write("stability_settings.csv", rows)


def write(name: str, rows: list[dict]) -> None:
    """A CSV with the command that made it in its first line."""
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / name).open("w", newline="") as file:
        file.write(f"# python -m experiments.stability {' '.join(sys.argv[1:])}\n")
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {key: f"{v:.6g}" if isinstance(v, float) else v for key, v in row.items()}
            )


def read(name: str) -> list[dict]:
    """The rows of a result, numbers as numbers."""

    def value(text: str) -> float | str:
        try:
            return float(text)
        except ValueError:
            return text

    with (RESULTS / name).open(newline="") as file:
        file.readline()
        return [{key: value(text) for key, text in row.items()} for row in csv.DictReader(file)]


COLORS = {"gradient-descent": "#2a78d6", "newton": "#d9603b", "adam": "#1b1b19"}
MARKERS = {"gradient-descent": "o", "newton": "s", "adam": "^"}
SHOWN = {
    "anywhere": "one exchanged example:\nsup |ℓ − ℓ′|",
    "anywhere_move": "one exchanged example:\nsup |b − b′|",
    "gap": "gap |E[R_S − R]|",
    "spread": "spread of surfaces\n(RMS)",
}


def figures() -> None:
    """The pictures of `docs/stability.md`."""
    import matplotlib

    matplotlib.use("Agg")
    FIGURES.mkdir(parents=True, exist_ok=True)
    draw_scaling()
    draw_iterations()
    draw_eigenvalues()


def tables() -> None:
    """The tables of `docs/stability.md`, as Markdown."""
    print(
        "\n\n".join(
            table() for table in (iterations_table, settings_table, slopes_table, spread_table)
        )
    )


def iterations_table() -> str:
    """Twins and bounds against the iteration of the exchange."""
    return as_table(read("stability_iterations.csv"), "{:.1e}", whole=("k",))


def settings_table() -> str:
    """Twins against K, D and the step-size rule."""
    return as_table(read("stability_settings.csv"), "{:.1e}", whole=("K", "D"))


def slopes_table() -> str:
    """Slopes against N."""
    return as_table([row for name in studied() for row in slope_rows(name)])


def spread_table() -> str:
    """The spread of surfaces beside its estimate by twins."""
    return as_table([row for name in studied() for row in spread_rows(name)])


def slope_rows(name: str) -> list[dict]:
    """The slopes of each method on a problem, with the N at which the gap cannot be told from 0."""
    slopes, measured = read(f"stability_slopes_{name}.csv"), read(f"stability_scaling_{name}.csv")
    rows = []
    for method in METHODS:
        mine = {s["of"]: _slope_text(s) for s in slopes if s["method"] == method}
        unsure = [
            row["n_samples"]
            for row in measured
            if row["method"] == method and row["gap_low"] <= 0 <= row["gap_high"]
        ]
        if unsure:
            mine["gap"] += f"; 0 within at N = {', '.join(f'{n:.0f}' for n in unsure)}"
        rows.append({"problem": name, "method": method} | mine)
    return rows


def spread_rows(name: str) -> list[dict]:
    """The spread of surfaces and the estimate by twins, for the smallest and the largest N."""
    rows = []
    for row in read(f"stability_scaling_{name}.csv"):
        if row["n_samples"] in (N_SAMPLES[0], N_SAMPLES[-1]):
            interval = (
                f"{row['by_twins']:.1e} ({row['by_twins_low']:.1e} to {row['by_twins_high']:.1e})"
            )
            about = {"problem": name, "method": row["method"], "N": f"{row['n_samples']:.0f}"}
            rows.append(about | {"spread": f"{row['spread']:.1e}", "by twins": interval})
    return rows


def _slope_text(slope: dict) -> str:
    if slope["slope"] == "":
        return "none: a value is 0, missing or infinite"
    return f"{slope['slope']:.2f} ({slope['low']:.2f} to {slope['high']:.2f})"


def as_table(rows: list[dict], form: str = "{}", whole: tuple[str, ...] = ()) -> str:
    """Rows as a Markdown table."""
    lines = [list(rows[0]), ["---"] * len(rows[0])]
    for row in rows:
        lines.append(
            [
                f"{v:.0f}" if key in whole else form.format(v) if isinstance(v, float) else v
                for key, v in row.items()
            ]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def studied() -> list[str]:
    """The problems with results."""
    return [name for name in PROBLEMS if (RESULTS / f"stability_scaling_{name}.csv").exists()]


def draw_scaling() -> None:
    """Stability, movement, gap and spread against N: a row for each quantity, a column for each
    problem."""
    import matplotlib.pyplot as plt

    found = studied()
    size = (3.6 * len(found), 2.6 * len(SHOWN))
    figure, axes = plt.subplots(
        len(SHOWN), len(found), figsize=size, sharex=True, layout="constrained", squeeze=False
    )
    for column, name in enumerate(found):
        for ax, quantity in zip(axes[:, column], SHOWN, strict=True):
            _draw_quantity(ax, name, quantity)
        axes[0, column].set_title(name)
        axes[-1, column].set_xlabel("samples an iteration, N")
        axes[-1, column].set_xticks(N_SAMPLES, [str(n) for n in N_SAMPLES])
        axes[-1, column].minorticks_off()
    for ax, label in zip(axes[:, 0], SHOWN.values(), strict=True):
        ax.set_ylabel(label)
    figure.savefig(FIGURES / "stability_scaling.png", dpi=110)


def _draw_quantity(ax: Any, name: str, quantity: str) -> None:
    rows, slopes = read(f"stability_scaling_{name}.csv"), read(f"stability_slopes_{name}.csv")
    for method, color in COLORS.items():
        mine = [row for row in rows if row["method"] == method]
        slope = next(
            (s["slope"] for s in slopes if (s["method"], s["of"]) == (method, quantity)), ""
        )
        n, y = [row["n_samples"] for row in mine], [row[quantity] for row in mine]
        label = f"{method} (no slope)" if slope == "" else f"{method} ({slope:.2f})"
        ax.loglog(n, y, marker=MARKERS[method], color=color, markersize=4, label=label)
    ax.grid(True, which="major", alpha=0.25)
    ax.legend(frameon=False, fontsize=8)


def draw_iterations() -> None:
    """What twins do and what the bounds say, against k."""
    import matplotlib.pyplot as plt

    rows = read("stability_iterations.csv")
    figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
    k = [row["k"] for row in rows]
    styles = {
        "paper": ("#1b1b19", ":"),
        "sharper": ("#1b1b19", "--"),
        "curvature": ("#d9603b", "-"),
    }
    for name, (color, line) in styles.items():
        ax.loglog(k, [row[name] for row in rows], line, color=color, label=f"bound: {name}")
    ax.loglog(
        k,
        [row["observed_max"] for row in rows],
        "o-",
        color="#2a78d6",
        markersize=4,
        label="largest of six twins",
    )
    ax.set_xlabel("iteration k of the exchanged example")
    ax.set_ylabel("distance of the final control points")
    ax.grid(True, alpha=0.25)
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(FIGURES / "stability_iterations.png", dpi=110)


def draw_eigenvalues() -> None:
    """λ_min(ZᵀZ)/N against N."""
    import matplotlib.pyplot as plt

    rows = read("stability_eigenvalues.csv")
    figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
    n = np.array([row["n_samples"] for row in rows])
    ax.loglog(
        n,
        [row["median"] / row["n_samples"] for row in rows],
        "o-",
        color="#2a78d6",
        markersize=4,
        label="median",
    )
    low, high, middle = (
        np.array([row[key] for row in rows]) / n for key in ("low", "high", "quantile")
    )
    ax.loglog(n, middle, "s-", color="#d9603b", markersize=4, label="quantile at ε/(K+1) = 0.05/11")
    ax.fill_between(n, np.maximum(low, 1e-12), high, color="#d9603b", alpha=0.2, linewidth=0)
    ax.axhline(
        rows[0]["limit"] / rows[0]["n_samples"],
        color="#1b1b19",
        linewidth=0.8,
        label="closed form, 1/560",
    )
    ax.set_ylim(bottom=max(1e-8, float(middle.min()) / 10))
    ax.set_xlabel("samples, N")
    ax.set_ylabel("λ_min(ZᵀZ)/N")
    ax.grid(True, alpha=0.25)
    ax.legend(frameon=False)
    figure.savefig(FIGURES / "stability_eigenvalues.png", dpi=110)


COMMANDS = {
    "scaling": scaling,
    "iterations": iterations,
    "eigenvalues": eigenvalues,
    "settings": settings,
    "figures": figures,
    "tables": tables,
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
