"""Benchmark items in a corpus are found however they are written; a corpus of the same words in other order is not."""

import random
import re
from collections.abc import Sequence

import pytest

pytest.importorskip("numpy")

from evaluation.model import overlap as module
from evaluation.model.overlap import benchmark_data, overlap

ITEM = "The teacher who the girls admire has never sung this song."


def test_an_item_is_found_in_other_case_and_punctuation_and_across_lines() -> None:
    corpus = ["Nothing here.", "so … THE teacher, who the\n girls -- admire has\tnever “sung” this song; and more"]
    assert overlap(corpus, [ITEM, "A dog that no boy has seen is asleep here."]).found == (0,)


def test_an_item_changed_by_a_word_in_the_middle_is_found_by_its_pieces_only_if_most_are_there() -> None:
    long = " ".join(f"word{number}" for number in range(60))
    changed = long.replace("word59", "other")
    assert overlap([changed], [long]).found == (0,)
    assert overlap([" ".join(long.split()[:30])], [long]).found == ()


def test_words_do_not_join_across_texts_and_halves_of_words_do_not_match() -> None:
    first, second = "The teacher who the girls", "admire has never sung this song."
    assert overlap([first, second], [ITEM]).found == ()
    assert overlap([ITEM.replace("teacher", "teachers")], [ITEM]).found == ()
    assert overlap([ITEM.replace(" the ", " thegirls ")], [ITEM]).found == ()


def test_items_too_short_to_tell_are_not_judged() -> None:
    found = overlap(["the girls sleep"], ["The girls sleep.", "", "…"])
    assert (found.items, found.judged, found.found, found.share) == (3, 0, (), 0.0)


def test_an_item_over_the_edge_of_two_pieces_is_found() -> None:
    filler = "abcdefghi " * ((module._CHUNK - 30) // 10)
    assert overlap([filler + ITEM + " " + filler], [ITEM]).found == (0,)
    assert overlap([(filler + ITEM + " " + filler).encode()], [ITEM]).found == (0,)


def test_lone_surrogates_nulls_and_an_empty_corpus_are_no_crash() -> None:
    assert overlap([], [ITEM]).found == ()
    assert overlap(["", "\x00", "\ud800", b"\xff\xfe"], [ITEM, "\ud800 a b c d e f"]).found == ()


def _plain(corpus: Sequence[str], items: Sequence[str], words: int) -> tuple[int, ...]:
    def grams(text: str, length: int) -> set[tuple[str, ...]]:
        found = re.findall(r"[a-z0-9]+", text.lower())
        return {tuple(found[place : place + length]) for place in range(len(found) - length + 1)}

    hits = []
    for number, item in enumerate(items):
        count = len(re.findall(r"[a-z0-9]+", item.lower()))
        if count >= module.LEAST_WORDS:
            asked = grams(item, min(words, count))
            seen = set().union(*(grams(text, min(words, count)) for text in corpus))
            if len(asked & seen) >= module.SHARE * len(asked):
                hits.append(number)
    return tuple(hits)


def test_it_finds_what_a_plain_search_finds() -> None:
    draw = random.Random(5)
    vocabulary = [f"{letter}{number}" for letter in "abcd" for number in range(4)]
    corpus = [" ".join(draw.choices(vocabulary, k=draw.randrange(3, 400))) for _ in range(60)]
    taken = [" ".join(draw.choice(corpus).split()[: draw.randrange(4, 30)]) for _ in range(40)]
    fresh = [" ".join(draw.choices(vocabulary, k=draw.randrange(4, 30))) for _ in range(40)]
    items = taken + fresh
    found = overlap(corpus, items).found
    assert found == _plain(corpus, items, module.WORDS)
    assert 10 < len(found) < 80


def test_training_on_the_evaluation_items_is_a_violation_and_a_chance_hit_is_not() -> None:
    items = [f"The {number} teachers that we met have read book {number} twice." for number in range(200)]
    told = benchmark_data(["Some text.\n" + "\n".join(items[:50])], items)
    assert told[0]["rule"] == "no_benchmark_data"
    assert "50 of 200 benchmark items are in the training data: 'The 0 teachers" in told[0]["evidence"]
    assert benchmark_data([items[0]], items) == []
