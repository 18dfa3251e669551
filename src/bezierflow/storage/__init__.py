"""What outlives a process: a journal of checked lines, files that appear whole, a lock on a folder,
states without pickle."""

from .checked_file import read_checked, write_checked
from .codec import Decoder, Encoder, UnknownKindError
from .folder import Folder, FolderTakenError
from .journal import DamagedJournalError, Journal, Record, read_journal
from .trouble import StorageWarning, tell

__all__ = [
    "DamagedJournalError",
    "Decoder",
    "Encoder",
    "Folder",
    "FolderTakenError",
    "Journal",
    "Record",
    "StorageWarning",
    "UnknownKindError",
    "read_checked",
    "read_journal",
    "tell",
    "write_checked",
]
