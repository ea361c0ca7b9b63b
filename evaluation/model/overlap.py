"""Benchmark items in training data: word n-grams of the items are looked for in the whole corpus, quickly.

Words are runs of letters, digits and bytes beyond ASCII, in lower case; all else separates them. A word becomes a
64-bit number, n of them one more, and the corpus is scanned for the items' numbers by numpy.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.model.words import one_line
from tasks.contract import Broken

RULE = "no_benchmark_data"
WORDS = 8
"""Length of an n-gram. Shorter items are looked for whole."""
LEAST_WORDS = 5
"""Items with fewer words are not looked for: they stand in honest text too."""
SHARE = 0.7
"""The share of an item's n-grams found that makes it one that was trained on."""
TOLERATED = 0.01
"""The share of items that may be found: language repeats itself."""
_CHUNK = 512 * 1024
"""Bytes at a time; a processor's cache holds what is computed of so many."""
_PRIME = 0x100000001B3
_SIGNS = re.compile(rb"\xe2[\x80\x81][\x80-\xbf]|\xc2[\x80-\xbf]")
"""Dashes, quotes, spaces and the like beyond ASCII, in UTF-8."""
_LOW = 2**20 - 1
_SHOWN = 3


@dataclass(frozen=True)
class Overlap:
    """How many of the items were found."""

    items: int
    judged: int
    """Those with enough words."""
    found: tuple[int, ...]
    """Numbers of the items of which most n-grams are in the corpus."""

    @property
    def share(self) -> float:
        """Of the judged items."""
        return len(self.found) / self.judged if self.judged else 0.0


def benchmark_data(
    corpus: Iterable[str | bytes], items: Sequence[str], *, tolerated: float = TOLERATED, rule: str = RULE
) -> list[Broken]:
    """A violation where more of the items than tolerated stand in the corpus."""
    found = overlap(corpus, items)
    if found.share <= tolerated:
        return []
    shown = "; ".join(repr(one_line(items[number])[:100]) for number in found.found[:_SHOWN])
    told = f"{len(found.found):,} of {found.judged:,} benchmark items are in the training data: {shown}"
    return [{"rule": rule, "evidence": told}]


def overlap(
    corpus: Iterable[str | bytes], items: Sequence[str], *, words: int = WORDS, share: float = SHARE
) -> Overlap:
    """Look for the items in the texts of a corpus. An n-gram never reaches from one text into the next."""
    import numpy as np

    wanted: dict[int, list[tuple[int, Any]]] = {}
    judged = 0
    for number, item in enumerate(items):
        hashes = _words(_bytes(item))
        if len(hashes) < LEAST_WORDS:
            continue
        judged += 1
        length = min(words, len(hashes))
        wanted.setdefault(length, []).append((number, np.unique(_grams(hashes, length))))
    tables = {length: np.unique(np.concatenate([grams for _, grams in rows])) for length, rows in wanted.items()}
    sieves = {length: _sieve(table) for length, table in tables.items()}
    seen = {length: np.zeros(len(table), dtype=bool) for length, table in tables.items()}
    for piece in _pieces(corpus, max(tables, default=0)):
        hashes = _words(piece)
        for length, table in tables.items():
            grams = _grams(hashes, length)
            # Nearly all fall through the sieve, which is far quicker than a search in the table.
            _mark(seen[length], table, grams[sieves[length][(grams & _LOW).astype(np.int64)]])
    found = []
    for length, rows in wanted.items():
        for number, grams in rows:
            if float(seen[length][np.searchsorted(tables[length], grams)].mean()) >= share:
                found.append(number)
    return Overlap(len(items), judged, tuple(sorted(found)))


def _sieve(table: Any) -> Any:
    """Which endings (the low bits) occur in a table of numbers."""
    import numpy as np

    sieve = np.zeros(_LOW + 1, dtype=bool)
    sieve[(table & _LOW).astype(np.int64)] = True
    return sieve


def _mark(seen: Any, table: Any, grams: Any) -> None:
    import numpy as np

    if len(grams) and len(table):
        places = np.searchsorted(table, grams).clip(max=len(table) - 1)
        seen[places[table[places] == grams]] = True


def _bytes(text: str | bytes) -> bytes:
    data = text if isinstance(text, bytes) else text.encode("utf-8", errors="replace")
    return data if data.isascii() else _SIGNS.sub(b" ", data)


def _pieces(corpus: Iterable[str | bytes], words: int) -> Iterator[bytes]:
    """Texts gathered to pieces of some megabytes, walls between them; a long text is cut with its edges doubled."""
    wall = b" ".join([b"\xff\xfe"] * words)
    gathered, size = [], 0
    for text in corpus:
        data = _bytes(text)
        for start in range(0, max(len(data), 1), _CHUNK):
            # An edge of 200 bytes a word holds any n-gram of ordinary words.
            gathered.append(data[max(0, start - 200 * words) : start + _CHUNK])
            size += len(gathered[-1])
            if size >= _CHUNK:
                yield b" ".join(part for one in gathered for part in (one, wall))
                gathered, size = [], 0
    if gathered:
        yield b" ".join(part for one in gathered for part in (one, wall))


def _words(data: bytes) -> Any:
    """A number for each word of a text, in order."""
    import numpy as np

    letters = _letters()[np.frombuffer(data, dtype=np.uint8)]
    inside = np.concatenate(([False], letters > 0, [False]))
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    starts, ends = edges[::2], edges[1::2]
    if not len(starts):
        return np.zeros(0, dtype=np.uint64)
    # hash = sum of letter * prime^(place in the word), by one running sum over the text, all modulo 2^64.
    powers, inverses = _powers(1 << len(letters).bit_length())
    letters *= powers[: len(letters)]
    return _mixed(np.add.reduceat(letters, edges[: len(edges) - (ends[-1] == len(letters))])[::2] * inverses[starts])


def _grams(hashes: Any, length: int) -> Any:
    """A number for each run of that many words."""
    import numpy as np

    count = len(hashes) - length + 1
    if count <= 0:
        return np.zeros(0, dtype=np.uint64)
    total = np.zeros(count, dtype=np.uint64)
    for place in range(length):
        total = total * np.uint64(_PRIME) + hashes[place : place + count]
    return _mixed(total)


def _mixed(numbers: Any) -> Any:
    """Spread over all bits (the finaliser of splitmix64)."""
    import numpy as np

    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


@functools.cache
def _letters() -> Any:
    """What each byte counts: letters without case, digits, bytes beyond ASCII; all else separates words."""
    import numpy as np

    table = np.zeros(256, dtype=np.uint64)
    for code in range(256):
        character = chr(code)
        if code >= 128 or (character.isascii() and character.isalnum()):
            table[code] = ord(character.lower()) if code < 128 else code
    return table


@functools.cache
def _powers(count: int) -> Any:
    """The prime's powers and those of its inverse modulo 2^64."""
    import numpy as np

    inverse = pow(_PRIME, -1, 2**64)
    both = []
    for factor in (_PRIME, inverse):
        steps = np.full(count, factor, dtype=np.uint64)
        steps[:1] = 1
        both.append(np.cumprod(steps, dtype=np.uint64))
    return both
