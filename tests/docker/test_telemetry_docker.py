"""A container's use is the container's own, and a process that the kernel ended for want of memory is named as such."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.alarm_settings import AlarmSettings
from tests.process.runner_runs import Runs, bash, script_line


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    """A home with the probe task, whose containers have one GB."""
    made = Runs.under(tmp_path)
    yield made
    made.close()


def test_process_that_ran_out_of_memory_is_named_in_result_and_alarm(runs: Runs) -> None:
    hungry = 'python3 -c "x = bytearray(1_200_000_000); x[::4096] = bytes(len(x[::4096]))"'
    run = runs.start(
        [bash(hungry), bash("head -c 3000000 /dev/zero > f; sync; sleep 3"), script_line("submit")], sandbox="docker"
    )
    assert run.ended().outcome == "submitted"
    killed, well, _ = run.bodies(ev.ToolFinished)
    assert (killed.exit_code, killed.oom_kills, well.oom_kills) == (137, 1, 0)
    assert "out of memory: the sandbox's memory limit was reached" in run.text(killed.observation)
    (alert,) = [body for body in run.bodies(ev.AlertRaised) if body.alert == "out_of_memory"]
    assert alert.message == "out of memory: the kernel ended a process of the sandbox"
    assert "out_of_memory" in {body.alert for body in run.bodies(ev.AlertCleared)}
    host = run.bodies(ev.HostSampled)[-1].host
    assert host.oom_kills == 1
    assert host.memory_limit_bytes == 1024**3
    assert (host.net_received_bytes_s, host.net_sent_bytes_s) == (0.0, 0.0)
    assert host.io_write_bytes_s is not None
    assert host.disk_free_bytes is not None


def test_shell_itself_that_ran_out_of_memory_is_named_and_the_next_command_runs(runs: Runs) -> None:
    hungry = "echo begins; x=$(head -c 1300000000 /dev/zero | tr '\\0' x); echo ${#x}"
    run = runs.start([bash(hungry), bash("echo goes on"), script_line("submit")], sandbox="docker")
    assert run.ended().outcome == "submitted"
    killed, well, _ = run.bodies(ev.ToolFinished)
    assert killed.exit_code != 0
    assert killed.oom_kills >= 1
    assert "out of memory: the sandbox's memory limit was reached" in run.text(killed.observation)
    assert run.text(well.observation).startswith("goes on\n[exit code 0")
    assert "out_of_memory" in {body.alert for body in run.bodies(ev.AlertRaised)}


def test_child_that_ran_out_of_memory_is_named_though_its_command_goes_on(runs: Runs) -> None:
    hungry = "python3 -c 'x = bytearray(1_200_000_000); x[::4096] = bytes(len(x[::4096]))' || echo it failed; sleep 2"
    run = runs.start([bash(f"({hungry}) ; true"), script_line("submit")], sandbox="docker")
    assert run.ended().outcome == "submitted"
    killed = run.bodies(ev.ToolFinished)[0]
    assert (killed.exit_code, killed.oom_kills) == (0, 1)
    assert "out of memory" in run.text(killed.observation)
    assert "out_of_memory" in {body.alert for body in run.bodies(ev.AlertRaised)}


def test_memory_that_is_nearly_full_alarms_before_anything_is_killed(runs: Runs) -> None:
    holds = "python3 -c 'import time; x = bytearray(300_000_000); x[::4096] = bytes(len(x[::4096])); time.sleep(600)'"
    run = runs.start([bash(holds), script_line("submit")], sandbox="docker", alarms=AlarmSettings(memory_percent=20.0))
    alert = run.wait_for(ev.AlertRaised, lambda body: body.alert == "memory")
    assert alert.message.startswith("memory is nearly full: ")
    assert alert.message.endswith(" of 1.0 GB")
    assert not [body for body in run.bodies(ev.AlertRaised) if body.alert == "out_of_memory"]
