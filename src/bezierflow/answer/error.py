"""What is known about the error of a Pareto set, and flags: what is wrong, with advice."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from ..kinds import kind
from .notebook import table


@kind("answer.flag/1")
class Flag(Enum):
    """A warning about a surface, with advice as its value. In the order of cause: a later one may
    follow from those before it."""

    BUDGET_SPENT = (
        "the budget of evaluations was spent: the best surface so far was returned; give a larger"
        " budget"
    )
    NOISY = (
        "values are too noisy for differences: bf.minimize(f, x0, bf.Surrogate(), bounds=...) is"
        " made for them"
    )
    NOT_CONVERGED = (
        "an objective's minimizer was not found (it may be unbounded below or very flat): check the"
        " objectives, or another x0"
    )
    FEW_VARIABLES = (
        "there are fewer variables than objectives minus one: the set cannot be a simplex of that"
        " dimension, and inner t say little; trust the edges and corners, or drop objectives"
    )
    MINIMIZER_NOT_UNIQUE = (
        "an objective has more than one minimizer, so the corners of the Pareto set are not single"
        " points: ties were broken by the other objectives; add a small regularization to make the"
        " minimizer unique"
    )
    WEAKLY_PARETO_VERTEX = (
        "a corner is only weakly Pareto optimal: another point is as good there and better"
        " elsewhere; regularize that objective"
    )
    BETTER_ELSEWHERE = (
        "points far from the surface beat it: it is a local Pareto set, and the global one lies"
        " elsewhere or in several pieces; start from the point named here, or give bounds if that"
        " point makes no sense"
    )
    WRONG_BRANCH = (
        "the surface crosses points that are no local optimum: a path probably ended at another"
        " local minimizer; try another x0"
    )
    NOT_SIMPLICIAL = (
        "the surface folds, or parts of it are dominated: the Pareto set is probably no single"
        " curved simplex (disconnected or oscillating); do not trust the surface as a whole"
    )
    CORNERS_MISSED = (
        "a corner of the surface is far from the minimizer of its objective: the run has not"
        " arrived there; give it more iterations or longer steps"
    )
    NOT_FINITE = (
        "an objective is not finite on a part of the answer: keep it out by bounds or constraints,"
        " or mend the objective there"
    )
    NOT_COVERED = (
        "a part of the chart has no certified answer: pieces of the Pareto set may be missing or"
        " wrong there; raise the budget, narrow the bounds, or trust only where pareto_set.holds(a)"
    )
    VIOLATED = (
        "answers violate a constraint: constraints leave hardly any room there, or none; widen"
        " them, or state them as equalities"
    )
    POINTS_APART = (
        "the points fall into groups apart from each other: the Pareto set has several pieces, or"
        " points are missing; what the surface says between the groups is a guess"
    )
    POINTS_DEGENERATE = (
        "the points fill fewer dimensions than there are objectives minus one: some objectives"
        " agree; trust the surface near the points alone, or drop an objective"
    )
    POINTS_MISSED = (
        "held-out points lie far from the surface: the points scatter, are too few, or are no"
        " single curved simplex; do not trust the surface between the points"
    )
    FRONT_ROUGH = (
        "objective values in the file are a fit that misses them by more than 1 % of their range"
        " somewhere: load it with objectives=f for exact ones"
    )
    ESTIMATE_INVALID = (
        "the distance could not be estimated at some points: take the error with caution"
    )
    NOT_ESTIMATED = (
        "the distance to the Pareto set was not estimated, because that takes Hessians which are"
        " too large or which the objectives do not have; solution.estimate_error() tries it all the"
        " same"
    )
    BOUNDS_IGNORED = (
        "the estimate does not know the bounds, and the surface reaches them: it is the distance to"
        " the Pareto set without bounds"
    )
    NOT_AT_TOLERANCE = (
        "the surface is less exact than tol asks for, which is all that is known to be wrong:"
        " accept error.max, or give a larger tol"
    )


SYMPTOMS = (Flag.CORNERS_MISSED, Flag.ESTIMATE_INVALID, Flag.NOT_AT_TOLERANCE)
"""Flags that say nothing new where another one is raised."""


def by_cause(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """The flags to tell a person, causes first; the first symptom only where there is no cause."""
    found = sorted(set(flags), key=list(Flag).index)
    causes = [flag for flag in found if flag not in SYMPTOMS]
    return tuple(causes or found[:1])


@dataclass(frozen=True)
class ErrorEstimate:
    """How far a surface is from the Pareto set, measured at held-out t. Distances are in the units
    of x; float() gives the rms.

    Attributes:
        rms: root mean square of the distances.
        max: what all distances are estimated to stay below, both ways: the largest of them times
            a margin. `python -m benchmarks.calibration` measures how often it holds.
        expected: three times `max`, which no problem measured there exceeded. An expectation from
            samples, no bound.
        diameter: of the surface together with the minimizers that its corners should be; of a
            single point |x|, at least 1. Divide by it for relative errors.
        n_samples: how many held-out t there were, vertices included.
        n_invalid: how many of them have no estimate; they count with the diameter.
        residual: the largest |ρ| = |Σ w_m ĝ_m| among them but for the vertices: scale-free, between
            0 and 1.
        folded: share of inner t where the surface runs backwards.
        gap: the largest jump between neighboring points of an edge over the median jump.
        dominated: share of the sampled points that another sampled point clearly dominates.
        flags: what is wrong, if anything, with advice as their values.
        evaluations: how many points were evaluated for this estimate.
        front: the largest distance of objective values in units of their ranges; 1 where a point
            has no valid distance.
        coverage: share of the held-out points of a surface, or of fresh chart points of an atlas,
            with a confirmed answer: near a local optimum, and nothing known beats it.
        violation: the largest violation of a constraint in units of its scale; of an atlas only.
        patches: of an atlas whose answers are solved for when somebody asks: the same for its
            patches alone, which are all that files and pages have.
        n_probes: how many points were looked at elsewhere; none beats an answer that counts as
            covered.
        resolution: how far a point of the set may be from the nearest held-out one, over the
            diameter: what is narrower than that may hide between them.
        by_objective: of a surrogate only: the RMS error of predictions of held-out evaluations, for
            each objective in its units. All distances are then such errors in units of the
            objectives' ranges, and `diameter` is 1.
        missing: of a surrogate only: the share of the front's hypervolume that the surface is
            expected to miss, over functions that the evaluations leave possible.
        missing_below: what that share is below for nine of ten of these functions.
    """

    rms: float
    max: float
    expected: float
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
    patches: "ErrorEstimate | None" = None
    n_probes: int = 0
    resolution: float | None = None
    by_objective: tuple[float, ...] | None = None
    missing: float | None = None
    missing_below: float | None = None

    def __float__(self) -> float:
        return self.rms

    @classmethod
    def unknown(cls, diameter: float, why: Flag = Flag.NOT_ESTIMATED) -> "ErrorEstimate":
        """No estimate, for a surface of this diameter."""
        nan = float("nan")
        return cls(nan, nan, nan, diameter, 0, 0, nan, nan, nan, nan, (why,), 0)

    @property
    def kept(self) -> "ErrorEstimate":
        """That of what a file or a page has: of the patches alone, where answers are solved for."""
        return self.patches or self

    @property
    def advice(self) -> tuple[str, ...]:
        """What to tell a person about the flags, causes first."""
        return tuple(flag.value for flag in by_cause(self.flags))

    def __str__(self) -> str:
        return "\n".join(f"{heading + ':':<11}{text}" for heading, text in self.rows())

    def _repr_html_(self) -> str:
        return table(self.rows())

    def rows(self) -> list[tuple[str, str]]:
        """Headings and texts for `print` and for notebooks."""
        cautions = [("caution", text) for text in self.advice]
        if self.missing is not None:
            words = f"{self.missing:.2%} of the front expected, below {self.missing_below:.2%}"
            cautions.insert(0, ("missing", f"{words} with a confidence of 90 %"))
        if Flag.NOT_ESTIMATED in self.flags:
            return [("error", "not estimated"), *cautions]
        where = f"at {self.n_samples} held-out points; the set has diameter {self.diameter:.3g}"
        if self.by_objective is not None:
            where = (
                f"of the objectives' ranges, at {self.n_samples} evaluations that the surrogate had"
                " not seen"
            )
        rows = [
            ("error", f"{self.rms:.2g} rms, {self.max:.2g} at most, {where}"),
            ("expected", f"below {self.expected:.2g} everywhere"),
        ]
        if self.resolution is not None:
            rows.append(("sees", f"what is wider than {self.resolution:.1g} of the diameter"))
        if self.coverage is not None:
            rows.append(("confirmed", f"{self.coverage:.1%} of them"))
        return [*rows, *cautions]

    @property
    def relative(self) -> float:
        """`max` over the diameter. `tol` is compared with the same without a margin."""
        return self.max / self.diameter if self.diameter > 0 else self.max
