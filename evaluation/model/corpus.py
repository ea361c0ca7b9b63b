"""What a model and its tokenizer know of a corpus: tokens, loss, words that are foreign to it."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tasks.contract import Broken

FOREIGN_SHARE = 0.1
"""A tokenizer learned from the corpus has next to no words that the corpus never uses."""
SAMPLE = 500
SAMPLED_LINES = 240
WINDOW = 30
"""Tokens of a line that are looked at; any model that can be asked minimal pairs has room for so many."""


def corpus_texts(file: Path, column: str = "content") -> list[str]:
    """The texts of a training corpus in JSON lines."""
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line)[column] for line in lines]


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
            batch = torch.tensor([[first, *ids[:WINDOW]]], device=model.device)
            total += float(model(input_ids=batch, labels=batch).loss) * (batch.shape[1] - 1)
            count += batch.shape[1] - 1
    return total / count if count else math.nan


def _sample_lines(texts: list[str]) -> list[str]:
    lines = [[line for line in text.splitlines() if line.strip()] for text in texts]
    each = max(1, SAMPLED_LINES // max(1, len(lines)))
    spread = [line for part in lines for line in part[:: max(1, len(part) // each)]]
    return spread[:: max(1, len(spread) // SAMPLED_LINES)]


def foreign_share(tokenizer: Any, texts: list[str]) -> float:
    """The share of a tokenizer's longer words that the corpus never uses; near zero for one learned from it."""
    words = sorted({word.strip() for word in _words(tokenizer)})
    sample = words[:: max(1, len(words) // SAMPLE)]
    foreign = sum(not any(word in text for text in texts) for word in sample)
    return foreign / len(sample) if sample else 0.0


def foreign_tokenizer(share: float, *, rule: str = "own_tokenizer") -> list[Broken]:
    """A tokenizer that was not learned from the corpus, by its `foreign_share`."""
    if share <= FOREIGN_SHARE:
        return []
    return [{"rule": rule, "evidence": f"{share:.0%} of the tokenizer's longer words are not in the corpus"}]


def _words(tokenizer: Any) -> Iterator[str]:
    special = set(tokenizer.all_special_ids)
    for number in range(len(tokenizer)):
        word = "" if number in special else tokenizer.decode([number])
        if len(word.strip()) >= 4 and word.strip().isalpha():
            yield word
