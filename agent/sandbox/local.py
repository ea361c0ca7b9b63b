"""A sandbox that is a process tree in a work folder: for trying things and for tests. It isolates nothing."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.errors import SandboxLost, SandboxUnavailable
from agent.record.home import RunFolder
from agent.record.values import Proof
from agent.sandbox.base import SandboxPlan, StartedSandbox
from agent.sandbox.ending import end_all
from agent.sandbox.environment import local_environment
from agent.sandbox.guest.processes import Process, descendants, look, send, table
from agent.sandbox.guested import GuestedSandbox, with_state
from agent.sandbox.link import Cut, Standing
from agent.sandbox.stream import SocketStream, Stream

NOTICE = "local isolates nothing: commands run here, with your rights and your files"

_BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from guest.main import main; main()"


class LocalSandbox(GuestedSandbox):
    """Commands run as children of a guest of their own, which outlives the runner."""

    def __init__(self, plan: SandboxPlan) -> None:
        super().__init__(plan)
        self._work = plan.folder / "work"
        self._socket = RunFolder(plan.folder).guest_socket
        self._mark = plan.folder / "guest.json"
        self._stood: set[tuple[int, int]] = set()

    async def start(self) -> StartedSandbox:
        """Copy the workspace in and start the guest."""
        try:
            await asyncio.to_thread(self._prepare)
            await asyncio.to_thread(self._spawn)
            state = await self._link.open()
        except (OSError, shutil.Error, Cut) as error:
            await self.stop()
            raise SandboxUnavailable(
                f"no local sandbox in {self.plan.folder}: {error or 'its guest ended at once'}",
                hint=f"see {self.plan.folder / 'guest.out'}",
            ) from error
        except asyncio.CancelledError:
            await asyncio.shield(self.stop())
            raise
        return with_state(self._started(), state)

    def _started(self) -> StartedSandbox:
        guest = self._guest()
        name = f"pid {guest.pid}" if guest is not None else "local"
        return StartedSandbox(
            sandbox="local",
            name=name,
            workdir=str(self._work),
            isolates=False,
            notice=NOTICE,
        )

    def _prepare(self) -> None:
        self._work.mkdir(parents=True, exist_ok=True)
        shutil.copytree(self.plan.workspace, self._work, symlinks=True, dirs_exist_ok=True)
        for name in self.plan.read_only:
            _close_to_writing(self._work / name)

    def _spawn(self) -> None:
        limits = self.plan.limits
        self._socket.unlink(missing_ok=True)
        with _short(self._socket) as address, socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen(4)
            arguments = [
                *("--workdir", str(self._work), "--spool-folder", str(self.plan.folder)),
                *("--spool-bytes", str(limits.output_bytes), "--memory-bytes", str(limits.memory_bytes)),
                *("--listen", str(listener.fileno())),
            ]
            with (self.plan.folder / "guest.out").open("ab") as out:
                process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _BOOT, str(Path(__file__).parent), *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    env=local_environment(self.plan, str(self._work), os.environ),
                    pass_fds=(listener.fileno(),),
                    start_new_session=True,
                )
        guest = look(process.pid)
        if guest is not None:
            self._mark.write_text(json.dumps(guest.key))

    async def reached(self) -> None:
        """It runs on this machine."""

    async def attach(self) -> StartedSandbox:
        """Take up an earlier runner's guest; where it ended, as in a reboot, start a new one over its files."""
        if self._guest() is None:
            if not (self._mark.exists() and self._work.is_dir()):
                raise SandboxLost(f"nothing of run {self.plan.run} is left", hint="start the run anew")
            await asyncio.to_thread(self._revive)
        # An earlier runner may have frozen it and died; a guest that stands still cannot be asked.
        await self.thaw()
        try:
            state = await self._link.open()
        except (OSError, Cut) as error:
            raise SandboxLost(f"the guest of run {self.plan.run} does not answer") from error
        return with_state(self._started(), state)

    def _revive(self) -> None:
        self._end_all()
        self._spawn()

    def _guest(self) -> Process | None:
        """The guest, as long as it is that very process and lives."""
        try:
            pid, started = json.loads(self._mark.read_text())
        except (OSError, ValueError):
            return None
        guest = look(int(pid))
        return guest if guest is not None and guest.started == started and guest.alive else None

    async def _connect(self) -> Stream:
        with _short(self._socket) as address:
            return await SocketStream.open(address)

    async def _check(self) -> Standing:
        if self._guest() is None:
            raise SandboxLost("the sandbox's guest was ended from outside", hint="start the run anew")
        return "frozen" if self._frozen else "well"

    async def _halt(self) -> None:
        """Stop the guest and all that it started, until nothing below it runs any more."""
        self._frozen = True
        await asyncio.to_thread(self._freeze)

    def _freeze(self) -> None:
        guest = self._guest()
        if guest is None:
            return
        if guest.state != "T":
            # One that stands already was frozen by an earlier runner, with all that is below it.
            self._stood = {process.key for process in descendants(guest.pid, table()) if process.state == "T"}
        send([guest], signal.SIGSTOP)
        # A process may have forked between the look and the signal; the rounds end when all stand.
        for _ in range(100):
            running = [process for process in descendants(guest.pid, table()) if process.state not in "TZX"]
            if not running:
                return
            send(running, signal.SIGSTOP)

    async def _go_on(self) -> None:
        """Let them go on, but for those that already stood when they were frozen."""
        await asyncio.to_thread(self._thaw)
        self._frozen = False

    def _thaw(self) -> None:
        guest = self._guest()
        if guest is None:
            return
        below = descendants(guest.pid, table())
        send([process for process in below if process.key not in self._stood], signal.SIGCONT)
        send([guest], signal.SIGCONT)

    async def stop(self) -> tuple[Proof, ...]:
        """End the guest and all below it, then look through `/proc` for what still carries the run's mark."""
        self._stopped = True
        self._link.close()
        ended, left = await asyncio.to_thread(self._end_all)
        self._frozen = False
        detail = f"{ended} ended" if not left else "still there: " + ", ".join(str(p.pid) for p in left)
        return (Proof("processes", not left, detail),)

    def _end_all(self) -> tuple[int, list[Process]]:
        ended, left = end_all(self._mine)
        self._reap()
        self._socket.unlink(missing_ok=True)
        return ended, left

    def _mine(self) -> list[Process]:
        """The guest, all below it, and whoever carries the run's mark though its guest was ended before."""
        among = table()
        guest = self._guest()
        found = {} if guest is None else {guest.pid: guest}
        if guest is not None:
            found |= {process.pid: process for process in descendants(guest.pid, among)}
        mark = f"MLRB_RUN={self.plan.run}".encode()
        work = str(self._work)
        for process in among.values():
            if process.pid != os.getpid() and process.pid not in found and _belongs(process.pid, mark, work):
                found[process.pid] = process
        return [process for process in found.values() if process.alive]

    def _reap(self) -> None:
        """Take in the guest's end where this process is its parent, so that no zombie stays."""
        try:
            pid, _ = json.loads(self._mark.read_text())
            os.waitpid(int(pid), os.WNOHANG)
        except (OSError, ValueError):
            return


def _belongs(pid: int, mark: bytes, work: str) -> bool:
    """Whether a process was given the run's mark and this very work folder as its home."""
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return mark in variables and b"HOME=" + os.fsencode(work) in variables


def _close_to_writing(path: Path) -> None:
    below = [path, *path.rglob("*")] if path.is_dir() else [path]
    for entry in reversed(below):
        if entry.exists() and not entry.is_symlink():
            entry.chmod(0o555 if entry.is_dir() else 0o444)


@contextmanager
def _short(path: Path) -> Iterator[str]:
    """A name for a socket that fits its 107 bytes, however deep the folder lies."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
