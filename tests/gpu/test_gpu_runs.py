"""A run on a machine with GPUs: they are in its record and its ledger, and a driver that hangs holds nothing up."""

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.alarm_settings import AlarmSettings
from agent.record.inbox import Kill
from tests.gpu.fakes import FakeNvml
from tests.process.fake_gpus import FakeGpus
from tests.process.runner_runs import Run, Runs, bash, script_line

pytestmark = pytest.mark.skipif(importlib.util.find_spec("pynvml") is None, reason="nvidia-ml-py is not installed")


@pytest.fixture
def nvml(tmp_path: Path) -> FakeNvml:
    """Made-up GPUs."""
    folder = tmp_path / "nvml"
    folder.mkdir()
    return FakeNvml(folder)


@pytest.fixture
def runs(tmp_path: Path, nvml: FakeNvml) -> Iterator[Runs]:
    """Runs that meet them."""
    made = Runs.under(tmp_path)
    made.environment |= {name: nvml.environment[name] for name in ("LD_LIBRARY_PATH", "FAKE_NVML")}
    made.environment["PATH"] = f"{tmp_path}/bin:{os.environ['PATH']}"
    FakeGpus(tmp_path / "bin").cards(4)
    yield made
    made.close()


def shown(run: Run) -> dict[str, object]:
    """`mlrb show --json`."""
    command = [sys.executable, "-m", "mlrb_tui.cli", "show", run.folder.run, "--json"]
    environment = run.runs.environment
    out = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout
    found: dict[str, object] = json.loads(out)
    return found


def test_gpu_hours_of_a_run_and_its_commands_are_shown(runs: Runs, nvml: FakeNvml) -> None:
    nvml.set(count=2, util=90)
    run = runs.start(
        [bash("until [ -e enough ]; do sleep 0.1; done"), script_line("submit")], gpus="2", gpu_usd_per_hour=2.0
    )
    run.wait_for(ev.GpuSampled, lambda body: len(body.gpus) == 2)
    nvml.set(count=2, util=0)
    idle = run.wait_for(ev.GpuSampled, lambda body: body.gpus[0].utilization_percent == 0.0)
    assert idle.gpus[1].name == "Fake GPU 2"
    (run.folder.work / "enough").touch()
    run.ended()
    found = shown(run)
    hours, commands = found["gpu_hours"], found["gpu_commands"]
    assert isinstance(hours, dict)
    assert isinstance(commands, list)
    assert hours["reserved"] > hours["busy"] > 0
    assert hours["idle"] > 0
    assert hours["cost_usd"] == pytest.approx(2 * hours["reserved"], rel=0.01)
    assert commands[0]["command"].startswith("until")
    assert 0 < commands[0]["gpu_hours"]["reserved"] <= hours["reserved"]


def test_run_is_shown_the_gpus_that_it_was_given_and_no_others(runs: Runs, nvml: FakeNvml) -> None:
    nvml.set(count=4, util=90)
    named = runs.start([bash("echo got $CUDA_VISIBLE_DEVICES; sleep 600"), script_line("submit")], gpus="2,")
    any_two = runs.start([bash("sleep 600"), script_line("submit")], gpus="2")
    for run in (named, any_two):
        given = run.wait_for(ev.RunPlaced).gpus
        assert tuple(gpu.uuid for gpu in run.wait_for(ev.GpuSampled).gpus) == given
    assert [gpu.index for gpu in named.bodies(ev.GpuSampled)[0].gpus] == [2]
    assert named.wait_for(ev.RunPlaced).gpus[0] not in any_two.wait_for(ev.RunPlaced).gpus


def test_run_that_was_given_no_gpu_is_shown_none_and_measures_none(runs: Runs, nvml: FakeNvml) -> None:
    runs.environment["CUDA_VISIBLE_DEVICES"] = "0"
    run = runs.start([bash("echo [$CUDA_VISIBLE_DEVICES]; sleep 3"), script_line("submit")])
    assert run.ended().outcome == "submitted"
    assert "".join(run.text(body.text) for body in run.bodies(ev.ToolOutput)) == "[]\n"
    assert run.bodies(ev.GpuSampled) == []
    assert run.summary().gpu_held_s == 0.0


def test_price_of_the_machine_comes_before_that_of_the_settings(runs: Runs, nvml: FakeNvml) -> None:
    (runs.home.path / "hosts.toml").write_text("[local]\ncost_per_hour = 7.5\n")
    run = runs.start([bash("true"), script_line("submit")], gpus="1", gpu_usd_per_hour=2.0)
    run.ended()
    assert run.summary().gpu_usd_per_hour == 7.5


def test_gpu_that_idles_under_a_command_alarms_and_is_cleared(runs: Runs, nvml: FakeNvml) -> None:
    nvml.set(util=0)
    run = runs.start([bash("sleep 600"), script_line("submit")], gpus="1", alarms=AlarmSettings(gpu_idle_s=1.5))
    assert "idle" in run.wait_for(ev.AlertRaised, lambda body: body.alert == "gpu_idle").message
    nvml.set(util=80)
    run.wait_for(ev.AlertCleared, lambda body: body.alert == "gpu_idle")


def test_gpu_that_works_without_a_word_alarms_until_the_command_prints(runs: Runs, nvml: FakeNvml) -> None:
    nvml.set(util=90)
    command = "until [ -e enough ]; do sleep 0.1; done; while sleep 0.2; do echo on; done"
    run = runs.start([bash(command), script_line("submit")], gpus="1", alarms=AlarmSettings(gpu_silent_s=1.5))
    assert "printed nothing" in run.wait_for(ev.AlertRaised, lambda body: body.alert == "gpu_silent").message
    (run.folder.work / "enough").touch()
    run.wait_for(ev.AlertCleared, lambda body: body.alert == "gpu_silent")


def test_driver_that_hangs_holds_up_neither_the_run_nor_its_end(runs: Runs, nvml: FakeNvml) -> None:
    run = runs.start([bash("until [ -e enough ]; do sleep 0.1; done"), script_line("submit")], gpus="1")
    run.wait_for(ev.GpuSampled)
    nvml.set(hang__Utilization=1)
    run.wait_for(ev.GpuSampled, lambda body: body.gpus[0].memory_used_bytes is None)
    (run.folder.work / "enough").touch()
    assert run.ended().outcome == "submitted"


def test_lost_card_alarms(runs: Runs, nvml: FakeNvml) -> None:
    run = runs.start([bash("sleep 600"), script_line("submit")], gpus="1")
    run.wait_for(ev.GpuSampled)
    nvml.set(error__Handle=15)
    assert "gpu 0 is lost" in run.wait_for(ev.AlertRaised, lambda body: body.alert == "gpu_trouble").message


def test_kill_says_of_a_lost_card_that_nothing_is_proven_and_does_not_wait_for_it(runs: Runs, nvml: FakeNvml) -> None:
    run = runs.start([bash("sleep 600"), script_line("submit")], gpus="1")
    run.wait_for(ev.GpuSampled)
    nvml.set(error__Handle=15)
    run.wait_for(ev.GpuSampled, lambda body: body.gpus[0].lost)
    run.post(Kill())
    assert run.ended().outcome == "killed"
    proof = run.bodies(ev.ProofFound)[-1]
    assert (proof.what, proof.proven, proof.detail) == ("gpu memory", False, "gpu 0 is lost")


@pytest.mark.parametrize("function", ["Utilization", "Init"])
def test_kill_under_a_driver_that_hangs_is_prompt_and_claims_nothing(runs: Runs, nvml: FakeNvml, function: str) -> None:
    run = runs.start([bash("sleep 600"), script_line("submit")], gpus="1")
    run.wait_for(ev.GpuSampled)
    nvml.set(**{f"hang__{function}": 1})
    began = time.monotonic()
    run.post(Kill())
    run.wait_for(ev.ProofFound, lambda body: body.what != "gpu memory" and body.proven)
    assert time.monotonic() - began < 5
    assert run.ended().outcome == "killed"
    assert time.monotonic() - began < 25
    proof = run.bodies(ev.ProofFound)[-1]
    assert (proof.what, proof.proven) == ("gpu memory", False)
    assert "does not answer" in proof.detail
