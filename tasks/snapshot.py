"""A submission's identity: a stable hash over relative paths and bytes. Standard library only."""

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

_PIECE = 1 << 20


def submission_sha256(folder: Path, paths: Sequence[str] = ()) -> str:
    """The hash of all files below `folder`, or of those at or below the given relative paths.

    It depends on relative paths and contents alone: not on times, modes or the order in which a disk lists files.
    A symbolic link counts as its target's name and is never followed. An absent path counts as nothing.
    """
    total = hashlib.sha256()
    for relative, file in files_below(folder, paths):
        name = os.fsencode(relative)
        total.update(len(name).to_bytes(8, "big"))
        total.update(name)
        total.update(_content_digest(file))
    return total.hexdigest()


def files_below(folder: Path, paths: Sequence[str] = ()) -> list[tuple[str, Path]]:
    """(relative path, file) of everything below that is not a directory, in a stable order; links not followed."""
    starts = [folder / path for path in paths] if paths else [folder]
    found = {file.relative_to(folder).as_posix(): file for start in starts for file in _leaves(start)}
    return sorted(found.items())


def _leaves(start: Path) -> Iterator[Path]:
    try:
        mode = start.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISDIR(mode):
        yield start
        return
    for entry in os.scandir(start):
        yield from _leaves(Path(entry.path))


def _content_digest(file: Path) -> bytes:
    mode = file.lstat().st_mode
    if stat.S_ISLNK(mode):
        return b"l" + hashlib.sha256(os.fsencode(os.readlink(file))).digest()
    if not stat.S_ISREG(mode):
        return b"o" + hashlib.sha256(str(stat.S_IFMT(mode)).encode()).digest()
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
    return b"f" + digest.digest()
