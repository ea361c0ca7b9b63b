"""The reference for a request's way: a bare process between an inbox and a log, `python -m tests.bench.echo RUN_DIR`.

It reads the one and writes to the other as fast as it can, and does nothing else.
"""

import sys
import time
from pathlib import Path

from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.inbox import Inbox
from agent.record.log import EventLog


def main(path: str) -> None:
    """Answer until killed."""
    folder = RunFolder(Path(path))
    inbox, log = Inbox(folder.inbox), EventLog(folder.events)
    last = 0
    while True:
        for posted in inbox.after(last):
            last = posted.request_id
            log.append(ev.RequestAnswered(request_id=last))
        time.sleep(0.001)


if __name__ == "__main__":
    main(*sys.argv[1:])
