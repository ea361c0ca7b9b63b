"""A live run that talks much: event to screen, key to screen, CPU, and the bytes that an SSH line would carry."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.record.events import ToolOutput
from agent.record.home import Home, RunFolder
from agent.record.log import EventReader
from tests.bench.figures import Bar, Figure, figure, percentile
from tests.bench.made_runs import made_run
from tests.process.pty_terminal import MLRB, PtyTerminal

FAST, FAST_S = 1_000, 30
SLOW, SLOW_S = 20, 15
IDLE_S = 10
_TOKEN = re.compile(rb"tok(\d{6}) at (\d+\.\d{3})")
_FULL_CLEAR = re.compile(rb"\x1b\[[23]?J|\x1bc")
_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


def stream() -> Iterator[Figure]:
    """1,000 events a second for 30 s, watched at 120×40, while a person types."""
    with _live_run(FAST, FAST_S) as (terminal, writer, folder):
        latencies, keys, cpu = _watched(terminal, writer)
        last, missing = _gaps(folder)
        yield figure("stream_gaps", missing, "events", last, Bar(0), "reference: events in the log")
        newest, behind = _unseen(terminal, folder)
        yield figure("stream_unseen", behind, "events", newest, Bar(0), "not on screen 2 s after the end")
        yield figure(
            "stream_event_to_screen",
            percentile(latencies, 95),
            "ms",
            percentile(latencies, 50),
            Bar(250),
            "p95; reference: p50",
        )
        yield figure(
            "stream_key_to_screen", percentile(keys, 95), "ms", percentile(keys, 50), Bar(100), "p95; reference: p50"
        )
        yield figure("stream_cpu", cpu, "cores", 1.0, Bar(0.5), "of the app alone")


def terminal_bytes() -> Iterator[Figure]:
    """Bytes to a 120×40 terminal at 20 events a second and when nothing happens; clears after the start."""
    with _live_run(SLOW, SLOW_S) as (terminal, writer, _):
        idle = terminal.bytes_in(IDLE_S) / IDLE_S / 1000
        start = len(terminal.raw)
        _go(writer)
        busy = terminal.bytes_in(SLOW_S) / SLOW_S / 1000
        clears = len(_FULL_CLEAR.findall(terminal.raw, start))
        frame = 120 * 40 / 1000
        yield figure("bytes_at_20_events", busy, "KB/s", frame, Bar(20), "reference: one full screen of text, KB")
        yield figure(
            "bytes_idle", idle, "KB/s", frame, Bar(1), "live run that says nothing; reference: one full screen"
        )
        yield figure("full_clears", clears, "clears", 1, Bar(0), "after the start")


@contextmanager
def _live_run(rate: int, seconds: int) -> "Iterator[tuple[PtyTerminal, subprocess.Popen[bytes], RunFolder]]":
    """The app on a run whose writer waits for `_go`."""
    with tempfile.TemporaryDirectory(prefix="mlrb-bench-") as path:
        home = Home(Path(path) / "home").ensure()
        folder = made_run(home, "live", 2_000, ended=False)
        command = [sys.executable, "-m", "tests.bench.live_writer", str(folder.path), str(rate), str(seconds)]
        writer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        environment = {"MLRB_HOME": str(home.path)}
        try:
            with PtyTerminal((*MLRB, "watch", "live"), columns=120, lines=40, environment=environment) as terminal:
                terminal.wait_for("--live")
                terminal.settle(1.0, timeout_s=3.0)
                yield terminal, writer, folder
        finally:
            writer.kill()
            writer.communicate()


def _go(writer: "subprocess.Popen[bytes]") -> None:
    assert writer.stdin is not None
    writer.stdin.write(b"go\n")
    writer.stdin.flush()


def _watched(terminal: PtyTerminal, writer: "subprocess.Popen[bytes]") -> tuple[list[float], list[float], float]:
    """Latencies of events and of keys in ms, and the app's CPU in cores."""
    latencies: list[float] = []
    keys: list[float] = []
    _go(writer)
    start, cpu_start = time.monotonic(), _cpu_s(terminal.process.pid)
    next_key, waiting_for, pressed_at, shown = start + 2, "", 0.0, 0
    tail = b""
    while (now := time.monotonic()) < start + FAST_S:
        data = terminal.read(0.02)
        seen_at = time.time()
        for match in _TOKEN.finditer(tail + data):
            if (number := int(match[1])) > shown:
                shown = number
                latencies.append((seen_at - float(match[2])) * 1000)
        tail = (tail + data)[-40:]
        if waiting_for and data and waiting_for in terminal.text:
            keys.append((time.perf_counter() - pressed_at) * 1000)
            waiting_for = ""
        if not waiting_for and now > next_key:
            next_key = now + 0.4
            waiting_for, pressed_at = _press(terminal, len(keys)), time.perf_counter()
    return latencies, keys, (_cpu_s(terminal.process.pid) - cpu_start) / (time.monotonic() - start)


def _press(terminal: PtyTerminal, number: int) -> str:
    """Open the search field, then type into it; what must show."""
    if number == 0:
        terminal.press("/")
        terminal.settle(0.2, timeout_s=0.5)
    terminal.press("zqxjkvbw"[number % 8])
    return "".join("zqxjkvbw"[index % 8] for index in range(number + 1))[-24:]


def _unseen(terminal: PtyTerminal, folder: RunFolder) -> tuple[int, int]:
    """The newest numbered event of the log, and how far behind it the screen is two seconds after the stream."""
    terminal.press("\x1b")
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:
        terminal.read(0.05)
    shown = [int(number) for number in re.findall(r"tok(\d{6})", terminal.text)]
    with EventReader(folder.events) as reader:
        bodies = [event.body for event in reader.of_kinds(("tool_output",), limit=50, newest=True)]
    texts = [body.text for body in bodies if isinstance(body, ToolOutput) and isinstance(body.text, str)]
    newest = max(int(number) for number in re.findall(r"tok(\d{6})", "".join(texts)))
    return newest, newest - max(shown, default=0)


def _gaps(folder: RunFolder) -> tuple[int, int]:
    with EventReader(folder.events) as reader:
        ((count,),) = reader.query("SELECT count(*) FROM events")
        assert isinstance(count, int)
        return reader.last_seq(), reader.last_seq() - count


def _cpu_s(pid: int) -> float:
    """User and system time of a process, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS
