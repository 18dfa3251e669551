"""Work that outlives a process: archives of registered kinds, journals, executors, studies and
checkpoints."""

from ..kinds import KINDS, kind
from .archive import Decoder, Encoder, UnknownKindError, read_checked, write_checked
from .checkpoint import (
    ARGUMENTS,
    MISSING,
    SOLUTION,
    Arguments,
    Checkpoint,
    Part,
    compare_versions,
    open_checkpoint,
    say_how_to_go_on,
    settle_arguments,
    versions,
)
from .executors import SKIPPED, AnyExecutor, Evaluation, FlatFunction, Pool, RayExecutor
from .journal import (
    DamagedJournalError,
    FolderTakenError,
    Journal,
    Record,
    StorageWarning,
    locked,
    read_journal,
    warn,
)
from .study import JOURNAL, LoggedSearch, Plan, kept_settings, open_search, run_study

__all__ = [
    "ARGUMENTS",
    "JOURNAL",
    "KINDS",
    "MISSING",
    "SKIPPED",
    "SOLUTION",
    "AnyExecutor",
    "Arguments",
    "Checkpoint",
    "DamagedJournalError",
    "Decoder",
    "Encoder",
    "Evaluation",
    "FlatFunction",
    "FolderTakenError",
    "Journal",
    "LoggedSearch",
    "Part",
    "Plan",
    "Pool",
    "RayExecutor",
    "Record",
    "StorageWarning",
    "UnknownKindError",
    "compare_versions",
    "kept_settings",
    "kind",
    "locked",
    "open_checkpoint",
    "open_search",
    "read_checked",
    "read_journal",
    "run_study",
    "say_how_to_go_on",
    "settle_arguments",
    "versions",
    "warn",
    "write_checked",
]
