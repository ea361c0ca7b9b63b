"""Ends the graders that a lost runner had started: a grading is done again, and never by two at once."""

import os
import time
from pathlib import Path

from agent.record.home import Home, RunFolder
from agent.sandbox import containers
from agent.sandbox.choose import where_graded
from agent.sandbox.daemons import daemon_of
from agent.sandbox.ending import end_all
from agent.sandbox.guest.processes import Process, descendants, table

LEAVES_BY_ITSELF_S = 5.0
"""The kernel tells a grader when its runner is gone; it then clears up after itself."""
_ROLE = "grader"


def clear_graders(folder: RunFolder, sandbox: str) -> None:
    """Wait a moment for them to leave, then end what is left; raises `SandboxUnavailable` where no daemon answers."""
    deadline = time.monotonic() + LEAVES_BY_ITSELF_S
    while _graders(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    end_all(lambda: _graders(folder))
    home = Home(folder.path.parent.parent)
    for place in where_graded(sandbox):
        with daemon_of(home, place) as daemon:
            for container in containers.of_run(folder.run, home.mark(), daemon):
                if container.role == _ROLE:
                    containers.remove(container, daemon)


def _graders(folder: RunFolder) -> list[Process]:
    """The processes that grade this run, and all that they started."""
    among = table()
    found: dict[int, Process] = {}
    for process in among.values():
        if process.alive and _grades(process.pid, folder):
            found |= {one.pid: one for one in (process, *descendants(process.pid, among)) if one.alive}
    found.pop(os.getpid(), None)
    return list(found.values())


def _grades(pid: int, folder: RunFolder) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return False
    if "evaluation.grade" in words:
        return str(folder.path) in words
    # Its own child, which it could not end where it was ended by force itself.
    return "evaluation.inside" in words and any(f"{folder.submission}/" in word for word in words)
