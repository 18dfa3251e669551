"""Work that outlives a process: journals, archives, locked folders, executors, studies."""

from .checked_file import read_checked, write_checked
from .codec import Decoder, Encoder, UnknownKindError
from .driving import Plan, run_study
from .executors import AnyExecutor
from .folder import Folder, FolderTakenError
from .function import FlatFunction
from .journal import DamagedJournalError, Journal, Record, read_journal
from .outcome import Outcome
from .pool import Pool
from .ray_executor import RayExecutor
from .study import Arrival, LoggedSearch, kept_settings, open_search
from .trouble import StorageWarning, tell

__all__ = [
    "AnyExecutor",
    "Arrival",
    "DamagedJournalError",
    "Decoder",
    "Encoder",
    "FlatFunction",
    "Folder",
    "FolderTakenError",
    "Journal",
    "LoggedSearch",
    "Outcome",
    "Plan",
    "Pool",
    "RayExecutor",
    "Record",
    "StorageWarning",
    "UnknownKindError",
    "kept_settings",
    "open_search",
    "read_checked",
    "read_journal",
    "run_study",
    "tell",
    "write_checked",
]
