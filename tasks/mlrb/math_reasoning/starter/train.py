"""Train a small GPT-2 from scratch to write Lean scripts and save it in model/."""

import argparse
import json
import random
import time

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from transformers.utils import logging

PAD, END = "<pad>", "</s>"
logging.set_verbosity_error()
logging.disable_progress_bar()


def read_rows(path):
    """The problems of a file, one a line."""
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def prompt(row):
    """What the model is given when it is scored."""
    return f"Statement: {row['informal_statement']} Proof: {row['informal_proof']} Lean:"


def train_tokenizer(texts, size):
    """A byte-level BPE tokenizer learned from the problems."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[PAD, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=PAD, eos_token=END)


def padded(rows, value):
    """Rows of tokens of one length."""
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [value] * (longest - len(row)) for row in rows])


def save(model, tokenizer, folder):
    """Write model and tokenizer in the form that is handed in."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--vocab", type=int, default=1000)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="model")
    args = parser.parse_args()

    # Matrices this small keep one core busy; a second thread would mostly wait for the first.
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    rows = read_rows("data/train.jsonl")
    prompts, scripts = [prompt(row) for row in rows], [row["formal_proof"] for row in rows]
    tokenizer = train_tokenizer(prompts + scripts, args.vocab)
    given = tokenizer(prompts, add_special_tokens=False)["input_ids"]
    wanted = [[*ids, tokenizer.eos_token_id] for ids in tokenizer(scripts, add_special_tokens=False)["input_ids"]]
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer),
            n_positions=512,
            n_embd=args.width,
            n_layer=args.layers,
            n_head=args.heads,
            bos_token_id=tokenizer.eos_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )
    print(f"{model.num_parameters():,} parameters, {len(rows):,} problems", flush=True)

    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    total, step, tokens, started = args.epochs * len(rows) // args.batch_size, 0, 0, time.monotonic()
    for _ in range(args.epochs):
        order = random.sample(range(len(rows)), len(rows))
        for start in range(0, len(order) - args.batch_size + 1, args.batch_size):
            picked = order[start : start + args.batch_size]
            ids = padded([given[number] + wanted[number] for number in picked], tokenizer.pad_token_id)
            # Only the script is learned; what stands before it is given.
            labels = padded([[-100] * len(given[number]) + wanted[number] for number in picked], -100)
            loss = model(ids, attention_mask=(ids != tokenizer.pad_token_id).long(), labels=labels).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            step, tokens = step + 1, tokens + int((labels != -100).sum())
            if step % 25 == 0:
                speed = tokens / (time.monotonic() - started)
                print(f"step {step}/{total} loss {loss.item():.3f} {speed / 1000:.1f}k tok/s", flush=True)
        save(model, tokenizer, f"ckpt/step_{step}")
    save(model, tokenizer, args.out)
    print(f"saved {args.out}/", flush=True)


if __name__ == "__main__":
    main()
