"""What the host asks about files: read, write, list, and copy without being led out of the work folder."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
import stat
from collections.abc import Iterator, Sequence

CHUNK_BYTES = 1024**2
MAX_FILES = 100_000


class TooLong(Exception):
    """A file is longer than was asked for."""


def read(path: str, max_bytes: int) -> bytes:
    """A regular file's bytes; raises `TooLong` and the usual `OSError` kinds."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(f"{path} is a folder")
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError(f"{path} is no regular file")
        pieces = []
        left = max_bytes + 1
        while left and (piece := file.read(min(left, CHUNK_BYTES))):
            pieces.append(piece)
            left -= len(piece)
    if not left or status.st_size > max_bytes:
        size = max(status.st_size, max_bytes + 1)
        raise TooLong(f"{path} has {size:,} bytes or more, {max_bytes:,} were asked for at most")
    return b"".join(pieces)


class Writing:
    """A file that arrives in pieces and takes its place when it is whole."""

    def __init__(self, path: str) -> None:
        if os.path.isdir(path):
            raise IsADirectoryError(f"{path} is a folder")
        # A link stays a link: what it points to is written.
        self._path = os.path.realpath(path)
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        if os.path.exists(self._path) and not os.access(self._path, os.W_OK):
            raise PermissionError(f"{path} may not be written")
        self._partial = f"{self._path}.part-{os.getpid()}-{id(self)}"
        descriptor = os.open(self._partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        self._file = open(descriptor, "wb", buffering=0)  # noqa: SIM115

    def add(self, data: bytes) -> None:
        """The next piece."""
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]

    def finish(self) -> None:
        """Put it in place, with the mode of what was there."""
        try:
            if os.path.exists(self._path):
                os.fchmod(self._file.fileno(), stat.S_IMODE(os.stat(self._path).st_mode))
            self._file.close()
            os.replace(self._partial, self._path)
        except OSError:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Leave no trace of it."""
        self._file.close()
        if os.path.exists(self._partial):
            os.unlink(self._partial)


def listing(root: str, patterns: Sequence[str]) -> list[tuple[str, int, float]]:
    """The regular files below `root` that match (path, size, modification time), sorted.

    A pattern that names a folder means all that is in it. A link counts as what it points to while that lies below
    `root`, and not at all where it leads out.
    """
    real_root = os.path.realpath(root)
    found: dict[str, tuple[int, float]] = {}
    for matches in _all_matches(real_root, patterns):
        for path in matches:
            if len(found) >= MAX_FILES:
                break
            name = os.path.relpath(path, real_root)
            if name not in found and _inside(os.path.realpath(path), real_root):
                try:
                    status = os.stat(path)
                except OSError:
                    continue
                if stat.S_ISREG(status.st_mode):
                    found[name] = (status.st_size, status.st_mtime)
    return [(name, *found[name]) for name in sorted(found)]


def _all_matches(root: str, patterns: Sequence[str]) -> Iterator[Iterator[str]]:
    """What each pattern matches; those that mean a file name anywhere share one walk, since trees can be large."""
    anywhere = [pattern for pattern in patterns if pattern.startswith("**/") and "/" not in pattern[3:]]
    if anywhere:
        yield _named_anywhere(root, [pattern[3:] for pattern in anywhere])
    yield from (_matches(root, pattern) for pattern in patterns if pattern not in anywhere)


def _named_anywhere(root: str, names: Sequence[str]) -> Iterator[str]:
    """The files below `root` with such names; what is hidden, and folders that are links, are left out."""
    matching = re.compile("|".join(fnmatch.translate(name) for name in names)).match
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (os.path.join(folder, name) for name in files if matching(name) and not name.startswith("."))


def _matches(root: str, pattern: str) -> Iterator[str]:
    if os.path.isabs(pattern) or ".." in pattern.split("/") or "\0" in pattern:
        raise PermissionError(f"the pattern {pattern!r} leads out of the work folder")
    for path in glob.iglob(os.path.join(glob.escape(root), pattern), recursive=True):
        if not os.path.isdir(path):
            yield path
        elif _inside(os.path.realpath(path), root) or os.path.realpath(path) == root:
            for folder, _, names in os.walk(path):
                yield from (os.path.join(folder, name) for name in names)


def _inside(path: str, root: str) -> bool:
    return path.startswith(root.rstrip("/") + "/")


def chunk(root: str, name: str, offset: int, size: int) -> bytes:
    """A piece of a file below `root`; what was really opened is looked at, so that a link swapped in is no way out."""
    real_root = os.path.realpath(root)
    descriptor = os.open(os.path.join(real_root, name), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not _inside(os.readlink(f"/proc/self/fd/{descriptor}"), real_root):
            raise PermissionError(f"{name} leads out of the work folder")
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise PermissionError(f"{name} is no regular file")
        return os.pread(descriptor, size, offset)
    finally:
        os.close(descriptor)
