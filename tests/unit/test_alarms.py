"""Each alarm is raised by what it is for, says why, holds while that holds, and not by its innocent neighbours."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from agent.record import events as ev
from agent.record.alarm_settings import Alarm, AlarmSettings
from agent.record.values import Gpu, Host, Limits, Progress, RunSummary
from agent.runner.alarms.base import Conditions, DataFound, FilesTouched, Heard, Moment, Rule
from agent.runner.alarms.conduct import MalformedCalls, SameAction, Touched
from agent.runner.alarms.gpu import GpuIdle, GpuSilent, GpuTrouble
from agent.runner.alarms.machine import DiskNearlyFull, MemoryNearlyFull, OutOfMemory
from agent.runner.alarms.training import Diverged, LittleData, NoCheckpoint, TooSlow
from agent.runner.alarms.watching import Alarms, rules
from tests.unit.runner_parts import Desk

GIB = 1024**3
SETTINGS = AlarmSettings()
CONDITIONS = Conditions(SETTINGS, command_timeout_s=36_000.0)


def called(call_id: str = "c", **arguments: object) -> ev.ToolCalled:
    """A command begins."""
    return ev.ToolCalled(call_id=call_id, tool="bash", arguments=arguments, summary="python train.py")


def finished(call_id: str = "c", exit_code: int | None = 0, **more: object) -> ev.ToolFinished:
    """It ends."""
    return ev.ToolFinished(call_id=call_id, message_id="m", exit_code=exit_code, **more)  # type: ignore[arg-type]


def gpus(*percents: float | None, **more: object) -> ev.GpuSampled:
    """A sample."""
    found = (Gpu(index=index, utilization_percent=each, **more) for index, each in enumerate(percents))  # type: ignore[arg-type]
    return ev.GpuSampled(gpus=tuple(found))


def loss(
    value: float | None = None, *, diverged: tuple[str, ...] = (), call_id: str = "c", **more: object
) -> ev.ProgressSeen:
    """A line with a loss."""
    values = {} if value is None else {"loss": value}
    return ev.ProgressSeen(call_id=call_id, progress=Progress(values=values, diverged=diverged, **more))  # type: ignore[arg-type]


def raised(
    rule: Rule,
    heard: Sequence[tuple[float, ev.Body | FilesTouched | DataFound]],
    now: float,
    left_s: float | None = None,
) -> str:
    """Why the rule is troubled at `now`; empty where it is not."""
    for at, each in heard:
        rule.hear(cast(Heard, each), at)
    trouble = rule.trouble(Moment(now, RunSummary(), left_s))
    if trouble is None:
        return ""
    assert trouble.hint
    return trouble.why


def test_gpu_that_idles_while_a_command_runs() -> None:
    rule = GpuIdle(CONDITIONS)
    idle = [(0.0, gpus(0.0)), (500.0, called()), (700.0, gpus(1.0))]
    assert raised(rule, idle, 799.0) == ""
    assert raised(rule, [], 801.0) == "the GPU has been idle for 5 min while a command runs"
    assert raised(rule, [(802.0, gpus(90.0))], 900.0) == ""
    assert raised(rule, [(903.0, gpus(0.0)), (904.0, finished())], 9_000.0) == ""


@pytest.mark.parametrize("sample", [gpus(None), gpus(0.0, 50.0), gpus()], ids=["n/a", "one of two works", "none"])
def test_gpu_that_may_well_work_is_not_called_idle(sample: ev.GpuSampled) -> None:
    assert raised(GpuIdle(CONDITIONS), [(0.0, called()), (0.0, sample)], 9_000.0) == ""


def test_gpu_that_only_others_keep_busy_idles_for_this_run() -> None:
    assert raised(GpuIdle(CONDITIONS), [(0.0, called()), (0.0, gpus(99.0, own_processes=0))], 400.0)


def test_time_that_a_command_stood_frozen_is_not_idle() -> None:
    heard: list[tuple[float, Heard]] = [(0.0, called()), (0.0, gpus(0.0)), (5_000.0, ev.RunResumed(by="ann"))]
    assert raised(GpuIdle(CONDITIONS), heard, 5_100.0) == ""


def test_gpu_busy_without_a_word() -> None:
    rule = GpuSilent(CONDITIONS)
    output = ev.ToolOutput(call_id="c", text="x")
    assert raised(rule, [(0.0, called()), (1.0, gpus(80.0)), (100.0, output)], 1_899.0) == ""
    assert raised(rule, [], 1_901.0) == "the GPU is busy and the command has printed nothing for 30 min"
    assert raised(rule, [(1_902.0, output)], 1_903.0) == ""
    assert raised(rule, [(1_904.0, gpus(0.0))], 9_000.0) == ""


def test_gpu_that_is_lost_or_faulty() -> None:
    assert raised(GpuTrouble(CONDITIONS), [(0.0, gpus(1.0)), (1.0, gpus(None, lost=True))], 2.0) == (
        "gpu 0 is lost: it answers no more"
    )
    assert raised(GpuTrouble(CONDITIONS), [(0.0, gpus(1.0, xid=79))], 2.0) == "gpu 0 reported Xid 79"
    old_errors = [(0.0, gpus(1.0, ecc_errors=7)), (1.0, gpus(1.0, ecc_errors=7))]
    rule = GpuTrouble(CONDITIONS)
    assert raised(rule, old_errors, 2.0) == ""
    assert "2 memory errors" in raised(rule, [(3.0, gpus(1.0, ecc_errors=9))], 3.0)


def test_loss_that_is_no_number() -> None:
    rule = Diverged(CONDITIONS)
    assert raised(rule, [(0.0, loss(2.0)), (1.0, loss(diverged=("loss",)))], 1.0) == "the loss is not a finite number"
    # The training that failed so has ended; it stays said until another one has a loss.
    assert raised(rule, [(2.0, finished(exit_code=1))], 3.0)
    assert raised(rule, [(4.0, loss(2.0, call_id="d"))], 4.0) == ""
    assert raised(rule, [(5.0, ev.MetricsSeen(path="m.jsonl", diverged=("loss",)))], 5.0)


def test_loss_that_explodes() -> None:
    falling = [(float(step), loss(8.0 / (1 + step))) for step in range(20)]
    rule = Diverged(CONDITIONS)
    assert raised(rule, falling, 20.0) == ""
    assert raised(rule, [(20.0, loss(90.0))], 20.0) == ""
    rising = [(21.0 + step, loss(30.0)) for step in range(3)]
    assert raised(rule, rising, 25.0).startswith("the loss has exploded: 30, it was 0.4")
    assert raised(rule, [(30.0 + step, loss(1.0)) for step in range(3)], 33.0) == ""


@pytest.mark.parametrize(
    "values",
    [[0.01, 0.02, 0.05] * 8, [4.0 - 0.5 * step for step in range(30)], [2.0, 5.0, 1.0, 4.0] * 6],
    ids=["noise near zero", "below zero", "noise"],
)
def test_loss_that_only_jitters_does_not_explode(values: list[float]) -> None:
    assert raised(Diverged(CONDITIONS), [(float(n), loss(value)) for n, value in enumerate(values)], 99.0) == ""


def test_same_action_again_and_again() -> None:
    rule = SameAction(CONDITIONS)
    assert raised(rule, [(float(n), called(command="ls")) for n in range(4)], 4.0) == ""
    assert raised(rule, [(5.0, called(command="ls"))], 5.0) == "the same bash call 5 times in a row"
    assert raised(rule, [(6.0, called(command="pwd"))], 6.0) == ""


def test_malformed_calls() -> None:
    rule = MalformedCalls(CONDITIONS)
    assert raised(rule, [(float(n), finished(refused=n % 2 == 0, exit_code=None)) for n in range(4)], 4.0) == ""
    assert (
        raised(rule, [(5.0, finished(refused=True, exit_code=None))], 5.0) == "3 of the last 5 calls could not be run"
    )
    assert raised(rule, [(float(n), finished()) for n in range(6, 16)], 16.0) == ""
    rejected = [(float(n), finished(refused=True, rejected_by="ann")) for n in range(20, 30)]
    assert raised(rule, rejected, 30.0) == ""


def test_disk_nearly_full_is_cleared_only_well_above_the_threshold() -> None:
    rule = DiskNearlyFull(CONDITIONS)

    def free(percent: float) -> list[tuple[float, Heard]]:
        return [(0.0, ev.HostSampled(host=Host(disk_free_bytes=int(percent * GIB), disk_total_bytes=100 * GIB)))]

    assert raised(rule, free(5.1), 0.0) == ""
    assert raised(rule, free(4.0), 0.0) == "the disk is nearly full: 4.0 GB of 100.0 GB are free"
    assert raised(rule, free(5.2), 0.0)
    assert raised(rule, free(6.0), 0.0) == ""


def test_memory_nearly_full_and_none_where_there_is_no_limit() -> None:
    rule = MemoryNearlyFull(CONDITIONS)
    high = Host(memory_used_bytes=95 * GIB // 10, memory_limit_bytes=10 * GIB)
    assert raised(rule, [(0.0, ev.HostSampled(host=high))], 0.0) == "memory is nearly full: 9.5 GB of 10.0 GB"
    assert raised(rule, [(1.0, ev.HostSampled(host=Host(memory_used_bytes=99 * GIB)))], 1.0) == ""


def test_process_that_the_kernel_ended_is_told_once_for_sample_and_command() -> None:
    rule = OutOfMemory(CONDITIONS)
    assert raised(rule, [(0.0, finished(exit_code=137, oom_kills=1))], 0.0) == (
        "out of memory: the kernel ended a process of the sandbox"
    )
    counted = ev.HostSampled(host=Host(oom_kills=1))
    assert "ended a process" in raised(rule, [(1.0, counted)], 1.0)
    assert raised(rule, [(2.0, finished(exit_code=0)), (3.0, counted)], 3.0) == ""
    assert raised(rule, [(4.0, ev.HostSampled(host=Host(oom_kills=3)))], 4.0).endswith("2 processes of the sandbox")


def test_no_checkpoint_near_the_deadline() -> None:
    training = [(0.0, called()), (1.0, loss(2.0))]
    rule = NoCheckpoint(CONDITIONS)
    assert raised(rule, training, 1_900.0, left_s=3_700.0) == ""
    assert raised(rule, [], 1_900.0, left_s=3_500.0) == "no checkpoint for 32 min, with 58 min left"
    assert raised(rule, [(1_901.0, ev.CheckpointSeen(path="a.pt", size_bytes=9))], 1_902.0, left_s=3_500.0) == ""
    assert raised(rule, [(9_000.0, finished()), (9_001.0, called("d"))], 19_000.0, left_s=10.0) == ""
    assert raised(NoCheckpoint(CONDITIONS), training, 9_000.0, left_s=None) == ""


def test_command_that_will_not_be_done_in_time() -> None:
    rule = TooSlow(CONDITIONS)
    slow = [(0.0, called()), (100.0, loss(2.0, command_eta_s=5_000.0))]
    assert raised(rule, slow, 100.0, left_s=6_000.0) == ""
    assert raised(rule, [], 100.0, left_s=4_000.0) == "the command needs 83 min more and the run's limit leaves 67 min"
    assert raised(rule, [(200.0, loss(1.0, command_eta_s=100.0))], 200.0, left_s=4_000.0) == ""
    own = [(0.0, called(timeout_s=600)), (100.0, loss(2.0, command_eta_s=5_000.0))]
    assert raised(TooSlow(CONDITIONS), own, 100.0, left_s=6_000.0).endswith("its time-out leaves 8 min")
    early = [(0.0, called()), (30.0, loss(2.0, command_eta_s=9_000.0))]
    assert raised(TooSlow(CONDITIONS), early, 30.0, left_s=4_000.0) == ""


THERE: list[tuple[float, Heard]] = [(0.0, DataFound(10_000_000.0)), (1.0, called())]
SLIVER = ev.MetricsSeen(path="training.jsonl", values={"loss": 2.0, "tokens": 6_000.0})
TOLD = "the training consumed about 6,000 tokens of the 10,000,000 that there are"


def test_training_that_saw_a_sliver_of_its_data() -> None:
    rule = LittleData(CONDITIONS)
    assert raised(rule, [*THERE, (2.0, SLIVER)], 3.0) == ""
    assert raised(rule, [(400.0, finished())], 400.0) == TOLD
    enough = [(500.0, called()), (501.0, loss(2.0, tokens_per_step=16_384.0, step=600)), (900.0, finished())]
    assert raised(rule, enough, 901.0) == ""
    by_speed = [*THERE, (10.0, loss(2.0, rate=1_000.0, rate_unit="tok/s")), (410.0, finished())]
    assert "400,000 tokens" in raised(LittleData(CONDITIONS), by_speed, 411.0)
    no_training = [*THERE, (2.0, ev.MetricsSeen(path="x", values={"tokens": 5.0})), (400.0, finished())]
    assert raised(LittleData(CONDITIONS), no_training, 401.0) == ""


def test_short_trial_is_told_of_only_where_no_training_follows() -> None:
    rule = LittleData(CONDITIONS)
    assert raised(rule, [*THERE, (2.0, SLIVER), (3.0, finished())], 4.0) == ""
    assert raised(rule, [(5.0, called()), (6.0, finished())], 6.0) == ""
    real = [(7.0, called()), (8.0, loss(2.0, tokens_per_step=16_384.0, step=600)), (9.0, finished())]
    assert raised(rule, [*real, *[(10.0, each) for each in (called(), finished()) * 5]], 20.0) == ""
    assert raised(rule, [(21.0, called()), (22.0, SLIVER), (23.0, finished())], 24.0) == ""
    assert raised(rule, [(25.0, each) for each in (called(), finished()) * 3], 26.0) == TOLD


def test_short_training_that_is_handed_in_was_no_trial() -> None:
    submit = ev.ToolCalled(call_id="d", tool="submit", arguments={}, summary="")
    heard: list[tuple[float, Heard]] = [*THERE, (2.0, SLIVER), (3.0, finished()), (4.0, submit)]
    assert raised(LittleData(CONDITIONS), heard, 4.0) == TOLD


def test_training_that_loaded_a_sliver_of_the_data_is_told_of_while_it_runs() -> None:
    rule = LittleData(CONDITIONS)
    first = loss(2.0, data_tokens=6_000.0, tokens_per_step=16_384.0, step=1)
    assert raised(rule, [*THERE, (4.0, first)], 5.0) == ""
    assert raised(rule, [], 70.0) == "the training has loaded 6,000 tokens of about 10,000,000 that there are"
    # A thousand times the same is no more.
    last = loss(2.0, data_tokens=6_000.0, tokens_per_step=16_384.0, step=1_000)
    assert raised(rule, [(300.0, last), (400.0, finished())], 401.0) == TOLD
    whole = [(500.0, called()), (501.0, loss(2.0, data_tokens=9e6)), (900.0, finished())]
    assert raised(rule, whole, 901.0) == ""


def test_steps_of_all_epochs_count_as_consumed() -> None:
    heard: list[tuple[float, Heard]] = [
        (0.0, DataFound(1_000_000.0)),
        (1.0, called()),
        (2.0, loss(2.0, tokens_per_step=1_000.0, step=50, total=100, epoch=3, epochs=3)),
        (403.0, finished()),
    ]
    assert raised(LittleData(CONDITIONS), heard, 404.0) == ""


def test_file_that_is_not_the_agents_is_touched() -> None:
    rule = Touched(CONDITIONS)
    touched = FilesTouched(("evaluate.py", "data/test.csv"))
    assert raised(rule, [(0.0, touched)], 0.0).endswith("not the agent's to change: evaluate.py, data/test.csv")
    assert raised(rule, [(1.0, FilesTouched(()))], 1.0) == ""


def test_every_alarm_has_a_rule_and_can_be_off() -> None:
    names = set(Alarm.__args__)  # type: ignore[attr-defined]
    assert {rule.alarm for rule in rules(CONDITIONS)} == names
    assert rules(Conditions(AlarmSettings(off=tuple(names)), 1.0)) == []


class Watched:
    """Alarms on a real journal, with what they would tell the agent."""

    def __init__(self, folder: Path, settings: AlarmSettings = SETTINGS) -> None:
        self.desk = Desk(folder, Limits(time_s=600.0))
        self.told: list[str] = []
        self.alarms = Alarms(self.desk.journal, Conditions(settings, 60.0), self.told.append)
        self.desk.journal.listeners.append(self.alarms.hear)

    def alerts(self) -> list[str]:
        """What was raised and cleared, in order."""
        return [
            f"{'+' if isinstance(body, ev.AlertRaised) else '-'}{body.alert}"
            for body in self.desk.bodies()
            if isinstance(body, ev.AlertRaised | ev.AlertCleared)
        ]


def test_alarm_is_raised_once_and_cleared_once(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    for number in range(8):
        watched.desk.journal.append(called(f"c{number}", command="ls"))
        watched.alarms.look()
    assert watched.alerts() == ["+loop"]
    assert watched.desk.journal.summary.last_alert == "the same bash call 5 times in a row"
    watched.desk.journal.append(called("d", command="pwd"))
    watched.alarms.look()
    assert watched.alerts() == ["+loop", "-loop"]
    summary = watched.desk.journal.summary
    assert (summary.standing, summary.last_alert, summary.alerts) == ((), "", 1)


def test_agent_is_reminded_only_of_what_was_wished(tmp_path: Path) -> None:
    watched = Watched(tmp_path, AlarmSettings(remind=("diverged",)))
    watched.desk.journal.append(loss(diverged=("loss",)))
    for number in range(5):
        watched.desk.journal.append(called(f"c{number}", command="ls"))
    (told,) = watched.told
    assert "not from a person" in told
    assert "The loss is not a finite number." in told


def test_run_that_is_taken_up_does_not_forget_that_a_file_was_touched(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.alarms.hear(FilesTouched(("rules.txt",)))
    watched.desk.journal.append(loss(diverged=("loss",)))
    watched.desk.journal.listeners.clear()
    Alarms(watched.desk.journal, CONDITIONS, watched.told.append).look()
    assert watched.alerts() == ["+touched", "+diverged", "-diverged"]
