"""GPUs out of what `nvidia-smi` prints, however odd: what it does not tell is n/a, and nothing waits for a driver."""

import os
import time
from pathlib import Path

import pytest

from agent.sandbox import ssh
from agent.sandbox.gpu_list import GpuList, list_gpus, usable
from agent.sandbox.gpu_wish import GpuWish, parse_wish
from agent.sandbox.tunnel import bounded
from tasks.errors import UsageError
from tests.process.fake_gpus import FakeGpus, row

_LISTED = """GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-00000000-aaaa-bbbb-cccc-dddddddddddd)
  MIG 3g.20gb     Device  0: (UUID: MIG-11111111-a75d-5afc-978f-d2f1294409fd)
  MIG 2g.10gb     Device  1: (UUID: MIG-22222222-a75d-5afc-978f-d2f1294409fd)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-00000001-aaaa-bbbb-cccc-dddddddddddd)
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeGpus:
    made = FakeGpus(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{made.folder}:{os.environ['PATH']}")
    return made


def listed(within_s: float = 20.0) -> GpuList:
    """What this machine has, by the fake."""
    return list_gpus(lambda command, limit_s: ssh.output_of(bounded(command, min(limit_s, within_s)), 30.0))


def test_cards_that_tell_little_are_there_and_say_na(fake: FakeGpus) -> None:
    fake.says(row(0, used="[N/A]", total="[Not Supported]", busy="[Unknown Error]", mig="[N/A]"))
    [card] = listed().gpus
    assert (card.index, card.name) == ("0", "NVIDIA A100-SXM4-40GB")
    assert (card.memory_used_bytes, card.memory_total_bytes, card.utilization_percent) == (None, None, None)


def test_lost_card_does_not_hide_the_others(fake: FakeGpus) -> None:
    lost = "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system\n"
    fake.says(row(0) + lost + row(2), code=15)
    assert [card.index for card in listed().gpus] == ["0", "2"]


def test_sliced_card_is_had_by_its_slices_only(fake: FakeGpus) -> None:
    fake.says(row(0, mig="Enabled") + row(1), _LISTED)
    cards = {card.index: card for card in listed().gpus}
    assert list(cards) == ["1", "0:0", "0:1"]
    assert cards["0:1"].uuid == "MIG-22222222-a75d-5afc-978f-d2f1294409fd"
    assert cards["0:1"].memory_total_bytes == 10 * 1000**3
    assert cards["0:1"].memory_used_bytes is None


def test_driver_that_hangs_is_given_up_and_named(fake: FakeGpus) -> None:
    fake.cards(2)
    fake.hang()
    began_at = time.monotonic()
    found = listed(within_s=1.0)
    assert time.monotonic() - began_at < 15
    assert found.gpus == ()
    assert "driver may hang" in found.trouble


def test_driver_that_is_not_there_is_no_gpu_and_says_why(fake: FakeGpus) -> None:
    fake.says("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", code=9)
    found = listed()
    assert found.gpus == ()
    assert "communicate with the NVIDIA driver" in found.trouble


def test_machine_without_nvidia_smi_has_none_and_no_trouble(fake: FakeGpus) -> None:
    (fake.folder / "nvidia-smi").unlink()
    assert listed() == GpuList()


def test_only_gpus_that_the_file_allows_are_used(fake: FakeGpus) -> None:
    fake.says(row(0, mig="Enabled") + row(1), _LISTED)
    found = listed().gpus
    assert [card.index for card in usable(found, (0,))] == ["0:0", "0:1"]
    assert [card.index for card in usable(found, ("MIG-22222222-a75d-5afc-978f-d2f1294409fd", 1))] == ["1", "0:1"]
    assert usable(found, "none") == ()


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("2", GpuWish(count=2)), ("0", GpuWish()), ("none", GpuWish()), ("3,", GpuWish(named=("3",))),
        ("0,1", GpuWish(named=("0", "1"))), ("MIG-a-b", GpuWish(named=("MIG-a-b",))),
        ("", GpuWish(count=1, meant=False)),
    ],
)  # fmt: skip
def test_wishes_are_read_as_they_are_written(text: str, wish: GpuWish) -> None:
    assert parse_wish(text, of_task=1) == wish


@pytest.mark.parametrize("text", ["two", "-1", "0,0", ",", "1;2", "GPU-", "0:1"])
def test_wish_that_names_no_gpus_is_a_mistake(text: str) -> None:
    with pytest.raises(UsageError):
        parse_wish(text)
