"""The generated English of mlrb/baby_lm: held-out pairs are held out, and cannot be answered by counting words."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tasks.mlrb.baby_lm import data
from tasks.mlrb.hub import BLIMP_SET
from tasks.mlrb.world.paradigms import PARADIGMS

OPTIONS = {"sentences": 12_000, "dev_pairs": 25, "test_pairs": 50}
COLUMNS = {
    "sentence_good",
    "sentence_bad",
    "field",
    "linguistics_term",
    "UID",
    "simple_LM_method",
    "one_prefix_method",
    "two_prefix_method",
    "lexically_identical",
    "pairID",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("baby-lm")
    data.generate(out, seed=5, options=OPTIONS)
    return out


def _pairs(made: Path, split: str) -> Iterator[dict[str, str]]:
    for file in sorted((made / "private" / split / BLIMP_SET).glob("*/train.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def _words(sentence: str) -> tuple[str, ...]:
    return tuple(sentence.lower().replace(".", " .").replace("?", " ?").split())


def _corpus(made: Path, part: str = "train") -> list[tuple[str, ...]]:
    rows = [json.loads(line) for line in (made / f"public/data/{part}.jsonl").read_text(encoding="utf-8").splitlines()]
    return [_words(sentence) for row in rows for sentence in row["content"].splitlines()]


def _sentences(made: Path, split: str) -> set[tuple[str, ...]]:
    return {_words(pair[side]) for pair in _pairs(made, split) for side in ("sentence_good", "sentence_bad")}


def test_no_graded_sentence_is_in_the_text_or_in_the_other_split(made: Path) -> None:
    dev, test = _sentences(made, "dev"), _sentences(made, "test")
    text = {sentence for part in ("train", "dev", "test") for sentence in _corpus(made, part)}
    assert len(dev) > 900
    assert len(test) > 1800
    assert not dev & test
    assert not dev & text
    assert not test & text


def test_graded_sentences_use_no_word_that_the_corpus_lacks(made: Path) -> None:
    known = {word for sentence in _corpus(made) for word in sentence}
    assert {word for sentence in _sentences(made, "test") for word in sentence} <= known


def test_nothing_private_is_among_the_public_files(made: Path) -> None:
    public = {file.relative_to(made / "public").as_posix() for file in (made / "public").rglob("*") if file.is_file()}
    assert public == {"data/train.jsonl", "data/dev.jsonl", "data/test.jsonl"}


def test_rows_are_few_and_long_so_that_cutting_them_loses_nearly_all(made: Path) -> None:
    rows = [json.loads(line) for line in (made / "public/data/train.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 6
    assert all(set(row) == {"filename", "content"} for row in rows)
    assert min(len(row["content"].split()) for row in rows) > 5_000


def test_pairs_have_the_published_columns_and_every_pair_is_different(made: Path) -> None:
    pairs = list(_pairs(made, "test"))
    assert {frozenset(pair) for pair in pairs} == {frozenset(COLUMNS)}
    assert Counter(pair["UID"] for pair in pairs) == {paradigm.name: 50 for paradigm in PARADIGMS}
    assert len({(pair["sentence_good"], pair["sentence_bad"]) for pair in pairs}) == len(pairs)
    assert all(pair["sentence_good"] != pair["sentence_bad"] for pair in pairs)


def test_a_seed_gives_the_same_bytes_again_and_another_seed_others(tmp_path: Path, made: Path) -> None:
    data.generate(tmp_path / "again", seed=5, options=OPTIONS)
    data.generate(tmp_path / "other", seed=6, options=OPTIONS)
    for file in ("public/data/train.jsonl", f"private/test/{BLIMP_SET}/transitive/train.jsonl"):
        assert (tmp_path / "again" / file).read_bytes() == (made / file).read_bytes()
        assert (tmp_path / "other" / file).read_bytes() != (made / file).read_bytes()


def _accuracy(made: Path, likelihood: Callable[[tuple[str, ...]], float]) -> dict[str, float]:
    points: dict[str, list[float]] = {}
    for pair in _pairs(made, "test"):
        good, bad = likelihood(_words(pair["sentence_good"])), likelihood(_words(pair["sentence_bad"]))
        points.setdefault(pair["UID"], []).append(0.5 if math.isclose(good, bad) else float(good > bad))
    return {name: sum(each) / len(each) for name, each in points.items()}


def test_counting_words_earns_no_more_than_guessing(made: Path) -> None:
    counts = Counter(word for sentence in _corpus(made) for word in sentence)
    scores = _accuracy(made, lambda words: sum(math.log(counts[word] + 1) for word in words))
    assert 0.35 < sum(scores.values()) / len(scores) < 0.65


def test_knowing_neighbouring_words_does_not_solve_what_lies_further_apart(made: Path) -> None:
    corpus = _corpus(made)
    words = Counter(word for sentence in corpus for word in ("^", *sentence))
    bigrams = Counter(two for sentence in corpus for two in pairwise(("^", *sentence)))

    def likelihood(sentence: tuple[str, ...]) -> float:
        return sum(math.log((bigrams[two] + 0.1) / (words[two[0]] + 100)) for two in pairwise(("^", *sentence)))

    scores = _accuracy(made, likelihood)
    assert sum(scores.values()) / len(scores) < 0.75
    assert scores["distractor_agreement_relational_noun"] < 0.5
    assert scores["only_npi_scope"] < 0.6
