"""Whether a process on a GPU belongs to a run: by its container's control group, or by the mark in its environment."""

from collections.abc import Sequence
from pathlib import Path


class Owner:
    """Knows a run's processes by the numbers that they have on this machine."""

    def __init__(self, run: str, container_id: str = "", proc: Path = Path("/proc")) -> None:
        self._mark = f"MLRB_RUN={run}".encode()
        self._container_id = container_id
        self._proc = proc

    def owns(self, pid: int) -> bool:
        """Whether it is a process of the run; False also for one that has just ended."""
        if self._container_id:
            # Everyone may read which group a process is in, and none but root can leave it.
            return self._container_id in _text(self._proc / str(pid) / "cgroup").decode(errors="replace")
        return self._mark in _text(self._proc / str(pid) / "environ").split(b"\0")

    def share(self, processes: Sequence[tuple[int, int | None]]) -> tuple[int | None, int | None]:
        """How many of these processes (number, bytes) are the run's, and what they hold; None where one won't say.

        A number that is no process here is one of the machine's that a container does not see: it may be anyone's.
        """
        if not all((self._proc / str(pid)).exists() for pid, _ in processes):
            return None, None
        mine = [held for pid, held in processes if self.owns(pid)]
        known = [held for held in mine if held is not None]
        return len(mine), sum(known) if len(known) == len(mine) else None


def _text(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
