"""Alarms in real runs: what must raise each of them does, and an ordinary training raises none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.alarm_settings import AlarmSettings
from agent.record.values import Limits
from tests.process.runner_runs import Run, Runs, bash, script_line

SUBMIT = script_line("submit")
_TRAINS = "for step in 1 2 3; do echo step $step/3 loss 0.$((9 - step)); done; until [ -e enough ]; do sleep 0.1; done"


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    """A home with the probe task."""
    made = Runs.under(tmp_path)
    yield made
    made.close()


def alerts(run: Run) -> set[str]:
    """The names of those that it raised."""
    return {body.alert for body in run.bodies(ev.AlertRaised)}


def test_same_command_again_and_again(runs: Runs) -> None:
    run = runs.start([*[bash("ls")] * 5, SUBMIT])
    run.ended()
    assert alerts(run) == {"loop"}


def test_disk_that_is_nearly_full(runs: Runs) -> None:
    run = runs.start([bash("sleep 600"), SUBMIT], alarms=AlarmSettings(disk_free_percent=100.0))
    assert "disk is nearly full" in run.wait_for(ev.AlertRaised, lambda body: body.alert == "disk").message


def test_training_without_a_checkpoint_near_the_end_until_it_writes_one(runs: Runs) -> None:
    run = runs.start(
        [bash(f"{_TRAINS}; head -c 5000 /dev/zero > step_3.pt; sleep 600"), SUBMIT],
        alarms=AlarmSettings(checkpoint_age_s=1.0, checkpoint_left_s=9_000.0), limits=Limits(time_s=600.0, steps=9),
    )  # fmt: skip
    assert "no checkpoint for" in run.wait_for(ev.AlertRaised, lambda body: body.alert == "no_checkpoint").message
    (run.folder.work / "enough").touch()
    run.wait_for(ev.AlertCleared, lambda body: body.alert == "no_checkpoint")
    assert run.bodies(ev.CheckpointSeen)[0].training_step == 3


def test_training_on_a_sliver_of_the_data_that_is_handed_in(runs: Runs) -> None:
    # The starter's files are the data here: a few tokens, of which one was loaded.
    command = "echo Training on 0.1 tokens; echo step 1/2 loss 2; echo step 2/2 loss 1"
    run = runs.start([bash(command), SUBMIT], alarms=AlarmSettings(data_share=0.5))
    run.ended()
    assert alerts(run) == {"little_data"}


def test_ordinary_work_raises_nothing(runs: Runs) -> None:
    downloads = (
        "printf 'a.bin:  45%%|##  | 45M/100M [00:10<00:12, 4.5MB/s]\\r'; echo '  loss = 0.0'; echo if loss is nan"
    )
    training = (
        "for step in 1 2 3 4 5 6 7 8; do echo step $step/8 loss 0.$((9 - step)) eta 1s; done; "
        "head -c 5000 /dev/zero > a.pt"
    )
    run = runs.start([bash(downloads), bash(training), bash("false"), SUBMIT])
    run.ended()
    assert alerts(run) == set()
    steps = [body.progress.step for body in run.bodies(ev.ProgressSeen)]
    assert steps == list(range(1, 9))
