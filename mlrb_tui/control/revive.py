"""Gives a run whose runner is gone a new one."""

from agent.record.home import RunFolder
from agent.record.index import of_folder
from agent.record.lock import is_held
from mlrb_tui.control.launch import take_up


def revived(folder: RunFolder) -> bool:
    """Have a lost run taken up; False where it has a runner, or has ended. Raises `LaunchFailed` and `RunHeld`."""
    if is_held(folder.lock) or of_folder(folder).state == "ended":
        return False
    take_up(folder)
    return True
