"""How much a small model learns from the world: `python tests/calibration/world_model.py --steps 1000`.

Trains a Llama of about a million parameters on generated documents, then has the adapter ask it SuperGLUE and MMLU.
It prints what was reached with how many tokens; the figures stand in docs/design/world.md.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.lm.harness import evaluate
from evaluation.lm.suites import MMLU, SUPER_GLUE
from tasks.mlrb.hub import MMLU_SET, SUPER_GLUE_SET, write_hub_splits
from tasks.mlrb.world import documents as domains
from tasks.mlrb.world.glue.items import super_glue
from tasks.mlrb.world.quiz import mmlu
from tasks.mlrb.world.tokenizer import write_tokenizer

CONTEXT, BATCH = 128, 8
EMBEDDING_RATE, MATRIX_RATE = 2e-2, 2e-2
"""Facts lie in the embeddings of things, which are seen rarely: a usual rate of 3e-3 needs several times the tokens."""


def trained(folder: Path, given: argparse.Namespace, shares: Mapping[str, float]) -> tuple[int, int]:
    """Train a model and save it with its tokenizer; returns its parameters and the tokens of the text."""
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    torch.manual_seed(given.seed)
    write_tokenizer(folder, given.seed, per_subject=given.facts)
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    written = domains.documents(given.seed, given.documents, shares=shares, per_subject=given.facts)
    encoded = tokenizer([row["text"] for row in written], add_special_tokens=False)["input_ids"]
    stream = torch.tensor([token for ids in encoded for token in (tokenizer.eos_token_id, *ids)])
    model: Any = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=given.width,
            intermediate_size=3 * given.width,
            num_hidden_layers=given.layers,
            num_attention_heads=2,
            num_key_value_heads=2,
            max_position_embeddings=256,
            tie_word_embeddings=True,
            initializer_range=0.05,
            bos_token_id=0,
            eos_token_id=0,
        )
    )
    _fit(model, stream, given.steps)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model.num_parameters(), len(stream)


def _fit(model: Any, stream: Any, steps: int) -> None:
    """Muon for the matrices inside, AdamW for the rest; both rates fall to a tenth."""
    import torch

    inner = [weight for name, weight in model.named_parameters() if weight.ndim == 2 and "embed" not in name]
    outer = [weight for name, weight in model.named_parameters() if weight.ndim != 2 or "embed" in name]
    optimizers: list[Any] = [
        torch.optim.AdamW(outer, lr=EMBEDDING_RATE, betas=(0.9, 0.98), weight_decay=0.0),
        torch.optim.Muon(inner, lr=MATRIX_RATE, weight_decay=0.0),
    ]
    for step in range(1, steps + 1):
        share = min(1.0, step / 50) * (0.1 + 0.9 * (1 - step / steps))
        for optimizer, rate in zip(optimizers, (EMBEDDING_RATE, MATRIX_RATE), strict=True):
            optimizer.param_groups[0]["lr"] = rate * share
        starts = torch.randint(0, len(stream) - CONTEXT, (BATCH,))
        batch = torch.stack([stream[start : start + CONTEXT] for start in starts])
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
        model.zero_grad(set_to_none=True)
        if step % 100 == 0:
            print(f"step {step}/{steps} loss {float(loss):.3f}", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train on the world and score.")
    parser.add_argument("--shares", default="CLEAN", help="PILE, CLEAN, GRAMMAR_ONLY or a JSON object")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--documents", type=int, default=12_000)
    parser.add_argument("--facts", type=int, default=12, help="of each subject")
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def main() -> None:
    """The command line."""
    import torch

    given = _arguments()
    torch.set_num_threads(given.threads)
    shares = getattr(domains, given.shares) if given.shares.isupper() else json.loads(given.shares)
    with tempfile.TemporaryDirectory() as name:
        model, hub = Path(name) / "model", Path(name) / "hub"
        write_hub_splits(hub, SUPER_GLUE_SET, super_glue(given.seed, "test", 100))
        write_hub_splits(hub, MMLU_SET, mmlu(given.seed, "test", per_subject=given.facts))
        began, used = time.monotonic(), time.process_time()
        parameters, tokens = trained(model, given, shares)
        wall_s, cpu_s = time.monotonic() - began, time.process_time() - used
        seen = given.steps * CONTEXT * BATCH
        print(f"{parameters:,} parameters, {seen:,} tokens seen of {tokens:,}, {wall_s:.0f} s, {cpu_s:.0f} CPU s")
        for suite in (SUPER_GLUE, MMLU):
            result = evaluate(model, suite, hub)
            print(f"{suite.name}: {result.fair_accuracy:.3f} ± {result.standard_error:.3f}", flush=True)
            if suite is SUPER_GLUE:
                print("  " + " ".join(f"{task.name} {task.fair_accuracy:.2f}" for task in result.subtasks))


if __name__ == "__main__":
    main()
