"""What a container is given at its start, as one archive: the guest's program and the workspace."""

import io
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from agent.sandbox.base import SandboxPlan

AGENT_ID = 2000
"""User and group of the agent in the image; see `recipe/Dockerfile`."""
HOME = "/home/agent"
WORKDIR = "/home/agent/workspace"
GUEST_FOLDER = "/opt/mlrb"

_GUEST = Path(__file__).parent / "guest"
_IN_MEMORY_BYTES = 8 * 1024**2


@contextmanager
def packed(plan: SandboxPlan) -> Iterator[IO[bytes]]:
    """The archive, to be unpacked at the container's root."""
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES) as file:
        with tarfile.open(fileobj=file, mode="w") as archive:
            _add_guest(archive)
            _add_workspace(archive, plan)
        file.seek(0)
        yield file


def _add_guest(archive: tarfile.TarFile) -> None:
    for folder in (GUEST_FOLDER, f"{GUEST_FOLDER}/guest"):
        archive.addfile(_folder(folder, mode=0o755))
    for source in sorted(_GUEST.glob("*.py")):
        entry = tarfile.TarInfo(f"{GUEST_FOLDER}/guest/{source.name}".lstrip("/"))
        data = source.read_bytes()
        entry.size, entry.mode = len(data), 0o444
        archive.addfile(entry, io.BytesIO(data))


def _folder(name: str, *, mode: int, owner: int = 0) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name.lstrip("/"))
    entry.type, entry.mode, entry.uid, entry.gid = tarfile.DIRTYPE, mode, owner, owner
    return entry


def _add_workspace(archive: tarfile.TarFile, plan: SandboxPlan) -> None:
    guarded = Guarded(plan.read_only)

    def owned(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        name = PurePosixPath(entry.name).relative_to(WORKDIR.lstrip("/"))
        return guarded.own(entry, name)

    archive.add(plan.workspace, WORKDIR.lstrip("/"), filter=owned)


class Guarded:
    """Whose files are: the agent's, but for the paths that it may only read.

    A file that belongs to root can still be moved away by whoever owns the folder that it lies in. So the folders
    above a guarded path belong to root too; all may write in them, and the sticky bit keeps what is not theirs.
    """

    def __init__(self, read_only: tuple[str, ...]) -> None:
        self._paths = [PurePosixPath(name) for name in read_only]
        self._above = {parent for path in self._paths for parent in path.parents}

    def own(self, entry: tarfile.TarInfo, name: PurePosixPath) -> tarfile.TarInfo:
        """The entry with its owner and mode set."""
        entry.uname = entry.gname = ""
        entry.uid = entry.gid = AGENT_ID
        if name in self._above:
            entry.uid = entry.gid = 0
            entry.mode = 0o1777
        elif any(name == path or path in name.parents for path in self._paths):
            entry.uid = entry.gid = 0
            entry.mode = 0o555 if entry.isdir() else 0o444
        else:
            entry.mode = (entry.mode | 0o700) if entry.isdir() else (entry.mode | 0o600)
        return entry
