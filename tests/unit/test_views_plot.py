"""What a plot shows: smoothing, logarithms of what has none, values that are no number, cursor, zoom."""

import math
from itertools import pairwise

import pytest

from agent.record import events as ev
from agent.record.values import Gpu, Progress
from mlrb_tui.views import plot_list
from mlrb_tui.views.curves import MOST_POINTS, Curve, Curves
from mlrb_tui.views.metrics import Metric
from mlrb_tui.views.plot_panels import Look as PlotLook
from mlrb_tui.views.plot_panels import Picture, column_of, laid_over, panels, share_of
from mlrb_tui.views.plot_run import RunPlot
from mlrb_tui.views.plot_scale import Scale, fitted, ticks, time_ticks
from mlrb_tui.views.plot_tracks import Track, Window, ema, lines, thinned
from mlrb_tui.views.rows import Span, row
from mlrb_tui.views.run_series import RunSeries

NAN = math.nan
LOSS = Metric("loss", "training")


def told(
    *points: tuple[int, float], call: str = "c", at: float = 0.0, more: dict[str, float] | None = None
) -> list[ev.Event]:
    """A training that prints a loss a second; NaN as the record holds it."""
    return [
        ev.Event(
            seq=int(at) + index, at=at + index,
            body=ev.ProgressSeen(call_id=call, progress=Progress(
                step=step, values={**(more or {}), **({} if math.isnan(loss) else {"loss": loss})},
                diverged=("loss",) if math.isnan(loss) else (),
            )),
        )
        for index, (step, loss) in enumerate(points, 1)
    ]  # fmt: skip


def plot_of(*events: ev.Event) -> RunPlot:
    """The plot of a run with these events."""
    series = RunSeries()
    for event in events:
        series.take(event)
    return RunPlot(series)


# ── smoothing ────────────────────────────────────────────────────────────────────────────────────────────


def test_average_starts_at_the_first_value_and_not_at_zero() -> None:
    assert ema([5.0, 5.0, 5.0], 0.9) == pytest.approx([5.0, 5.0, 5.0])


def test_average_is_tensorboards() -> None:
    # 0.4 * 1 / 0.4, (0.6 * 0.4 * 1 + 0.4 * 2) / (1 - 0.36), …
    assert ema([1.0, 2.0, 3.0], 0.6) == pytest.approx([1.0, 1.625, 2.326531], rel=1e-6)


def test_average_goes_on_after_a_value_that_is_no_number() -> None:
    smooth = ema([1.0, NAN, 3.0], 0.5)
    assert math.isnan(smooth[1])
    assert smooth[2] == pytest.approx(7 / 3)


def test_smoothing_keeps_what_was_told_behind_it() -> None:
    plot = plot_of(*told((1, 4.0), (2, 2.0), (3, 3.0)))
    plot.smoother(3)
    (panel,), _ = plot.panels(60, 12)
    assert [line.tone for line in panel.picture.lines] == ["dim", "info"]
    assert "~" in text(plot_list.readout(plot))


def test_running_sums_are_not_smoothed() -> None:
    series = RunSeries(spent=(0.0, 0))
    for at in (1.0, 2.0, 3.0):
        series.take(ev.Event(seq=int(at), at=at, body=ev.ModelAnswered(call_id="c", message_id="m", cost_usd=1.0)))
    plot = RunPlot(series)
    plot.only(Metric("cost", "spent"))
    plot.smoother(5)
    assert [point for track in plot.strokes[0].tracks for point in track.smooth] == [1.0, 2.0, 3.0]


# ── axes ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_log_leaves_out_what_has_no_logarithm_and_says_so() -> None:
    plot = plot_of(*told((1, 10.0), (2, 0.0), (3, -1.0), (4, 0.1)))
    plot.log = True
    (panel,), _ = plot.panels(60, 14)
    assert panel.scale.log
    assert "2 not above zero, not shown" in text(panel.heading)
    assert sum(len(line.points) for line in panel.picture.lines) == 2


def test_log_of_nothing_above_zero_is_drawn_linear_and_says_so() -> None:
    plot = plot_of(*told((1, -3.0), (2, 0.0)))
    plot.log = True
    (panel,), _ = plot.panels(60, 14)
    assert not panel.scale.log
    assert "nothing above zero" in text(panel.heading)


@pytest.mark.parametrize("values", [[1e308, -1e308], [5e-324, 1e-320], [0.0], [3.0, 3.0], [NAN, math.inf], [], [1e308]])
@pytest.mark.parametrize("log", [False, True])
def test_extreme_values_have_an_axis(values: list[float], log: bool) -> None:
    scale = fitted(values, log=log)
    for value in (value for value in values if math.isfinite(value) and (value > 0 or not scale.log)):
        assert -1e-6 <= scale.share(value) <= 1.1
    for count in (2, 3, 8):
        found = ticks(scale, count)
        assert len(found) <= max(count, 3)
        assert all(math.isfinite(value) for value in found)


def test_ticks_are_round_and_few() -> None:
    assert ticks(Scale(0.0, 10.0), 6) == [0, 2, 4, 6, 8, 10]
    assert ticks(Scale(0.9, 110.0, log=True), 5) == [1, 10, 100]
    assert time_ticks(Scale(0.0, 7_300.0), 5) == [0, 1800, 3600, 5400, 7200]


def test_values_that_are_no_number_are_marked_at_their_step() -> None:
    plot = plot_of(*told((1, 2.0), (2, NAN), (3, 1.0)))
    (panel,), _ = plot.panels(60, 12)
    assert [(mark.x, mark.y, mark.text) for mark in panel.marks] == [(0.5, 1.0, "×")]
    assert "1 nan/inf" in text(panel.heading)
    assert [len(line.points) for line in panel.picture.lines] == [1, 1]
    plot.move(-1)
    assert "nan/inf" in text(plot_list.readout(plot))


def test_a_step_beyond_all_numbers_is_none() -> None:
    curves = Curves()
    for event in told((10**400, 1.0), (5, 2.0)):
        curves.take(event)
    (curve,) = curves.named("loss")
    assert (curve.steps, curve.values) == ([1.0, 5.0], [1.0, 2.0])


def test_nan_is_kept_when_points_are_thinned() -> None:
    curve = Curve("c", "loss")
    for step in range(4 * MOST_POINTS):
        curve.add(step, float(step), NAN if step > 4 * MOST_POINTS - 3 else 1.0)
    assert len(curve.values) <= MOST_POINTS + 1
    assert math.isnan(curve.values[-1])


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────


def test_lines_are_cut_at_the_edges_of_the_window() -> None:
    found = list(lines([-1.0, 1.0, 3.0], [0.0, 1.0, 0.0]))
    assert found == [[(0.0, 0.5), (1.0, 1.0)]]


def test_a_line_that_only_crosses_the_window_is_drawn() -> None:
    assert list(lines([-1.0, 2.0], [0.0, 1.0])) == [[(0.0, 1 / 3), (1.0, 2 / 3)]]


def test_lines_stop_where_steps_start_anew() -> None:
    assert [len(line) for line in lines([0.0, 0.5, 0.0, 0.5], [1.0, 0.5, 0.9, 0.4])] == [2, 2]


def test_thinning_keeps_the_extremes() -> None:
    line = [(index / 10_000, 0.5) for index in range(10_000)]
    line[5_003] = (0.5003, 1.0)
    kept = thinned(line, 100)
    assert len(kept) <= 400
    assert (0.5003, 1.0) in kept
    assert all(a[0] <= b[0] for a, b in pairwise(kept))


def test_every_column_has_a_share_that_leads_back_to_it() -> None:
    for columns in (1, 2, 57, 120):
        assert [column_of(share_of(column, columns), columns) for column in range(columns)] == list(range(columns))


def test_upright_lines_stand_behind_curves_and_marks_on_top() -> None:
    picture = Picture(8, 3, (), (), (), False)
    drawn = [row("│⣀⣀"), row("│"), row("└───")]
    over = laid_over(drawn, picture, (), {1: Span("│", "cursor"), 4: Span("│", "cursor")})
    assert [text(line) for line in over[:2]] == ["│⣀⣀  │  ", "│ │  │  "]


# ── cursor, zoom ─────────────────────────────────────────────────────────────────────────────────────────


def test_cursor_goes_from_point_to_point_and_follows_at_the_end() -> None:
    plot = plot_of(*told((1, 3.0), (2, 2.0), (3, 1.0)))
    assert (plot.cursor, plot.at) == (None, 3.0)
    plot.move(-1)
    assert plot.at == 2.0
    plot.to_edge(first=True)
    plot.move(-1)
    assert plot.at == 1.0
    plot.move(5)
    assert plot.cursor is None
    plot.series.take(told((4, 0.5), at=9.0)[0])
    assert plot.at == 4.0


def test_zoom_keeps_the_cursor_in_sight_and_ends_at_all_there_is() -> None:
    plot = plot_of(*told(*((step, 1.0 / step) for step in range(1, 101))))
    plot.put(30.0)
    for _ in range(3):
        plot.zoom(2.0)
    window = plot.shown
    assert window.low <= 30.0 <= window.high
    assert window.span == pytest.approx(99 / 8)
    plot.pan(10.0)
    assert plot.shown.high == 100.0
    plot.move(-1)
    assert plot.shown.low <= plot.at <= plot.shown.high  # type: ignore[operator]
    for _ in range(5):
        plot.zoom(0.5)
    assert plot.window is None


def test_zoom_never_leaves_all_points_behind() -> None:
    plot = plot_of(*told((1, 1.0), (100, 2.0)))
    for _ in range(50):
        plot.zoom(2.0)
    assert plot.shown.span > 0
    plot.panels(60, 12)


def test_window_at_the_end_goes_on_with_new_points() -> None:
    plot = plot_of(*told(*((step, 1.0) for step in range(1, 101))))
    plot.zoom(4.0)
    plot.series.take(told((150, 1.0), at=500.0)[0])
    plot.follow()
    assert plot.shown.high == 150.0


def test_no_points_are_no_trouble() -> None:
    plot = plot_of()
    for act in (plot.fit, plot.turn_axis, plot.follow, lambda: plot.move(1), lambda: plot.move_part(0.1),
                lambda: plot.zoom(2), lambda: plot.pan(1), lambda: plot.to_edge(first=True)):  # fmt: skip
        act()
    assert plot.panels(60, 12) == ([], 0)
    assert plot_list.items(plot, 30) == []
    assert plot_list.readout(plot) == ()


# ── what is drawn ────────────────────────────────────────────────────────────────────────────────────────


def test_loss_and_its_evaluation_share_an_axis_and_others_have_their_own() -> None:
    plot = plot_of(*told((1, 3.0), (2, 2.0), more={"eval_loss": 2.5, "lr": 0.1}))
    assert [metric.name for metric in plot.chosen] == ["loss", "eval_loss"]
    plot.toggle(Metric("lr", "training"))
    found, left_out = plot.panels(60, 24)
    assert [panel.heading[0].text for panel in found] == ["loss", "lr"]
    assert left_out == 0
    assert plot.panels(60, 6)[1] == 1


def test_what_has_no_steps_is_drawn_over_time() -> None:
    gpu = ev.Event(seq=9, at=9.0, body=ev.GpuSampled(gpus=(Gpu(index=0, utilization_percent=50.0),)))
    plot = plot_of(*told((1, 3.0), (2, 2.0)), gpu)
    assert plot.without_steps is None
    plot.toggle(Metric("gpu 0 use", "gpu"))
    assert plot.axis == "time"
    assert "gpu 0 use has no steps" in text(plot_list.how(plot))


def test_newest_training_over_steps_and_all_of_them_over_time() -> None:
    plot = plot_of(*told((1, 3.0), (2, 2.0), call="a"), *told((1, 5.0), (2, 4.0), call="b", at=10.0))
    assert [track.source for track in plot.strokes[0].tracks] == ["b"]
    plot.turn_axis()
    assert [track.source for track in plot.strokes[0].tracks] == ["a", "b"]
    plot.step_training(-1)
    assert [track.source for track in plot.strokes[0].tracks] == ["b"]
    plot.step_training(-1)
    assert [track.source for track in plot.strokes[0].tracks] == ["a"]
    plot.step_training(1)
    plot.step_training(1)
    assert plot.training is None


def test_training_before_the_newest_is_one_key_away() -> None:
    plot = plot_of(*told((1, 3.0), call="a"), *told((1, 5.0), call="b", at=10.0))
    plot.step_training(-1)
    assert plot.shown_training == "a"
    plot.step_training(-1)
    assert plot.shown_training == "a"
    plot.step_training(1)
    assert plot.shown_training == "b"


def test_moment_of_the_run_is_found_in_its_training() -> None:
    plot = plot_of(*told((1, 3.0), (2, 2.0), call="a"), *told((1, 5.0), (2, 4.0), call="b", at=10.0))
    plot.stand_at(2.5)
    assert (plot.shown_training, plot.at) == ("a", 2.0)


def test_ninth_series_is_the_last() -> None:
    plot = plot_of(*told((1, 3.0), (2, 2.0), more={f"m{index}": 1.0 for index in range(12)}))
    taken = [plot.toggle(metric) for metric in plot.metrics() if metric not in plot.chosen]
    assert taken.count(True) == 8
    assert len({stroke.sign for stroke in plot.strokes}) == 9


def test_series_of_one_panel_are_told_apart_without_colour() -> None:
    plot = plot_of(*told((1, 3.0), (2, 2.0), (3, 1.0), more={"eval_loss": 2.5}))
    (panel,), _ = plot.panels(60, 12)
    assert {mark.text for mark in panel.marks} == {"1", "2"}


def test_hostile_names_are_one_printable_line_wherever_they_stand() -> None:
    name = "[/bold]\x1b[31m\x00" + "x" * 90_000 + "\ud800"
    plot = plot_of(*told((1, 3.0), (2, 2.0), more={name: 1.0}))
    plot.only(Metric(name, "training"))
    found, _ = plot.panels(60, 12)
    said = text(found[0].heading) + text(plot_list.readout(plot)) + text(plot_list.how(plot))
    said += "".join(text(item.text) for item in plot_list.items(plot, 30))
    assert "\x1b" not in said
    assert "\x00" not in said
    assert len(said) < 1_000


def test_a_picture_is_the_same_for_the_same_state() -> None:
    track = Track(Curve("c", "loss", [1.0, 2.0], [1.0, 2.0], [3.0, 4.0], has_steps=True), "step", 0.0, 0.0)
    plot = plot_of(*told((1, 3.0), (2, 4.0)))
    assert track.xs == [1.0, 2.0]
    first, _ = panels(plot.strokes, Window(1.0, 2.0), PlotLook(), 60, 12)
    again, _ = panels(plot.strokes, Window(1.0, 2.0), PlotLook(), 60, 12)
    assert first[0].picture == again[0].picture
    assert hash(first[0].picture) == hash(again[0].picture)


def test_the_other_axis_keeps_the_moment_under_the_cursor() -> None:
    plot = plot_of(*told((10, 3.0), (20, 2.0), (30, 1.0)))
    plot.put(20.0)
    plot.turn_axis()
    assert plot.at == 2.0
    plot.turn_axis()
    assert plot.at == 20.0


def text(line: tuple[Span, ...]) -> str:
    """A row as plain text."""
    return "".join(span.text for span in line)
