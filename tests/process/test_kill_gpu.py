"""A kill waits until the GPUs have back what the run held, and says what they do not give back."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.inbox import Kill
from agent.record.values import Gpu, Proof
from agent.runner import gpu_memory
from tests.process.fake_gpus import FakeGpus
from tests.process.runner_runs import Run, Runs, bash, until

_NVML = '''"""An NVML whose one card holds as many GiB as a file says."""

from pathlib import Path
from types import SimpleNamespace

FILE = Path({file!r})
NVML_TEMPERATURE_GPU = 0


class NVMLError(Exception):
    pass


def nvmlInit():
    pass


nvmlShutdown = nvmlInit


def nvmlDeviceGetCount():
    return 1


def nvmlDeviceGetHandleByIndex(index):
    return index


def nvmlDeviceGetName(handle):
    return "card"


def nvmlDeviceGetUUID(handle):
    return "{uuid}"


def nvmlDeviceGetMemoryInfo(handle):
    return SimpleNamespace(used=int(float(FILE.read_text()) * 1024**3), total=40 * 1024**3)


def nvmlDeviceGetUtilizationRates(handle):
    return SimpleNamespace(gpu=50)


def nvmlDeviceGetPowerUsage(handle):
    return 100_000


def nvmlDeviceGetTemperature(handle, sensor):
    return 40
'''


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    """A home with the probe task, on a machine with a card."""
    made = Runs.under(tmp_path)
    [uuid] = FakeGpus(tmp_path / "bin").cards(1)
    made.environment["PATH"] = f"{tmp_path}/bin:{os.environ['PATH']}"
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "pynvml.py").write_text(_NVML.format(file=str(card(tmp_path)), uuid=uuid))
    known = made.environment.get("PYTHONPATH", "")
    made.environment["PYTHONPATH"] = f"{modules}:{Path(gpu_memory.__file__).parents[2]}:{known}"
    hold(tmp_path, 1.0)
    yield made
    made.close()


def card(folder: Path) -> Path:
    """The file that says what the card holds."""
    return folder / "card.txt"


def hold(folder: Path, gib: float) -> None:
    """Have the card hold that much; readers never see half of it."""
    fresh = folder / "card.fresh"
    fresh.write_text(str(gib))
    fresh.rename(card(folder))


def training(runs: Runs, folder: Path) -> Run:
    """A run whose command holds memory on the card."""
    run = runs.start([bash("sleep 765.25")], gpus="1")
    run.wait_for(ev.GpuSampled)
    run.wait_for(ev.ToolCalled)
    hold(folder, 31.0)
    return run


def test_memory_that_comes_back_late_is_waited_for_and_proven(runs: Runs, tmp_path: Path) -> None:
    run = training(runs, tmp_path)
    run.post(Kill())
    waiting = run.wait_for(ev.ProofFound, lambda body: body.what == "gpu memory")
    assert (waiting.proven, waiting.detail) == (False, "waiting: gpu 0 holds 31.0 GB, 1.0 GB before the run")
    hold(tmp_path, 1.1)
    assert run.ended().outcome == "killed"
    assert run.bodies(ev.ProofFound)[-1] == ev.ProofFound(what="gpu memory", proven=True, detail="as before the run")
    assert run.summary().leftovers == ()


def test_memory_that_does_not_come_back_is_left_over(tmp_path: Path) -> None:
    told: list[Proof] = []
    before = (Gpu(index=0, memory_used_bytes=1024**3, memory_total_bytes=40 * 1024**3),)
    now = (Gpu(index=0, memory_used_bytes=9 * 1024**3, memory_total_bytes=40 * 1024**3),)
    proof = gpu_memory.prove(before, told.append, lambda: now, patience_s=0.0)
    assert not proof.proven
    assert "gpu 0 holds 9.0 GB, 1.0 GB before the run after 0 s" in proof.detail
    assert gpu_memory.prove(before, told.append, lambda: before).proven
    assert told == []


def test_run_without_gpus_is_not_asked_for_their_memory(tmp_path: Path) -> None:
    made = Runs.under(tmp_path)
    try:
        run = made.start([bash("touch here.txt; sleep 766.25")])
        until(lambda: (run.folder.work / "here.txt").exists(), "the command runs")
        run.post(Kill())
        run.ended()
        assert "gpu memory" not in {body.what for body in run.bodies(ev.ProofFound)}
    finally:
        made.close()
