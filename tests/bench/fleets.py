"""Twenty scripted runs at once: all end submitted, no event lost, each runner under 60 MB."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from agent.record.home import Home, RunFolder
from agent.record.index import of_folder
from agent.record.lock import is_held
from agent.record.log import EventReader
from tests.bench.figures import Bar, Figure, figure

RUNS = 20
_SCRIPT = Path(__file__).with_name("quick.jsonl")
_PATIENCE_S = 600.0


def twenty_runs() -> Iterator[Figure]:
    """Launched together on the local sandbox; what the log and the kernel say of them."""
    with tempfile.TemporaryDirectory(prefix="mlrb-bench-") as path:
        home = Home(Path(path) / "home").ensure()
        bare_mb = _bare_interpreter_mb()
        peak_mb = _watch(home, _launched(home))
        folders = list(home.folders())
        submitted = sum(of_folder(folder).outcome == "submitted" for folder in folders)
        lost = sum(_missing_events(folder) for folder in folders)
        yield figure("runs_submitted", submitted, "runs", RUNS, Bar(RUNS, at_least=True), "of twenty at once")
        yield figure(
            "runs_events_lost", lost, "events", sum(map(_events, folders)), Bar(0), "reference: events written"
        )
        yield figure(
            "runner_peak_memory", peak_mb, "MB", bare_mb, Bar(60), "largest of twenty; reference: bare interpreter"
        )


def _launched(home: Home) -> "list[subprocess.Popen[bytes]]":
    mlrb = str(Path(sys.executable).with_name("mlrb"))
    command = [mlrb, "run", "mlgym/battle_of_sexes", "--model", f"scripted:{_SCRIPT}", "--sandbox", "local"]
    environment = {**os.environ, "MLRB_HOME": str(home.path)}
    return [
        subprocess.Popen([*command, "--seed", str(seed)], env=environment, stdout=subprocess.DEVNULL)
        for seed in range(RUNS)
    ]


def _watch(home: Home, launches: "list[subprocess.Popen[bytes]]") -> float:
    """Until all have ended; the largest resident memory that any runner's process reached, in MB.

    Looked at from the first launch on: on a quiet machine the first runs end before the last have begun.
    """
    peak = 0.0
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        alive = [folder for folder in home.folders() if is_held(folder.lock)]
        peak = max([peak, *(_peak_mb(folder) for folder in alive)])
        if not alive and all(launch.poll() is not None for launch in launches):
            break
        time.sleep(0.05)
    else:
        raise RuntimeError("the runs do not end")
    if any(launch.returncode for launch in launches):
        raise RuntimeError("a launch failed")
    if not peak:
        raise RuntimeError("no runner was seen while it lived")
    return peak


def _peak_mb(folder: RunFolder) -> float:
    try:
        pid = int(folder.lock.read_text() or 0)
        status = Path(f"/proc/{pid}/status").read_text()
    except (OSError, ValueError):
        return 0.0
    peaks = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(peaks[0].split()[1]) / 1024 if peaks else 0.0


def _bare_interpreter_mb() -> float:
    code = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def _events(folder: RunFolder) -> int:
    with EventReader(folder.events) as reader:
        return reader.last_seq()


def _missing_events(folder: RunFolder) -> int:
    with EventReader(folder.events) as reader:
        ((count,),) = reader.query("SELECT count(*) FROM events")
        assert isinstance(count, int)
        return reader.last_seq() - count
