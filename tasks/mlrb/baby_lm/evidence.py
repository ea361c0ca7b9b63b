"""What a submission says of its training, and what can be measured against it: tokens, passes, loss, vocabulary."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

LOG = "training.jsonl"
LOG_LINES = 200_000
LOSS_MARGIN = 1.0
"""A log may end this many nats below the measured loss before it is called untrue: last batches can be easy."""
FOREIGN_SHARE = 0.1
SAMPLE = 500
WINDOWS = 48
WINDOW = 128


@dataclass(frozen=True)
class Log:
    """The training log that came with a model."""

    tokens: int
    """Trained on in all, as claimed."""
    loss: float
    """Mean of the last ten lines."""
    trouble: str = ""
    """Why it cannot be believed."""


def read_log(folder: Path) -> Log:
    """The training log beside the weights."""
    try:
        with (folder / LOG).open(encoding="utf-8") as lines:
            entries = [_entry(line) for line in islice(lines, LOG_LINES) if line.strip()]
    except FileNotFoundError:
        return Log(0, math.nan, f"model/{LOG} is missing")
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Log(0, math.nan, f"model/{LOG} cannot be read: every line must be an object with step, loss and tokens")
    if not entries:
        return Log(0, math.nan, f"model/{LOG} is empty")
    tail = [loss for _, loss, _ in entries[-10:]]
    rising = all(before[0] < after[0] and before[2] <= after[2] for before, after in pairwise(entries))
    trouble = "" if rising else f"steps or tokens in model/{LOG} go backwards"
    return Log(entries[-1][2], math.fsum(tail) / len(tail), trouble)


def _entry(line: str) -> tuple[int, float, int]:
    read = json.loads(line)
    step, loss, tokens = int(read["step"]), float(read["loss"]), int(read["tokens"])
    if not math.isfinite(loss) or tokens < 0:
        raise ValueError("not a number that a trainer writes")
    return step, loss, tokens


def corpus_texts(file: Path) -> list[str]:
    """The texts of the training corpus."""
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line)["content"] for line in lines]


def corpus_tokens(tokenizer: Any, texts: list[str]) -> int:
    """How many tokens the corpus has under that tokenizer."""
    return sum(len(ids) for text in texts for ids in _encoded(tokenizer, text))


def _encoded(tokenizer: Any, text: str) -> Iterator[list[int]]:
    # Line by line in bunches: one string of ten million words takes a tokenizer's memory to the square.
    lines = text.splitlines()
    for start in range(0, len(lines), 1000):
        yield from tokenizer(lines[start : start + 1000], add_special_tokens=False)["input_ids"]


def corpus_loss(model: Any, tokenizer: Any, texts: list[str]) -> float:
    """The model's mean loss in nats a token on windows spread over the corpus."""
    import torch

    size = min(WINDOW, int(getattr(model.config, "max_position_embeddings", WINDOW)))
    losses = []
    with torch.inference_mode():
        for start in _window_starts(texts):
            ids = tokenizer(start, add_special_tokens=False)["input_ids"][:size]
            if len(ids) > 1:
                batch = torch.tensor([ids])
                losses.append(float(model(input_ids=batch, labels=batch).loss))
    return math.fsum(losses) / len(losses) if losses else math.nan


def _window_starts(texts: list[str]) -> Iterator[str]:
    each = max(1, WINDOWS // max(1, len(texts)))
    for text in texts:
        for part in range(each):
            place = text.find("\n", len(text) * part // each) + 1
            yield text[place : place + 8 * WINDOW]


def foreign_share(tokenizer: Any, texts: list[str]) -> float:
    """The share of a tokenizer's longer words that the corpus never uses; near zero for one learned from it."""
    words = sorted({word.strip() for word in _words(tokenizer)})
    sample = words[:: max(1, len(words) // SAMPLE)]
    foreign = sum(not any(word in text for text in texts) for word in sample)
    return foreign / len(sample) if sample else 0.0


def _words(tokenizer: Any) -> Iterator[str]:
    special = set(tokenizer.all_special_ids)
    for number in range(len(tokenizer)):
        word = "" if number in special else tokenizer.decode([number])
        if len(word.strip()) >= 4 and word.strip().isalpha():
            yield word
