"""Work that goes on later or elsewhere: `resume` goes on with a run, `Study` asks for evaluations
and is told them."""

import inspect
import threading
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from os import PathLike
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from .answer import Solution
from .arguments import or_none, read_count, read_doubles, read_flag
from .explorer import explore, write_study
from .flows import Callback
from .metrics import nondominated
from .names import Names
from .objectives import Objectives, raveling_of_bounds, read_names
from .precision import ROUNDING
from .problems import Problem
from .runs import (
    ARGUMENTS,
    JOURNAL,
    MISSING,
    SOLUTION,
    Arguments,
    Evaluation,
    LoggedSearch,
    open_search,
    read_journal,
    settle_arguments,
    versions,
)
from .solve import Checkpoint, load, minimize, with_limits
from .surrogate import Search, Surrogate

if TYPE_CHECKING:
    import pandas

CALL = "study.bez"
"""The file that keeps the arguments of a study whose method is a flow."""


def resume(
    folder: str | PathLike[str],
    objectives: object = None,
    *,
    callback: Callback | None = None,
    progress: bool | None = None,
    every: float = 10.0,
    time_limit: float | None = None,
    **given: Any,
) -> Solution:
    """Goes on with a run from its checkpoint folder, to the result of a run that was never
    interrupted, bit for bit.

    Args:
        folder: what `minimize` was given as `checkpoint`.
        objectives: the same as then, with any executor; built-in problems and functions of a file
            (which is run to load them) may be left out.
        callback: as in `minimize`.
        progress: likewise.
        every: seconds between two states in the folder, as in `Checkpoint`.
        time_limit: as in `minimize`.
        **given: arguments of `minimize`: those that a folder cannot hold, such as functions, once
            more; larger ones of `budget`, `n_iterations` and `max_degree`.
    """
    path = Path(folder)
    records = read_journal(path / JOURNAL)
    if not records:
        raise FileNotFoundError(
            f"{path} holds no run: it has no {JOURNAL}; it was to be the checkpoint of a call of"
            " minimize"
        )
    if records[0]["kind"] == "study" and not (path / ARGUMENTS).exists():
        study = f"bf.Study.open({str(path)!r})"
        raise ValueError(
            f"the study in {path} was begun by hand and calls no objectives: evaluate what"
            f" {study}.ask(4), or `bezierflow ask {path}`, gives, and tell the values; its surface"
            f" is {study}.solution"
        )
    known = {*inspect.signature(minimize).parameters, "n_iterations", "max_degree"}
    unknown = given.keys() - known
    if unknown:
        raise TypeError(f"resume takes arguments of minimize, not {', '.join(sorted(unknown))}")
    if objectives is not None:
        given["objectives"] = objectives
    kept = Arguments.read(path / ARGUMENTS).values(given, path, f"bf.resume({str(folder)!r}")
    return minimize(
        **with_limits(kept),
        callback=callback,
        progress=progress,
        time_limit=time_limit,
        checkpoint=Checkpoint(folder, every),
    )


class Study:
    """Evaluations by ask and tell, wherever they are made: by hand, by a queue, by another program.

    `study.ask(4)` gives designs, `study.tell(x, y)` takes their values, in any order, and
    `study.solution` is the surface of what was told. With a `Surrogate`, the default, it is there
    after a few evaluations and gets better with each. With a flow the study is a run of `minimize`
    that asks for some hundred designs at a time, thousands in all without gradients, until it asks
    for no more: then its answer is that of `minimize` with a function of the same values, bit for
    bit.

    In a folder a study outlives its process: `Study.open(folder)`, or the same call once more, goes
    on with it, to the same designs bit for bit. Each call holds the folder for as long as it takes;
    looking at it disturbs nobody.

    Args:
        bounds: lower and upper bounds of the designs, as in `minimize`; finite for a `Surrogate`.
        n_objectives: how many values each design has.
        method: a `Surrogate`, whose `timeout`, `retries` and `in_flight` are of no use here, or any
            other method of `minimize`: "auto", a flow, a method to lift.
        x0: where a flow starts, as an array; None for the center of the bounds.
        folder: keeps the study; None for one that ends with the process.
        with_jac: whether gradients are told with the values, for a flow.
        names: a `Names`, or a dict such as {"objectives": [...], "variables": [...]}.
        **arguments: of `minimize`: seed, budget, tol, maximize, transforms and so on.
    """

    folder: Path | None = None
    _log: LoggedSearch | None = None  # of a study that is kept nowhere
    _run: "_AskedRun | None" = None

    def __init__(
        self,
        bounds: object,
        n_objectives: int,
        method: Any = None,
        *,
        x0: ArrayLike | None = None,
        folder: str | PathLike[str] | None = None,
        with_jac: bool = False,
        names: Names | Mapping[str, Sequence[str]] | None = None,
        **arguments: Any,
    ):
        for name in ("jac", "hess", "vectorized", "executor"):
            if name in arguments:
                raise TypeError(
                    f"{name} does not go with a Study, which is told values; with_jac=True for the"
                    " gradients of a flow too"
                )
        call: dict[str, Any] = {}
        method = Surrogate() if method is None else method
        if isinstance(method, Surrogate):
            if x0 is not None or with_jac:
                raise ValueError(
                    f"{'with_jac' if x0 is None else 'x0'} goes with a flow; a Surrogate chooses"
                    " its first designs itself, without gradients: tell the study what you know"
                )
            if method.n_constraints:
                raise ValueError(
                    f"n_constraints={method.n_constraints} goes with minimize; a Study is told"
                    " objectives alone: tell a design that violates constraints as failed"
                )
            own = {"batch": method.batch, "noise": method.noise}
            own |= {name: getattr(method, name) for name in ("worst", "steps", "nonnegative")}
            search = Search(bounds, n_objectives, names=names, **own, **arguments)
        else:
            call = {"bounds": bounds, "n_objectives": n_objectives, "method": method, "x0": x0}
            call |= {"with_jac": with_jac, "names": names, **arguments}
            search = self._run = _AskedRun(**call)
            # the thread of the run refers to the run alone, so that a study can be forgotten
            weakref.finalize(self, search.close)
        self._restore, about = search.restore, {"versions": versions()}
        self.folder = or_none(Path, folder)
        # the settings of a Surrogate are in the journal; a flow and its arguments need an archive
        with open_search(
            folder,
            search,
            search.restore,
            about,
            lambda path: settle_arguments(path / CALL, call) if call else None,
        ) as log:
            self._log = log if folder is None else None

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> "Study":
        """The study in a folder: begun here, by `minimize(..., bf.Surrogate(), checkpoint=folder)`
        or by `bezierflow ask`. Of the folder of a flow's run there is the solution alone."""
        path = Path(folder)
        records = read_journal(path / JOURNAL)
        if not records:
            raise FileNotFoundError(f"{path} holds no run and no study: it has no {JOURNAL}")
        if (path / CALL).exists():
            again = f"bf.Study(..., folder={str(folder)!r}"
            return cls(**Arguments.read(path / CALL).values({}, path, again), folder=folder)
        study = cls.__new__(cls)
        study.folder = path
        study._restore = Search.restore if records[0]["kind"] == "study" else None
        return study

    @contextmanager
    def _opened(self, write: bool = False) -> Iterator[LoggedSearch]:
        """The log, with everything that has arrived told to its search."""
        if self._restore is None:
            raise ValueError(
                f"{self.folder} holds a run of a flow, which keeps states and no evaluations"
            )
        if self._log is not None or self.folder is None:
            opened = nullcontext(self._log)
        elif write:
            opened = open_search(self.folder, None, self._restore)
        else:
            records = read_journal(self.folder / JOURNAL)
            opened = nullcontext(LoggedSearch(self._restore, records))
        with opened as log:
            assert log is not None
            # in the order of arrival, so that every reader sees the same state
            log.tell(*log.waiting)
            yield log

    def ask(self, n: int | None = None) -> Float[np.ndarray, "n n_variables"]:
        """The next designs to evaluate, one per row; whatever has arrived is taken into account.

        A `Surrogate` gives n new ones, by default one. A flow gives those that it needs values at
        now, at most n of them: the same again until they are told, and none once it has ended. It
        waits while the run computes.
        """
        with self._opened(write=True) as log:
            return log.ask(None if n is None else read_count(n, "n", 1))

    def tell(
        self,
        x: ArrayLike | Mapping[int | str, Any],
        y: Any = ...,
        jac: Any = None,
        numbers: Sequence[int | str | None] | None = None,
    ) -> int:
        """Takes values of designs, in any order, also of designs that were not asked for.

        `tell(x, y)` has one design or one per row, with values alike; `tell({8: y, 9: None})` has
        the numbers of `pending`. Whatever was told of a number before is corrected: the newest
        counts, and `history` keeps the others. What is the same as before is left as it is, so that
        a table can be told as it grows. None in place of values, a text that says why, or values
        that are not finite say that an evaluation failed; the text "skipped" that it was not made
        and will not be. Either all is taken or, with an error, nothing.

        Args:
            x: designs, or values by number.
            y: values of the designs.
            jac: gradients of the objectives at the designs, where the study is `with_jac`.
            numbers: which of the numbers asked for each design is about, where it is another than
                that proposed; a text names a design of your own, which can be corrected by it; None
                for neither.

        Returns:
            How many were new, or corrected.
        """
        with self._opened(write=True) as log:
            if isinstance(x, Mapping):
                rows = [(_number(key), None, values, None) for key, values in x.items()]
            else:
                rows = _by_design(log, x, y, jac, numbers)
            named = Counter(number for number, *_ in rows if number is not None)
            for number in [number for number, n in named.items() if n > 1]:
                raise ValueError(f"numbers must name each design only once, got {number!r} twice")
            known = {one.number: one for one in log.current if one.number is not None}
            asked = log.search.pending | log.asked
            # all rows are checked before anything is written
            told = [_evaluation(log, known.get(cast(int, row[0])), asked, row) for row in rows]
            new = list(filter(None, told))
            log.tell(*log.arrive(*new))
            return len(new)

    def undo(self) -> tuple[list[Evaluation], list[int]]:
        """Takes the last step back: what was told with the last call, or else what was last asked
        for. Again for the step before.

        Returns:
            The evaluations that do not count any more, and the numbers that are not asked for any
            more.
        """
        with self._opened(write=True) as log:
            if log.search.memory is None:
                raise ValueError("a flow cannot forget what it was told: begin another study")
            return log.undo()

    @property
    def pending(self) -> dict[int, Float[np.ndarray, " n_variables"]]:
        """The designs asked for and not told yet, by their numbers."""
        with self._opened() as log:
            return log.search.pending

    @property
    def done(self) -> bool:
        """Whether no more evaluations are needed: a flow has ended, the predictions of a
        `Surrogate` were within `tol` for three batches."""
        with self._opened() as log:
            return log.search.done

    @property
    def evaluations(self) -> list[Evaluation]:
        """Every evaluation that counts, in the order in which they arrived."""
        with self._opened() as log:
            return [one for one in log.current if not one.skipped]

    @property
    def history(self) -> list[tuple[Evaluation, bool]]:
        """Everything that was ever told, in that order, and whether it counts: it was neither
        corrected nor taken back since."""
        with self._opened() as log:
            return [(one, place not in log.gone) for place, one in enumerate(log.evaluations)]

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of the designs of a `Surrogate`; infinite for a flow."""
        with self._opened() as log:
            settings, free = log.search.settings, np.full(len(self.names.variables), np.inf)
            return np.array(settings.get("lower", -free)), np.array(settings.get("upper", free))

    @property
    def names(self) -> Names:
        """Names of objectives and variables."""
        if self._restore is None:
            return self.solution.names
        with self._opened() as log:
            return Names.from_dict(log.search.settings["names"])

    @property
    def solution(self) -> Solution:
        """The surface of what was told; that of a flow once it asks for no more. That of a run has
        the objectives where the folder can name them."""
        if self._restore is not None:
            with self._opened() as log:
                return log.search.solution()
        assert self.folder is not None
        if not (self.folder / SOLUTION).exists():
            raise FileNotFoundError(
                f"the run in {self.folder} was ended before it had a surface; bf.resume goes on"
                " with it"
            )
        objectives = Arguments.read(self.folder / ARGUMENTS).value("objectives")
        found = load(self.folder / SOLUTION, None if objectives is MISSING else objectives)
        assert isinstance(found, Solution)
        return found

    def explore(self, path: str | PathLike[str], *, title: str = "") -> Path:
        """Writes the interactive page of the solution."""
        own = "" if self.folder is None else self.folder.name
        return explore(self.solution, path, title=title or own)

    def show(self, path: str | PathLike[str], *, title: str = "") -> Path:
        """Writes a page (.html) or a picture (.svg) of the study so far: results, which of them are
        best, what failed, what is asked for and, on the page, what was corrected."""
        own = "Study" if self.folder is None else self.folder.resolve().name
        return write_study(Path(path), title or own, self.names, self.pending, self.history)

    def to_pandas(self) -> "pandas.DataFrame":
        """Every evaluation: number, design, values (none where it failed), why it failed, seconds,
        whether it is nondominated."""
        import pandas

        names, rows = self.names, self.evaluations
        x = np.reshape([one.x for one in rows], (len(rows), len(names.variables)))
        y = np.full((len(rows), len(names.objectives)), np.nan)
        for row, one in zip(y, rows, strict=True):
            row[:] = np.nan if one.failed else one.y
        return pandas.DataFrame(
            {
                "number": [one.number for one in rows],
                **dict(zip(names.variables, x.T, strict=True)),
                **dict(zip(names.objectives, y.T, strict=True)),
                "failure": [one.failure for one in rows],
                "seconds": [one.seconds for one in rows],
                "nondominated": nondominated(names.signs * y, keep_equal=True),
            }
        )

    def close(self) -> None:
        """Ends the run of a flow without an answer, as forgetting the study does; what was told
        stays."""
        if self._run is not None:
            self._run.close()
            if self._run.thread.is_alive():
                self._run.thread.join()


Row = tuple[int | str | None, np.ndarray | None, Any, Any]
"""The number or name of a design, the design where it is given, its values and its gradients."""


def _by_design(
    log: LoggedSearch, x: ArrayLike, y: Any, jac: Any, numbers: Sequence[int | str | None] | None
) -> list[Row]:
    """Designs with their values and gradients; those without a number that were asked for have it,
    also where digits were lost on the way."""
    if y is ...:
        raise TypeError("y must be given with designs; None says that their evaluations failed")
    designs = read_doubles(x, "x", "a design, or one per row")
    L = len(log.search.settings["names"]["variables"])
    if designs.ndim == 1:
        designs, y, jac = designs[None], [y], [jac]
    if designs.ndim != 2 or designs.shape[1] != L:
        raise ValueError(f"x must hold {L} variables per design, got shape {designs.shape}")
    parts = []
    for name, given in (("numbers", numbers), ("y", y), ("jac", jac)):
        parts.append([None] * len(designs) if given is None else list(given))
        if len(parts[-1]) != len(designs):
            raise ValueError(
                f"{name} must have a row for each of {len(designs)} designs, got {len(parts[-1])}"
            )
    pending = log.search.pending
    numbers_asked, asked = list(pending), np.reshape(list(pending.values()), (len(pending), L))

    def number_of(given: Any, design: np.ndarray) -> int | str | None:
        if given is not None:
            return _number(given)
        same = np.flatnonzero(_same(asked, design))
        return numbers_asked[same[0]] if len(same) else None

    rows = zip(parts[0], designs, *parts[1:], strict=True)
    return [(number_of(number, design), design, *told) for number, design, *told in rows]


def _number(number: Any) -> int | str | None:
    """The number or the name of a design, or an error in one line."""
    if number is None or isinstance(number, str):
        return number
    return read_count(number, "number")


def _same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether designs, one or one per row, are the same as another one but for rounding."""
    return np.asarray(np.abs(a - b).max(axis=-1) <= ROUNDING * (1 + np.abs(b).max()))


def _evaluation(
    log: LoggedSearch, known: Evaluation | None, asked: Mapping[int, Any], row: Row
) -> Evaluation | None:
    """One result, checked, beside what is known of its number and all designs that were asked for;
    None where it says nothing new."""
    number, _, y, jac = row
    settings, design = log.search.settings, _design(log, row, known, asked)
    lower, upper = settings.get("lower", -np.inf), settings.get("upper", np.inf)
    if not np.all((lower <= design) & (design <= upper)):
        raise ValueError(f"x must lie within the bounds of the study, got {design.tolist()}")
    y, failure, jac = _values(settings, y, jac, design)
    one = Evaluation(number, design, y, failure, jac=jac)
    if one.skipped and number not in log.asked:  # a flow cannot do without what it asks for
        raise ValueError(f"{number!r} cannot be skipped: nobody asked for it")
    if known is None:
        return one
    same = np.array_equal(known.x, design) and known.failure == failure
    if same and (known.failed or np.array_equal(np.asarray(known.y), np.asarray(y))):
        return None
    if log.search.memory is None:
        raise ValueError(
            f"number {number!r} was told before, and a flow cannot forget what it was told:"
            " begin another study with the corrected values"
        )
    return one


def _design(
    log: LoggedSearch, row: Row, known: Evaluation | None, asked: Mapping[int, Any]
) -> np.ndarray:
    """The design that a result is about: as it was asked for or told where nothing else is said,
    or but for rounding."""
    number, x, *_ = row
    if isinstance(number, int) and number not in asked and known is None:
        pending = sorted(log.search.pending) or "none"
        raise ValueError(f"number {number!r} was never asked for; pending are {pending}")
    # first what was told: settings that were corrected once stay corrected
    former = (None if known is None else known.x, asked.get(cast(int, number)))
    exact = [one for one in former if one is not None and (x is None or _same(one, x).all())]
    if exact:
        return exact[0]
    if x is None:
        raise ValueError(f"x must be given with {number!r}, which nobody asks for")
    return x


def _values(
    settings: Mapping[str, Any], y: Any, jac: Any, x: np.ndarray
) -> tuple[np.ndarray | None, str, np.ndarray | None]:
    """Values, why they are of no use, empty where they are, and gradients, checked."""
    if y is None or isinstance(y, str):
        return None, y or "told as failed", None
    M, with_jac = settings["n_objectives"], settings.get("with_jac", False)
    values = read_doubles(y, "y", f"{M} numbers").ravel()
    if len(values) != M:
        raise ValueError(f"y must have {M} values per design, got {values.tolist()}")
    if with_jac == (jac is None):
        wanted = "be given: gradients are told" if with_jac else "be None: with_jac=True is needed"
        raise TypeError(f"jac must {wanted} with the values")
    if jac is not None:
        jac = read_doubles(jac, "jac", f"{M} gradients")
        if jac.size != M * len(x):
            raise ValueError(f"jac must have the shape {(M, len(x))}, got {jac.shape}")
        jac = jac.reshape(M, len(x))
    failure = "" if np.isfinite(values).all() else f"told as {values.tolist()}"
    return values, failure, jac


class _Closed(BaseException):
    """Ends a run whose study was closed."""


class _AskedRun:
    """A run of `minimize` in a thread of its own, which waits for the values of its designs: a
    search, as `LoggedSearch` takes it.

    Attributes:
        settings: what its evaluations look like.
        memory: nothing that asking would change.
    """

    memory = None

    def __init__(
        self,
        n_objectives: int,
        with_jac: bool,
        names: Names | Mapping[str, Sequence[str]] | None,
        x0: ArrayLike | None,
        bounds: object,
        maximize: Any = None,
        transforms: Any = None,
        **arguments: Any,
    ):
        M = read_count(n_objectives, "n_objectives", 1)
        start = None if x0 is None else read_doubles(x0, "x0", "an array of numbers")
        raveling = raveling_of_bounds(bounds, None if start is None else start.size)
        if raveling is None:
            raise ValueError("x0 must be given, or bounds with a number per variable")
        given = SimpleNamespace(names=Names.read(names))
        known = read_names(given, maximize, transforms, M, raveling.n_variables)
        jac = self._jacobians if read_flag(with_jac, "with_jac") else None
        self.settings = {"n_objectives": M, "with_jac": with_jac, "names": known.to_dict()}
        objectives = Problem(
            Objectives(self._values, jac, vectorized=True),
            objective_names=known.objectives,
            variable_names=known.variables,
            objective_units=known.objective_units,
            variable_units=known.variable_units,
            maximize=[direction == "maximize" for direction in known.directions],
            transforms={i: scale for i, scale in enumerate(known.transforms) if scale},
        )
        self._call = {"objectives": objectives, "x0": start, "bounds": bounds, **arguments}
        # daemonic: a process that ends does not wait for values that will never arrive
        self.thread = threading.Thread(target=self._work, daemon=True, name="bezierflow study")
        self._changed = threading.Condition()  # guards all that follows
        self._numbers: dict[bytes, int] = {}  # of all designs that the run has needed, in order
        self._wanted: dict[bytes, np.ndarray] = {}
        self._told: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}
        self._solution: Solution | None = None
        self._error: BaseException | None = None

    def restore(self, *past: object) -> "_AskedRun":
        """The run itself: what it is told once more changes nothing."""
        return self

    @property
    def pending(self) -> dict[int, np.ndarray]:
        """The designs that the run waits for, by number."""
        with self._changed:
            return {self._numbers[key]: x for key, x in self._wanted.items()}

    @property
    def done(self) -> bool:
        """Whether the run has ended."""
        return self._solution is not None or self._error is not None

    def ask(self, n: int | None = None) -> np.ndarray:
        """The designs that the run waits for, at most n of them; none once it has ended."""
        with self._changed:
            if self.thread.ident is None:
                self.thread.start()
            self._changed.wait_for(lambda: self._wanted or self.done)
            if self._error is not None:
                raise self._error
            wanted = list(self._wanted.values())[:n]
        return np.reshape(wanted, (len(wanted), len(self.settings["names"]["variables"])))

    def tell(
        self,
        x: np.ndarray,
        y: Any,
        number: int | str | None = None,
        jac: np.ndarray | None = None,
    ) -> None:
        """Takes the values at a design, and gradients; a run knows its designs by themselves."""
        M = self.settings["n_objectives"]
        values = np.full(M, np.nan) if y is None else np.array(y)
        gradients = np.full((M, len(x)), np.nan) if jac is None else jac
        with self._changed:
            self._told[x.tobytes()] = values, gradients
            self._wanted.pop(x.tobytes(), None)
            self._changed.notify_all()

    def solution(self) -> Solution:
        """The answer, once no design is asked for any more."""
        if len(self.ask(1)):
            raise ValueError(
                "the run has not ended: ask, and tell the values, until ask returns no design"
            )
        assert self._solution is not None
        return self._solution

    def close(self) -> None:
        """Ends the run without an answer, unless it has one."""
        with self._changed:
            if self._solution is None and self._error is None:
                self._error = ValueError("the study was closed: there is nothing to ask for")
            self._changed.notify_all()

    def _work(self) -> None:
        """The run itself, until it ends or its study is closed."""
        solution, error = None, None
        try:
            solution = minimize(**self._call)
        except _Closed:  # the study was closed: there is no caller for its answer
            return
        except BaseException as raised:  # raised by the next call of `ask`
            error = raised
        with self._changed:
            self._solution, self._error = solution, error
            self._changed.notify_all()

    def _values(self, x: np.ndarray) -> np.ndarray:
        return np.stack([values for values, _ in self._look_up(x)])

    def _jacobians(self, x: np.ndarray) -> np.ndarray:
        return np.stack([gradients for _, gradients in self._look_up(x)])

    def _look_up(self, x: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """What is known at designs; waits until they are told."""
        rows = {row.tobytes(): row.copy() for row in np.asarray(x, dtype=float)}
        with self._changed:
            if self._solution is not None and not rows.keys() <= self._told.keys():
                raise ValueError(
                    "the objectives of a study are told and cannot be called at further designs:"
                    " evaluate those of solution.pareto_set(t) yourself"
                )
            for key in rows:
                self._numbers.setdefault(key, len(self._numbers))
            # by their bytes: a design that was told is found again only if it is the same one
            self._wanted = {key: row for key, row in rows.items() if key not in self._told}
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._error is not None or not self._wanted)
            if self._error is not None:
                raise _Closed
            return [self._told[row.tobytes()] for row in np.asarray(x, dtype=float)]
