"""The pages' files: markup, style, script and data in one, with nothing left to fetch.

That of a study shows it so far: what was measured, how it got better, what is asked for. It is
drawn by hand as SVG, so that it needs no plotting library and is there in a moment; the surface of
a study has the page of `explore`.
"""

import base64
import hashlib
import html
import itertools
import json
from collections.abc import Collection, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from ..bezier import write_atomically
from ..metrics import hypervolume, nondominated
from ..names import Names
from ..runs import Evaluation

SCRIPTS = (
    "simplex.js",
    "bezier.js",
    "tradeoffs.js",
    "drawing.js",
    "model.js",
    "bounds.js",
    "mesh.js",
    "surface_model.js",
    "patches.js",
    "piece_mesh.js",
    "atlas_model.js",
    "pad.js",
    "front_views.js",
    "pairs_view.js",
    "parallel.js",
    "panels.js",
    "bookmarks.js",
    "app.js",
)
"""The script's files in the order they are put together: each uses only those before it, and all
share one private scope."""


def render(
    data: Mapping[str, object], title: str, subtitle: str, footer: str, caution: str = ""
) -> str:
    """The whole page as text, with a caution above everything if there is one. Texts are text,
    whatever they contain."""
    # In a function of its own, so that nothing leaks into the page.
    scripts = "\n".join(asset(name) for name in SCRIPTS)
    style, script = asset("style.css"), f'(() => {{\n"use strict";\n{scripts}\n}})();'
    # Digests of the page's own style and script: nothing that a text smuggles in is run.
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    above = f'<p id="caution" class="caution" role="alert">{html.escape(caution)}</p>'
    above = above if caution else ""
    return Template(asset("page.html")).substitute(
        policy=html.escape(policy),
        title=html.escape(title),
        subtitle=html.escape(subtitle),
        footer=html.escape(footer),
        caution=above,
        style=style,
        script=script,
        data=as_script_data(data),
    )


def as_script_data(data: Mapping[str, object]) -> str:
    """JSON that can stand inside a script element: what would end it or open a comment is written
    as an escape."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def encode(numbers: ArrayLike) -> str:
    """Little-endian doubles in base64: exact, and half the size of decimal text."""
    return base64.b64encode(np.ascontiguousarray(numbers, dtype="<f8").tobytes()).decode()


def finite(number: float | None) -> float | None:
    """The number, or None where JSON has no word for it."""
    return float(number) if number is not None and np.isfinite(number) else None


def asset(name: str) -> str:
    """One of the files that lie beside this one."""
    return (files(__name__.rpartition(".")[0]) / "assets" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """The source that a content-security policy allows: exactly this text and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


SIDE, MARGIN = 300, 46
"""Of a panel of the picture, in pixels."""

BEST, OTHER = "#2a78d6", "#9a9a94"
"""Colors of the best evaluations and of the others."""

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1b1b19; max-width: 64rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: .5rem 0 1.5rem }
th, td { text-align: right; padding: .15rem .7rem; border-bottom: 1px solid #e4e4e4; font-variant-numeric: tabular-nums }
th { font-weight: 600 } td:last-child, th:last-child { text-align: left } tr.best { background: #eaf2fc } svg { max-width: 100%; height: auto }
:root { color-scheme: light dark }
@media (prefers-color-scheme: dark) {
body { color: #e3e9f0; background: #11161d } th, td { border-color: #35404d } tr.best { background: #22324f }
rect[fill=white] { fill: #1a212b } rect[stroke] { stroke: #4a5666 } text { fill: #e3e9f0 }
}
"""  # noqa: E501


def write_study(
    path: Path,
    title: str,
    names: Names,
    pending: Mapping[int, np.ndarray],
    history: Sequence[tuple[Evaluation, bool]],
) -> Path:
    """Writes a page (.html) or a picture (.svg) of a study.

    Args:
        path: of the file; its ending says which.
        title: the heading.
        names: of objectives and variables.
        pending: the designs asked for and not told, by number.
        history: all that was ever told, and whether it counts.
    """
    current = [one for one, counts in history if counts]
    F, good, best = _values(names, current)
    picture = _picture(names, F[good], best[good])
    if path.suffix.lower() == ".svg":
        write_atomically(path, picture.encode())
        return path
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"path must end in .html or .svg, got {str(path)!r}")
    in_blue = np.flatnonzero(best).tolist()
    n_failed = sum(one.failed and not one.skipped for one in current)
    empty = [""] * (len(names.objectives) + 1)
    parts = [
        f"<p>{good.sum()} evaluations with values, {best.sum()} of them not dominated; {n_failed}"
        f" failed; {len(pending)} asked for and not told.</p>",
        picture,
        _table("To be evaluated", names, [[n, *x, *empty] for n, x in pending.items()]),
        _table("Results, the best in blue", names, list(map(_row, current)), in_blue),
        _table(
            "Corrected since, or taken back",
            names,
            [_row(one) for one, counts in history if not counts],
        ),
    ]
    page = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{STYLE}</style><h1>{html.escape(title)}</h1>{''.join(parts)}</html>\n"
    )
    write_atomically(path, page.encode())
    return path


def _values(
    names: Names, evaluations: Sequence[Evaluation]
) -> tuple[Float[np.ndarray, "n n_objectives"], np.ndarray, np.ndarray]:
    """The values of evaluations, not a number where they failed; which did not fail, and which of
    them no others dominate."""
    F = np.full((len(evaluations), len(names.objectives)), np.nan)
    good = np.array([not one.failed for one in evaluations], dtype=bool)
    for row, one in zip(F, evaluations, strict=True):
        row[:] = np.nan if one.failed else one.y
    return F, good, nondominated(names.signs * F, keep_equal=True) if len(F) else good


def _row(one: Evaluation) -> list[object]:
    """Number, design, values, and why it failed."""
    values = [] if one.y is None or one.failed else list(one.y)
    return ["" if one.number is None else one.number, *one.x, *values, one.failure]


def _table(
    heading: str, names: Names, rows: Sequence[Sequence[object]], best: Collection[int] = ()
) -> str:
    """Rows with a number, the variables, the objectives and a remark; nothing where there are
    none."""
    if not rows:
        return ""
    heads = ("number", *names.variable_labels, *names.objective_labels, "")
    lines = ["<tr>" + "".join(f"<th>{html.escape(head)}</th>" for head in heads)]
    for k, row in enumerate(rows):
        cells = [f"{one:.6g}" if isinstance(one, float) else str(one) for one in row]
        gap = [""] * (len(heads) - len(cells))  # an evaluation that failed has no values
        line = "".join(f"<td>{html.escape(cell)}</td>" for cell in (*cells[:-1], *gap, cells[-1]))
        lines.append(('<tr class="best">' if k in best else "<tr>") + line)
    return f"<h2>{heading}</h2><table>{'</tr>'.join(lines)}</tr></table>"


def _picture(names: Names, F: Float[np.ndarray, "n n_objectives"], best: np.ndarray) -> str:
    """Evaluations by pairs of objectives, the best ones filled, and how the hypervolume grew."""
    labels, panels = names.axis_labels, []
    for a, b in itertools.combinations(range(len(labels)), 2):
        panels.append(_panel(len(panels), F[:, [a, b]], (labels[a], labels[b]), best))
    if len(F) > 1:
        f = names.signs * F
        low, span = f.min(axis=0), np.ptp(f, axis=0)
        z, corner = (f - low) / np.where(span > 0, span, 1.0), np.full(len(labels), 1.1)
        volumes = [float(hypervolume(z[: k + 1], corner)) for k in range(len(z))]
        line = np.column_stack([np.arange(1.0, len(z) + 1), volumes])
        panels.append(_panel(len(panels), line, ("evaluations", "hypervolume"), None))
    width, height = SIDE * len(panels), SIDE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' role="img" aria-label="evaluations" font-family="sans-serif" font-size="11">'
        f'<rect width="{width}" height="{height}" fill="white"/>{"".join(panels)}</svg>'
    )


def _panel(
    place: int,
    points: Float[np.ndarray, "n 2"],
    labels: tuple[str, str],
    best: np.ndarray | None,
) -> str:
    """Points in a frame, the best ones filled; a line through them where nothing is best."""
    left, room = place * SIDE + MARGIN, SIDE - 2 * MARGIN
    low = points.min(axis=0, initial=np.inf)
    span = points.max(axis=0, initial=-np.inf) - low
    z = (points - low) / np.where(span > 0, span, 1.0)
    x, y = left + 6 + (room - 12) * z[:, 0], MARGIN / 2 + room - 6 - (room - 12) * z[:, 1]
    drawn = [
        f'<rect x="{left}" y="{MARGIN / 2}" width="{room}" height="{room}" fill="none"'
        ' stroke="#c8c8c4"/>'
    ]
    if best is None:
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        drawn.append(f'<polyline points="{line}" fill="none" stroke="{BEST}" stroke-width="2"/>')
    for a, b, is_best in zip(x, y, [] if best is None else best, strict=best is not None):
        look = f'fill="{BEST}"' if is_best else f'fill="none" stroke="{OTHER}"'
        drawn.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" {look}/>')
    below, middle = MARGIN / 2 + room, left + room / 2
    ends = [f"{v:.4g}" if len(points) else "" for v in (*low, *(low + span))]
    texts = (
        (left, below + 14, "start", ends[0]),
        (left + room, below + 14, "end", ends[2]),
        (left - 4, below, "end", ends[1]),
        (left - 4, MARGIN / 2 + 10, "end", ends[3]),
        (middle, below + 30, "middle", labels[0]),
        (left, MARGIN / 2 - 6, "start", labels[1]),
    )
    for a, b, anchor, text in texts:
        drawn.append(f'<text x="{a}" y="{b}" text-anchor="{anchor}">{html.escape(text)}</text>')
    return "".join(drawn)
