"""A worker's own folder: a copy of the work folder to begin with, whose changes join it in the end.

Both are one command in the sandbox, and harmless when done twice: a runner may be shot in the middle.
"""

import json
import shlex
from dataclasses import dataclass

from agent.errors import SandboxLost
from agent.sandbox.base import Session

ROOT = "workers"
LONGEST_S = 600.0
_MOST_NAMED = 20
_ATTEMPTS = 3

# Run by the sandbox's own Python: what is copied, and what has changed since, is decided where the files are.
_SCRIPT = r"""
import hashlib, json, os, shutil, sys

root, folder, what = sys.argv[1], sys.argv[2], sys.argv[3]
own = os.path.join(root, folder)
book = os.path.join(root, ".mlrb", folder.replace("/", "-") + ".json")
LARGE = 256 * 1024 * 1024
SKIPPED = {".mlrb", "workers", "__pycache__", "scratchpad.md"}


def below(top):
    for here, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(files):
            if name not in SKIPPED:
                yield os.path.relpath(os.path.join(here, name), top)


def state(path):
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return None if os.path.islink(path) else [found.st_size, found.st_mtime_ns]


def digest(path):
    if os.path.islink(path):
        return "link"
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else (
                hashlib.sha256(file.read()).hexdigest())
    except OSError:
        return ""


def begin():
    if os.path.exists(book):
        return {}
    shutil.rmtree(own, ignore_errors=True)
    kept = {}
    linked = 0
    os.makedirs(own, exist_ok=True)
    for path in below(root):
        source, target = os.path.join(root, path), os.path.join(own, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.islink(source) or os.path.getsize(source) > LARGE:
            os.symlink(os.path.realpath(source), target)
            linked += 1
        else:
            shutil.copy2(source, target)
        kept[path] = [state(target), state(source)]
    os.makedirs(os.path.dirname(book), exist_ok=True)
    with open(book + ".new", "w") as file:
        json.dump(kept, file)
    os.replace(book + ".new", book)
    return {"linked": linked}


def join():
    with open(book) as file:
        kept = json.load(file)
    joined, conflicts = [], []
    for path in below(own):
        source, target = os.path.join(own, path), os.path.join(root, path)
        before = kept.get(path, [None, None])
        if os.path.islink(source) or state(source) == before[0]:
            continue
        same = os.path.exists(target) and digest(source) == digest(target)
        closed = os.path.exists(target) and not os.access(target, os.W_OK)
        if not same and (closed or state(target) != before[1]):
            conflicts.append(path)
            continue
        if not same:
            try:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                try:
                    os.link(source, target + ".joining")
                except OSError:
                    shutil.copy2(source, target + ".joining")
                os.replace(target + ".joining", target)
            except OSError:
                conflicts.append(path)
                continue
        joined.append(path)
    return {"joined": len(joined), "files": joined[:%d], "conflicts": conflicts[:%d]}


print(json.dumps({"begin": begin, "join": join}[what]()))
""" % (_MOST_NAMED, _MOST_NAMED)  # noqa: UP031


@dataclass(frozen=True)
class Joined:
    """What became of a worker's files."""

    count: int = 0
    files: tuple[str, ...] = ()
    """The first of them."""
    conflicts: tuple[str, ...] = ()
    """Those that were changed in the work folder too, or may not be changed there; they stay where they are."""


async def begin(session: Session, root: str, folder: str, command_id: str) -> str:
    """Make the folder and go there; returns why that cannot be, or nothing."""
    step = f"{_command(root, folder, 'begin')} && cd {shlex.quote(f'{root}/{folder}')}"
    code, said = await _run(session, step, command_id)
    return "" if code == 0 else said


async def join(session: Session, root: str, folder: str, command_id: str) -> tuple[Joined, str]:
    """Have what was changed there join the work folder; returns what did, and why nothing could."""
    code, said = await _run(session, _command(root, folder, "join"), command_id)
    if code != 0:
        return Joined(), said
    try:
        found = json.loads(said.strip().splitlines()[-1])
        return Joined(int(found["joined"]), tuple(map(str, found["files"])), tuple(map(str, found["conflicts"]))), ""
    except (ValueError, KeyError, IndexError, TypeError):
        return Joined(), "the answer could not be read"


def _command(root: str, folder: str, what: str) -> str:
    return shlex.join(["python", "-c", _SCRIPT, root, folder, what])


async def _run(session: Session, command: str, command_id: str) -> tuple[int | None, str]:
    for attempt in range(_ATTEMPTS):
        pieces: list[bytes] = []
        result = await session.execute(
            command, command_id=f"{command_id}-{attempt}", timeout_s=LONGEST_S, on_output=pieces.append
        )
        if not result.cut_off:
            return result.exit_code, b"".join(pieces).decode("utf-8", "replace")[-4000:]
    raise SandboxLost("the sandbox was restarted again and again while a worker's folder was made ready")
