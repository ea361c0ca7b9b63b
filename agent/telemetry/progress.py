"""Reads training progress out of lines of command output: pure, tolerant and quick; no line can make it fail."""

import re
from collections.abc import Iterable

import msgspec

from agent.record.values import Progress
from agent.telemetry import position
from agent.telemetry.bars import epoch_in, evaluates, keras_bar, rich_bar, tqdm_bar
from agent.telemetry.figures import not_finite_in, set_in_code, values_in
from agent.telemetry.numbers import BYTES_A_SECOND, without_groups

LONGEST_LINE = 2_000

_HINT = re.compile(
    r"loss|ppl|perplex|acc|lr\b|rate|score|reward|_return|f1|step|iter|epoch|/s|eta|it/|batch|=|%\||nan|oken|mse|bpb"
    r"|auc|remaining|learn|tps|\bl[12]:",
    re.I,
)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]{0,20}[@-~]|[\x00-\x08\x0b-\x1f]")
_BAR_OF_RICH = re.compile("[━╸╺]{4}")
_EPOCH_PERCENT = re.compile(r"\bepoch\b[^%]{0,20}?\b(\d{1,3})\s?%", re.I)
# What Hugging Face prints when a training is over: means over all of it, no points of a series.
_CLOSING = ("train_runtime", "train_loss")


def read_line(line: str) -> Progress | None:
    """What one line says of progress; None where it says nothing."""
    line = line[-LONGEST_LINE:]
    if "\x1b" in line or "\x08" in line:
        line = _ESCAPES.sub("", line)
    if "B/s" in line and BYTES_A_SECOND.search(line) and "loss" not in line:
        # A download, a copy, a package on its way.
        return None
    if "it/s" in line or "%|" in line or "s/it" in line or "<" in line or "/s]" in line or "/s," in line:
        bar = tqdm_bar(line)
        if bar is not None:
            diverged = _diverged(line, bar.values, bar.label)
            return msgspec.structs.replace(bar, diverged=diverged) if diverged else bar
    if "━" in line and _BAR_OF_RICH.search(line) and (found := _other_bar(line)) is not None:
        return found
    if not _HINT.search(line) or all(word in line for word in _CLOSING):
        return None
    if ("/step" in line or "ETA: " in line) and (found := _other_bar(line)) is not None:
        return found
    return _of_text(without_groups(line))


def read_lines(lines: Iterable[str]) -> list[Progress]:
    """What several lines say, one entry for each that says something."""
    return [progress for line in lines if (progress := read_line(line)) is not None]


def _other_bar(line: str) -> Progress | None:
    """One of Keras or of rich."""
    if (keras := keras_bar(line)) is not None:
        bar, rest = keras
        values = values_in(rest)
        return msgspec.structs.replace(bar, values=values, diverged=not_finite_in(line, values))
    if (rich := rich_bar(line)) is not None:
        return msgspec.structs.replace(rich, diverged=_diverged(line, rich.values, rich.label))
    return None


def _diverged(line: str, values: dict[str, float], label: str) -> tuple[str, ...]:
    found = not_finite_in(line, values)
    if not found or not evaluates(label):
        return found
    return tuple(name if name.startswith("eval_") else f"eval_{name}" for name in found)


def _of_text(line: str) -> Progress | None:
    values = values_in(line)
    step, total, of_epochs = position.position(line, has_values=bool(values))
    rate, unit = position.rate(line)
    eta_s = position.eta_s(line)
    epoch, epochs = epoch_in(line) if "poch" in line else (None, None)
    if total is None and epoch is not None and not values and (percent := _EPOCH_PERCENT.search(line)):
        step, total = int(percent[1]), 100
    diverged = not_finite_in(line, values)
    tokens, data = position.tokens_per_step(line), position.data_tokens(line) if not values else None
    placed = step is not None or rate is not None or epoch is not None
    if values and not placed and set_in_code(line, values):
        values = {}
    if not (values or diverged or tokens or data) and rate is None and eta_s is None and total is None:
        return None
    if total is None or (of_epochs and epochs is None):
        epoch = epochs = None
    return Progress(
        values=values, step=step, total=total, rate=rate, rate_unit=unit, eta_s=eta_s, diverged=diverged,
        epoch=epoch, epochs=epochs, tokens_per_step=tokens, data_tokens=data,
    )  # fmt: skip
