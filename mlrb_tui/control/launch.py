"""Launch a run: write the request, start a runner that no terminal owns, wait for its first event."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from agent.errors import LaunchFailed, RecordError, RunHeld
from agent.record.events import RunStarted
from agent.record.home import Home, RunFolder
from agent.record.inbox import Inbox
from agent.record.lock import is_held
from agent.record.log import EventReader
from agent.record.request import RunRequest, read_request, write_request
from agent.record.text import one_line
from agent.record.viewer import user_name
from agent.sandbox.machines import machine_of

LEAST_FREE_BYTES = 1024**2
"""Room for the first events of a run, and for what its runner holds to be able to say that the disk is full."""
_PATIENCE_S = 30.0
_TAIL_CHARACTERS = 2_000


def launch(home: Home, request: RunRequest) -> RunFolder:
    """Start a run; returns when its first event is there. `request.run` is given here.

    Raises `LaunchFailed`, with the end of what the runner printed, where it ends before that, and `RecordError` where
    the run cannot be recorded: nothing of it is left then.
    """
    free_bytes = shutil.disk_usage(home.runs).free
    if free_bytes < LEAST_FREE_BYTES:
        raise RecordError(f"no room for a run: {free_bytes:,} bytes are free in {home.path}", hint="make room there")
    with _nothing_half_made(home) as folder:
        request = msgspec.structs.replace(request, run=folder.run, who=request.who or user_name())
        write_request(folder.request, request)
        Inbox(folder.inbox).close()
        process = start_runner(folder)
        _wait_until(lambda: _last_seq(folder) > 0, folder, process)
    return folder


@contextmanager
def _nothing_half_made(home: Home) -> Iterator[RunFolder]:
    """A fresh run folder, which goes again where the run cannot be recorded in it."""
    folder: RunFolder | None = None
    try:
        folder = home.new_run()
        yield folder
    except (OSError, RecordError) as error:
        if folder is not None:
            shutil.rmtree(folder.path, ignore_errors=True)
        if isinstance(error, RecordError):
            raise
        raise RecordError(f"no run can be made in {home.path}: {error.strerror}", hint="is the disk full?") from error


def take_up(folder: RunFolder) -> None:
    """Give a lost run, or one whose runner died before its first word, a new runner; returns when it is at work.

    Raises `RunHeld` where somebody else was quicker, since a run has one runner, and `UsageError` where there is a
    mistake in `hosts.toml`, over which a runner would end the run.
    """
    machine_of(Home(folder.path.parent.parent), read_request(folder.request).sandbox)
    seen = _last_seq(folder)
    process = start_runner(folder, "--resume")
    _wait_until(lambda: _has_begun(folder, process.pid, after=seen), folder, process)


def has_runner(folder: RunFolder) -> RunHeld:
    """That somebody else was quicker to give it one."""
    return RunHeld(f"{folder.run} has a runner already", hint=f"mlrb watch {folder.run[:4]}")


def start_runner(folder: RunFolder, *arguments: str) -> "subprocess.Popen[bytes]":
    """Start the runner of a run as a process of its own session, deaf to this terminal."""
    return _start(folder, "agent.runner", *arguments)


def start_aftermath(folder: RunFolder, request_id: int) -> "subprocess.Popen[bytes]":
    """Start what sees a kill through, should the runner not; it goes on when this terminal is closed."""
    return _start(folder, "agent.runner.aftermath", str(request_id))


def _start(folder: RunFolder, module: str, *arguments: str) -> "subprocess.Popen[bytes]":
    with folder.runner_out.open("ab") as out:
        folder.runner_out.chmod(0o600)
        return subprocess.Popen(
            [sys.executable, "-m", module, str(folder.path), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            cwd="/",
            env=_environment(),
        )


def _environment() -> dict[str, str]:
    """The runner's environment: ours, with our packages found from anywhere."""
    here = str(Path(__file__).parents[2])
    known = os.environ.get("PYTHONPATH", "")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in (here, known) if part)}


def _wait_until(began: Callable[[], bool], folder: RunFolder, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not began():
        if process.poll() is not None and not began():
            if is_held(folder.lock):
                raise has_runner(folder)
            if process.returncode == RecordError.exit_code:
                raise RecordError(f"the run cannot be recorded: {last_words(folder)}", hint="is the disk full?")
            raise LaunchFailed(f"the runner ended at once: {last_words(folder)}", hint=f"see {folder.runner_out}")
        if time.monotonic() > deadline:
            raise LaunchFailed("the runner is silent", hint=f"see {folder.runner_out}")
        time.sleep(0.02)


def _has_begun(folder: RunFolder, pid: int, *, after: int) -> bool:
    """Whether the record says that this very process has the run."""
    try:
        with EventReader(folder.events) as reader:
            started = [event.body for event in reader.of_kinds(("run_started",), after=after)]
    except RecordError:
        return False
    return any(isinstance(body, RunStarted) and body.pid == pid for body in started)


def _last_seq(folder: RunFolder) -> int:
    try:
        with EventReader(folder.events) as reader:
            return reader.last_seq()
    except RecordError:
        return 0


def last_words(folder: RunFolder) -> str:
    """The last line that the runner printed, but for a hint."""
    said = folder.runner_out.read_text(encoding="utf-8", errors="replace")[-_TAIL_CHARACTERS:]
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith("hint: ")]
    return one_line(lines[-1]) if lines else "it said nothing"
