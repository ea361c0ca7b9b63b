"""What the instruments cost: reading a training's output, and a run's samples at one a second."""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from agent.record.alarm_settings import AlarmSettings
from agent.record.events import HostSampled, ToolCalled
from agent.record.log import EventLog
from agent.runner.alarms.base import Conditions
from agent.runner.alarms.watching import Alarms
from agent.runner.files_watch import EVERY_S
from agent.runner.journal import Journal
from agent.sandbox.base import SandboxPlan
from agent.sandbox.local import LocalSandbox
from agent.telemetry import checkpoints, metric_files
from agent.telemetry.gpu_probe import GpuProbe
from agent.telemetry.host import HostSamples
from agent.telemetry.machine import Machine
from agent.telemetry.progress import read_line
from agent.telemetry.training import Training
from tests.bench.figures import Bar, Figure, figure
from tests.gpu.fakes import FakeNvml

LINES = 100_000
SAMPLES = 60
FILES = 500
_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


def parse_output() -> Iterator[Figure]:
    """100,000 lines of a tqdm bar with figures behind it, read and put together."""
    lines = [
        f" {i // 1000}%|{'█' * (i // 10_000):<10}| {i}/{LINES} [00:12<20:{i % 60:02}, 36.{i % 100:02}it/s,"
        f" loss={3 + 1 / (i + 1):.4f}, lr=1e-4]"
        for i in range(LINES)
    ]
    started = time.process_time()
    words = sum(len(line.split()) for line in lines)
    reference = time.process_time() - started
    training = Training()
    started = time.process_time()
    read = [training.see(progress, 0.0) for progress in map(read_line, lines) if progress is not None]
    taken = time.process_time() - started
    assert len(read) == LINES
    yield figure("parse_100k_tqdm", taken, "s", reference, Bar(2.0), f"reference: cutting them into {words:,} words")


def samples() -> Iterator[Figure]:
    """CPU of runner, guest and GPU reader together for one sample of everything: at one a second, a share of a core."""
    with tempfile.TemporaryDirectory(prefix="mlrb-bench-") as path:
        taken, reference = asyncio.run(_sampled(Path(path)))
    yield figure("telemetry_at_1_hz", taken, "cores", reference, Bar(0.01), "reference: the guest asked for its state")


def _with_gpus(folder: Path) -> None:
    """Let what is started from here on meet a GPU, made up where there is a compiler to make one with."""
    if shutil.which("gcc") is None:
        return
    folder.mkdir()
    made = FakeNvml(folder).environment
    os.environ.update({name: made[name] for name in ("LD_LIBRARY_PATH", "FAKE_NVML")})


async def _sampled(folder: Path) -> tuple[float, float]:
    _with_gpus(folder / "nvml")
    workspace = folder / "workspace"
    workspace.mkdir()
    for number in range(FILES):
        (workspace / f"file{number}.py").touch()
    sandbox = LocalSandbox(SandboxPlan(run="bench", workspace=workspace, folder=folder))
    started = await sandbox.start()
    probe = GpuProbe(run="bench")
    try:
        with EventLog(folder / "events.db") as log:
            journal = Journal(log)
            alarms = Alarms(journal, Conditions(AlarmSettings(), 600.0), lambda text: None)
            journal.listeners.append(alarms.hear)
            journal.append(ToolCalled(call_id="c", tool="bash"))
            guest = int(started.name.removeprefix("pid "))
            probe.sample(wait_s=30)
            machine, kept = Machine(), HostSamples()
            before = _cpu_s(guest, probe.pid)
            for _ in range(SAMPLES):
                host = machine.beside(await sandbox.sample())
                if kept.is_news(host, journal.now()):
                    journal.append(HostSampled(host=host))
                probe.sample()
                alarms.look()
            often = (_cpu_s(guest, probe.pid) - before) / SAMPLES
            looks = _cpu_s(guest)
            for _ in range(SAMPLES):
                await sandbox.files((*checkpoints.PATTERNS, *metric_files.PATTERNS))
            seldom = (_cpu_s(guest) - looks) / SAMPLES / EVERY_S
            asked = _cpu_s(guest)
            for _ in range(SAMPLES):
                await sandbox.read_piece("file0.py", 0, 10)
            return often + seldom, (_cpu_s(guest) - asked) / SAMPLES
    finally:
        probe.close()
        await sandbox.stop()


def _cpu_s(*pids: int | None) -> float:
    """CPU time of this process and of those, in seconds."""
    total = time.process_time()
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except FileNotFoundError:
            continue
        total += (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS
    return total
