"""What a submission says of its training, and what can be measured against it: tokens, passes, loss, vocabulary."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

LOG = "training.jsonl"
LOG_BYTES = 32 * 2**20
LOSS_MARGIN = 1.0
"""A log may end this many nats below the measured loss before it is called untrue: last batches can be easy."""
FOREIGN_SHARE = 0.1
SAMPLE = 500
SAMPLED_LINES = 240
WINDOW = 30
"""Tokens of a line that are looked at; any model that can be asked minimal pairs has room for so many."""


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
        if (folder / LOG).stat().st_size > LOG_BYTES:
            return Log(0, math.nan, f"model/{LOG} is longer than {LOG_BYTES // 2**20} MiB")
        with (folder / LOG).open(encoding="utf-8") as lines:
            entries = [_entry(line) for line in lines if line.strip()]
    except FileNotFoundError:
        return Log(0, math.nan, f"model/{LOG} is missing")
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError):
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
    """The model's mean loss in nats a token on lines spread over the corpus, each asked as lm-eval asks a pair."""
    import torch

    first = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    total, count = 0.0, 0
    with torch.inference_mode():
        for ids in tokenizer(_sample_lines(texts), add_special_tokens=False)["input_ids"]:
            batch = torch.tensor([[first, *ids[:WINDOW]]])
            total += float(model(input_ids=batch, labels=batch).loss) * (batch.shape[1] - 1)
            count += batch.shape[1] - 1
    return total / count if count else math.nan


def _sample_lines(texts: list[str]) -> list[str]:
    lines = [[line for line in text.splitlines() if line.strip()] for text in texts]
    each = max(1, SAMPLED_LINES // max(1, len(lines)))
    return [line for part in lines for line in part[:: max(1, len(part) // each)]]


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
