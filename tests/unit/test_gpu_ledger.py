"""GPU-hours add up: what is held and not used is idle, and what nobody sampled is never called busy."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.gpu_time import SAMPLE_HOLDS_S, gpu_time_at, of_run, total
from agent.record.ledger import of_commands
from agent.record.log import EventReader, write_events
from agent.record.summary import fold_all
from agent.record.values import Gpu, Limits, RunSummary
from mlrb_tui.views.blocks import Called
from mlrb_tui.views.detail import document_of
from mlrb_tui.views.now import at_moment
from mlrb_tui.views.run import RunView


def numbered(timed: list[tuple[float, ev.AnyBody]]) -> Iterator[ev.Event]:
    """Events at these times."""
    created = ev.RunCreated(
        run="r", task="t", scale="smoke", scaffold="react", model="m", sandbox="local", seed=0, limits=Limits(),
        gpu_usd_per_hour=3.6,
    )  # fmt: skip
    first: list[tuple[float, ev.AnyBody]] = [(0.0, created), (0.0, ev.RunStarted(pid=1, host="h"))]
    for seq, (at, body) in enumerate([*first, *timed], start=1):
        yield ev.Event(seq=seq, at=1_000.0 + at, body=body)


def sample(*percents: float, **more: object) -> ev.GpuSampled:
    """One of these GPUs."""
    found = (Gpu(index=index, utilization_percent=each, **more) for index, each in enumerate(percents))  # type: ignore[arg-type]
    return ev.GpuSampled(gpus=tuple(found))


def seconds(summary: RunSummary) -> tuple[float, float]:
    """Held and busy."""
    return summary.gpu_held_s, summary.gpu_busy_s


def test_each_gpu_counts_by_itself() -> None:
    summary = fold_all(numbered([(10.0, sample(90.0, 0.0)), (40.0, sample(0.0, 0.0)), (50.0, ev.StepStarted())]))
    assert seconds(summary) == (80.0, 30.0)


def test_gpu_is_reserved_from_when_it_was_given_though_nobody_can_read_it() -> None:
    placed = ev.RunPlaced(host="box", gpus=("GPU-1", "GPU-2"), cost_per_hour=7.2)
    summary = fold_all(numbered([(10.0, placed), (20.0, ev.StepStarted()), (30.0, sample(90.0, 90.0))]))
    assert seconds(summary) == (40.0, 0.0)
    assert of_run(summary).cost_usd == pytest.approx(40 / 3600 * 7.2, abs=1e-6)


def test_time_that_nobody_sampled_is_held_and_not_busy() -> None:
    later = 10.0 + SAMPLE_HOLDS_S + 500.0
    summary = fold_all(numbered([(10.0, sample(90.0)), (20.0, ev.StepStarted()), (later, ev.StepStarted())]))
    assert seconds(summary) == (SAMPLE_HOLDS_S + 500.0, SAMPLE_HOLDS_S)


def test_gpu_that_others_keep_busy_is_idle_for_this_run() -> None:
    assert seconds(fold_all(numbered([(0.0, sample(99.0, own_processes=0)), (9.0, ev.StepStarted())]))) == (9.0, 0.0)


def test_time_between_two_runners_is_nobodys_and_an_ended_run_holds_nothing() -> None:
    resumed = ev.RunStarted(pid=2, host="h", resumed=True)
    timed: list[tuple[float, ev.AnyBody]] = [
        (0.0, sample(90.0)), (10.0, ev.StepStarted()), (5_000.0, resumed), (5_010.0, ev.RunEnded(outcome="killed")),
    ]  # fmt: skip
    summary = fold_all(numbered(timed))
    assert summary.gpu_held_s == 20.0
    assert gpu_time_at(summary, 99_999.0) == {}


def test_command_pays_for_what_it_held() -> None:
    timed: list[tuple[float, ev.AnyBody]] = [
        (0.0, sample(0.0)),
        (3_600.0, ev.ToolCalled(call_id="a", tool="bash", summary="python train.py")),
        (3_600.0, sample(80.0)),
        (3_640.0, sample(82.0)),
        (3_660.0, ev.ToolOutput(call_id="a", text="x")),
        (3_680.0, ev.ToolFinished(call_id="a", message_id="m", exit_code=0)),
        (7_200.0, ev.RunEnded(outcome="submitted")),
    ]
    events = list(numbered(timed))
    (command,) = of_commands(events)
    assert (command.command, command.seconds) == ("python train.py", 80.0)
    assert command.gpu_hours.busy == command.gpu_hours.reserved == pytest.approx(80 / 3600, abs=1e-6)
    run = of_run(fold_all(events))
    assert (run.reserved, run.cost_usd) == (2.0, 7.2)
    assert run.idle == pytest.approx(2.0 - run.busy)
    assert of_commands(event for event in events if not isinstance(event.body, ev.ToolOutput)) == [command]


def test_price_of_the_machine_goes_before_the_price_in_general() -> None:
    hour: list[tuple[float, ev.AnyBody]] = [
        (0.0, ev.ToolCalled(call_id="a", tool="bash", summary="train")),
        (0.0, sample(90.0)),
        (3_600.0, ev.ToolFinished(call_id="a", message_id="m", exit_code=0)),
    ]
    for cost, paid in ((1.5, 1.5), (0.0, 0.0), (None, 3.6)):
        events = list(numbered([(0.0, ev.RunPlaced(host="box", cost_per_hour=cost)), *hour]))
        assert of_run(fold_all(events)).cost_usd == paid
        assert of_commands(events)[0].gpu_hours.cost_usd == paid


def test_total_of_runs_counts_only_known_prices() -> None:
    runs = [RunSummary(gpu_held_s=3600.0, gpu_usd_per_hour=2.0), RunSummary(gpu_held_s=7200.0, gpu_busy_s=3600.0)]
    whole = total(runs)
    assert (whole.reserved, whole.busy, whole.idle, whole.cost_usd) == (3.0, 1.0, 2.0, 2.0)
    assert total([]).cost_usd is None


def test_command_that_is_opened_shows_what_it_held_and_cost(tmp_path: Path) -> None:
    timed: list[tuple[float, ev.AnyBody]] = [
        (0.0, sample(0.0)),
        (3_600.0, ev.ToolCalled(call_id="a", tool="bash", summary="python train.py")),
        (3_600.0, sample(80.0)),
        (3_620.0, sample(0.0)),
        (3_680.0, ev.ToolFinished(call_id="a", message_id="m", exit_code=0)),
        (9_000.0, ev.RunEnded(outcome="submitted")),
    ]
    write_events(tmp_path / "events.db", numbered(timed))
    with EventReader(tmp_path / "events.db") as reader:
        view = RunView(reader)
        block = next(block for block in view.transcript.blocks if isinstance(block, Called))
        whole = document_of(reader, block, view.newest).whole()
        assert "GPU time reserved 1 m 20 s, busy 20 s, idle 1 m 00 s, $0.08" in whole
        running = dataclasses.replace(block, finished=False)
        assert "reserved 20 s, busy 20 s, idle 0 s, $0.02 so far" in document_of(reader, running, 6).whole()
    (command,) = of_commands(numbered(timed))
    assert command.gpu_hours.reserved == pytest.approx(80 / 3600, abs=1e-6)


def test_sums_of_a_live_run_go_on_between_its_events() -> None:
    summary = fold_all(numbered([(0.0, sample(80.0)), (10.0, ev.StepStarted())]))
    later = at_moment(summary, 1_040.0)
    assert seconds(later) == (40.0, 40.0)
    assert seconds(at_moment(summary, 1_500.0)) == (500.0, 60.0)
