"""Appends events at full speed and tells each committed number on stdout; the crash test kills it."""

import os
import sys
from pathlib import Path

from agent.record import events as ev
from agent.record.log import EventLog


def main() -> None:
    """Write until killed."""
    log = EventLog(Path(sys.argv[1]))
    while True:
        number = log.summary.seq
        if number % 50 == 49:
            event = log.append(ev.MessageAdded(message_id=f"m{number}", role="user", text=f"{number} " * 4000))
        elif number % 50 == 25:
            event = log.heartbeat()
        else:
            event = log.append(ev.ToolOutput(call_id="c", text=f"line {number}\n"), step=1)
        os.write(1, event.seq.to_bytes(8, "big"))


if __name__ == "__main__":
    main()
