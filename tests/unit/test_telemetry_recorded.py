"""What real trainers printed gives the series that it must; and when all of it is done is told in time."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.values import Progress
from agent.telemetry.output_lines import telling
from agent.telemetry.progress import read_line
from agent.telemetry.training import Training
from tests.logs.training.recorded import expected, logs, progress_events, series_of

_PUBLISHED = Path(__file__).parents[3] / "shared" / "inputs" / "mlgym"


@pytest.mark.parametrize("log", logs(), ids=lambda log: log.stem)
def test_recorded_output_gives_its_series(log: Path) -> None:
    assert series_of(log.read_text()) == expected(log)


def test_every_format_has_a_recorded_output() -> None:
    assert {log.stem for log in logs()} == {
        "transformers", "tqdm", "nanogpt", "lightning", "keras", "keras_lines", "json_lines", "key_value",
        "transformers_tokens",
    }  # fmt: skip


def test_losses_that_a_published_run_printed_are_read() -> None:
    found = sorted(_PUBLISHED.glob("*languageModelingFineWeb*/*.traj"))
    if not found:
        pytest.skip("the published runs are not at hand")
    output = found[0].read_text().replace("\\n", "\n")
    series = series_of(output)
    assert len(series["loss"]) > 400
    assert min(value for _, value in series["eval_loss"]) < 5


def seen_by(lines: list[str], line_s: float) -> list[Progress]:
    """What lines that come at that pace say, each completed by those before."""
    return [
        event.body.progress
        for event in progress_events("\n".join(lines), line_s)
        if isinstance(event.body, ev.ProgressSeen)
    ]


def test_end_of_the_command_is_told_where_the_output_tells_none() -> None:
    seen = seen_by([f"step {step}/100 loss 2.0" for step in range(1, 21)], 10.0)
    assert seen[-1].eta_s is None
    assert seen[-1].command_eta_s == pytest.approx(800.0)


def test_bar_of_one_epoch_is_not_taken_for_the_whole_command() -> None:
    lines = [
        f"epochs:  0%|  | {n}/10 [0{n}:00<{10 - n:02}:00, 60.00s/it]\nstep:  50%|##   | 5/10 [00:30<00:30, 1.00s/it]"
        for n in range(3)
    ]
    assert seen_by(lines, 1.0)[-1].command_eta_s == pytest.approx(479.0, abs=2)


def test_epochs_ahead_count_into_the_end() -> None:
    lines = []
    for epoch in (1, 2):
        lines.append(f"Epoch {epoch}/10")
        lines += [f"{step}/4 ━━━━━ 0s 10s/step - loss: 1.0" for step in (1, 2, 3, 4)]
    last = seen_by(lines, 10.0)[-1]
    assert (last.epoch, last.epochs) == (2, 10)
    assert last.command_eta_s == pytest.approx(400.0, rel=0.15)


def test_figures_are_not_crowded_out_by_the_bars_between_them() -> None:
    bars = [Progress(step=step, total=90) for step in range(40)]
    told = Progress(values={"eval_loss": 1.0})
    assert telling([*bars, told, *bars], 5) == [told, bars[-1]]


@pytest.mark.parametrize("read", [read_line, lambda line: Training().see(read_line(line) or Progress(), 0.0)])
@pytest.mark.parametrize(
    "line",
    [
        "\x1b[" * 45_000 + "loss=1", "1/2 " + "━" * 90_000 + " 1s 1ms/step - loss: 1", "1/2 [" * 20_000 + "1ms/step",
        "epoch" * 18_000 + " 1/2", "tokens per iteration" + " " * 90_000 + "1", "a_per_s" * 13_000 + "=1 loss",
        "1/0 [00:01<00:01, 1.0it/s]",
        "tok/s=1e999 loss=1", "0/0 ━ 0s 0us/step - loss: nan", "ep 5%|:" * 12_000 + "1/2 [00:01<?",
        "1/2 " + "━" * 90_000 + " 1s", ("━" * 150 + " " * 150) * 300, "loss nan " * 10_000,
        "best val " * 10_000 + "loss nan",
    ],
)  # fmt: skip
def test_hostile_line_does_no_harm(line: str, read: Callable[[str], object]) -> None:
    benign = "step 1200/8000  loss 3.41  18.2 k tok/s  eta 41 m and some more words"
    began = time.process_time()
    for _ in range(2_000):
        read(benign)
    reference = time.process_time() - began
    began = time.process_time()
    read(line)
    assert time.process_time() - began < max(reference, 0.02)
