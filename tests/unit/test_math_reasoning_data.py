"""The problems of mlrb/math_reasoning: right, new where they are held out, and not solved by copying."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from evaluation.lean.check import check
from evaluation.model.copies import near_copies, nearest
from tasks.mlrb.math_reasoning import data
from tasks.mlrb.math_reasoning.problems import PEOPLE, THINGS, Row, problems
from tasks.mlrb.math_reasoning.templates import TEMPLATES

BESIDE = re.compile("weather|exercise|would rather|past|pages|Yesterday")
OPTIONS = {"train_items": 1500, "dev_items": 40, "test_items": 80}


def _read(file: Path) -> list[Row]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("math-reasoning")
    data.generate(out, seed=5, options=OPTIONS)
    return out


@pytest.fixture(scope="module")
def splits(made: Path) -> dict[str, list[Row]]:
    held = {split: _read(made / "private" / split / "items.jsonl") for split in ("dev", "test")}
    return {"train": _read(made / "public/data/train.jsonl"), **held}


def _claim(row: Row) -> str:
    """The theorem without its name, its variables numbered in order."""
    claim, order = row["formal_proof"].split(maxsplit=2)[2], list[str]()
    for letter in re.findall(r"\b[a-z]\b", claim):
        order += [letter] if letter not in order else []
    return re.sub(r"\b[a-z]\b", lambda found: f"v{order.index(found[0])}", claim)


def _company(row: Row) -> set[tuple[str, str]]:
    """Who stands in one statement with what; a distractor's sentence tells nothing."""
    words = re.findall(r"[A-Za-z]+", row["informal_statement"])
    return {(person, thing) for person in PEOPLE for thing in THINGS if person in words and thing in words}


def test_every_script_is_valid_and_states_what_it_is_asked_for(splits: dict[str, list[Row]]) -> None:
    seen = Counter(row["formal_proof"].split()[1] for row in splits["train"][:400] + splits["test"])
    assert set(seen) == {template.name for template in TEMPLATES}
    for row in splits["train"][:400] + splits["test"]:
        verdict = check(row["formal_proof"], row["formal_proof"])
        assert verdict.valid, (row, verdict.reason)


def test_no_theorem_occurs_twice_in_any_split(splits: dict[str, list[Row]]) -> None:
    claims = Counter(_claim(row) for rows in splits.values() for row in rows)
    assert sum(claims.values()) == 1620
    assert max(claims.values()) == 1


def test_held_out_people_have_things_that_they_never_have_in_training(splits: dict[str, list[Row]]) -> None:
    def about(rows: list[Row]) -> set[tuple[str, str]]:
        told = ("total", "left", "times", "ages")
        plain = [row for row in rows if row["formal_proof"].split()[1] in told and "would rather" not in str(row)]
        return {
            pair for row in plain if "counted" not in str(row) and "read this" not in str(row) for pair in _company(row)
        }

    assert about(splits["test"])
    assert not about(splits["train"]) & about(splits["test"])


def test_numbers_of_held_out_scripts_all_occur_in_training(splits: dict[str, list[Row]]) -> None:
    known = {number for row in splits["train"] for number in re.findall(r"\d+", row["formal_proof"])}
    assert {number for row in splits["test"] for number in re.findall(r"\d+", row["formal_proof"])} <= known


def test_each_kind_is_told_in_three_ways_at_times_with_words_and_with_what_is_beside_the_point(
    splits: dict[str, list[Row]],
) -> None:
    texts = [row["informal_statement"] for row in splits["train"]]
    totals = [row["informal_statement"] for row in splits["train"] if row["formal_proof"].startswith("theorem total ")]
    for family in ("Show that together they have", "Prove that there are", "Together, as is to be shown"):
        assert any(family in text for text in totals)
    assert any(re.search(r"\b(seven|eleven)\b", text) for text in texts)
    assert (
        0.3 < sum(bool(re.search("weather|exercise|would rather|past|pages|Yesterday", t)) for t in texts) / 1500 < 0.6
    )


def test_taking_over_the_nearest_script_reads_well_and_is_wrong(splits: dict[str, list[Row]]) -> None:
    from evaluation.model.text_metrics import score_texts

    train, test = splits["train"], splits["test"]
    found = nearest([row["informal_statement"] for row in test], [row["informal_statement"] for row in train])
    scripts, references = [train[n]["formal_proof"] for n in found], [row["formal_proof"] for row in test]
    assert (score_texts(scripts, references).bleu or 0) > 0.5
    assert sum(check(*pair).valid for pair in zip(scripts, references, strict=True)) == 0
    assert len(near_copies(scripts, [row["formal_proof"] for row in train])) == len(scripts)


def test_what_is_right_is_hardly_ever_taken_for_a_copy(splits: dict[str, list[Row]]) -> None:
    right = [row["formal_proof"] for row in splits["test"]]
    assert len(near_copies(right, [row["formal_proof"] for row in splits["train"]])) <= 0.05 * len(right)


def test_a_seed_gives_the_same_rows_again_and_another_seed_others() -> None:
    one = problems(1, train=60, dev=5, test=5)
    assert one == problems(1, train=60, dev=5, test=5)
    assert one != problems(2, train=60, dev=5, test=5)


def test_nothing_private_is_among_the_public_files(made: Path) -> None:
    public = {file.relative_to(made / "public").as_posix() for file in (made / "public").rglob("*") if file.is_file()}
    assert public == {"data/train.jsonl"}
    assert (made / "private/test/train.jsonl").read_bytes() == (made / "public/data/train.jsonl").read_bytes()


def test_more_problems_than_there_are_is_an_error_and_no_endless_search(monkeypatch: pytest.MonkeyPatch) -> None:
    divides = tuple(template for template in TEMPLATES if template.name == "divides")
    monkeypatch.setattr("tasks.mlrb.math_reasoning.problems.TEMPLATES", divides)
    with pytest.raises(ValueError, match="no more than"):
        problems(0, train=500, dev=1, test=1)


def _hub_rows() -> list[Row]:
    told = [(f"s {number // 2 if number < 40 else number}", f"theorem t{number}") for number in range(300)]
    return [
        {"name": f"n{number:03}", "informal_statement": said, "informal_proof": "p", "formal_proof": shown}
        for number, (said, shown) in enumerate(told)
    ]


def test_the_hub_rows_are_held_out_alike_for_everybody_and_twins_are_never_parted() -> None:
    rows = _hub_rows()
    train, dev, test = data.held_out(rows, dev=20, test=100)
    assert (len(train), len(dev), len(test)) == (180, 20, 100)
    assert data.held_out(rows[::-1], dev=20, test=100) == (train, dev, test)
    said = {row["informal_statement"] for row in train}
    assert not said & {row["informal_statement"] for row in dev + test}
    assert sorted(row["name"] for row in train + dev + test) == [row["name"] for row in rows]
