"""Says what a pickle would call when loaded, without loading it: its opcodes are read, never obeyed."""

import io
import pickletools
import zipfile
from collections.abc import Iterator
from pathlib import Path

ENDINGS = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib")
HARMLESS = ("collections", "torch", "torch._utils", "torch.storage", "_codecs", "numpy", "numpy.core.multiarray")
"""Modules whose names stand in every honest file of tensors."""
_MOST_BYTES = 4 * 2**20
_MOST_OPCODES = 200_000


def foreign_calls(file: Path) -> list[str]:
    """The names outside torch's own that a pickle would import, sorted; empty for one that can't be read."""
    try:
        names = {name for stream in _streams(file) for name in _imported(stream)}
    except (OSError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile):
        return []
    return sorted(name for name in names if name.rpartition(".")[0] not in HARMLESS)


def _streams(file: Path) -> Iterator[bytes]:
    """The pickles in a file: of a zip, as torch writes it, its `.pkl` members; else the file's beginning."""
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            for member in archive.namelist():
                if member.endswith(".pkl"):
                    with archive.open(member) as stream:
                        yield stream.read(_MOST_BYTES)
        return
    with file.open("rb") as stream:
        yield stream.read(_MOST_BYTES)


def _imported(pickled: bytes) -> Iterator[str]:
    words: list[str] = []
    try:
        for number, (opcode, argument, _) in enumerate(pickletools.genops(io.BytesIO(pickled))):
            if opcode.name in ("GLOBAL", "INST"):
                yield ".".join(str(argument).split(" "))
            elif opcode.name == "STACK_GLOBAL":
                yield ".".join(words[-2:])
            elif isinstance(argument, str):
                words.append(argument)
            if number > _MOST_OPCODES:
                return
    except (ValueError, IndexError, KeyError, MemoryError, OverflowError, UnicodeError):
        return
