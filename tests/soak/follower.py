"""A reader that lives through all of it: `python -m tests.soak.follower RUNS_FOLDER OUT`.

It follows every run's log, as a viewer would, and notes each event that it was shown. None of them may be gone, or be
another one, afterwards.
"""

import hashlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from agent.errors import RecordError
from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.log import EventReader

_POLL_S = 0.25


def fingerprint(event: ev.Event) -> str:
    """What tells an event from another one in its place."""
    return hashlib.sha256(f"{event.at!r} {event.step}".encode() + ev.encode(event.body)).hexdigest()[:16]


def seen_events(path: Path) -> Iterator[tuple[str, int, str]]:
    """What was noted: run, number, fingerprint. A last line that was cut off counts for nothing."""
    for line in path.read_text().splitlines():
        words = line.split()
        if len(words) == 3 and len(words[2]) == 16:
            yield words[0], int(words[1]), words[2]


def main(runs: str, out: str) -> None:
    """Follow until ended."""
    seen: dict[str, int] = {}
    with Path(out).open("a", buffering=1) as file:
        while True:
            for path in Path(runs).iterdir():
                seen[path.name] = _follow(RunFolder(path), seen.get(path.name, 0), file)
            time.sleep(_POLL_S)


def _follow(folder: RunFolder, seq: int, file: IO[str]) -> int:
    try:
        with EventReader(folder.events) as reader:
            for event in reader.since(seq):
                file.write(f"{folder.run} {event.seq} {fingerprint(event)}\n")
                seq = event.seq
    except RecordError:
        # Its tables are not made yet.
        return seq
    return seq


if __name__ == "__main__":
    main(*sys.argv[1:])
