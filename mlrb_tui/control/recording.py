"""A run to look at: live, recorded, or out of a file. A screen need not know which."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from agent.errors import RecordError
from agent.record import events as ev
from agent.record.home import Home, RunFolder
from agent.record.jsonl import read_jsonl
from agent.record.lock import is_held
from agent.record.log import EventReader, write_events


@dataclass
class Recording:
    """A reader of a run's events, and whether more may come."""

    reader: EventReader
    name: str
    """The run id, or the file's name."""
    folder: RunFolder | None = None
    """Where requests go; None for a file, which can't be steered."""
    _temporary: "tempfile.TemporaryDirectory[str] | None" = field(default=None, repr=False)

    @property
    def live(self) -> bool:
        """Whether a runner holds the lock: more events may come, and requests will be answered."""
        return self.folder is not None and is_held(self.folder.lock)

    def poll(self, seq: int, limit: int = 5_000) -> list[ev.Event]:
        """At most `limit` events after `seq`; an idle poll costs microseconds."""
        return self.reader.since(seq, limit)

    def close(self) -> None:
        """Let go of the files."""
        self.reader.close()
        if self._temporary is not None:
            self._temporary.cleanup()


def open_recording(home: Home, name: str) -> Recording:
    """The run of that id, or the log in that file (`events.db` or JSON lines)."""
    path = Path(name)
    if path.suffix in {".jsonl", ".db"} or path.is_file():
        return open_file(path)
    folder = home.find(name)
    return Recording(reader=EventReader(folder.events), name=folder.run, folder=folder)


def open_file(path: Path) -> Recording:
    """A log out of a file. JSON lines are first written to a log of their own, so that all reading is one."""
    if not path.is_file():
        raise RecordError(f"there is no file {path}", hint="mlrb replay takes a run id, an events.db or a .jsonl file")
    if path.suffix == ".db":
        return Recording(reader=EventReader(path), name=path.parent.name or path.name)
    temporary = tempfile.TemporaryDirectory(prefix="mlrb-replay-")
    copy = Path(temporary.name) / "events.db"
    write_events(copy, read_jsonl(path))
    reader = EventReader(copy)
    if not reader.last_seq():
        reader.close()
        raise RecordError(f"{path} holds no events", hint="mlrb events RUN writes a log that can be replayed")
    return Recording(reader=reader, name=path.stem, _temporary=temporary)
