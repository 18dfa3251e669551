"""HTML for notebooks: tables of texts, a sketch of a front, a bar of shares. No plotting library is
needed to show it."""

import html
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

WIDTH, HEIGHT, MARGIN = 320, 180, 28
"""Of a sketch, in pixels."""


def table(rows: Sequence[tuple[str, str]], alarm: bool = False) -> str:
    """Headings and texts as a table, the first row red in case of alarm."""
    lines = []
    for number, (heading, text) in enumerate(rows):
        style = ' style="color:#b3141c;font-weight:600"' if alarm and not number else ""
        lines.append(
            f'<tr{style}><th style="text-align:left;vertical-align:top;white-space:pre">'
            f'{html.escape(heading)}</th><td style="text-align:left;white-space:pre-wrap">'
            f"{html.escape(text)}</td></tr>"
        )
    return f"<table>{''.join(lines)}</table>"


def picture(F: Float[np.ndarray, "n n_objectives"], labels: Sequence[str]) -> str:
    """The front as SVG: a curve for two objectives, else one line per point across an axis per
    objective."""
    # Drawn by hand: a notebook shows SVG without any plotting library.
    M, span = F.shape[1], np.ptp(F, axis=0)
    places = (F - F.min(axis=0)) / np.where(span > 0, span, 1.0)
    left, right, below = MARGIN, WIDTH - MARGIN, HEIGHT - 6
    if M == 2:
        lines = [places[np.argsort(places[:, 0])]]
        spots = [(right, below, "end"), (left, 14, "start")]
    else:
        across = np.linspace(0, 1, M)
        lines = [np.column_stack([across, row]) for row in places]
        anchors = ["start", *["middle"] * (M - 2), "end"][:M]
        spots = [(left + (right - left) * a, below, anchors[m]) for m, a in enumerate(across)]
    drawn = ""
    for line in lines:
        x, y = MARGIN + line.T * [[WIDTH - 2 * MARGIN], [HEIGHT - 2 * MARGIN]]
        points = " ".join(f"{a:.1f},{HEIGHT - b:.1f}" for a, b in zip(x, y, strict=True))
        opacity = 1 if len(lines) == 1 else 0.4
        drawn += (
            f'<polyline points="{points}" fill="none" stroke="#2a6f97" stroke-opacity="{opacity}"/>'
        )
    for (x, y, anchor), label in zip(spots, labels, strict=True):
        drawn += (
            f'<text x="{x:.0f}" y="{y}" font-size="11" text-anchor="{anchor}">'
            f"{html.escape(label)}</text>"
        )
    size = f'width="{WIDTH}" height="{HEIGHT}"'
    return f'<svg {size} role="img" aria-label="Pareto front">{drawn}</svg>'


def share_bar(t: Float[np.ndarray, " n_objectives"], names: Sequence[str]) -> str:
    """A point of the simplex as one bar, a part for each objective."""
    ends = WIDTH * np.concatenate([[0.0], np.cumsum(t)])
    parts = "".join(
        f'<rect x="{a:.1f}" y="0" width="{b - a:.1f}" height="18" fill="#2a6f97"'
        f' fill-opacity="{1 - 0.7 * m / len(t):.2f}"><title>{html.escape(name)}:'
        f" {share:.3g}</title></rect>"
        for m, (a, b, share, name) in enumerate(zip(ends[:-1], ends[1:], t, names, strict=True))
    )
    label = "shares of the objectives in t"
    return f'<svg width="{WIDTH}" height="18" role="img" aria-label="{label}">{parts}</svg>'
