"""Progress is read out of the lines that trainers really print, and no line is slow or fatal."""

import time

import msgspec
import pytest

from agent.record.values import Progress
from agent.telemetry.progress import read_line
from agent.telemetry.training import Training


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "step 1200/8000  loss 3.41  18.2 k tok/s  eta 41 m",
            Progress(values={"loss": 3.41}, step=1200, total=8000, rate=18200.0, rate_unit="tok/s", eta_s=2460.0),
        ),
        (
            "{'loss': 2.34, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 0.5}",
            Progress(values={"loss": 2.34, "grad_norm": 1.2, "lr": 5e-05, "epoch": 0.5}),
        ),
        (
            "{'eval_loss': '1.5', 'eval_samples_per_second': '20', 'epoch': '1'}",
            Progress(values={"eval_loss": 1.5, "epoch": 1.0}),
        ),
        (
            " 45%|####5     | 450/1000 [00:12<00:15, 36.10it/s, loss=2.3]",
            Progress(values={"loss": 2.3}, step=450, total=1000, rate=36.1, rate_unit="it/s", eta_s=15.0),
        ),
        (
            "  3%|3         | 3/100 [00:12<10:15,  2.50s/it]",
            Progress(step=3, total=100, rate=0.4, rate_unit="it/s", eta_s=615.0),
        ),
        ("  0%|          | 0/100 [00:00<?, ?it/s]", Progress(step=0, total=100)),
        ("iter 100: loss 3.2104, time 234.56ms, mfu 12.3%", Progress(values={"loss": 3.2104, "mfu": 12.3}, step=100)),
        ("step 250: train loss 2.1, val loss 2.2", Progress(values={"loss": 2.1, "eval_loss": 2.2}, step=250)),
        ('{"step": 5, "loss": 1.25, "val_acc": 0.5}', Progress(values={"loss": 1.25, "eval_accuracy": 0.5}, step=5)),
        ("Epoch 1/3 step 20/100 acc=0.91", Progress(values={"accuracy": 0.91}, step=20, total=100, epoch=1, epochs=3)),
        ("epoch 2/3 lr: 1e-3", Progress(values={"lr": 0.001}, step=2, total=3, epoch=2, epochs=3)),
        ("ETA: 0:12:30 score 3", Progress(values={"score": 3.0}, eta_s=750.0)),
        ("eta 1h02m loss=0.42857142857142855", Progress(values={"loss": 0.42857142857142855}, eta_s=3720.0)),
        ("Processed 1,234 samples/sec, step=77", Progress(step=77, rate=1234.0, rate_unit="samples/s")),
    ],
)
def test_line_of_a_trainer_is_understood(line: str, expected: Progress) -> None:
    assert read_line(line) == expected


@pytest.mark.parametrize(
    ("line", "diverged"),
    [
        ("step 3/20 loss nan", ("loss",)),
        ("{'loss': nan, 'grad_norm': inf, 'learning_rate': 5e-05}", ("loss", "grad_norm")),
        ("train loss: -Infinity, val loss NaN", ("loss", "eval_loss")),
        (" 45%|####5     | 450/1000 [00:12<00:15, 36.10it/s, loss=nan]", ("loss",)),
        (" 45%|####5     | 450/1000 [00:12<00:15, 36.10it/s, loss=1e999]", ("loss",)),
        ("loss=1e999", ("loss",)),
        ("loss=1e250", ()),
        ("loss information: nan seen", ()),
    ],
)
def test_loss_that_is_no_number_is_kept_as_a_fact_that_survives_json(line: str, diverged: tuple[str, ...]) -> None:
    progress = read_line(line) or Progress()
    assert progress.diverged == diverged
    assert msgspec.json.decode(msgspec.json.encode(progress), type=Progress) == progress


@pytest.mark.parametrize(
    "line",
    [
        "",
        "hello world",
        "drwxr-xr-x 2 root root 4096 step",
        "n=5 seed=3",
        "https://x.y/step/5?eta=",
        "loss nanosecond",
        "eta",
    ],
)
def test_line_that_tells_nothing_gives_nothing(line: str) -> None:
    assert read_line(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "=" * 100_000, "1" * 100_000 + "=", "a=1" * 30_000, " " * 90_000 + "loss", "1," * 30_000 + "/s",
        "0:" * 30_000 + "eta", "step " * 20_000, "loss " + "9" * 5_000, "\ud800loss=1\x00", "eta " + "1h" * 9_000,
        "loss=1e999", "step 99999999999999999999/1 loss=1",
    ],
)  # fmt: skip
def test_hostile_line_is_neither_fatal_nor_slow(line: str) -> None:
    benign = "step 1200/8000  loss 3.41  18.2 k tok/s  eta 41 m and some more words"
    began = time.process_time()
    for _ in range(2_000):
        read_line(benign)
    reference = time.process_time() - began
    began = time.process_time()
    found = read_line(line)
    assert time.process_time() - began < max(reference, 0.02)
    assert found is None or all(abs(value) < float("inf") for value in found.values.values())


def test_position_and_speed_are_carried_but_values_are_not() -> None:
    training = Training()
    training.see(Progress(step=5, total=9, rate=2.0, rate_unit="it/s", eta_s=2.0), 0.0)
    whole = training.see(Progress(values={"loss": 1.0}), 0.5)
    assert (whole.values, whole.step, whole.total, whole.rate, whole.eta_s) == ({"loss": 1.0}, 5, 9, 2.0, 2.0)
    assert training.see(Progress(step=6, total=9), 1.0).values == {}
