"""What a real run's commands do is measured, told in its record, and alarms people and, where wished, the agent."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.alarm_settings import AlarmSettings
from tests.process.runner_runs import Runs, bash, script_line

SUBMIT = script_line("submit")


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    """A home with the probe task."""
    made = Runs.under(tmp_path)
    yield made
    made.close()


def test_loss_that_is_no_number_alarms_and_the_agent_is_reminded_with_its_next_message(runs: Runs) -> None:
    script = [bash("echo 'step 3/20 loss nan'"), bash("echo 'step 1/20 loss 2.5'; sleep 1"), SUBMIT]
    run = runs.start(script, alarms=AlarmSettings(remind=("diverged",)))
    assert run.ended().outcome == "submitted"
    alerts = [body for body in run.bodies(ev.AlertRaised) if body.alert == "diverged"]
    assert [alert.message for alert in alerts] == ["the loss is not a finite number"]
    assert [body.alert for body in run.bodies(ev.AlertCleared)] == ["diverged"]
    assert "diverged" not in {alert.alert for alert in run.summary().standing}
    (told,) = [body for body in run.bodies(ev.MessageAdded) if "automatic reminder" in run.text(body.text)]
    assert (told.origin, told.role, told.request_id) == ("harness", "user", None)
    asked = run.bodies(ev.ModelAsked)[1]
    assert asked.message_ids[-1].endswith(told.message_id)


def test_metrics_and_weights_that_a_command_writes_are_seen_with_their_step(runs: Runs) -> None:
    command = """
mkdir -p out; echo '{"text": "data"}' > data.jsonl
for step in 1 2 3; do
  echo "{\\"step\\": $step, \\"loss\\": 0.$step, \\"val_acc\\": NaN}" >> out/metrics.jsonl
  echo "step $step/3 loss 0.$step"
done
head -c 5000 /dev/zero > out/model.pt
until [ -e enough ]; do sleep 0.1; done
"""
    run = runs.start([bash(command), SUBMIT])
    seen = run.wait_for(ev.CheckpointSeen)
    assert (seen.path, seen.size_bytes, seen.training_step) == ("out/model.pt", 5000, 3)
    run.wait_for(ev.MetricsSeen, count=3)
    (run.folder.work / "enough").touch()
    run.ended()
    found = [(body.path, body.training_step, body.values, body.diverged) for body in run.bodies(ev.MetricsSeen)]
    assert found == [("out/metrics.jsonl", step, {"loss": step / 10}, ("eval_accuracy",)) for step in (1, 2, 3)]


def test_file_that_is_not_the_agents_to_change_is_watched(runs: Runs) -> None:
    run = runs.start([bash("touch began; chmod u+w rules.txt; sleep 3; echo cheat >> rules.txt; sleep 600"), SUBMIT])
    alert = run.wait_for(ev.AlertRaised, lambda body: body.alert == "touched")
    assert alert.message.endswith("rules.txt")


def test_what_a_quick_command_leaves_just_before_the_end_is_seen(runs: Runs) -> None:
    command = """
mkdir -p out/best; head -c 5000 /dev/zero > out/best/model.safetensors
echo '{"epoch": 1.0, "global_step": 77, "log_history": []}' > out/best/trainer_state.json
mkfifo metrics.jsonl; ln -s /etc/passwd other.jsonl; echo '{"step": 1, "loss": 9.0}' > a.jsonl; chmod 0 a.jsonl
echo '{"step": 1, "loss": 2.0}' > b.jsonl; chmod u+w rules.txt; echo cheat >> rules.txt
"""
    run = runs.start([bash("true"), bash(command), SUBMIT])
    run.ended()
    (seen,) = run.bodies(ev.CheckpointSeen)
    assert (seen.path, seen.training_step) == ("out/best/model.safetensors", 77)
    assert "b.jsonl" in [body.path for body in run.bodies(ev.MetricsSeen)]
    assert "touched" in {body.alert for body in run.bodies(ev.AlertRaised)}


def test_alarm_that_is_off_is_not_raised(runs: Runs) -> None:
    run = runs.start([bash("echo 'loss nan'"), bash("true"), SUBMIT], alarms=AlarmSettings(off=("diverged",)))
    run.ended()
    assert "diverged" not in {body.alert for body in run.bodies(ev.AlertRaised)}


def test_calls_that_cannot_be_run_alarm(runs: Runs) -> None:
    run = runs.start([bash("true"), *[script_line("no_such_tool")] * 3, SUBMIT])
    run.ended()
    assert [body.refused for body in run.bodies(ev.ToolFinished)][:4] == [False, True, True, True]
    assert "malformed" in {body.alert for body in run.bodies(ev.AlertRaised)}


def test_sample_of_the_host_tells_disk_and_machine(runs: Runs) -> None:
    run = runs.start([bash("sleep 600"), SUBMIT])
    host = run.wait_for(ev.HostSampled).host
    assert host.disk_total_bytes is not None
    assert host.disk_free_bytes is not None
    assert 0 < host.disk_free_bytes <= host.disk_total_bytes
    assert host.machine_memory_total_bytes is not None
    assert host.oom_kills is None
