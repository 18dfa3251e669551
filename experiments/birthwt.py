"""The Birthwt regression: 189 births, 16 predictors in 8 groups, as R's package grpreg prepares
them from MASS."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

DATA = Path(__file__).parent / "data" / "birthwt.csv"


class Regression(NamedTuple):
    """Standardized data: every column of X and y have mean 0 and variance 1."""

    X: np.ndarray
    y: np.ndarray
    group: np.ndarray
    """The group of each column, numbered from 0."""
    columns: tuple[str, ...]
    groups: tuple[str, ...]


def load() -> Regression:
    """The data as in grpreg's `Birthwt`
    (https://search.r-project.org/CRAN/refmans/grpreg/html/Birthwt.html), standardized.

    Age and the mother's weight enter as orthogonal polynomials of degree 3, race, earlier premature
    labors and visits as indicators, smoking, hypertension and uterine irritability as they are; y
    is the birth weight.
    """
    # after three lines about the data
    raw = np.genfromtxt(DATA, delimiter=",", names=True, skip_header=3)
    parts = {
        "age": dict(
            zip(("age1", "age2", "age3"), orthogonal_polynomials(raw["age"], 3).T, strict=True)
        ),
        "lwt": dict(
            zip(("lwt1", "lwt2", "lwt3"), orthogonal_polynomials(raw["lwt"], 3).T, strict=True)
        ),
        "race": {"white": raw["race"] == 1, "black": raw["race"] == 2},
        "smoke": {"smoke": raw["smoke"]},
        "ptl": {"ptl1": raw["ptl"] == 1, "ptl2m": raw["ptl"] >= 2},
        "ht": {"ht": raw["ht"]},
        "ui": {"ui": raw["ui"]},
        "ftv": {"ftv1": raw["ftv"] == 1, "ftv2": raw["ftv"] == 2, "ftv3m": raw["ftv"] >= 3},
    }
    columns = [
        (name, np.asarray(column, dtype=float))
        for part in parts.values()
        for name, column in part.items()
    ]
    group = np.repeat(np.arange(len(parts)), [len(part) for part in parts.values()])
    X = np.column_stack([column for _, column in columns])
    return Regression(
        _standardized(X),
        _standardized(raw["bwt"]),
        group,
        tuple(name for name, _ in columns),
        tuple(parts),
    )


def orthogonal_polynomials(x: np.ndarray, degree: int) -> np.ndarray:
    """Polynomials of degree 1, …, degree in x, orthonormal over the sample and orthogonal to 1:
    what R's `poly` makes."""
    powers = (x - x.mean())[:, None] ** np.arange(degree + 1)
    orthonormal, triangle = np.linalg.qr(powers)
    return orthonormal[:, 1:] * np.sign(np.diag(triangle)[1:])


def _standardized(columns: np.ndarray) -> np.ndarray:
    return (columns - columns.mean(axis=0)) / columns.std(axis=0)
