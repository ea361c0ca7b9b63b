"""Panels of GPUs, the host and the loss: compact, honest about what is not known, and loud about what is wrong."""

import math

import pytest

from agent.record import events as ev
from agent.record.summary import fold_all
from agent.record.values import Gpu, Host, Progress, RunSummary
from mlrb_tui.views import gpu_panel, host_panel, panels
from mlrb_tui.views.loss_plot import is_wide, plot
from mlrb_tui.views.panel import Shown
from mlrb_tui.views.rows import Row, width_of
from mlrb_tui.views.series import Readings, Series
from tests.logs import baby_lm, gpu_trouble

_GB = 10**9


def text(rows: list[Row]) -> str:
    return "\n".join("".join(span.text for span in line) for line in rows)


def shown(summary: RunSummary, *events: ev.Event) -> Shown:
    readings = Readings()
    for event in events:
        readings.take(event)
    return Shown(summary=summary, readings=readings, now=summary.at)


def whole(tell: list[ev.Event]) -> Shown:
    return shown(fold_all(tell), *tell)


def gpu(index: int = 0, **more: object) -> Gpu:
    values: dict[str, object] = {
        "index": index, "name": "A100", "memory_used_bytes": 30 * _GB, "memory_total_bytes": 40 * _GB,
        "utilization_percent": 95.0, "power_w": 280.0, "temperature_c": 61.0,
    }  # fmt: skip
    return Gpu(**(values | more))  # type: ignore[arg-type]


def drawn(*gpus: Gpu, width: int = 42) -> str:
    return text(gpu_panel.panels(shown(RunSummary(gpus=gpus)), width)[-1].rows)


@pytest.mark.parametrize("width", [16, 36, 42, 80])
@pytest.mark.parametrize("count", [1, 2, 4, 8, 16])
def test_any_number_of_gpus_fits(count: int, width: int) -> None:
    gpus = tuple(gpu(index, xid=79 if index == 1 else None, mig=index % 3 or None) for index in range(count))
    for panel in gpu_panel.panels(shown(RunSummary(gpus=gpus)), width):
        assert all(width_of(line) <= width for line in panel.rows)
        assert len(panel.rows) <= 9


def test_several_gpus_are_a_line_each_and_what_has_no_room_is_added_up() -> None:
    said = drawn(*(gpu(index) for index in range(4)))
    assert said.count("30.0/40 GB  95 %  280 W  61 °C") == 4
    many = drawn(*(gpu(index, xid=79 if index == 12 else None) for index in range(16)))
    assert "… 9 more: 9 busy, 270 GB, 1 faulty" in many


def test_slices_of_one_gpu_are_told_apart() -> None:
    one, other = gpu(0, mig=1, memory_used_bytes=_GB), gpu(0, mig=2, memory_used_bytes=5 * _GB)
    sampled = [ev.Event(seq=seq, at=float(seq), body=ev.GpuSampled(gpus=(one, other))) for seq in (1, 2, 3)]
    view = shown(fold_all(sampled), *sampled)
    assert view.readings.gpu_memory[0, 1].last == _GB
    assert view.readings.gpu_memory[0, 2].last == 5 * _GB
    said = text(gpu_panel.panels(view, 42)[-1].rows)
    assert [line[:3] for line in said.splitlines()] == ["0.1", "0.2"]


def test_faults_are_said_whatever_else_is_not_known() -> None:
    said = drawn(Gpu(index=0, lost=True), Gpu(index=1, xid=79), gpu(2, ecc_errors=1))
    assert "× lost: it answers no more" in said
    assert "× Xid 79" in said
    assert "1 uncorrected memory error" in said
    assert "n/a" in said
    assert "0 %" not in said
    assert "Xid 48" in text([gpu_panel.in_short((gpu(), gpu(1, xid=48)))])


def test_work_of_others_is_not_taken_for_the_runs() -> None:
    assert "in use by 2 processes of others alone" in drawn(gpu(processes=2, own_processes=0))
    assert "1 of 3 ours, 2.0 GB" in drawn(gpu(processes=3, own_processes=1, own_memory_bytes=2 * _GB))
    assert "ours" not in drawn(gpu(processes=1, own_processes=1))


def test_host_says_what_it_lacks_and_names_what_the_kernel_ended() -> None:
    host = Host(
        cpu_percent=150.0, cpu_cores=2.0, memory_used_bytes=39 * _GB, memory_limit_bytes=40 * _GB, oom_kills=2,
        disk_free_bytes=3 * _GB, disk_total_bytes=100 * _GB, net_received_bytes_s=1.5e6, net_sent_bytes_s=0.0,
        io_read_bytes_s=2e6, io_write_bytes_s=1e3, machine_cpu_percent=30.0,
    )  # fmt: skip
    small, large = host_panel.panels(shown(RunSummary(host=host)), 42)
    for part in (
        "150 % of 2 cores",
        "39.0 GB of 40.0 GB",
        "3.0 GB free of 100 GB",
        "out of memory: 2 processes killed",
    ):
        assert part in text(small.rows)
    assert "↓ 1.5 MB/s   ↑ 0 B/s" in text(large.rows)
    assert "read 2.0 MB/s   written 1.0 kB/s" in text(large.rows)
    warned = [span.text for line in small.rows for span in line if span.tone == "warn"]
    assert warned == ["39.0 GB", "3.0 GB free"]
    assert "killed" in text([host_panel.in_short(host)])


def test_host_that_tells_little_is_not_said_to_be_idle() -> None:
    said = text(host_panel.panels(shown(RunSummary(host=Host())), 42)[-1].rows)
    assert said.count("n/a") == 2
    assert "0" not in said


def test_gpu_and_host_are_both_there_where_there_is_room_and_the_host_goes_first() -> None:
    view = whole(gpu_trouble.events())
    room = text(panels.boxes(view, 46, 55))
    assert "4 gpus" in room
    assert " host " in room
    little = text(panels.boxes(view, 46, 26))
    assert "4 gpus" in little
    assert " host " not in little
    assert "alarms" in little


@pytest.mark.parametrize("height", range(0, 70, 3))
def test_panels_of_a_run_in_trouble_fit_at_any_height(height: int) -> None:
    rows = panels.boxes(whole(gpu_trouble.events()), 46, height)
    assert len(rows) <= height
    assert {width_of(line) for line in rows} <= {46}


def series(*pairs: tuple[float, float]) -> Series:
    made = Series()
    for at, value in pairs:
        made.add(value, at)
    return made


def test_loss_is_logarithmic_where_it_spans_decades_only() -> None:
    steep = series(*((float(at), 10 * math.exp(-at / 10)) for at in range(60)))
    flat = series(*((float(at), 3.0 + 1 / (at + 1)) for at in range(60)))
    assert is_wide(steep)
    assert not is_wide(flat)
    assert not is_wide(series((0.0, -1.0), (1.0, 100.0)))
    lines = text(plot(steep, Series(), 40, 9)).splitlines()
    # An exponential decay is a straight line on a logarithmic axis: at half the time it is half way down.
    assert any(
        "⠀" not in character and 18 <= lines[4].index(character) <= 30 for character in lines[4] if character > "⠀"
    )
    assert "log scale" in text(panels.boxes(whole(gpu_trouble.events()), 46, 60))
    assert "log scale" not in text(panels.boxes(whole(baby_lm.events()), 46, 60))


def test_evaluation_has_a_curve_of_its_own_at_its_own_times() -> None:
    train = series(*((float(at), 4.0 - at / 20) for at in range(50)))
    evals = series((40.0, 3.9), (49.0, 3.8))
    rows = plot(train, evals, 40, 9)
    found = [(y, span.text) for y, line in enumerate(rows) for span in line if span.tone == "eval"]
    assert found
    assert all(y <= 2 for y, _ in found)


def test_a_single_flat_value_is_drawn_and_divides_by_nothing() -> None:
    flat = series((5.0, 2.0), (5.0, 2.0), (5.0, 2.0))
    assert len(plot(flat, Series(), 30, 4)) == 4


def test_loss_that_is_only_written_into_a_file_has_its_panel_too() -> None:
    written = [
        ev.Event(seq=seq, at=float(seq), body=ev.MetricsSeen(path="tb/events", values={"loss": 9.0 / seq}))
        for seq in range(1, 9)
    ]
    view = whole(written)
    assert view.readings.loss.last == 9.0 / 8
    assert " loss" in text(panels.boxes(view, 46, 40))


def test_what_is_printed_is_not_mixed_with_what_the_same_command_writes() -> None:
    called = ev.Event(seq=1, at=1.0, body=ev.ToolCalled(call_id="c", tool="bash", summary="train"))
    printed = ev.ProgressSeen(call_id="c", progress=Progress(values={"loss": 2.0}, rate=5.0, rate_unit="it/s"))
    written = ev.MetricsSeen(path="log.jsonl", values={"loss": 7.0})
    bodies: list[ev.AnyBody] = [printed, written, printed]
    view = whole([called, *(ev.Event(seq=seq, at=float(seq), body=body) for seq, body in enumerate(bodies, 2))])
    assert view.readings.loss.values == [2.0, 2.0]
    later = ev.Event(seq=9, at=9.0, body=ev.ToolCalled(call_id="d", tool="bash", summary="other"))
    for event in (later, ev.Event(seq=10, at=10.0, body=written)):
        view.readings.take(event)
    assert view.readings.loss.values == [7.0]
