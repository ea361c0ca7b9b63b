"""Programs that open the same new file at once: one makes it, all use it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from agent.record.inbox import Inbox, Pause

OPENERS = 4


def _open_and_post(path: Path, start: threading.Barrier) -> None:
    start.wait()
    inbox = Inbox(path)
    inbox.post(Pause())
    inbox.close()


def test_all_that_make_the_same_inbox_at_once_get_it(tmp_path: Path) -> None:
    start = threading.Barrier(OPENERS)
    with ThreadPoolExecutor(OPENERS) as pool:
        for number in range(20):
            path = tmp_path / f"{number}.db"
            list(pool.map(_open_and_post, [path] * OPENERS, [start] * OPENERS))
            inbox = Inbox(path)
            assert len(inbox.after(0)) == OPENERS
            inbox.close()
