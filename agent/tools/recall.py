"""Finds the texts nearest to a query: TF-IDF over hashed words and their pieces, with no model and no package.

Words count whole and by their three-letter pieces, so that `train`, `training` and `trained` are near each other.
What is rare among the texts weighs more. Synonyms are not known: that would take a model of the language.
"""

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence

_WORD = re.compile(r"[^\W_]+")
_BUCKETS = 2**18
_PIECE = 3
_PIECE_WEIGHT = 0.3
"""A piece says less than its word."""
_LONGEST = 20_000
"""Characters of a text that are looked at."""

Vector = dict[int, float]


def nearest(query: str, texts: Sequence[str], count: int) -> list[tuple[int, float]]:
    """At most `count` of the texts by their place, nearest first, each with its cosine; none that shares nothing."""
    counted = [_features(text) for text in texts]
    seen = Counter(feature for features in counted for feature in features)
    wanted = _weighed(_features(query), seen, len(texts))
    scored = [(_cosine(wanted, _weighed(features, seen, len(texts))), place) for place, features in enumerate(counted)]
    best = sorted(((score, -place) for score, place in scored if score > 0), reverse=True)[:count]
    return [(-place, score) for score, place in best]


def _features(text: str) -> Vector:
    features: Vector = {}
    for word in _WORD.findall(text[:_LONGEST].casefold()):
        for feature, weight in _of_word(word):
            features[feature] = features.get(feature, 0.0) + weight
    # The tenth time says less than the first.
    return {feature: 1.0 + math.log(weight) if weight > 1 else weight for feature, weight in features.items()}


def _of_word(word: str) -> Iterable[tuple[int, float]]:
    yield _bucket(word), 1.0
    padded = f"<{word}>"
    if len(word) > _PIECE:
        for start in range(len(padded) - _PIECE + 1):
            yield _bucket(padded[start : start + _PIECE]), _PIECE_WEIGHT


def _bucket(text: str) -> int:
    # Python's own hash differs from process to process.
    return zlib.crc32(text.encode("utf-8", "replace")) % _BUCKETS


def _weighed(features: Vector, seen: Counter[int], texts: int) -> Vector:
    return {
        feature: weight * (1.0 + math.log((1 + texts) / (1 + seen[feature]))) for feature, weight in features.items()
    }


def _cosine(one: Vector, other: Vector) -> float:
    product = sum(weight * other[feature] for feature, weight in one.items() if feature in other)
    size = _size(one) * _size(other)
    return product / size if size else 0.0


def _size(vector: Vector) -> float:
    return math.sqrt(sum(weight * weight for weight in vector.values()))
