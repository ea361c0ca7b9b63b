"""The series of a run: all kinds of them, read in bounded time from a log of any length, then fed."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.log import EventReader, write_events
from agent.record.values import Gpu, Host, Progress, RunSummary, Usage
from mlrb_tui.views import run_series
from mlrb_tui.views.curves import MOST_CURVES, Curves
from mlrb_tui.views.metrics import Metric
from mlrb_tui.views.plot_run import RunPlot


def log_of(path: Path, bodies: Iterable[ev.AnyBody]) -> EventReader:
    """A reader of a log with these, a second apart."""
    write_events(path, (ev.Event(seq=seq, at=100.0 + seq, body=body) for seq, body in enumerate(bodies, 1)))
    return EventReader(path)


def loss(call: str, step: int, value: float) -> ev.ProgressSeen:
    """A line of a training."""
    return ev.ProgressSeen(
        call_id=call, progress=Progress(values={"loss": value}, step=step, rate=2.0, rate_unit="it/s")
    )


def test_every_kind_of_figure_is_there(tmp_path: Path) -> None:
    gpus = tuple(Gpu(index=0, mig=mig, memory_used_bytes=1, power_w=9.0, temperature_c=50.0, utilization_percent=3.0)
                 for mig in (None, 1))  # fmt: skip
    bodies: list[ev.AnyBody] = [
        ev.ToolCalled(call_id="c", tool="bash", summary="python train.py"),
        loss("c", 1, 3.0),
        ev.MetricsSeen(path="runs/metrics.jsonl", values={"eval_accuracy": 0.5, "grad_norm": 1.0}, training_step=1),
        ev.GpuSampled(gpus=gpus),
        ev.HostSampled(host=Host(cpu_percent=50.0, memory_used_bytes=5, disk_free_bytes=7)),
        ev.ModelAnswered(call_id="m", message_id="a", usage=Usage(input_tokens=10, output_tokens=5), cost_usd=0.25),
        ev.ModelAnswered(call_id="m", message_id="b", usage=Usage(input_tokens=10), cost_usd=None),
    ]
    with log_of(tmp_path / "events.db", bodies) as reader:
        series = run_series.read(reader)
    assert [metric.name for metric in series.metrics()] == [
        "loss", "grad_norm", "eval_accuracy", "it/s",
        "gpu 0 memory", "gpu 0 power", "gpu 0 temperature", "gpu 0 use",
        "gpu 0.1 memory", "gpu 0.1 power", "gpu 0.1 temperature", "gpu 0.1 use",
        "host cpu", "host disk free", "host memory", "cost", "tokens",
    ]  # fmt: skip
    (cost,), (tokens,) = series.curves(Metric("cost", "spent")), series.curves(Metric("tokens", "spent"))
    assert (cost.values, tokens.values) == ([0.25, 0.25], [15.0, 25.0])
    assert series.label("c") == "python train.py"
    assert series.label("runs/metrics.jsonl") == "runs/metrics.jsonl"
    assert series.first_at == 101.0
    assert not series.thinned


def test_a_long_log_is_read_thinned_and_a_stretch_of_it_whole(tmp_path: Path) -> None:
    with log_of(tmp_path / "events.db", (loss("c", step, 1.0 / step) for step in range(1, 20_001))) as reader:
        series = run_series.read(reader)
        (curve,) = series.curves(Metric("loss", "training"))
        assert series.thinned
        assert 1_000 < len(curve.values) <= 2_000
        assert curve.steps[-1] == 20_000
        plot = RunPlot(series)
        plot.put(10_000.0)
        for _ in range(6):
            plot.zoom(2.0)
        stretch = plot.wanted_stretch()
        assert stretch is not None
        near = run_series.read_closer(reader, stretch.first_at, stretch.last_at, series)
        assert near is not None
        plot.near = (stretch, near)
        assert plot.wanted_stretch() is None
        seen = [x for x in plot.strokes[0].tracks[0].xs if plot.shown.low <= x <= plot.shown.high]
        assert seen == [float(step) for step in range(int(seen[0]), int(seen[-1]) + 1)]
        assert len(seen) > 300
        # Beyond the stretch the first reading holds: nothing is lost from the axis.
        assert plot.whole.high == 20_000


def test_a_stretch_that_is_most_of_the_log_is_not_read_again(tmp_path: Path) -> None:
    with log_of(tmp_path / "events.db", (loss("c", step, 1.0) for step in range(1, 4_001))) as reader:
        series = run_series.read(reader)
        assert run_series.read_closer(reader, 101.0, 4_000.0, series) is None


def test_cost_of_very_many_calls_comes_from_the_heartbeats(tmp_path: Path) -> None:
    bodies: list[ev.AnyBody] = []
    for call in range(1, 1_201):
        bodies.append(ev.ModelAnswered(call_id="m", message_id=str(call), cost_usd=0.01))
        if call % 100 == 0:
            bodies.append(ev.Heartbeat(summary=RunSummary(cost_usd=call * 0.01, seq=len(bodies))))
    with log_of(tmp_path / "events.db", bodies) as reader:
        series = run_series.read(reader)
    (cost,) = series.curves(Metric("cost", "spent"))
    assert cost.values[0] == pytest.approx(1.0)
    assert cost.values[-1] == pytest.approx(12.0)
    assert len(cost.values) < 100


def test_new_events_go_on_where_reading_ended(tmp_path: Path) -> None:
    bodies = [loss("c", 1, 3.0), loss("c", 2, 2.0)]
    with log_of(tmp_path / "events.db", [*bodies, loss("c", 3, 1.0), ev.NoteTaken(text="x")]) as reader:
        series = run_series.read(reader, 1, 2)
        before = series.version
        run_series.take_new(reader, [series], series.last, 4)
        (curve,) = series.curves(Metric("loss", "training"))
    assert curve.values == [3.0, 2.0, 1.0]
    assert (series.last, series.version > before) == (4, True)


def test_the_newest_of_too_many_trainings_stay() -> None:
    curves = Curves()
    for number in range(MOST_CURVES + 50):
        curves.add(f"call {number}", 1.0, float(number), {"loss": 1.0})
    kept = curves.named("loss")
    assert len(kept) == MOST_CURVES
    assert kept[-1].source == f"call {MOST_CURVES + 49}"
