"""Archives whose every part is checked: the manifest names each array with the checksum of its
bytes."""

import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..bezier import Manifest, read_archive, write_archive


def write_checked(path: Path, manifest: Manifest, arrays: Mapping[str, np.ndarray]) -> None:
    """Writes an archive, whole or not at all."""
    sums = {name: _sum(np.asarray(array)) for name, array in arrays.items()}
    write_archive(path, {**manifest, "arrays": sums}, arrays)


def read_checked(path: Path, kind: str) -> tuple[Manifest, dict[str, np.ndarray]]:
    """What `write_checked` wrote, or a `ValueError` with the path."""
    try:
        manifest, arrays = read_archive(path)
    except (NotImplementedError, RuntimeError, KeyError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    if manifest["kind"] != kind:
        raise ValueError(f"{path} holds a {manifest['kind']}, not a {kind}")
    if manifest.get("arrays") != {name: _sum(array) for name, array in arrays.items()}:
        raise ValueError(f"{path} is damaged: its arrays are not those that were written")
    return manifest, arrays


def _sum(array: np.ndarray) -> str:
    return (
        f"{array.dtype.str[1:]}{list(array.shape)}"
        f" {zlib.crc32(np.ascontiguousarray(array).tobytes()):08x}"
    )
