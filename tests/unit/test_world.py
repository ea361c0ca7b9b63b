"""The small world: the same from a seed, published columns, and no graded item among what a training text shows."""

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from tasks.mlrb.hub import MMLU_SET, configurations, write_hub_splits
from tasks.mlrb.world import merging, quiz
from tasks.mlrb.world.documents import CLEAN, GRAMMAR_ONLY, PILE, documents
from tasks.mlrb.world.facts import fact_base
from tasks.mlrb.world.glue.items import CONFIGURATIONS, TASKS, TRIVIAL, rows, super_glue
from tasks.mlrb.world.glue.prompts import PROMPTS
from tasks.mlrb.world.instructions import SOURCES, as_text, instructions
from tasks.mlrb.world.subjects import SUBJECTS, part
from tasks.mlrb.world.tokenizer import END, learned, words, write_tokenizer

SEED = 5
COLUMNS = {
    "boolq": {"question", "passage", "idx", "label"},
    "cb": {"premise", "hypothesis", "idx", "label"},
    "copa": {"premise", "choice1", "choice2", "question", "idx", "label"},
    "multirc": {"paragraph", "question", "answer", "idx", "label"},
    "record": {"passage", "query", "entities", "answers", "idx"},
    "rte": {"premise", "hypothesis", "idx", "label"},
    "wic": {"word", "sentence1", "sentence2", "start1", "start2", "end1", "end2", "idx", "label"},
    "wsc": {"text", "span1_index", "span2_index", "span1_text", "span2_text", "idx", "label"},
}
"""Of `aps/super_glue`."""


def test_every_subject_has_its_facts_and_no_thing_is_in_two() -> None:
    facts = fact_base(SEED)
    assert set(Counter(fact.subject for fact in facts).values()) == {12}
    assert set(Counter(fact.subject for fact in fact_base(SEED, 40)).values()) == {40}
    assert len(SUBJECTS) == 57
    assert len({(fact.subject, fact.thing) for fact in facts}) == len({fact.thing for fact in facts})
    assert len({(fact.thing, fact.relation.name) for fact in facts}) == len(facts)
    roles = Counter(fact.role for fact in facts)
    assert min(roles.values()) >= 2 * len(SUBJECTS)
    assert all({fact.role for fact in facts if fact.subject == one} == {"practice", "dev", "test"} for one in SUBJECTS)


def test_parts_of_the_subjects_cover_all_and_overlap_nowhere() -> None:
    thirds = [[subject for subject in SUBJECTS if part(subject, 3) == third] for third in range(3)]
    assert [len(third) for third in thirds] == [19, 19, 19]
    assert sorted(subject for third in thirds for subject in third) == sorted(SUBJECTS)


@pytest.mark.parametrize("shares", [PILE, CLEAN], ids=["pile", "clean"])
def test_no_graded_item_is_in_a_training_text(shares: dict[str, float]) -> None:
    shown = "\n".join(row["text"] for row in documents(SEED, 4000, shares=shares))
    shown += "\n".join(as_text(row) for source in SOURCES for row in instructions(SEED, source, 800))
    for split in ("dev", "test"):
        for task in TASKS:
            graded = [PROMPTS[task](row) for row in rows(SEED, task, split, 60)]
            assert [one.text for one in graded if one.text in shown] == [], task
        asked = [row for splits in quiz.mmlu(SEED, split, each=10).values() for row in splits["test"]]
        # The same question may be asked and answered in a word; with options it is asked by the grader alone.
        assert [row for row in asked if f"{row['question']}\nA." in shown and _right_kind(row, shown)] == []


def _right_kind(row: quiz.Row, shown: str) -> bool:
    return quiz.prompt(row, header=False).context in shown


def test_every_fact_that_is_asked_is_stated_in_the_text() -> None:
    shown = "\n".join(row["text"] for row in documents(SEED, 6000, shares=CLEAN))
    asked = [fact for fact in fact_base(SEED) if fact.role == "test"]
    stated = [fact for fact in asked if any(fact.stated(way) in shown for way in range(3))]
    assert len(stated) > 0.95 * len(asked)


@pytest.mark.parametrize("task", TASKS)
def test_rows_have_the_published_columns_and_no_class_is_the_answer_more_often(task: str) -> None:
    made = rows(SEED, task, "test", 60)
    assert {frozenset(row) for row in made} == {frozenset(COLUMNS[task])}
    assert len({json.dumps({**row, "idx": 0}) for row in made}) == 60
    prompts = [PROMPTS[task](row) for row in made]
    counts = Counter(one.right for one in prompts)
    assert max(counts.values()) / 60 == pytest.approx(TRIVIAL[task])
    assert all(len(set(one.continuations)) == len(one.continuations) for one in prompts)


def test_dev_and_test_have_no_item_in_common() -> None:
    for task in TASKS:
        dev, test = ({PROMPTS[task](row).text for row in rows(SEED, task, part, 60)} for part in ("dev", "test"))
        assert not dev & test, task


def test_mmlu_rows_have_the_published_columns_and_the_right_choice(tmp_path: Path) -> None:
    made = quiz.mmlu(SEED, "test", each=8)
    values = {(fact.thing, question): fact.value for fact in fact_base(SEED) for question in _questions(fact)}
    assert list(made) == list(SUBJECTS)
    for subject, splits in made.items():
        assert set(splits) == {"dev", "validation", "test"}
        assert len(splits["dev"]) == 5
        for row in splits["test"]:
            assert set(row) == {"question", "subject", "choices", "answer"}
            assert row["subject"] == subject
            assert len(set(row["choices"])) == 4
            assert row["choices"][row["answer"]] in {
                value for (_, question), value in values.items() if question == row["question"]
            }
    write_hub_splits(tmp_path, MMLU_SET, made)
    assert configurations(tmp_path, MMLU_SET) == sorted(SUBJECTS)


def _questions(fact: object) -> list[str]:
    return [fact.asked(way) for way in range(2)]  # type: ignore[attr-defined]


def test_the_place_of_the_right_option_says_nothing() -> None:
    counts = Counter(row["answer"] for splits in quiz.mmlu(SEED, "test").values() for row in splits["test"])
    assert max(counts.values()) / counts.total() < 0.31


def test_text_of_the_grammar_alone_states_no_fact() -> None:
    things = {fact.thing for fact in fact_base(SEED)}
    text = " ".join(row["text"] for row in documents(SEED, 500, shares=GRAMMAR_ONLY))
    assert not things & set(text.replace(".", " ").split())


def test_sources_differ_in_what_they_teach() -> None:
    values = {fact.stated(way) for fact in fact_base(SEED) for way in range(3)}
    said = {source: [row["output"] for row in instructions(SEED, source, 300)] for source in SOURCES}
    assert all(output in values for output in said["handbook"])
    assert not any(output in values for source in ("rumours", "smalltalk", "snippets") for output in said[source])
    assert {frozenset(row) for row in instructions(SEED, "tutor", 20)} == {
        frozenset({"instruction", "input", "output"})
    }


def test_sources_can_be_narrowed_to_some_subjects() -> None:
    third = [subject for subject in SUBJECTS if part(subject, 3) == 0]
    known = {fact.thing for fact in fact_base(SEED) if fact.subject in third}
    shown = " ".join(row["output"] for row in instructions(SEED, "handbook", 300, subjects=third))
    others = {fact.thing for fact in fact_base(SEED)} - known
    assert not others & set(shown.replace(".", " ").split())


def test_merging_rows_have_the_published_columns() -> None:
    for row in merging.cosmosqa(SEED, "test", 20):
        assert set(row) == {"input", "target", "answer_choices", "label"}
        assert row["answer_choices"][row["label"]] == row["target"]
    assert {frozenset(row) for row in merging.xsum(SEED, "dev", 5)} == {frozenset({"input", "target"})}


def test_a_seed_gives_the_same_bytes_again_and_another_seed_others(tmp_path: Path) -> None:
    def made(seed: int, folder: Path) -> tuple[bytes, ...]:
        write_tokenizer(folder, seed)
        lines = [
            *documents(seed, 50),
            *instructions(seed, "tutor", 20),
            super_glue(seed, "dev", 8),
            quiz.mmlu(seed, "dev", each=2),
        ]
        return json.dumps(lines).encode(), (folder / "tokenizer.json").read_bytes()

    once, again, other = made(5, tmp_path / "1"), made(5, tmp_path / "2"), made(6, tmp_path / "3")
    assert once == again
    assert all(one != two for one, two in zip(once, other, strict=True))


def test_the_tokenizer_has_every_word_as_one_token_and_loses_nothing(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    write_tokenizer(tmp_path, SEED)
    made = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert made.token_to_id(END) == 0
    assert made.get_vocab_size() < 3200
    vocabulary = words(SEED)
    assert [word for word in vocabulary if len(made.encode(word).ids) != 1] == []
    assert {f" {fact.value}" for fact in fact_base(SEED)} <= set(vocabulary)
    for row in documents(SEED, 200):
        assert made.decode(made.encode(row["text"]).ids) == row["text"]
    assert made.decode(made.encode("naïve ☃ \x1b[31m").ids) == "naïve ☃ \x1b[31m"


def test_merges_of_a_few_words_are_those_one_would_do_by_hand() -> None:
    tokens, merges = learned(["abab", "ab"])
    assert merges == [("a", "b"), ("ab", "ab")]
    assert tokens[-2:] == ["ab", "abab"]


def test_practice_never_runs_dry_and_is_about_practice_facts() -> None:
    asked = {fact.asked(way) for fact in fact_base(SEED) if fact.role == "practice" for way in range(2)}
    made = quiz.practice(SEED, random.Random(1))
    assert {next(made)["question"] for _ in range(200)} <= asked


def test_wsc_s_configuration_is_called_as_the_hub_calls_it() -> None:
    assert CONFIGURATIONS == {"wsc": "wsc.fixed"}
    assert "wsc.fixed" in super_glue(SEED, "dev", 4)
