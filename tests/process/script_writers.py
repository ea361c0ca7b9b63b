"""Makes small model folders that write given texts: each text is one word of the model's own tokenizer."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

PAD, END, UNKNOWN = "<pad>", "</s>", "<unk>"
MOST_STEPS = 1000
LEARNED = 0.01
"""The loss at which it knows its answers."""


def write_writer(folder: Path, answers: Mapping[str, str], *, kind: str = "seq2seq", seed: int = 0) -> Any:
    """A tiny model trained to answer each prompt with its text; with one answer only, it answers all prompts so.

    Returns the model for further harm.
    """
    import torch

    torch.manual_seed(seed)
    tokenizer = _tokenizer(answers)
    model = _seq2seq(len(tokenizer)) if kind == "seq2seq" else _causal(len(tokenizer))
    side = "left" if kind == "causal" else "right"
    given = tokenizer(list(answers), padding=True, padding_side=side, return_tensors="pt")
    vocabulary = tokenizer.get_vocab()
    wanted = torch.tensor([[vocabulary[text], vocabulary[END]] for text in answers.values()])
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(MOST_STEPS):
        if kind == "seq2seq":
            loss = model(given["input_ids"], attention_mask=given["attention_mask"], labels=wanted).loss
        else:
            loss = _causal_loss(model, given, wanted)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if float(loss.detach()) < LEARNED:
            break
    model.eval()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model


def _causal_loss(model: Any, given: Any, wanted: Any) -> Any:
    import torch

    ids = torch.cat([given["input_ids"], wanted], dim=1)
    mask = torch.cat([given["attention_mask"], torch.ones_like(wanted)], dim=1)
    labels = torch.cat([torch.full_like(given["input_ids"], -100), wanted], dim=1)
    places = (mask.cumsum(1) - 1).clamp(min=0)
    return model(ids, attention_mask=mask, position_ids=places, labels=labels).loss


def _tokenizer(answers: Mapping[str, str]) -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from transformers import PreTrainedTokenizerFast

    words = dict.fromkeys([PAD, END, UNKNOWN, *(word for prompt in answers for word in prompt.split())])
    known = {word: number for number, word in enumerate([*words, *dict.fromkeys(answers.values())])}
    tokenizer: Any = Tokenizer(WordLevel(known, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, pad_token=PAD, eos_token=END, unk_token=UNKNOWN
    )


def _seq2seq(vocabulary: int) -> Any:
    from transformers import BartConfig, BartForConditionalGeneration

    return BartForConditionalGeneration(
        BartConfig(
            vocab_size=vocabulary, max_position_embeddings=256, d_model=32, encoder_layers=1, decoder_layers=1,
            encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, dropout=0.0,
            pad_token_id=0, bos_token_id=1, eos_token_id=1, decoder_start_token_id=1, forced_eos_token_id=None,
        )
    )  # fmt: skip


def _causal(vocabulary: int) -> Any:
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=vocabulary, n_positions=256, n_embd=32, n_layer=1, n_head=2, resid_pdrop=0.0, embd_pdrop=0.0,
            attn_pdrop=0.0, bos_token_id=1, eos_token_id=1,
        )
    )  # fmt: skip
