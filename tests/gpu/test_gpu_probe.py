"""Whatever the driver does, the GPUs are shown as far as they tell, and nobody waits for them."""

import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record.values import Gpu
from agent.telemetry.gpu_owners import Owner
from agent.telemetry.gpu_probe import GpuProbe
from tests.gpu.fakes import FakeNvml

MIB = 1024**2
NOT_SUPPORTED, NO_PERMISSION, DRIVER_NOT_LOADED, LOST, UNINITIALIZED, UNKNOWN = 3, 4, 9, 15, 1, 999
LIBRARY_MISMATCH = 18
FIGURES = ("Memory", "Utilization", "Power", "Temperature", "Ecc", "Processes", "Mig", "Name", "UUID", "Events")

needs_pynvml = pytest.mark.skipif(importlib.util.find_spec("pynvml") is None, reason="nvidia-ml-py is not installed")


@pytest.fixture
def nvml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    """The fake, met by every process that is started from here."""
    made = FakeNvml(tmp_path)
    for name in ("LD_LIBRARY_PATH", "FAKE_NVML"):
        monkeypatch.setenv(name, made.environment[name])
    return made


@pytest.fixture
def probe() -> Iterator[GpuProbe]:
    """A probe of run `r1`."""
    made = GpuProbe(run="r1")
    yield made
    made.close()


def card(index: int) -> str:
    """The UUID of a fake card."""
    return f"GPU-{index:08d}-aaaa-bbbb-cccc-dddddddddddd"


def figures(gpu: Gpu) -> tuple[object, ...]:
    """All that a card may not tell."""
    return (
        gpu.memory_used_bytes, gpu.memory_total_bytes, gpu.utilization_percent, gpu.power_w, gpu.temperature_c,
        gpu.processes, gpu.ecc_errors,
    )  # fmt: skip


@needs_pynvml
def test_everything_that_a_card_tells_is_read(nvml: FakeNvml, probe: GpuProbe) -> None:
    nvml.set(count=2, used_mib=1024, util=73, temp=61, power_mw=250_500, ecc=3)
    first, second = probe.sample(wait_s=30)
    assert (first.index, first.name, first.uuid) == (0, "Fake GPU 1", card(0))
    assert figures(first) == (1024 * MIB, 40960 * MIB, 73.0, 250.5, 61.0, 0, 3)
    assert (second.index, second.lost, second.xid) == (1, False, None)


@needs_pynvml
@pytest.mark.parametrize("code", [NOT_SUPPORTED, NO_PERMISSION, LIBRARY_MISMATCH, UNKNOWN, UNINITIALIZED])
def test_what_a_card_does_not_tell_is_not_known(nvml: FakeNvml, probe: GpuProbe, code: int) -> None:
    nvml.set(**{f"error__{name}": code for name in FIGURES})
    (gpu,) = probe.sample(wait_s=30)
    assert figures(gpu) == (None,) * 7
    assert not gpu.lost
    nvml.set(util=9)
    assert probe.sample(wait_s=30)[0].utilization_percent == 9.0


@needs_pynvml
@pytest.mark.parametrize("function", ["Handle", "Memory"])
def test_lost_card_is_said_to_be_lost_and_is_no_error(nvml: FakeNvml, probe: GpuProbe, function: str) -> None:
    assert not probe.sample(wait_s=30)[0].lost
    nvml.set(**{f"error__{function}": LOST})
    (gpu,) = probe.sample(wait_s=30)
    assert gpu.lost
    assert gpu.name == "Fake GPU 1"


@needs_pynvml
@pytest.mark.parametrize(
    "settings",
    [
        {"count": 0},
        {"error__Init": DRIVER_NOT_LOADED},
        {"error__Init": LIBRARY_MISMATCH},
        {"error__Init": NO_PERMISSION},
        {"error__Count": UNKNOWN},
    ],
)
def test_machine_without_gpus_has_none_and_is_not_asked_again(
    nvml: FakeNvml, probe: GpuProbe, settings: dict[str, int]
) -> None:
    nvml.set(**settings)
    assert probe.sample(wait_s=30) == ()
    assert probe.absent
    nvml.set(count=1)
    assert probe.sample(wait_s=30) == ()


@needs_pynvml
def test_driver_that_hangs_makes_the_gpus_unknown_until_it_answers_again(nvml: FakeNvml, probe: GpuProbe) -> None:
    assert probe.sample(wait_s=30)[0].utilization_percent == 0.0
    nvml.set(hang__Utilization=1, util=50)
    began = time.monotonic()
    (gpu,) = probe.sample(wait_s=0.2, patience_s=0.1)
    (again,) = probe.sample(wait_s=0.2, patience_s=0.1)
    assert time.monotonic() - began < 10
    assert figures(gpu) == figures(again) == (None,) * 7
    assert gpu.name == "Fake GPU 1"
    nvml.set(util=50)
    assert probe.sample(wait_s=30)[0].utilization_percent == 50.0


@needs_pynvml
def test_driver_that_hangs_at_the_start_is_let_go_of(nvml: FakeNvml, probe: GpuProbe) -> None:
    nvml.set(hang__Init=1)
    assert probe.sample(wait_s=0.5) == ()
    assert not probe.absent
    began = time.monotonic()
    probe.close()
    assert time.monotonic() - began < 10


@needs_pynvml
def test_slices_are_shown_one_by_one(nvml: FakeNvml, probe: GpuProbe) -> None:
    nvml.set(mig=3, error__Utilization=NOT_SUPPORTED, temp=70)
    found = probe.sample(wait_s=30)
    assert [gpu.slot for gpu in found] == [(0, 0), (0, 1), (0, 2)]
    assert {gpu.utilization_percent for gpu in found} == {None}
    assert found[2].name == "Fake MIG 103"
    assert found[2].temperature_c == 70.0


@needs_pynvml
def test_error_of_the_driver_is_heard(nvml: FakeNvml, probe: GpuProbe) -> None:
    assert probe.sample(wait_s=30)[0].xid is None
    nvml.set(xid=79)
    assert probe.sample(wait_s=30)[0].xid == 79
    assert probe.sample(wait_s=30)[0].xid == 79


@needs_pynvml
def test_processes_of_the_run_are_told_from_others(nvml: FakeNvml, probe: GpuProbe) -> None:
    ours = subprocess.Popen(["sleep", "600"], env={**os.environ, "MLRB_RUN": "r1"})
    try:
        nvml.set(pid=ours.pid, pid_mib=300)
        (gpu,) = probe.sample(wait_s=30)
        assert (gpu.processes, gpu.own_processes, gpu.own_memory_bytes) == (1, 1, 300 * MIB)
        nvml.set(util=90)
        assert probe.sample(wait_s=30)[0].own_processes is None
        nvml.set(pid=os.getpid())
        (gpu,) = probe.sample(wait_s=30)
        assert (gpu.processes, gpu.own_processes, gpu.own_memory_bytes) == (1, 0, 0)
    finally:
        ours.kill()
        ours.wait()


@needs_pynvml
def test_only_the_gpus_that_the_run_was_given_are_read(nvml: FakeNvml) -> None:
    nvml.set(count=4)
    probe = GpuProbe(wanted={card(1), card(3)})
    try:
        assert [(gpu.index, gpu.uuid) for gpu in probe.sample(wait_s=30)] == [(1, card(1)), (3, card(3))]
        nvml.set(count=4, error__Handle=LOST)
        assert [(gpu.index, gpu.uuid, gpu.lost) for gpu in probe.sample(wait_s=30)] == [
            (1, card(1), True), (3, card(3), True),
        ]  # fmt: skip
    finally:
        probe.close()


@needs_pynvml
def test_slice_that_the_run_was_given_is_read_alone(nvml: FakeNvml) -> None:
    nvml.set(count=2, mig=3)
    probe = GpuProbe(wanted={f"MIG-{1:08d}-2"})
    try:
        assert [(gpu.slot, gpu.uuid) for gpu in probe.sample(wait_s=30)] == [((1, 2), f"MIG-{1:08d}-2")]
    finally:
        probe.close()


@needs_pynvml
@pytest.mark.parametrize(("code", "lost"), [(LOST, True), (NO_PERMISSION, False)])
def test_card_that_was_given_and_does_not_say_which_it_is_is_shown_all_the_same(
    nvml: FakeNvml, code: int, lost: bool
) -> None:
    nvml.set(**{"error__Handle" if lost else "error__UUID": code})
    probe = GpuProbe(wanted={card(0)})
    try:
        assert [(gpu.index, gpu.lost) for gpu in probe.sample(wait_s=30)] == [(0, lost)]
    finally:
        probe.close()


def test_process_in_a_container_of_the_run_is_its_own(tmp_path: Path) -> None:
    for pid, group in ((7, "0::/system.slice/docker-abc123.scope\n"), (8, "9:memory:/docker/abc123\n"), (9, "0::/\n")):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "cgroup").write_text(group)
    owner = Owner("r1", "abc123", proc=tmp_path)
    assert [owner.owns(pid) for pid in (7, 8, 9, 10)] == [True, True, False, False]
    assert owner.share([(7, 5), (10, 6)]) == (None, None)
    assert owner.share([(7, 5), (8, 6), (9, 100)]) == (2, 11)
    assert owner.share([(7, None), (8, 6)]) == (2, None)


@needs_pynvml
def test_probe_ends_with_the_one_that_asked(nvml: FakeNvml) -> None:
    code = (
        "import os, signal; from agent.telemetry.gpu_probe import GpuProbe; p = GpuProbe(); p.sample(wait_s=30);"
        " print(p.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    asked = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=False)
    pid = int(asked.stdout)
    deadline = time.monotonic() + 30
    while Path(f"/proc/{pid}/cmdline").exists() and b"gpu_probe" in Path(f"/proc/{pid}/cmdline").read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    "group",
    [
        "0::/docker/abc123\n", "0::/system.slice/docker-abc123.scope\n", "12:pids:/docker/abc123\n1:name=systemd:/x\n",
        "0::/machine.slice/libpod-abc123.scope/container\n",
        "0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-abc123.scope/container\n",
        "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-abc123.scope\n", "0::/docker/abc123/nested/below\n",
    ],
)  # fmt: skip
def test_group_of_a_container_is_known_in_every_form(tmp_path: Path, group: str) -> None:
    for pid, text in ((7, group), (8, group.replace("abc123", "fff999"))):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "cgroup").write_text(text)
    owner = Owner("r1", "abc123", proc=tmp_path)
    assert (owner.owns(7), owner.owns(8)) == (True, False)
