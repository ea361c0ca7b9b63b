"""Makes small model folders for the tests of the lm-eval adapter and of mlrb/baby_lm's grader."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

END = "<|endoftext|>"


def write_model(folder: Path, texts: Iterable[str], *, seed: int = 0, width: int = 32, context: int = 64) -> Any:
    """A GPT-2 with random weights and a word tokenizer learned from the texts; returns it for further harm."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.trainers import WordLevelTrainer
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    words: Any = Tokenizer(WordLevel(unk_token="<unk>"))
    words.pre_tokenizer = Whitespace()
    words.train_from_iterator(texts, WordLevelTrainer(special_tokens=[END, "<unk>"], show_progress=False))
    special = {"bos_token": END, "eos_token": END, "pad_token": END, "unk_token": "<unk>"}
    tokenizer: Any = PreTrainedTokenizerFast(tokenizer_object=words, **special)  # type: ignore[no-untyped-call]
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    config = GPT2Config(
        vocab_size=words.get_vocab_size(),
        n_positions=context,
        n_embd=width,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
    )
    model: Any = GPT2LMHeadModel(config)
    model.save_pretrained(folder)
    return model
