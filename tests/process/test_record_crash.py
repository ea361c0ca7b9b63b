"""A writer that is killed at any instant loses nothing it had committed, and the log opens and goes on."""

import os
import random
import select
import signal
import subprocess
import sys
from pathlib import Path

from agent.record import events as ev
from agent.record.log import EventLog, EventReader

CRASHES = 30
_WRITER = Path(__file__).with_name("record_writer.py")


def _crash(path: Path, longest_s: float) -> int:
    """Let a writer run, kill it somewhere, return the last number it said was committed."""
    writer = subprocess.Popen([sys.executable, str(_WRITER), str(path)], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    first = writer.stdout.read(8)
    # From its first event on, it is left alone for some instant: no sleep, the pipe is read meanwhile.
    said = first + _read_for(writer.stdout.fileno(), longest_s)
    os.kill(writer.pid, signal.SIGKILL)
    said += writer.stdout.read()
    writer.wait()
    writer.stdout.close()
    whole = len(said) // 8 * 8
    return int.from_bytes(said[whole - 8 : whole], "big")


def _read_for(descriptor: int, seconds: float) -> bytes:
    said = b""
    clock = seconds
    while clock > 0:
        readable, _, _ = select.select([descriptor], [], [], clock)
        if not readable:
            break
        said += os.read(descriptor, 4096)
        clock -= 0.0005
    return said


def test_killed_writer_loses_no_committed_event_and_leaves_no_gap(tmp_path: Path) -> None:
    rng = random.Random(7)
    path = tmp_path / "events.db"
    before = 0
    for _ in range(CRASHES):
        committed = _crash(path, rng.random() * 0.1)
        assert committed > before
        with EventReader(path) as reader:
            seqs = [event.seq for event in reader.all()]
            assert seqs == list(range(1, len(seqs) + 1))
            assert seqs[-1] >= committed
            assert reader.summary().seq == seqs[-1]
        before = seqs[-1]
    with EventLog(path) as log, EventReader(path) as reader:
        long = [event.body for event in reader.of_kinds(("message_added",))]
        assert long
        for body in long:
            assert isinstance(body, ev.MessageAdded)
            assert len(reader.text(body.text)) > 8_000
        assert log.append(ev.StepStarted()).seq == before + 1
