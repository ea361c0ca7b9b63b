"""Perplexity of a text under a sliding window, with window and stride said."""

import math
from typing import Any

from evaluation.model.metrics import Perplexity


def perplexity(model: Any, tokenizer: Any, text: str, *, window: int = 1024, stride: int = 512) -> Perplexity | None:
    """Score each token of the text once, with at least `window - stride` tokens before it where there are so many.

    The first token follows the tokenizer's bos (or eos) token. The window is cut to what the model has room for, and
    the stride in proportion. None where the text has no token to score.
    """
    import torch

    first = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    sequence = ids if first is None else [first, *ids]
    fits = min(window, room(model))
    stride = max(1, min(stride * fits // window, fits - 1))
    window = fits
    if len(sequence) < 2:
        return None
    total, scored, done = 0.0, 0, 1
    with torch.inference_mode():
        for start in range(0, len(sequence), stride):
            end = min(start + window, len(sequence))
            total += _loss(model, sequence[start:end], end - done)
            scored, done = scored + end - done, end
            if end == len(sequence):
                break
    bits = None if first is None else total / math.log(2) / len(text.encode("utf-8", errors="replace"))
    mean = total / scored
    return Perplexity(math.exp(mean) if mean < 700 else math.inf, bits, scored, window, stride)


def _loss(model: Any, ids: list[int], last: int) -> float:
    """The summed loss in nats of the last so many tokens of a piece."""
    import torch

    batch = torch.tensor([ids], device=next(model.parameters()).device)
    logits = model(input_ids=batch, use_cache=False).logits[0, -last - 1 : -1].float()
    return float(torch.nn.functional.cross_entropy(logits, batch[0, -last:], reduction="sum"))


def room(model: Any) -> int:
    """How many tokens the model has room for, by its configuration; 2,048 where that does not say."""
    for name in ("max_position_embeddings", "n_positions", "max_seq_len", "n_ctx"):
        value = getattr(model.config, name, None)
        if isinstance(value, int) and value > 1:
            return value
    return 2048
