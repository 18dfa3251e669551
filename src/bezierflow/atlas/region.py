"""A region of the chart: the patches that are fitted through its nodes, cut where one does not
suffice."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from ..answer import Label, Patch, barycentric
from ..bezier import design_matrix
from ..runs import kind
from ..simplex import n_controls
from .labels import Solutions
from .leaves import Box, Leaf, spread
from .program import Program
from .rims import Rims

LARGEST_DEGREE = {1: 14, 2: 10, 3: 7}
DEEPEST = {1: 7, 2: 5, 3: 3}
"""How often a patch may be cut in two, by the dimension of its region."""

MOST_LEAVES = {1: 60, 2: 100}
"""Up to so many leaves of a region it may be cut further, towards places where designs are no
smooth function of the chart: poles, infinite slopes. Leaves get smaller by a constant factor there,
and objectives vary less and less over them."""

SMALL = 3.0
"""A leaf on which objectives vary by fewer tolerances is not cut: any of its designs will do."""

NODES_PER_CONTROL = 1.4

MOST_TRIES = 3
"""How often a leaf that cannot be cut any more is fitted with more degrees, before its error is
taken as it is."""

MOST_EXTENSIONS = 4
"""How often a leaf's ends are looked for, until a node from elsewhere shows that it goes on."""

STEEPEST_LEVEL = 2.0
"""The level of a branch varies by less than this times the distance on the chart, since all its
weights are at least 0. Where it varies by more, nodes of two branches are mixed, and cuts do not
help."""

USABLE = 1e-3
"""A patch that misses fresh points by more is not asked."""


@kind("atlas.region/1")
class Region(Rims):
    """Where one label holds, on one branch of its solutions, with patches that cover it."""

    def __init__(self, label: Label, program: Program, seed: int):
        super().__init__(label, program, seed)
        self.leaves: list[Leaf] = []

    @property
    def patches(self) -> list[Patch]:
        """Those that may be asked."""
        return [
            leaf.patch
            for leaf in self.leaves
            if leaf.patch is not None and leaf.patch.error < USABLE
        ]

    @property
    def stale(self) -> bool:
        """Whether a patch is to be fitted anew."""
        return not self.leaves or any(leaf.stale for leaf in self.leaves)

    def fit(self, program: Program, tol: float) -> None:
        """Fits every leaf that is stale, cutting those that one patch cannot cover."""
        if self.d == 0:
            patch = Patch(self.label, np.zeros((1, 0)), 0, self.y[:1].copy(), np.zeros((0, 1)), 0.0)
            self.leaves = [Leaf(patch=patch, stale=False)]
            return
        open_leaves, done = list(self.leaves) or [Leaf()], []
        while open_leaves:
            leaf = open_leaves.pop()
            outcome = self.fit_stale(program, leaf, tol) if leaf.stale else "good"
            room = len(open_leaves) + len(done) < MOST_LEAVES.get(self.d, 0)
            if outcome == "cut" and (not self.is_deep(leaf) or (room and self.shrinks(leaf, tol))):
                open_leaves += self.cut(leaf)
            elif outcome != "empty" and leaf.patch is not None:
                leaf.hopeless += outcome == "cut"
                done.append(leaf)
        self.leaves = done

    def is_deep(self, leaf: Leaf) -> bool:
        """Whether a leaf has been cut so often that its designs may have any accuracy that its
        objectives allow."""
        deepest = DEEPEST.get(self.d, 2)
        return leaf.depth >= (deepest if self.label.full else min(deepest, 4))

    def shrinks(self, leaf: Leaf, tol: float) -> bool:
        """Whether objectives vary over a leaf by more than it may be off, and its level by no more
        than a branch's can."""
        known = self.valid & leaf.inside(self.c)
        if not known.any() or self.extent(leaf) <= SMALL * tol:
            return False
        size = float(np.linalg.norm(np.ptp(self.c[known], axis=0)))
        return (
            float(np.ptp(self.y[known, len(self.label.side)])) < STEEPEST_LEVEL * size + SMALL * tol
        )

    def extent(self, leaf: Leaf) -> float:
        """How much objectives vary over the valid nodes of a leaf."""
        known = self.valid & leaf.inside(self.c)
        return (
            float(np.ptp(self.label.values(self.y[known], self.c[known]), axis=0).max())
            if known.any()
            else 0.0
        )

    def fit_stale(self, program: Program, leaf: Leaf, tol: float) -> str:
        """Fits a leaf anew; a patch that claims solutions where there are none has to be cut."""
        leaf.stale = False
        if leaf.patch is not None and leaf.hopeless >= MOST_TRIES:
            self.refresh(program, leaf)
            return "good"
        small = self.is_deep(leaf) and self.extent(leaf) <= SMALL * tol
        outcome = self.fit_small(program, leaf) if small else self.fit_leaf(program, leaf, tol)
        return "cut" if outcome == "good" and leaf.degree and self.still_wrong(leaf) else outcome

    def refresh(self, program: Program, leaf: Leaf) -> None:
        """The patch of a leaf that cannot be improved, through the nodes that it has now."""
        box = self.frame(leaf)
        if box is not None:
            self.interpolate(leaf, box, self.pool(leaf, box), leaf.degree)
            self.check(program, leaf)

    def cut(self, leaf: Leaf) -> list[Leaf]:
        """Two halves of a leaf, across the longest axis of its valid nodes."""
        known = self.c[self.valid & leaf.inside(self.c)]
        box = self.frame(leaf)
        assert box is not None
        normal = box.axes[:, int(box.sizes.argmax())]
        normal = normal / np.linalg.norm(normal)
        along = known @ normal
        offset = 0.5 * (along.min() + along.max())
        return [
            Leaf([*leaf.cuts, (sign * normal, sign * offset)], leaf.depth + 1, refuted=leaf.refuted)
            for sign in (1.0, -1.0)
        ]

    def still_wrong(self, leaf: Leaf) -> bool:
        """Whether a patch claims a solution where one was refuted."""
        if not leaf.refuted or leaf.patch is None:
            return False
        c = np.array(leaf.refuted)
        return bool(
            np.any(leaf.patch.inside(c) & np.all(self.own_signs(leaf.patch(c)) > -1e-6, axis=1))
        )

    def extend(self, program: Program) -> bool:
        """Solves where patches say that the region ends, if that is outside of their nodes; True if
        it is found to go on.

        A patch whose signs all hold at the rim of its domain claims that the region goes on there.
        Outward from such places its signs tell where the region ends, and where a little beyond.
        """
        grown = False
        for leaf in self.leaves if self.d else []:
            box, patch = self.frame(leaf), leaf.patch
            if (
                box is None
                or patch is None
                or leaf.extensions >= MOST_EXTENSIONS
                or (self.valid & leaf.inside(self.c)).sum() < 2
            ):
                continue
            leaf.extensions += 1
            c = self.ends(leaf, patch, box)
            if len(c) and self.add(self.beyond(program, c, patch(c))).any():
                leaf.stale = grown = True
        return grown

    def fit_leaf(self, program: Program, leaf: Leaf, tol: float) -> str:
        """A patch for a leaf, of the least degree that passes at fresh points: "good", "cut" if
        there is none, or "empty"."""
        most, best, stalled = LARGEST_DEGREE.get(self.d, 5), np.inf, 0
        degree = self.first_degree(leaf)
        if leaf.raise_degree:
            leaf.raise_degree = False
            degree = leaf.degree + 1
        while degree <= most:
            if not self.provide_nodes(program, leaf, degree):
                return "empty" if leaf.patch is None else "cut"
            leaf.degree = degree
            error = self.check(program, leaf)
            if error is None or error < tol:
                return "good"
            stalled = stalled + 1 if error > 0.5 * best else 0
            best = min(best, error)
            if stalled > 2 and error > 30 * tol:
                return "cut"
            degree += 1 if error < 30 * tol else 2
        return "cut"

    def fit_small(self, program: Program, leaf: Leaf) -> str:
        """A constant patch for a leaf on which objectives hardly vary: its level, and any of its
        designs."""
        box = self.frame(leaf)
        if box is None:
            return "empty"
        known = np.flatnonzero(self.valid & leaf.inside(self.c))
        y = self.y[known[[np.linalg.norm(box(self.c[known]), axis=1).argmin()]]]
        leaf.degree = 0
        leaf.patch = Patch(
            self.label, box.corners(), 0, y, self.domain(leaf, box, self.pool(leaf, box)), np.inf
        )
        self.check(program, leaf)
        return "good"

    def first_degree(self, leaf: Leaf) -> int:
        """The degree of the leaf so far, else the largest up to 7 that the nodes at hand allow."""
        if leaf.patch is not None:
            return max(leaf.degree, 1)
        n, degree = int((self.valid & leaf.inside(self.c)).sum()), 2
        while degree < 7 and NODES_PER_CONTROL * n_controls(self.d + 1, degree + 1) + 3 <= n:
            degree += 1
        return degree

    def provide_nodes(self, program: Program, leaf: Leaf, degree: int) -> bool:
        """Adds nodes until there are enough for the degree, and fits; False where none can be
        found."""
        box = None
        for attempt in range(8):
            box = self.frame(leaf)
            if box is None:
                leaf.patch = None
                return False
            pool = self.pool(leaf, box)
            missing = int(NODES_PER_CONTROL * n_controls(self.d + 1, degree) + 3) - len(pool)
            if missing <= 0:
                self.interpolate(leaf, box, pool, degree)
                return True
            before = len(self.c)
            self.add_nodes(program, leaf, box, missing, attempt)
            if attempt > 3 and len(self.c) - before < 0.5 * missing:
                break
        assert box is not None
        pool = self.pool(leaf, box)
        if len(pool) > self.d + 1:
            possible = 1
            while (
                NODES_PER_CONTROL * n_controls(self.d + 1, possible + 1) <= len(pool)
                and possible + 1 < degree
            ):
                possible += 1
            self.interpolate(leaf, box, pool, possible)
            leaf.degree = possible
        return False

    def add_nodes(self, program: Program, leaf: Leaf, box: Box, missing: int, attempt: int) -> None:
        """Solves at points of the leaf, spread over it and denser at its rim."""
        c = self.candidates(leaf, box, min(4 * missing + 8, 600), 1.1)
        if leaf.patch is None:
            c = c[self.likely(program, c)] if len(c) else c
        else:
            c = c[self.near(leaf.patch(c))]
        if len(c) > missing + 2:
            c = c[spread(box(c), missing + 2)] if attempt % 2 else c[: missing + 2]
        if len(c):
            self.add(
                self.track(program, c)
                if leaf.patch is None
                else self.polish(program, c, leaf.patch(c))
            )

    def interpolate(self, leaf: Leaf, box: Box, pool: np.ndarray, degree: int) -> None:
        """The least-squares patch through nodes."""
        corners = box.corners()
        design = design_matrix(barycentric(corners, self.c[pool]), degree)
        control_points = np.linalg.lstsq(design, self.y[pool], rcond=1e-13)[0]
        leaf.patch = Patch(
            self.label, corners, degree, control_points, self.domain(leaf, box, pool), np.inf
        )

    def check(self, program: Program, leaf: Leaf) -> float | None:
        """The error of a leaf's patch at fresh points of the region, which become nodes; None if it
        claims no point."""
        box, patch = self.frame(leaf), leaf.patch
        assert box is not None
        assert patch is not None
        # up to the cuts, where nodes may be rare
        c = self.candidates(leaf, box, 8 * (4 + 3 * self.d), 1.1 if leaf.cuts else 1.0)
        c = c[leaf.inside(c) & patch.inside(c)]
        c = c[(self.own_signs(patch(c)) > -1e-3).all(axis=1)][: 3 + 3 * self.d] if len(c) else c
        if len(c) == 0:
            return None
        y = patch(c)
        found = self.polish(program, c, y)
        error = self.miss(program, c, y, found, self.is_deep(leaf))
        truth = self.quantities(found)
        self.add(found)
        counts = ~found.ok | (self.own_signs(truth) > -1e-4).all(axis=1)
        worst = float(error[counts].max()) if counts.any() else 0.1 * float(error.max())
        leaf.patch = replace(patch, error=worst)
        return worst

    def miss(
        self,
        program: Program,
        c: np.ndarray,
        y: np.ndarray,
        found: Solutions,
        only_objectives: bool,
    ) -> Float[np.ndarray, " n"]:
        """How far predictions are from solutions: in objectives, or a hundredth of that in
        variables; 0.1 where there is none.

        If only objectives count, those of the predicted design are compared with the predicted ones
        where there is no solution.
        """
        M, L = program.n_objectives, program.n_free
        f = np.where(found.active[:, :M], found.a + found.s[:, None], found.r[:, :M])
        if only_objectives:
            f = np.where(found.ok[:, None], f, self.label.values(y, c))
            return np.abs(found.first[:, :M] - f).max(axis=1)
        in_f = np.abs(found.first[:, :M] - f).max(axis=1)
        in_z = np.abs(np.where(found.side == 0, y[:, :L] - found.z, 0.0)).max(axis=1)
        return np.where(found.ok, np.maximum(in_f, 0.01 * in_z), 0.1)
