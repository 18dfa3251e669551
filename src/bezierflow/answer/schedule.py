"""The tuned numbers of Pareto sets, their fronts and searches on them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """Tolerances are in units of the objectives' ranges where nothing else is said.

    Attributes:
        rounding: signs above minus this are at least 0; violations, residuals of first-order
            conditions, prices, and differences of goals and levels below this are none.
        nearly: a patch whose signs are at most this far below 0 nearly holds: its answer violates
            its conditions by no more.
        lead: added to the level of a patch that nearly holds when patches are compared. Neighbors
            miss each other by their errors, some 1e-7, and leave slivers between them in which only
            a patch of another basin holds strictly. Its level is higher, its answer may be far
            away, so that the lead is small: with 1e-3 and a doubt of 100 another basin answered at
            2 % of the points on seams of Viennet's front, where levels differ by less.
        doubt: beside the lead, so many times what the signs are below 0.
        nowhere: added instead where a patch does not even nearly hold.
        patch_error: levels of patches may be off by this: answers whose level is higher than that
            of a known point by more are worse than it, and patches whose objectives differ by less
            meet.
        beaten: a point is not part of the set if another one is as good in all objectives and
            better in one by this.
        at_once: pairs of a patch and a chart point whose quantities are held at once.
        compared: points of a piece that are looked for on others.
        patch_points: about how many places of all patches are looked at,
        region_points: at least so many of a region, by its dimension (the last from three on),
        cell_points: and so many of a cell of a mesh, for each of its dimensions.
        stretch: the simplex reaches at least so far beyond the ranges, which have errors: its
            corners must not cut off the ends of the front.
        most_stretch: ends that lie farther out than this are not believed.
        neighbors: points of an atlas that a local minimum of its sample is compared with.
        grid_points: of the sample of a surface at most: 53 along an edge for M = 3, 12 for M = 5.
        grid_steps: of that sample along an edge at most, which M = 2 takes.
        candidates: about so many points of the simplex are chosen from where a front is to be
            covered evenly.
        most_spread: more points are not chosen: candidates would be too few to choose evenly from.
        gap: answers between two points of a curve that are nearer to one of these than this share
            of their distance say that there is a gap.
        same: a polynomial this close to the front answers as the front would: bounds are kept by a
            wider margin.
        smooth_degree: of the polynomial that is tried for objectives that are no quadratics.
        smooth_net: its control points at most.
        zero: coordinates of t below this are set to 0.
        fit_tol: the fit of a front stops at this error.
        fit_net: or at this many control points: a file stays small, a page stays fast.
        fit_degree: or at this degree.
        fit_held_out: how many t, spread evenly and none of them a node, measure the error of a fit.
        fit_graded: as many again measure its largest error near the faces, where logarithms and
            roots are steep and a polynomial is worst: a quarter each of t to these powers over
            their sum, every other one on a face itself.
        rough: a fitted front whose largest error is above this is flagged where nothing else has
            the values.
        ftol: SLSQP stops when its goal changes by less: when rounding lets it go no farther.
        screening: the same before it is known which start leads to the best end.
        most_steps: of a call of SLSQP. Most starts need 4 to 8; where 20 are not enough, a new call
            does better than more steps.
        most_calls: of SLSQP from one start.
        exact_radius: how far answers that are solved for may move from those of patches on the
            chart.
        most_parts: of a set, such as patches, that a search from one start goes through.
        most_starts: of a search: at the lowest local minima of the sample, or on the nearest
            patches.
        lowest_starts: and at so many of its lowest points, if there are several goals or bounds:
            where constraints meet, basins may be narrower than steps of the grid.
        restarts: further ones, beside the best end, where first-order conditions do not hold there.
        penalty: what one unit of violation counts against one unit of the goal when points of the
            sample are ranked.
        binding: constraints with more room than this have the multiplier 0.
        close: violations below this do not keep an end from being refined, and ends whose goals
            differ by less agree.
        exact: a front whose objectives are known to this is called found as a whole.
        most_hessian_numbers: with more (M L² per point) no error is estimated unless somebody asks.
        certificate_raise: by how much the degree of the weights that a certificate compares with
            exceeds the surface's, at first; it is doubled
        certificate_gain: while this makes distances fall by this factor,
        certificate_net: with at most so many control points.
        certificate_oversampling: they are fitted at so many times as many t as they have control
            points,
        certificate_newton: in so many steps, which measure distances, too,
        certificate_ridge: with this part of the mean of squares added to each unknown: where the
            minimizers do not depend on some weights nothing else decides them.
        certificate_degree: of the models of gradients at least.
        certificate_contraction: cells on which Hessians change by more of themselves are cut before
            anything else.
        certificate_excess: the simplex is cut until the bound is at most this many times what was
            sampled,
        certificate_work: or for so many products of pairs of control points, and
        certificate_cells: so many parts (simple formulas take dozens, long ones minutes for these),
        certificate_batch: so many at a time.
        certificate_margin: objectives that are not convex everywhere by their formulas are looked
            at within this part of the diameter from the surface,
        certificate_boxes: which is cut into so many boxes at most,
        certificate_probes: and at so many designs.
        least_strong_convexity: Curvatures below this share of the largest count as 0.
        union_tol: Miss of the polynomials of a union that nobody cares about, in units of ranges,
        union_degrees: their degrees on curves,
        surface_degrees: and on surfaces;
        union_halvings: how often a curve is cut in half for it.
        union_samples: Points of a curve that are fitted, and of an edge that are looked at,
        union_places: points of a region, at most,
        union_grid: steps along a side of a cell that are fitted,
        union_cells: and cells along a side of a simplex.
        union_margin: The polynomial of a region is used so far beyond its points, in units of its
            size: its signs tell where it ends.
        union_leading: Leading coefficients below this are rounding.
        union_beaten: A part of a set that another one beats by more is no part of the union.
    """

    rounding: float = 1e-9
    nearly: float = 1e-4
    lead: float = 1e-5
    doubt: float = 10.0
    nowhere: float = 1e6
    patch_error: float = 1e-3
    beaten: float = 1e-4
    at_once: int = 8192
    compared: int = 200
    patch_points: int = 4000
    region_points: tuple[int, ...] = (1, 20, 40, 60)
    cell_points: int = 3
    stretch: float = 1 + 1e-5
    most_stretch: float = 1.01
    neighbors: int = 8
    grid_points: int = 1500
    grid_steps: int = 400
    candidates: int = 20_000
    most_spread: int = 5000
    gap: float = 0.1
    same: float = 5e-10
    smooth_degree: int = 20
    smooth_net: int = 2000
    zero: float = 1e-10
    fit_tol: float = 1e-8
    fit_net: int = 400
    fit_degree: int = 16
    fit_held_out: int = 250
    fit_graded: tuple[int, ...] = (2, 4, 8, 16)
    rough: float = 0.01
    ftol: float = 1e-16
    screening: float = 1e-10
    most_steps: int = 20
    most_calls: int = 3
    exact_radius: float = 0.05
    most_parts: int = 6
    most_starts: int = 6
    lowest_starts: int = 4
    restarts: int = 2
    penalty: float = 10.0
    binding: float = 1e-5
    close: float = 1e-6
    exact: float = 1e-3
    most_hessian_numbers: int = 250_000
    certificate_raise: int = 4
    certificate_gain: float = 0.8
    certificate_net: int = 500
    certificate_oversampling: int = 3
    certificate_newton: int = 4
    certificate_ridge: float = 1e-12
    certificate_degree: int = 3
    certificate_contraction: float = 0.25
    certificate_excess: float = 1.2
    certificate_work: int = 4_000_000_000
    certificate_cells: int = 20_000
    certificate_batch: int = 50_000_000
    certificate_margin: float = 0.05
    certificate_boxes: int = 4000
    certificate_probes: int = 200
    least_strong_convexity: float = 1e-10
    union_tol: float = 1e-9
    union_degrees: tuple[int, ...] = (4, 8, 16)
    surface_degrees: tuple[int, ...] = (2, 4, 6, 8, 10)
    union_halvings: int = 6
    union_samples: int = 65
    union_places: int = 600
    union_grid: int = 16
    union_cells: int = 4
    union_margin: float = 0.05
    union_leading: float = 1e-13
    union_beaten: float = 1e-6


SCHEDULE = Schedule()
