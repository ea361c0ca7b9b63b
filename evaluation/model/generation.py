"""Has a model write: greedily, batch by batch, whatever its own generation settings are."""

from collections.abc import Callable, Sequence
from typing import Any

from evaluation.model.artefact import Kind, Loaded

BATCH = 16

Done = Callable[[int], None]
"""Called with the number of texts that are written."""


def write_greedily(
    loaded: Loaded,
    prompts: Sequence[str],
    *,
    kind: Kind,
    new_tokens: int,
    batch: int = BATCH,
    done: Done = lambda _: None,
) -> list[str]:
    """What the model writes for each prompt, up to its eos token or so many tokens.

    `RuntimeError`, `IndexError` or `ValueError` of the model's where it can't take a prompt.
    """
    # Prompts of like length together: little is padded. The order of the answers is that of the prompts.
    order = sorted(range(len(prompts)), key=lambda number: len(prompts[number]))
    texts = [""] * len(prompts)
    for start in range(0, len(order), batch):
        numbers = order[start : start + batch]
        for number, text in zip(
            numbers, _written(loaded, [prompts[n] for n in numbers], kind, new_tokens), strict=True
        ):
            texts[number] = text
        done(start + len(numbers))
    return texts


def _written(loaded: Loaded, prompts: list[str], kind: Kind, new_tokens: int) -> list[str]:
    import torch

    model, tokenizer = loaded.model, loaded.tokenizer
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.bos_token
    tokenizer.padding_side = "left" if kind == "causal" else "right"
    given = tokenizer(prompts, padding=True, return_tensors="pt").to(model.device)
    asked = {name: given[name] for name in ("input_ids", "attention_mask")}
    with torch.inference_mode():
        written = model.generate(**asked, generation_config=_greedy(model, tokenizer, kind, new_tokens))
    # A causal model's answer stands behind its prompt, a sequence-to-sequence model's behind its start token.
    new = written[:, asked["input_ids"].shape[1] :] if kind == "causal" else written[:, 1:]
    return [str(text).strip() for text in tokenizer.batch_decode(new, skip_special_tokens=True)]


def _greedy(model: Any, tokenizer: Any, kind: Kind, new_tokens: int) -> Any:
    from transformers import GenerationConfig

    own = model.generation_config
    start = None
    if kind == "seq2seq":
        start = getattr(model.config, "decoder_start_token_id", None)
        start = start if isinstance(start, int) else own.decoder_start_token_id
        if start is None:
            raise ValueError("config.json names no decoder_start_token_id")
    config: Any = GenerationConfig(  # type: ignore[no-untyped-call]
        max_new_tokens=new_tokens,
        do_sample=False,
        num_beams=1,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id if tokenizer.eos_token_id is not None else tokenizer.bos_token_id,
        bos_token_id=tokenizer.bos_token_id,
        decoder_start_token_id=start,
    )
    # What is unset above would be taken from the model's own settings (forced words, penalties, more beams).
    model.generation_config = config
    return config
