"""The guest on another machine reads the same GPUs with nothing but the standard library, and no driver stops it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent.sandbox import guest
from tests.gpu.fakes import FakeNvml

_PROGRAM = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
from guest.gpus import Gpus
import guest.gpus
guest.gpus.PATIENCE_S = 0.2
gpus = Gpus()
def ask():
    gpus.sample()
    time.sleep(float(sys.argv[2]))
    return gpus.sample()
print(json.dumps(ask()))
"""


def asked(nvml: FakeNvml, wait_s: float = 0.5) -> object:
    """What the guest's part answers, some time after it was asked first."""
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM, str(Path(guest.__file__).parents[1]), str(wait_s)]
    ran = subprocess.run(command, env=nvml.environment, stdout=subprocess.PIPE, check=True, timeout=60)
    return json.loads(ran.stdout)


@pytest.fixture
def nvml(tmp_path: Path) -> FakeNvml:
    """The fake."""
    return FakeNvml(tmp_path)


def test_everything_that_a_card_tells_is_read(nvml: FakeNvml) -> None:
    nvml.set(count=2, used_mib=1024, util=73, temp=61, power_mw=250_500, ecc=3, pid=7)
    found = asked(nvml)
    assert isinstance(found, list)
    assert [gpu["index"] for gpu in found] == [0, 1]
    assert found[0] == {
        "index": 0, "name": "Fake GPU 1", "uuid": f"GPU-{0:08d}-aaaa-bbbb-cccc-dddddddddddd",
        "memory_used_bytes": 1024**3, "memory_total_bytes": 40 * 1024**3,
        "utilization_percent": 73.0, "power_w": 250.5, "temperature_c": 61.0, "ecc_errors": 3, "processes": 1,
    }  # fmt: skip


@pytest.mark.parametrize("code", [1, 3, 4, 17, 18, 999])
def test_what_a_card_does_not_tell_is_left_out(nvml: FakeNvml, code: int) -> None:
    names = ("Memory", "Utilization", "Power", "Temperature", "Ecc", "Processes", "Name", "UUID", "Mig")
    nvml.set(**{f"error__{name}": code for name in names})
    assert asked(nvml) == [{"index": 0}]


def test_lost_card_is_said_to_be_lost(nvml: FakeNvml) -> None:
    nvml.set(error__Handle=15)
    assert asked(nvml) == [{"index": 0, "lost": True}]


def test_slices_are_shown_one_by_one_with_the_heat_of_their_card(nvml: FakeNvml) -> None:
    nvml.set(mig=2, error__Utilization=3, temp=70, count=2)
    found = asked(nvml)
    assert isinstance(found, list)
    assert [(gpu["index"], gpu["mig"], gpu["name"]) for gpu in found] == [
        (0, 0, "Fake MIG 101"), (0, 1, "Fake MIG 102"), (1, 0, "Fake MIG 201"), (1, 1, "Fake MIG 202"),
    ]  # fmt: skip
    assert {gpu["temperature_c"] for gpu in found} == {70.0}
    assert not any("utilization_percent" in gpu for gpu in found)


# No driver, no permission, a library of another version, an unknown one; and one that hangs.
@pytest.mark.parametrize(
    "settings",
    [{"error__Init": 9}, {"error__Init": 4}, {"error__Init": 18}, {"error__Init": 999}, {"hang__Init": 1},
     {"hang__Memory": 1}],
)  # fmt: skip
def test_driver_that_is_not_there_or_hangs_is_no_answer(nvml: FakeNvml, settings: dict[str, int]) -> None:
    nvml.set(**settings)
    assert asked(nvml) is None


@pytest.mark.parametrize("settings", [{"count": 0}, {"error__Count": 1}, {"error__Count": 999}])
def test_machine_without_gpus_has_none(nvml: FakeNvml, settings: dict[str, int]) -> None:
    nvml.set(**settings)
    assert asked(nvml) == []


def test_machine_without_the_library_has_no_gpus(nvml: FakeNvml) -> None:
    (nvml.folder / "libnvidia-ml.so.1").write_bytes(b"no library")
    assert asked(nvml) is None
