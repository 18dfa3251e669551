"""Tuned numbers of this room."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """When to evaluate how, when fits end, and how much a file may ask for.

    Attributes:
        fused: Up to this many control points, of as many numbers each, b(t|P) is one fused sum: 8
            times faster than a stored Z for D = 3 into R³.
        many_points: From this many t on, monomials are multiplied row by row in place: the copies
            of a gather would cost more.
        host_size: Coordinates of t times control points up to which NumPy evaluates: in 10
            milliseconds, where a new shape of t compiles for 300.
        largest_elevation: The highest degree to elevate to.
        small_condition: Up to this condition number κ one refinement step makes Cholesky as
            accurate as QR: (κ²u)² is still far below κu.
        quiet: Iterations in a row without notable improvement that end a fit with unknown t; one
            alone may be a step that was too long.
        inner_steps: Newton steps for the foot points per iteration.
        search_every: Iterations between searches of the whole surface for nearer foot points.
        smallest_damping: Least weight of motion along the surface, relative to motion off it; none
            at all would leave the parametrization undetermined.
        damping_decrease: The weight is divided by this after a success; it starts here.
        damping_increase: It is multiplied by this after a failure, up to 1.
        most_gradients: Conjugate gradient steps per refit, at most; a direction cut off there still
            leads closer.
        gradient_tol: Relative residual at which they end.
        anchor: Share of the identity that keeps control points in place which no point determines.
        least_margin: A fitted surface is cut back if its margins without a foot point are wider.
        rim_steps: Steps along a facet at which it is looked how far a surface reaches beyond its
            points;
        least_overhang: below this share of their diameter that is nothing,
        clear_overhang: nor is it below this many times their distance from the surface.
        clear_gain: An extreme point is exchanged for one that is farther out by this share; also
            the relative distance at which a point counts as off a hull.
        abandoned: Seconds after which a temporary file belongs to a process that is gone.
        spare_bytes: Memory that reading any file may take;
        memory_factor: a larger one this many times its size.
        list_bytes: What Python takes for an empty list or object and its place in another one,
        number_bytes: and for a number or text in a list.
        largest_header: Bytes of an array's type and shape in a file, at most.
        longest_reason: Characters of what is wrong with a file, in a message.
        longest_look: Characters of the file's text, in a message.
        most_objectives: Multi-indices with more entries are not read.
        few_missing: A missing multi-index is named where there should be less than this many times
            those that are there.
    """

    fused: int = 64
    many_points: int = 2000
    host_size: int = 1_000_000
    largest_elevation: int = 200
    small_condition: float = 1e4
    quiet: int = 3
    inner_steps: int = 2
    search_every: int = 10
    smallest_damping: float = 1e-9
    damping_decrease: float = 4.0
    damping_increase: float = 10.0
    most_gradients: int = 100
    gradient_tol: float = 1e-3
    anchor: float = 1e-10
    least_margin: float = 1e-6
    rim_steps: int = 24
    least_overhang: float = 1e-3
    clear_overhang: float = 3.0
    clear_gain: float = 1e-9
    abandoned: float = 10.0
    spare_bytes: int = 16_000_000
    memory_factor: int = 8
    list_bytes: int = 80
    number_bytes: int = 40
    largest_header: int = 10_000
    longest_reason: int = 300
    longest_look: int = 40
    most_objectives: int = 1000
    few_missing: int = 10


SCHEDULE = Schedule()
