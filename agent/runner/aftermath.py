"""Sees a kill through where the runner does not, and ends runs that have lost their runner.

`python -m agent.runner.aftermath RUN_DIR REQUEST_ID` waits for the answer to that kill. A runner that does not take
it up is ended itself; then what is left of its run is taken down from here, and the record says so.
"""

import argparse
import signal
import sys
import time
from pathlib import Path

from agent.errors import RecordError, RunError, RunHeld
from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.lock import is_held
from agent.record.log import EventReader
from agent.runner.last_rites import end_run
from agent.sandbox import leftovers
from agent.sandbox.ending import end_all
from agent.sandbox.guest.processes import Process, look, send
from tasks.errors import MlrbError

RECEIPT_S = 5.0
"""A runner reads its inbox 25 times a second; one that has not read for so long hangs."""
STALL_S = 30.0
"""A runner that lives writes at least a heartbeat every 5 s, also while it takes its sandbox down."""
TERM_S = 10.0
_POLL_S = 0.05
_KILLED_S = 20.0


def see_through(folder: RunFolder, request_id: int) -> None:
    """Return when the run has ended, by its runner or in spite of it; raises `MlrbError` where it can't be ended."""
    while not _has_ended(folder):
        if is_held(folder.lock):
            if not _does_it_itself(folder, request_id):
                end_runner(folder)
            continue
        try:
            end_run(folder)
        except RunHeld:
            continue


def end_runner(folder: RunFolder) -> None:
    """End the process that holds a run's lock and all that it started: asked first, then by force.

    Raises `RunError` where that is no runner that we can see.
    """
    runner = _runner_of(folder)
    if runner is None:
        if not _lock_comes_free(folder, within_s=_KILLED_S):
            raise RunError(f"{folder.run} is held by a process that is not its runner", hint=f"see {folder.lock}")
        return
    send([runner], signal.SIGTERM)
    # A runner that somebody stopped hears only when it goes on; it then ends the run as it should.
    send([runner], signal.SIGCONT)
    if _lock_comes_free(folder, within_s=TERM_S):
        return
    send([runner], signal.SIGSTOP)
    started_by_it = leftovers.tree_of(runner.pid)
    send([runner], signal.SIGKILL)
    left = end_all(started_by_it)[1]
    if not _lock_comes_free(folder, within_s=_KILLED_S):
        raise RunError(
            f"the runner of {folder.run} (pid {runner.pid}) cannot be ended", hint="does it wait for a disk?"
        )
    if left:
        print(f"still there: {', '.join(str(one.pid) for one in left)}", file=sys.stderr)


def _does_it_itself(folder: RunFolder, request_id: int) -> bool:
    """Whether the runner takes the kill up and comes to the run's end, for as long as it shows life."""
    seen, heard = _look(folder, request_id)
    moved_at = time.monotonic()
    while is_held(folder.lock):
        now, found = _look(folder, request_id)
        heard = heard or found
        if now != seen:
            # Life before the receipt is no answer: an agent may go on writing while its inbox is not read.
            seen, moved_at = now, time.monotonic() if heard else moved_at
        if time.monotonic() - moved_at > (STALL_S if heard else RECEIPT_S):
            return False
        time.sleep(_POLL_S)
    return True


def _look(folder: RunFolder, request_id: int) -> tuple[int, bool]:
    """The newest event, and whether the request was received."""
    try:
        with EventReader(folder.events) as reader:
            newest = reader.last_seq()
            received = reader.of_kinds(("request_received",), after=max(0, newest - 500))
    except RecordError:
        return 0, False
    ids = {event.body.request_id for event in received if isinstance(event.body, ev.RequestReceived)}
    return newest, request_id in ids


def _has_ended(folder: RunFolder) -> bool:
    if is_held(folder.lock):
        return False
    try:
        with EventReader(folder.events) as reader:
            return reader.summary().state == "ended"
    except RecordError:
        return False


def _lock_comes_free(folder: RunFolder, *, within_s: float) -> bool:
    """Whether it does, in that time after the record last grew."""
    seen = _look(folder, 0)[0]
    moved_at = time.monotonic()
    while is_held(folder.lock):
        now = _look(folder, 0)[0]
        if now != seen:
            seen, moved_at = now, time.monotonic()
        if time.monotonic() - moved_at > within_s:
            return False
        time.sleep(_POLL_S)
    return True


def _runner_of(folder: RunFolder) -> Process | None:
    """The runner that holds the lock; None where what holds it is none, such as another kill."""
    try:
        pid = int(folder.lock.read_text())
    except (OSError, ValueError):
        return None
    command = leftovers.runner_command(pid)
    mine = bool(command) and Path(command).name == folder.run and Path(command).exists()
    return look(pid) if mine and Path(command).samefile(folder.path) else None


def main(arguments: list[str] | None = None) -> int:
    """The command line; errors are one line and a hint on stderr."""
    parser = argparse.ArgumentParser(prog="python -m agent.runner.aftermath", description="See a kill through.")
    parser.add_argument("run", type=Path, help="the run's folder")
    parser.add_argument("request", type=int, help="the kill's id in the inbox")
    given = parser.parse_args(arguments)
    # A terminal that hangs up is none of a kill's business.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        see_through(RunFolder(given.run.absolute()), given.request)
    except MlrbError as error:
        print(error.message, *([f"hint: {error.hint}"] if error.hint else []), sep="\n", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
