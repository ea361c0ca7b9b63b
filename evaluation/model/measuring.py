"""The child's side of `measure`: loads a model in a fresh interpreter and sends its figures as they come."""

import math
import threading
from pathlib import Path
from typing import Any

from evaluation.model.artefact import Kind, auto_class, load_unguarded, use_few_threads
from evaluation.model.child import Send
from evaluation.model.memory import meter
from evaluation.model.weights import open_weights

_STACK_BYTES = 1024 * 1024


def main(job: dict[str, Any], send: Send) -> None:
    """Send `{"stage": …}` before each step and `{"found": {field: …}}` after it; `{"invalid": why}` ends it."""
    import torch

    folder, device = Path(job["folder"]), str(job["device"])
    # Loading threads reserve their stacks whole, and a limit counts what is reserved.
    threading.stack_size(_STACK_BYTES)
    try:
        held = sum(entry.elements for entry in open_weights(folder))
    except ValueError as error:
        send({"invalid": str(error)})
        return
    if job["threads"]:
        torch.set_num_threads(job["threads"])
    else:
        use_few_threads(held)
    send({"stage": "warming up"})
    _warm_up(folder, job["kind"], device)
    gauge = meter(device)
    if job["memory_cap_bytes"]:
        gauge.limit(job["memory_cap_bytes"])
    send({"stage": "loading"})
    try:
        loaded = load_unguarded(folder, kind=job["kind"], dtype=job["dtype"], device=device, shown=job["shown"])
    except ValueError as error:
        send({"invalid": str(error)})
        return
    load_bytes = gauge.peak_bytes()
    send({"found": {**counts(loaded.model), "device": device, "dtype": str(loaded.model.dtype).removeprefix("torch.")}})
    _figures(loaded.model, loaded.tokenizer, job, gauge, load_bytes, send)


def _figures(model: Any, tokenizer: Any, job: dict[str, Any], gauge: Any, load_bytes: int, send: Send) -> None:
    from dataclasses import asdict

    import torch

    from evaluation.model.perplexity import perplexity
    from evaluation.model.speed import fitted, generate, measure_speed, prompt_of

    if job["kind"] != "causal":
        send({"unmeasured": dict.fromkeys(("memory", "speed", "perplexity"), "measured for causal models only")})
        return
    send({"stage": "generating"})
    prompt_tokens, new_tokens = fitted(model, job["prompt_tokens"], job["new_tokens"])
    with torch.inference_mode():
        generate(model, prompt_of(model, prompt_tokens), new_tokens)
    memory = {
        "load_bytes": load_bytes,
        "generation_bytes": gauge.peak_bytes(),
        "interpreter_bytes": gauge.interpreter_bytes,
        "where": gauge.where,
    }
    send({"found": {"memory": memory}})
    # Loading and generating were to fit. Times and likelihoods are asked of any model.
    gauge.release()
    if job["repeats"]:
        send({"stage": "timing"})
        speed = measure_speed(model, prompt_tokens=prompt_tokens, new_tokens=new_tokens, repeats=job["repeats"])
        send({"found": {"speed": asdict(speed)}})
    if job["text"]:
        send({"stage": "reading the text"})
        scored = perplexity(model, tokenizer, job["text"], window=job["window"], stride=job["stride"])
        if scored is None or not math.isfinite(scored.value):
            send({"unmeasured": {"perplexity": "the model gives the text no finite likelihood"}})
        else:
            send({"found": {"perplexity": asdict(scored)}})


def counts(model: Any) -> dict[str, int]:
    """Its parameters, and how many of them can be trained, are not zero, are no numbers."""
    weights = list(model.parameters())
    return {
        "parameters": sum(weight.numel() for weight in weights),
        "trainable_parameters": sum(weight.numel() for weight in weights if weight.requires_grad),
        "nonzero_parameters": sum(int(weight.count_nonzero()) for weight in weights),
        "nonfinite_parameters": sum(int((~weight.isfinite()).sum()) for weight in weights),
    }


def _warm_up(folder: Path, kind: Kind, device: str) -> None:
    """Have the libraries and their buffers in memory before it is measured: a toy model is built and used."""
    import tempfile

    import torch
    from transformers import AutoConfig, AutoTokenizer, GPT2Config, GPT2LMHeadModel

    from evaluation.model.speed import generate, prompt_of

    toy = GPT2Config(vocab_size=64, n_positions=32, n_embd=16, n_layer=1, n_head=1)
    with tempfile.TemporaryDirectory() as made:
        GPT2LMHeadModel(toy).save_pretrained(made)
        model: Any = auto_class("causal").from_pretrained(made, use_safetensors=True, dtype="float32")
    model.to(device)
    with torch.inference_mode():
        generate(model, prompt_of(model, 16), 4)
        torch.randn(256, 256, device=device) @ torch.randn(256, 256, device=device)
    # The code of the model's own class, and of its tokenizer, is not the model's memory either.
    try:
        config = AutoConfig.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)
        with torch.device("meta"):
            auto_class(kind).from_config(config)
        AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)
    except Exception:  # noqa: BLE001 -- loading says what is wrong with it, under the limit
        return
