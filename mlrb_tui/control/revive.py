"""Gives a run whose runner is gone a new one."""

from contextlib import closing

from agent.record.home import RunFolder
from agent.record.inbox import Inbox
from agent.record.index import of_folder
from agent.record.lock import is_held
from agent.record.viewer import Viewer
from mlrb_tui.control.launch import has_runner, take_up


def revived(folder: RunFolder, by: Viewer, *, keep: bool = False, take_over: bool = False) -> bool:
    """Have a lost run taken up; False where it has a runner, or has ended.

    The viewer steers it meanwhile, and with `keep` from then on: of two who ask at once, one does it. Raises
    `ControlHeld` or `RunHeld` for the other, and `LaunchFailed`.
    """
    if is_held(folder.lock) or of_folder(folder).state == "ended":
        return False
    with closing(Inbox(folder.inbox)) as inbox:
        inbox.control.take(by, take_over=take_over, told=keep)
        try:
            if is_held(folder.lock):
                # Whoever had control a moment ago has done it. To go on as with a live run would end its pause.
                raise has_runner(folder)
            take_up(folder)
        finally:
            if not keep:
                inbox.control.release(by)
    return True
