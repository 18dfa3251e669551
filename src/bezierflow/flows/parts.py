"""One flow of a run as a file: its last state, how many iterations were made, and what they
recorded."""

import time
from pathlib import Path

import jax
import numpy as np
from jaxtyping import PyTree

from ..bezier import Manifest
from ..runs import Decoder, Encoder, read_checked, tell, write_checked
from .contract import AbstractFlow, Run, State

KIND = "state of a flow"


class Part:
    """The file of one flow. It is replaced about every so many seconds, as a whole.

    Attributes:
        path: `0.bez` for the first flow of a run, `1.bez` for the one that follows.
        every: seconds between two files.
    """

    def __init__(self, path: Path, every: float):
        self.path, self.every = path, every
        self._kept: int | None = None
        self._due = 0.0

    def restore(self, flow: AbstractFlow[State], objectives: PyTree, state: State) -> Run[State]:
        """The flow as the file has it; as `state`, before its first iteration, where there is
        none."""
        if not self.path.exists():
            return Run(state, None, 0, {})
        manifest, arrays = read_checked(self.path, KIND)
        if manifest["flow"] != type(flow).__name__:
            raise ValueError(
                f"{self.path} holds a {manifest['flow']}, but a {type(flow).__name__} is to go on:"
                " the problem is another one"
            )
        states = {
            name.removeprefix("state/"): array
            for name, array in arrays.items()
            if name.startswith("state/")
        }
        leaves = Decoder(states, flow.named(objectives)).decode(manifest["state"])
        history = {
            name.removeprefix("history/"): array
            for name, array in arrays.items()
            if name.startswith("history/")
        }
        self._kept, self._due = manifest["iterations"], time.monotonic() + self.every
        state = jax.tree.unflatten(jax.tree.structure(state), leaves)
        budget = getattr(flow, "budget", None)
        state = state if budget == manifest["budget"] else flow.with_budget(state)
        return Run(state, None, manifest["iterations"], history)

    @property
    def is_due(self) -> bool:
        """Whether it is time for a new file."""
        return time.monotonic() >= self._due

    def keep(self, flow: AbstractFlow[State], objectives: PyTree, run: Run[State]) -> None:
        """Writes the file, unless it has this state. The first one must succeed; a later one that
        fails is reported."""
        first = self._kept is None
        if self._kept == run.iterations:
            return
        try:
            write_checked(self.path, *_described(flow, objectives, run))
            self._kept = run.iterations
        except OSError as error:
            if first:
                raise
            tell(
                f"{self.path} cannot be written ({error}): the run goes on without a checkpoint,"
                " until it can be"
            )
        for later in _later(self.path):  # made from another end of this flow
            later.unlink(missing_ok=True)
        self._due = time.monotonic() + self.every


class Nowhere:
    """In place of a part for a run that is kept nowhere."""

    is_due = False

    def restore(self, flow: AbstractFlow[State], objectives: PyTree, state: State) -> Run[State]:
        """The flow before its first iteration."""
        return Run(state, None, 0, {})

    def keep(self, flow: AbstractFlow[State], objectives: PyTree, run: Run[State]) -> None:
        """Nothing."""


def _described(
    flow: AbstractFlow, objectives: PyTree, run: Run
) -> tuple[Manifest, dict[str, np.ndarray]]:
    encoder = Encoder(flow.named(objectives))
    leaves = jax.tree.leaves(run.state)
    manifest = {
        "kind": KIND,
        "flow": type(flow).__name__,
        "iterations": run.iterations,
        "budget": getattr(flow, "budget", None),
        "state": encoder.encode(leaves),
    }
    states = {f"state/{name}": array for name, array in encoder.arrays.items()}
    return manifest, {
        **states,
        **{f"history/{name}": values for name, values in run.history.items()},
    }


def _later(path: Path) -> list[Path]:
    """The files of the flows that follow."""
    return [
        other
        for other in path.parent.glob("*.bez")
        if other.stem.isdigit() and int(other.stem) > int(path.stem)
    ]
