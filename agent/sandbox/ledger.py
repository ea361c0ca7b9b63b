"""Who holds what on a machine, and who waits for it: one small file a machine, read and written under a lock."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, unquote

import msgspec
from msgspec import Struct

from agent.errors import RecordError
from agent.record.home import Home, RunFolder
from agent.record.index import of_folder
from agent.record.lock import is_held

_PATIENCE_S = 20.0


class Held(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run that has its place."""

    run: str
    gpus: tuple[str, ...] = ()
    """UUIDs."""
    since: float = 0.0


class Waiting(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run that waits for its place."""

    run: str
    gpus: int = 0
    since: float = 0.0
    moved_by: str = ""


class Ledger(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A machine's places and its queue, in the order in which runs come."""

    held: tuple[Held, ...] = ()
    waiting: tuple[Waiting, ...] = ()

    def place_of(self, run: str) -> Held | None:
        """What that run has."""
        return next((one for one in self.held if one.run == run), None)

    def holders(self) -> dict[str, str]:
        """By GPU, the run that has it."""
        return {gpu: one.run for one in self.held for gpu in one.gpus}

    def without(self, run: str) -> "Ledger":
        """As if that run had never come."""
        return Ledger(
            held=tuple(one for one in self.held if one.run != run),
            waiting=tuple(one for one in self.waiting if one.run != run),
        )

    def moved(self, run: str, to: int, by: str) -> "Ledger":
        """With a waiting run at that place of the queue, from 0."""
        mover = next(one for one in self.waiting if one.run == run)
        rest = [one for one in self.waiting if one.run != run]
        rest.insert(to, msgspec.structs.replace(mover, moved_by=by))
        return msgspec.structs.replace(self, waiting=tuple(rest))


class LedgerFile:
    """A machine's ledger; only this home's runs are in it."""

    def __init__(self, home: Home, host: str) -> None:
        self._home = home
        self._path = home.path / "places" / f"{quote(host, safe='')}.json"

    @staticmethod
    def host_of(stem: str) -> str:
        """The machine that a ledger file with that name is of."""
        return unquote(stem)

    def read(self) -> Ledger:
        """As it stands, whoever is just writing it."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Ledger)
        except FileNotFoundError:
            return Ledger()
        except (OSError, msgspec.MsgspecError) as error:
            raise RecordError(
                f"cannot read {self._path}: {error}", hint="remove it; runs that live enter it"
            ) from error

    @contextmanager
    def locked(self) -> Iterator["Open"]:
        """It, to be changed; runs that have ended are gone from it."""
        self._path.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _lock(descriptor, self._path)
            before = self.read()
            opened = Open(self._pruned(before))
            yield opened
            if opened.ledger != before:
                self._write(opened.ledger)
        finally:
            os.close(descriptor)

    def live(self, run: str) -> bool:
        """Whether a runner has that run."""
        return is_held(RunFolder(self._home.runs / run).lock)

    def _pruned(self, ledger: Ledger) -> Ledger:
        return Ledger(
            held=tuple(one for one in ledger.held if not self._over(one.run)),
            waiting=tuple(one for one in ledger.waiting if not self._over(one.run)),
        )

    def _over(self, run: str) -> bool:
        """Whether it can't come back; a run that is lost keeps what it has, since its container may still be there."""
        folder = RunFolder(self._home.runs / run)
        if is_held(folder.lock):
            return False
        return not folder.path.is_dir() or of_folder(folder).state == "ended"

    def _write(self, ledger: Ledger) -> None:
        fresh = self._path.with_suffix(".new")
        fresh.write_bytes(msgspec.json.encode(ledger))
        fresh.rename(self._path)


class Open:
    """A ledger that is held; what `ledger` is at the end is kept."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger


def _lock(descriptor: int, path: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                raise RecordError(f"{path} is held by somebody", hint=f"fuser {path.with_suffix('.lock')}") from error
            time.sleep(0.02)
        else:
            return
