"""The tokenizer of the world: byte-level BPE in which every word of it is one token, written as `tokenizer.json`.

Learned here in plain Python from the world's own list of words, so the same seed gives the same bytes whatever
libraries are installed. Anything else that a text holds falls apart into pieces down to bytes and is never lost.
"""

import json
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

from tasks.mlrb.world import lexicon
from tasks.mlrb.world.documents import CLEAN, documents
from tasks.mlrb.world.facts import PER_SUBJECT, fact_base

END = "<|endoftext|>"
_BLANK = "Ġ"
_SAMPLE = 1500
_OFTEN = 3
"""Times that a word must be in the sample to get a token of its own; names get one anyway."""
Word = tuple[str, ...]


def write_tokenizer(folder: Path, seed: int, *, per_subject: int = PER_SUBJECT) -> None:
    """Write `tokenizer.json` and `tokenizer_config.json`, as `AutoTokenizer` reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    tokens, merges = learned(words(seed, per_subject))
    _write(folder / "tokenizer.json", _description(tokens, merges))
    special = {f"{kind}_token": END for kind in ("bos", "eos", "pad", "unk")}
    _write(
        folder / "tokenizer_config.json",
        {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False, **special},
    )


def words(seed: int, per_subject: int = PER_SUBJECT) -> list[str]:
    """Every word that shall be one token, with the blank before it where it has one; sorted."""
    facts = fact_base(seed, per_subject)
    found = {f" {name}" for fact in facts for name in (fact.thing, *fact.relation.values)}
    found |= {f" {noun.singular}" for noun in lexicon.NAMES}
    counts: Counter[str] = Counter()
    for row in documents(seed, _SAMPLE, "words", shares=CLEAN, per_subject=per_subject):
        counts.update(_pieces(row["text"]))
    found |= {word for word, times in counts.items() if times >= _OFTEN}
    return sorted(word for word in found if word.strip().isalpha())


def _pieces(text: str) -> Iterable[str]:
    """Words, each with the single blank before it, much as GPT-2's pattern cuts them."""
    word = ""
    for character in text:
        if character.isalpha():
            word += character
            continue
        if word.strip():
            yield word
        word = " " if character == " " else ""
    if word.strip():
        yield word


def learned(vocabulary: Iterable[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Tokens in order, and the merges after which each of those words is whole; the commonest pair first."""
    cut: list[Word] = [tuple(word.replace(" ", _BLANK)) for word in vocabulary]
    merges: list[tuple[str, str]] = []
    while True:
        pairs = Counter(pair for word in cut for pair in pairwise(word))
        if not pairs:
            break
        # Merging many pairs a round that do not touch keeps this quick; ties are broken by the letters.
        taken: set[str] = set()
        chosen: list[tuple[str, str]] = []
        for pair, times in sorted(pairs.items(), key=lambda item: (-item[1], item[0])):
            if chosen and times < pairs[chosen[0]] * 0.7:
                break
            if not taken.intersection(pair):
                taken.update(pair)
                chosen.append(pair)
        merges += chosen
        cut = [_merged(word, set(chosen)) for word in cut]
    return [END, *_bytes(), *dict.fromkeys(left + right for left, right in merges)], merges


def _merged(word: Word, chosen: set[tuple[str, str]]) -> Word:
    made: list[str] = []
    place = 0
    while place < len(word):
        if tuple(word[place : place + 2]) in chosen:
            made.append(word[place] + word[place + 1])
            place += 2
        else:
            made.append(word[place])
            place += 1
    return tuple(made)


def _bytes() -> list[str]:
    """The visible stand-ins of the 256 bytes, as byte-level BPE has them since GPT-2."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(value) if value in shown else chr(next(others)) for value in range(256)]


def _description(tokens: list[str], merges: list[tuple[str, str]]) -> dict[str, Any]:
    special = {"id": 0, "content": END, "special": True, "normalized": False}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "added_tokens": [{**special, "single_word": False, "lstrip": False, "rstrip": False}],
        "pre_tokenizer": level,
        "decoder": level,
        "model": {
            "type": "BPE",
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": [list(pair) for pair in merges],
        },
    }


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")
