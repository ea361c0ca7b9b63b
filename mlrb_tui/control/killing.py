"""Kill a run and wait for the proof, whatever its runner does."""

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing

from agent.errors import RecordError, RunError, RunOver
from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.inbox import Inbox, Kill
from agent.record.index import of_folder
from agent.record.lock import is_held
from agent.record.log import EventReader
from agent.record.viewer import Viewer
from mlrb_tui.control.launch import last_words, start_aftermath

PATIENCE_S = 300.0
"""More than a runner's and its aftermath's own patience together."""
_CLOSING_S = 10.0
_PARTING_S = 1.0
_POLL_S = 0.05


def kill(
    folder: RunFolder, why: str, by: Viewer, *, take_over: bool, tell: Callable[[ev.ProofFound], None]
) -> ev.Event | None:
    """Have the run ended; returns the event that answers, None where it ended by itself before it could.

    `tell` hears each line of the checklist as it becomes true. Raises `RunError` where it can't be ended, and
    `ControlHeld` where somebody else steers it.
    """
    request_id = _posted(folder, why, by, take_over=take_over)
    seq = _last_seq(folder)
    aftermath = start_aftermath(folder, request_id)
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        over = aftermath.poll() is not None
        for event in _since(folder, seq):
            seq = event.seq
            if isinstance(event.body, ev.ProofFound):
                tell(event.body)
            elif isinstance(event.body, ev.RequestAnswered) and event.body.request_id == request_id:
                _let_close(folder, aftermath)
                return event
        if over:
            if of_folder(folder).state == "ended" and not is_held(folder.lock):
                return None
            raise RunError(f"{folder.run} could not be ended: {last_words(folder)}", hint=f"see {folder.runner_out}")
        time.sleep(_POLL_S)
    raise RunError(
        f"the kill of {folder.run} is not done after {PATIENCE_S:.0f} s", hint="mlrb reap shows what is left"
    )


def _posted(folder: RunFolder, why: str, by: Viewer, *, take_over: bool) -> int:
    """The request's id; 0 where the run is just ending and takes none any more."""
    with closing(Inbox(folder.inbox)) as inbox:
        try:
            return inbox.post_by(by, Kill(why=why), take_over=take_over)
        except RunOver:
            return 0


def _let_close(folder: RunFolder, aftermath: "subprocess.Popen[bytes]") -> None:
    """The answer is there; wait a moment for the log's last word, and until nobody holds the run any more."""
    deadline = time.monotonic() + _CLOSING_S
    while is_held(folder.lock) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    # It ends by itself as soon as it sees that; nobody waits for one that does not.
    with contextlib.suppress(subprocess.TimeoutExpired):
        aftermath.wait(_PARTING_S)


def _since(folder: RunFolder, seq: int) -> Iterator[ev.Event]:
    try:
        with EventReader(folder.events) as reader:
            while page := reader.since(seq):
                yield from page
                seq = page[-1].seq
    except RecordError:
        return


def _last_seq(folder: RunFolder) -> int:
    try:
        with EventReader(folder.events) as reader:
            return reader.last_seq()
    except RecordError:
        return 0
