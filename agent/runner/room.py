"""Does again what a full disk did not take, as soon as there is room: said once, waited for with patience."""

import asyncio
import errno
import shutil
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from agent.errors import NoRoom

PATIENCE_S = 900.0
"""How long to wait for somebody who makes room."""
_LOOK_EVERY_S = 0.2
_TRY_ANYWAY_S = 30.0
"""A quota or a compressing file system does not show in what is said to be free."""
_FULL = (errno.ENOSPC, errno.EDQUOT)

T = TypeVar("T")


async def with_room(
    work: Callable[[], Awaitable[T]],
    *,
    folder: Path,
    needed_bytes: Callable[[], Awaitable[int]],
    on_full: Callable[[str], None],
    patience_s: float = PATIENCE_S,
) -> T:
    """What `work` gives once the disk of `folder` takes it; raises `NoRoom` when it does not in time.

    `work` clears away what it began, and `on_full` is told once, in words.
    """
    gives_up_at: float | None = None
    while True:
        try:
            return await work()
        except OSError as error:
            if error.errno not in _FULL:
                raise
            needed = await needed_bytes()
            free = _free_bytes(folder)
            said = f"no room: {needed:,} bytes are needed, {free:,} are free"
            if gives_up_at is None:
                gives_up_at = time.monotonic() + patience_s
                on_full(said)
            elif time.monotonic() >= gives_up_at:
                raise NoRoom(said, hint="make room on the disk") from error
        await _look_for_room(folder, needed, free, until=min(gives_up_at, time.monotonic() + _TRY_ANYWAY_S))


async def _look_for_room(folder: Path, needed_bytes: int, were_free_bytes: int, *, until: float) -> None:
    """Wait until that much is free, and more than was when it did not do; at most until then."""
    while time.monotonic() < until:
        await asyncio.sleep(_LOOK_EVERY_S)
        if _free_bytes(folder) >= max(needed_bytes, were_free_bytes + 1):
            return


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder if folder.is_dir() else folder.parent).free
