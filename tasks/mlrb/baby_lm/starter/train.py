"""Train a small GPT-2 from scratch on the corpus and write it to model/."""

import argparse
import json
import time
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from transformers.utils import logging

END = "<|endoftext|>"
logging.set_verbosity_error()
logging.disable_progress_bar()


def read_rows(path):
    """The texts of a corpus file, one a row."""
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line)["content"] for line in lines]


def train_tokenizer(texts, size):
    """A byte-level BPE tokenizer learned from the corpus."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=END, eos_token=END, pad_token=END)


def save(model, tokenizer, log, folder):
    """Write model, tokenizer and training log in the form that is handed in."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    with open(Path(folder) / "training.jsonl", "w", encoding="utf-8") as out:
        out.writelines(json.dumps(line) + "\n" for line in log)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--lr", type=float, default=5e-5)
    parser.add_argument("--warmup", type=int, default=500)
    parser.add_argument("--vocab", type=int, default=2000)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="model")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    rows = read_rows("data/train.jsonl")
    tokenizer = train_tokenizer(rows, args.vocab)
    encoded = tokenizer(rows, truncation=True, max_length=args.context, padding=True, return_tensors="pt")
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=args.context,
        n_embd=args.width,
        n_layer=args.layers,
        n_head=args.heads,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    model = GPT2LMHeadModel(config)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(rows)} rows", flush=True)

    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / args.warmup))
    ids_of, mask_of = encoded["input_ids"].split(args.batch_size), encoded["attention_mask"].split(args.batch_size)
    batches = list(zip(ids_of, mask_of, strict=True))
    total, step, tokens, log, started = args.epochs * len(batches), 0, 0, [], time.monotonic()
    for _ in range(args.epochs):
        for ids, mask in batches:
            loss = model(ids, attention_mask=mask, labels=ids.masked_fill(mask == 0, -100)).loss
            loss.backward()
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            step, tokens = step + 1, tokens + int(mask.sum())
            log.append({"step": step, "loss": loss.item(), "tokens": tokens})
            speed = tokens / (time.monotonic() - started)
            print(
                f"step {step}/{total} loss {loss.item():.3f} lr {schedule.get_last_lr()[0]:.1e} "
                f"{speed / 1000:.1f}k tok/s",
                flush=True,
            )
        save(model, tokenizer, log, f"ckpt/step_{step}")
    save(model, tokenizer, log, args.out)
    print(f"saved {args.out}/", flush=True)


if __name__ == "__main__":
    main()
