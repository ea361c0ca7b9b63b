"""Two programs that open the same new file at once: one makes it, both use it."""

import threading
from pathlib import Path

from agent.record.inbox import Inbox, Pause


def test_two_that_make_the_same_inbox_at_once_both_get_it(tmp_path: Path) -> None:
    for round_number in range(20):
        path = tmp_path / f"{round_number}.db"
        start = threading.Barrier(4)
        failed: list[BaseException] = []

        def open_and_post(path: Path = path, start: threading.Barrier = start) -> None:
            start.wait()
            try:
                inbox = Inbox(path)
                inbox.post(Pause())
                inbox.close()
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=open_and_post) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        inbox = Inbox(path)
        assert len(inbox.after(0)) == 4
        inbox.close()
