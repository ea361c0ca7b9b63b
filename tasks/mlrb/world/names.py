"""Invented names: two short syllables each, so that a tokenizer of this world has every name as one token."""

import random

_ONSETS, _MIDDLES = "B D F G K L M N P R S T V Z", "a e i o u al en ir or un"
_LINKS, _ENDS = "b d k l m n r s t v", "a ik o une ex"
_REAL = {"Bado", "Dona", "Kilo", "Lima", "Mona", "Nina", "Nora", "Sara", "Silo", "Tina", "Vera", "Vita", "Zero"}
"""What an English text might mean by itself."""


def all_names() -> list[str]:
    """Every name there can be, sorted: 140 beginnings with 50 ends."""
    beginnings = [onset + middle for onset in _ONSETS.split() for middle in _MIDDLES.split()]
    ends = [link + end for link in _LINKS.split() for end in _ENDS.split()]
    return sorted({beginning + end for beginning in beginnings for end in ends} - _REAL)


def invented(seed: int, count: int) -> list[str]:
    """That many different names."""
    return random.Random(f"{seed}:names").sample(all_names(), count)
