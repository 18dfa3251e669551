"""What is known about the error of a surface or an atlas."""

import html
from dataclasses import dataclass

from .flags import Flag, by_cause


@dataclass(frozen=True)
class ErrorEstimate:
    """How far a surface is from the Pareto set, measured at held-out t. Distances are in the units
    of x; float() gives the rms.

    Attributes:
        rms: Root mean square of the distances.
        max: The largest of them.
        bound: What the true largest distance, both ways, is expected to stay below: three times
            `max`.
        diameter: Of the surface together with the minimizers that its corners should be; divide by
            it for relative errors. Of a single point |x|, at least 1.
        n_samples: How many held-out t there were, vertices included.
        n_invalid: At how many of them the distance could not be estimated; they count with the
            diameter.
        residual: The largest |ρ| = |Σ w_m ĝ_m| among them but for the vertices: scale-free, between
            0 and 1.
        folded: Share of inner t where the surface runs backwards.
        gap: The largest jump between neighboring points of an edge over the median jump: how
            unevenly t is spread.
        dominated: Share of the sampled points that another sampled point clearly dominates.
        flags: What is wrong, if anything, with advice as their values.
        evaluations: How many points were evaluated for this estimate.
        front: The largest distance of objective values in units of their ranges. Points without a
            valid distance count with 1.
        coverage: How much of the set is there: the share of held-out points of a surface, or of
            fresh chart points of an atlas, with a certified answer: near a local optimum, and
            nothing known beats it.
        violation: The largest violation of a constraint in units of its scale; of an atlas only.
        n_probes: How many points were looked at elsewhere, none of which is better than an answer
            that counts as covered.
        by_objective: Of a surrogate only: the RMS error of predictions of held-out evaluations, for
            each objective in its units. All distances are then such errors in units of the
            objectives' ranges, and `diameter` is 1.
    """

    rms: float
    max: float
    bound: float
    diameter: float
    n_samples: int
    n_invalid: int
    residual: float
    folded: float
    gap: float
    dominated: float
    flags: tuple[Flag, ...]
    evaluations: int
    front: float | None = None
    coverage: float | None = None
    violation: float | None = None
    n_probes: int = 0
    by_objective: tuple[float, ...] | None = None

    def __float__(self) -> float:
        return self.rms

    @classmethod
    def unknown(cls, diameter: float) -> "ErrorEstimate":
        """That nothing was estimated, for a surface of this diameter."""
        nan = float("nan")
        return cls(nan, nan, nan, diameter, 0, 0, nan, nan, nan, nan, (Flag.NOT_ESTIMATED,), 0)

    @property
    def advice(self) -> tuple[str, ...]:
        """What to tell a person about the flags, causes first."""
        return tuple(flag.value for flag in by_cause(self.flags))

    def __str__(self) -> str:
        return "\n".join(f"{heading + ':':<11}{text}" for heading, text in self.rows())

    def _repr_html_(self) -> str:
        left = 'style="text-align:left"'
        cells = [
            f"<th {left}>{html.escape(heading)}</th><td {left}>{html.escape(text)}</td>"
            for heading, text in self.rows()
        ]
        return f"<table>{''.join(f'<tr>{cell}</tr>' for cell in cells)}</table>"

    def rows(self) -> list[tuple[str, str]]:
        """Headings and texts for `print` and for notebooks."""
        if Flag.NOT_ESTIMATED in self.flags:
            return [("error", "not estimated"), *(("caution", text) for text in self.advice)]
        where = f"at {self.n_samples} held-out points; the set has diameter {self.diameter:.3g}"
        if self.by_objective is not None:
            where = (
                f"of the objectives' ranges, at {self.n_samples} evaluations that the surrogate had"
                " not seen"
            )
        rows = [
            ("error", f"{self.rms:.2g} rms, {self.max:.2g} at most, {where}"),
            ("expected", f"below {self.bound:.2g} everywhere"),
        ]
        if self.coverage is not None:
            rows.append(("certified", f"{self.coverage:.1%} of them"))
        return [*rows, *(("caution", text) for text in self.advice)]

    @property
    def relative(self) -> float:
        """The largest distance over the diameter: what `tol` is compared with."""
        return self.max / self.diameter if self.diameter > 0 else self.max
