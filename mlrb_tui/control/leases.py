"""What an app does with the lease of a run that it shows; each is one short transaction in the run's inbox."""

import contextlib
from contextlib import closing

from agent.errors import RecordError
from agent.record.home import RunFolder
from agent.record.inbox import Inbox
from agent.record.viewer import Viewer


def take(folder: RunFolder, viewer: Viewer, *, take_over: bool = False) -> None:
    """Steer from now on; raises `ControlHeld` where somebody else does."""
    with closing(Inbox(folder.inbox)) as inbox:
        inbox.control.take(viewer, take_over=take_over)


def release(folder: RunFolder, viewer: Viewer) -> None:
    """Steer no more."""
    # Where the disk is full the lease ends by itself, with the app.
    with contextlib.suppress(RecordError), closing(Inbox(folder.inbox)) as inbox:
        inbox.control.release(viewer)


def renew(folder: RunFolder, viewer: Viewer) -> None:
    """Say that the holder is still there."""
    with contextlib.suppress(RecordError), closing(Inbox(folder.inbox)) as inbox:
        inbox.control.renew(viewer)


def ask_for(folder: RunFolder, viewer: Viewer) -> None:
    """Ask who steers to hand over."""
    with closing(Inbox(folder.inbox)) as inbox:
        inbox.control.ask(viewer)


def hand_over(folder: RunFolder, viewer: Viewer, to: Viewer) -> bool:
    """Give control to who asked; False where it could not be given."""
    with closing(Inbox(folder.inbox)) as inbox:
        return inbox.control.hand_over(viewer, to)
