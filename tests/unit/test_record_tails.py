"""The series that a summary carries for sparklines: bounded, of one training, true to its course."""

from itertools import pairwise

from agent.record import events as ev
from agent.record.summary import fold, fold_all
from agent.record.tails import BUSY_TAIL, LOSS_TAIL
from agent.record.values import Gpu, Host, Progress, RunSummary


def loss(at: float, value: float, call: str = "c") -> ev.Event:
    """A line of a training."""
    return ev.Event(seq=1, at=at, body=ev.ProgressSeen(call_id=call, progress=Progress(values={"loss": value})))


def gpu(at: float, percent: float | None) -> ev.Event:
    """A sample of a run's GPU."""
    return ev.Event(seq=1, at=at, body=ev.GpuSampled(gpus=(Gpu(index=0, utilization_percent=percent),)))


def host(at: float, percent: float) -> ev.Event:
    """A sample of a sandbox with two cores."""
    return ev.Event(seq=1, at=at, body=ev.HostSampled(host=Host(cpu_percent=percent, cpu_cores=2.0)))


def test_a_long_training_keeps_its_whole_course_and_its_newest_loss() -> None:
    summary = RunSummary()
    for step in range(5_000):
        summary = fold(summary, loss(step * 0.1, 5_000.0 - step))
        assert len(summary.loss_tail) <= LOSS_TAIL
        assert summary.loss_tail[-1] == 5_000.0 - step
    tail = summary.loss_tail
    assert len(tail) >= LOSS_TAIL // 2
    assert tail[0] > 4_500.0
    steps = [before - after for before, after in pairwise(tail)]
    assert max(steps[:-1]) <= 2 * min(steps[:-1])


def test_a_short_training_is_kept_as_it_is() -> None:
    assert fold_all(loss(at, at) for at in (1.0, 2.0, 3.0)).loss_tail == (1.0, 2.0, 3.0)


def test_the_next_training_starts_anew() -> None:
    ended = ev.Event(seq=2, at=2.5, body=ev.ToolFinished(call_id="c", message_id="m"))
    assert fold_all([loss(1.0, 9.0), loss(2.0, 8.0), ended, loss(3.0, 5.0, "d")]).loss_tail == (5.0,)


def test_of_two_trainings_at_a_time_one_is_shown() -> None:
    both = [loss(at, float(at), call) for at in range(1, 6) for call in ("c", "d")]
    assert fold_all(both).loss_tail == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert fold_all([*both, loss(60.0, 7.0, "d")]).loss_tail == (7.0,)


def test_how_busy_it_was_is_one_value_for_each_quarter_of_a_minute() -> None:
    summary = fold_all(gpu(at, 10.0 + at) for at in (0.0, 5.0, 14.0, 15.0, 16.0, 31.0))
    assert summary.busy_tail == (24.0, 26.0, 41.0)
    summary = fold_all(gpu(at * 15.0, 50.0) for at in range(100))
    assert len(summary.busy_tail) == BUSY_TAIL


def test_cores_count_only_where_there_is_no_gpu() -> None:
    assert fold_all([host(0.0, 100.0), host(20.0, 500.0)]).busy_tail == (50.0, 100.0)
    assert fold_all([host(0.0, 100.0), gpu(1.0, 7.0), host(30.0, 100.0)]).busy_tail == (7.0,)
    assert fold_all([gpu(1.0, None), host(30.0, 100.0)]).busy_tail == ()
