"""What a person at the terminal feels: first paint, opening long runs, memory, key echo."""

import shlex
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from agent.record import events as ev
from agent.record.home import Home, RunFolder
from agent.record.log import write_events
from agent.record.request import RunRequest, write_request
from agent.record.values import Limits
from tests.bench.figures import Bar, Figure, figure, percentile
from tests.bench.made_runs import START, made_home, made_run
from tests.process.pty_terminal import MLRB, PtyTerminal

BARE = (sys.executable, "-m", "tests.bench.bare_app")
SIZES = {"100": 100, "50k": 50_000, "1m": 1_000_000}
REPEAT = 5
OUTPUT_LINES = 50_000
_RUN_IN_LIST = b"0000"
"""The one run of `made_home(path, 1)` as the list shows it: its row, not the look at it, is the first paint."""
_KEYS = "zqxjkvbwzqxjkvbw"


def first_paint() -> Iterator[Figure]:
    """From the start of the process to the first text on the screen, beside a bare Textual app."""
    with tempfile.TemporaryDirectory(prefix="mlrb-bench-") as path:
        home = made_home(Path(path) / "home", 1)
        ours, bare = [], []
        for _ in range(2 * REPEAT + 1):
            ours.append(_paint_s(home, (), _RUN_IN_LIST))
            bare.append(_paint_s(home, BARE, b"bare-app-is-up"))
        yield figure(
            "first_paint",
            median(ours),
            "s",
            median(bare),
            Bar(1.6, on="ratio"),
            "fleet; reference: Textual with one label",
        )


def open_long_runs() -> Iterator[Figure]:
    """First paint of a run with 50,000 and with 1,000,000 events beside one with 100, and the memory it takes."""
    with tempfile.TemporaryDirectory(prefix="mlrb-bench-") as path:
        home = Home(Path(path) / "home").ensure()
        for name, count in SIZES.items():
            made_run(home, name, count)
        paints: dict[str, list[float]] = {name: [] for name in SIZES}
        memory: dict[str, float] = {}
        for _ in range(REPEAT):
            for name in SIZES:
                seconds, memory[name] = _open(home, name)
                paints[name].append(seconds)
        reference = median(paints["100"])
        for name in ("50k", "1m"):
            note = "reference: a run of 100 events"
            yield figure(f"open_run_{name}", median(paints[name]), "s", reference, Bar(1.3, on="ratio"), note)
        yield figure(
            "open_run_1m_memory", memory["1m"], "MB", memory["100"], Bar(120), "peak; reference: run of 100 events"
        )


def open_plots() -> Iterator[Figure]:
    """From `m` in the run's screen to its curves: a run of 1,000,000 events beside one of 100."""
    with tempfile.TemporaryDirectory(prefix="mlrb-bench-") as path:
        home = Home(Path(path) / "home").ensure()
        for name in ("100", "1m"):
            made_run(home, name, SIZES[name])
        taken: dict[str, list[float]] = {"100": [], "1m": []}
        for _ in range(REPEAT):
            for name, found in taken.items():
                found.append(_plots_s(home, name))
        note = "reference: a run of 100 events"
        yield figure("open_plots_1m", median(taken["1m"]), "s", median(taken["100"]), Bar(2.0, on="ratio"), note)


def big_step() -> Iterator[Figure]:
    """A step with an output of 50,000 lines: how long a typed letter takes to show, beside a small step."""
    with tempfile.TemporaryDirectory(prefix="mlrb-bench-") as path:
        home = Home(Path(path) / "home").ensure()
        _run_with_output(home, "small", 50)
        _run_with_output(home, "large", OUTPUT_LINES)
        echo = {name: _detail_echo_ms(home, name) for name in ("small", "large")}
        yield figure(
            "big_step_key_echo",
            percentile(echo["large"], 95),
            "ms",
            percentile(echo["small"], 95),
            Bar(200),
            "p95, 50,000 lines; reference: 50 lines",
        )


def type_keys(terminal: PtyTerminal, keys: str, pause_s: float = 0.05) -> list[float]:
    """Type letters into the field that has the focus; how long each took to be on the screen, in ms."""
    taken: list[float] = []
    typed = ""
    for key in keys:
        typed += key
        start = time.perf_counter()
        terminal.press(key)
        terminal.wait_for(typed)
        taken.append((time.perf_counter() - start) * 1000)
        deadline = time.monotonic() + pause_s
        while time.monotonic() < deadline:
            terminal.read(0.01)
    return taken


def peak_memory_mb(terminal: PtyTerminal) -> float:
    """The largest resident memory that the program has had."""
    status = Path(f"/proc/{terminal.process.pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def _paint_s(home: Home, command: tuple[str, ...], marker: bytes) -> float:
    with PtyTerminal(command or MLRB, columns=120, lines=40, environment={"MLRB_HOME": str(home.path)}) as terminal:
        terminal.wait_for_bytes(marker)
        return time.monotonic() - terminal.started_at


def _open(home: Home, name: str) -> tuple[float, float]:
    """Seconds until the end of the run's transcript is on the screen, and peak memory once it is quiet."""
    command = (*MLRB, "watch", name)
    with PtyTerminal(command, columns=120, lines=40, environment={"MLRB_HOME": str(home.path)}) as terminal:
        terminal.wait_for_bytes(b"submitted", timeout_s=60)
        seconds = time.monotonic() - terminal.started_at
        terminal.settle(1.5)
        return seconds, peak_memory_mb(terminal)


def _plots_s(home: Home, name: str) -> float:
    """Seconds from the key to the first axis."""
    command = (*MLRB, "watch", name)
    with PtyTerminal(command, columns=120, lines=40, environment={"MLRB_HOME": str(home.path)}) as terminal:
        terminal.wait_for("submitted", timeout_s=60)
        terminal.settle(1.0)
        start = time.perf_counter()
        terminal.press("m")
        terminal.wait_for("└", timeout_s=60)
        return time.perf_counter() - start


def _run_with_output(home: Home, run: str, lines: int) -> RunFolder:
    folder = RunFolder(home.runs / run)
    folder.path.mkdir(mode=0o700)
    write_request(folder.request, RunRequest(run=run, task="mlgym/battle_of_sexes"))
    write_events(folder.events, _output_events(run, lines))
    return folder


def _output_events(run: str, lines: int) -> Iterator[ev.Event]:
    bodies: list[ev.AnyBody] = [
        ev.RunCreated(
            run=run, task="mlgym/x", scale="smoke", scaffold="react", model="scripted", sandbox="local", seed=0,
            limits=Limits(),
        ),
        ev.RunStarted(pid=1, host="bench"),
        ev.StepStarted(),
        ev.ToolCalled(call_id="c", tool="bash", summary=shlex.join(["seq", str(lines)])),
    ]  # fmt: skip
    for start in range(0, lines, 100):
        text = "".join(f"line {number} of a long output\n" for number in range(start, min(start + 100, lines)))
        bodies.append(ev.ToolOutput(call_id="c", text=text))
    bodies.append(ev.ToolFinished(call_id="c", message_id="m", exit_code=0, output_lines=lines, observation="…"))
    for seq, body in enumerate(bodies, 1):
        yield ev.Event(seq=seq, at=START + seq * 0.01, step=int(seq > 2), body=body)


def _detail_echo_ms(home: Home, run: str) -> list[float]:
    command = (*MLRB, "watch", run)
    with PtyTerminal(command, columns=120, lines=40, environment={"MLRB_HOME": str(home.path)}) as terminal:
        terminal.wait_for("of a long output")
        terminal.press("\r")
        terminal.settle(0.5)
        terminal.press("/")
        terminal.settle(0.3)
        return type_keys(terminal, _KEYS)
