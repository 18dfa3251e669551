"""Tables as text: Markdown for the documentation, plain columns for the terminal."""

from collections.abc import Sequence

from .methods import METHODS
from .tables import Cell, Line

SCORE_TITLES = {
    "mse": "MSE",
    "set_mse": "squared distance to the set",
    "gd": "GD",
    "igd": "IGD",
    "gd_l1": "GD, L1",
    "igd_l1": "IGD, L1",
    "gd_exact": "GD, exact Y",
    "igd_exact": "IGD, exact Y",
    "distance": "distance to the set",
}


def headings(lines: Sequence[Line]) -> list[str]:
    """Problem, score, size; then for each method the paper's column, if it has one, and ours."""
    titles = ["problem", "score", "N, p"]
    for name in lines[0].cells:
        if any(name in line.paper for line in lines):
            titles.append(f"{METHODS[name].title}: paper")
        titles.append(f"{METHODS[name].title}: ours")
    return titles


def body(lines: Sequence[Line], bold: str = "**") -> list[list[str]]:
    """One row of texts a line. The better of the paper's two methods is set in bold where the
    difference is significant."""
    with_paper = [name for name in lines[0].cells if any(name in line.paper for line in lines)]
    return [_row(line, with_paper, bold) for line in lines]


def _row(line: Line, with_paper: Sequence[str], bold: str) -> list[str]:
    best = (
        None
        if line.verdict is None or line.verdict.better is None
        else list(METHODS)[line.verdict.better]
    )
    row = [line.problem, SCORE_TITLES[line.score], str(line.size)]
    for name, cell in line.cells.items():
        if name in with_paper:
            row.append(number(*line.paper[name]) if name in line.paper else "")
        row.append(_mark(cell, bold if name == best else ""))
    return row


def markdown(lines: Sequence[Line]) -> str:
    """The table in Markdown."""
    titles = headings(lines)
    rows = [titles, ["---"] * 3 + ["---:"] * (len(titles) - 3), *body(lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def number(mean: float, sd: float) -> str:
    """A mean and its deviation as the paper writes them: 5.51e-05±2.40e-06."""
    return f"{mean:.2e}±{sd:.2e}"


def _mark(cell: Cell, bold: str) -> str:
    return f"{bold}{number(cell.mean, cell.sd)}{bold}"
