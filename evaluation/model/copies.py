"""Texts that a model took over from its training targets, and what taking the nearest one over would have given."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from evaluation.model.overlap import overlap

SHARE = 0.9
"""The share of a text's word n-grams found in the targets that makes it a near copy."""
_NAMED = re.compile(r"\b(theorem|lemma)\s+\S+")
_WORD = re.compile(r"\w+|[^\w\s]")


def near_copies(texts: Sequence[str], targets: Sequence[str]) -> tuple[int, ...]:
    """Numbers of the texts that stand in the targets nearly word for word; a theorem's name does not count."""
    return overlap([_nameless(text) for text in targets], [_nameless(text) for text in texts], share=SHARE).found


def nearest(queries: Sequence[str], texts: Sequence[str]) -> list[int]:
    """For each query the number of the text that shares most words with it (Dice), of equals the first."""
    sizes, holders = [], defaultdict(list)
    for number, text in enumerate(texts):
        words = set(_WORD.findall(text.lower()))
        sizes.append(len(words))
        for word in words:
            holders[word].append(number)
    return [_nearest(set(_WORD.findall(query.lower())), sizes, holders) for query in queries]


def _nearest(words: set[str], sizes: Sequence[int], holders: dict[str, list[int]]) -> int:
    shared: Counter[int] = Counter()
    for word in words:
        shared.update(holders.get(word, ()))
    return max(shared, key=lambda number: (2 * shared[number] / (sizes[number] + len(words)), -number), default=0)


def _nameless(text: str) -> str:
    return _NAMED.sub(r"\1 it", text)
