"""Several runs in one plot: told apart without colour, never mixing scales silently."""

import pytest

from agent.record import events as ev
from agent.record.values import Progress, RunSummary, Scale
from mlrb_tui.views import plot_list, plot_runs
from mlrb_tui.views.metrics import Metric
from mlrb_tui.views.plot_runs import RunsPlot
from mlrb_tui.views.rows import Row
from mlrb_tui.views.run_series import RunSeries


def run(
    name: str, losses: list[float], *, scale: Scale = "smoke", began: float = 0.0, **values: float
) -> tuple[RunSummary, RunSeries]:
    """A run that began then, and printed these losses a second apart."""
    series = RunSeries(first_at=began)
    for step, loss in enumerate(losses, 1):
        progress = Progress(step=step, values={"loss": loss, **values})
        series.take(ev.Event(seq=step, at=began + step, body=ev.ProgressSeen(call_id="c", progress=progress)))
    return RunSummary(run=name, task="mlrb/baby_lm", model="scripted", scale=scale), series


def said(rows: list[Row] | Row) -> str:
    """Rows as plain text."""
    return "\n".join("".join(span.text for span in line) for line in (rows if isinstance(rows, list) else [rows]))


def listed(plot: RunsPlot) -> str:
    """The list as plain text."""
    return said([item.text for item in plot_runs.items(plot, 40)])


def test_runs_lie_over_each_other_from_their_own_starts() -> None:
    plot = RunsPlot([run("aaaa", [3.0, 2.0]), run("bbbb", [5.0, 4.0, 3.5], began=1_000.0)])
    assert [stroke.label for stroke in plot.strokes] == ["aaaa", "bbbb"]
    assert plot.whole.high == 3
    plot.turn_axis()
    assert (plot.whole.low, plot.whole.high) == (1.0, 3.0)
    (panel,), _ = plot.panels(60, 14)
    assert {mark.text for mark in panel.marks} == {"1", "2"}


def test_the_legend_names_run_task_model_scale_value_and_best() -> None:
    plot = RunsPlot([run("aaaa", [3.0, 1.5, 2.0], scale="full"), run("bbbb", [5.0], scale="full")])
    found = listed(plot)
    for part in ("1 aaaa full", "baby_lm · scripted", "2", "best 1.5", "5"):
        assert part in found
    assert said(plot_runs.caution(plot)) == "all full"
    plot.to_edge(first=True)
    assert "step 1   1 aaaa 3   2 bbbb 5" in said(plot_runs.readout(plot))


def test_smoke_and_full_together_are_warned_of_until_one_is_hidden() -> None:
    plot = RunsPlot([run("aaaa", [3.0]), run("bbbb", [5.0], scale="full")])
    assert "can't be compared" in said(plot_runs.caution(plot))
    plot.choose("2")
    assert said(plot_runs.caution(plot)) == "smoke"
    assert [stroke.label for stroke in plot.strokes] == ["aaaa"]
    assert "hidden" in listed(plot)
    plot.choose("2")
    assert len(plot.strokes) == 2


def test_best_follows_what_the_metric_is() -> None:
    plot = RunsPlot([run("aaaa", [3.0, 1.0], eval_accuracy=0.5, lr=0.1)])
    plot.choose(Metric("eval_accuracy", "evaluation"))
    assert plot.best(plot.runs[0]) == (0.5, True)
    plot.choose(Metric("lr", "training"))
    assert plot.best(plot.runs[0]) is None


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("loss", "low"),
        ("eval_perplexity", "low"),
        ("val/acc", "high"),
        ("macro-F1", "high"),
        ("lr", ""),
        ("glossary", ""),
    ],
)
def test_which_way_is_better_is_in_the_name(name: str, better: str) -> None:
    assert Metric(name, "training").better == better


def test_a_metric_that_some_runs_lack_says_how_many_tell_it() -> None:
    plot = RunsPlot([run("aaaa", [3.0], acc=0.1), run("bbbb", [5.0])])
    assert "1 of 2" in listed(plot)
    plot.choose(Metric("acc", "training"))
    assert len(plot.strokes) == 1


def test_nothing_told_yet_is_no_trouble_and_more_than_nine_are_cut() -> None:
    plot = RunsPlot([(RunSummary(run="aaaa"), RunSeries())])
    assert plot.metric is None
    assert (plot_runs.readout(plot), plot.panels(60, 10)) == ((), ([], 0))
    assert plot_list.how(plot)
    many = RunsPlot([run(f"run{index}", [1.0]) for index in range(12)])
    assert len(many.runs) == plot_runs.MOST_RUNS
    assert len({stroke.sign for stroke in many.strokes}) == plot_runs.MOST_RUNS


def test_a_cursor_stays_on_a_point_of_what_is_drawn() -> None:
    summary, series = run("aaaa", [3.0, 2.0, 1.0])
    for step, at in ((2, 2.0), (3, 3.0)):
        progress = Progress(step=step, values={"eval_loss": float(step)})
        series.take(ev.Event(seq=9, at=at, body=ev.ProgressSeen(call_id="c", progress=progress)))
    plot = RunsPlot([(summary, series)])
    plot.to_edge(first=True)
    plot.choose(Metric("eval_loss", "evaluation"))
    assert plot.at == 2.0
