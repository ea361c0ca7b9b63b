"""Grading predicted prices: what is refused, and that copies and lookups earn nothing."""

import csv
import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks import catalogue
from tasks.contract import Grade
from tasks.mlgym.house_price.grade import grade, measure, read_predictions
from tasks.prepare import prepare

TASK = catalogue.load("mlgym/house_price")
Rows = list[tuple[str, str]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("houses") / "smoke-0"
    prepare(TASK, "smoke", 0, out)
    return out


@pytest.fixture
def rows(made: Path) -> Rows:
    """A fair guess for each test row: by living area and quality."""
    with (made / "public" / "data" / "test.csv").open(newline="") as stream:
        table = list(csv.DictReader(stream))
    return [(row["Id"], str(int(row["GrLivArea"]) * 18.5 * float(row["OverallQual"]) ** 1.01)) for row in table]


def scored(made: Path, tmp_path: Path, text: str | bytes, split: str = "test") -> Grade:
    (tmp_path / "submission.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    data = made / "private" / split
    with (data / "answer.csv").open(newline="") as stream:
        answers = {row["Id"]: float(row["SalePrice"]) for row in csv.DictReader(stream)}
    return measure(answers, read_predictions(tmp_path, data / "data"))


def graded(made: Path, tmp_path: Path, text: str) -> Grade:
    """The same by the whole grader, which runs the starter too."""
    (tmp_path / "submission.csv").write_text(text)
    return grade(tmp_path, made / "private", split="test", options={}, report=lambda done, total, what: None)


def as_csv(rows: Rows, header: str = "Id,SalePrice") -> str:
    return "\n".join([header, *(",".join(row) for row in rows)]) + "\n"


def test_rows_are_joined_by_id_whatever_their_order(made: Path, tmp_path: Path, rows: Rows) -> None:
    straight = scored(made, tmp_path, as_csv(rows))
    assert scored(made, tmp_path, as_csv(rows[::-1]))["value"] == straight["value"]
    with_more = "\ufeffSalePrice,note,Id\r\n" + "".join(f"{price},x,{one}.0\r\n" for one, price in rows)
    assert scored(made, tmp_path, with_more)["value"] == straight["value"]
    assert 0 < straight["value"] < 1
    assert straight["standard_error"] is not None
    assert straight["details"]["rows"] == 146


def test_the_two_splits_are_scored_on_rows_of_their_own(made: Path, tmp_path: Path, rows: Rows) -> None:
    values = {split: scored(made, tmp_path, as_csv(rows), split)["value"] for split in ("dev", "test")}
    assert values["dev"] != values["test"]


REFUSED: dict[str, tuple[Callable[[Rows], str | bytes], str]] = {
    "a row is missing": (lambda rows: as_csv(rows[:-1]), "lacks 1 of 292 Ids"),
    "no rows": (lambda rows: as_csv([]), "lacks 292 of 292 Ids"),
    "an empty file": (lambda rows: "", "needs the columns Id and SalePrice"),
    "wrong columns": (lambda rows: as_csv(rows, "id,price"), "needs the columns Id and SalePrice"),
    "unknown ids": (lambda rows: as_csv([*rows, ("99999", "1")]), "1 Ids that are not in test.csv"),
    "train ids": (lambda rows: as_csv([(str(n), "1") for n in range(1, 293)]), "lacks"),
    "a row twice": (lambda rows: as_csv([*rows, rows[0]]), "is there twice"),
    "nan": (lambda rows: as_csv([(rows[0][0], "nan"), *rows[1:]]), "line 2: the price 'nan' is not a finite number"),
    "infinity": (lambda rows: as_csv([(rows[0][0], "1e999"), *rows[1:]]), "not a finite number"),
    "a price beyond squaring": (lambda rows: as_csv([(one, "1e308") for one, _ in rows]), "not a finite number below"),
    "a word": (lambda rows: as_csv([(rows[0][0], "cheap"), *rows[1:]]), "line 2: .* is not an Id and a price"),
    "an empty price": (lambda rows: as_csv([(rows[0][0], ""), *rows[1:]]), "is not an Id and a price"),
    "a missing cell": (lambda rows: "Id,SalePrice\n1\n", "is not an Id and a price"),
    "an endless id": (lambda rows: as_csv([("9" * 400, "1")]), "is not an Id and a price"),
    "not text": (lambda rows: b"\xff\xfe\x00", "can't be read as CSV"),
    "a cell without end": (lambda rows: 'Id,SalePrice\n"' + "x" * 200_000, "can't be read as CSV"),
}


@pytest.mark.parametrize(("text", "said"), REFUSED.values(), ids=REFUSED)
def test_a_submission_out_of_form_is_refused_in_one_line(
    made: Path, tmp_path: Path, rows: Rows, text: Callable[[Rows], str | bytes], said: str
) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        scored(made, tmp_path, text(rows))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_prices_looked_up_in_the_hidden_labels_break_a_rule(made: Path, tmp_path: Path) -> None:
    hidden = [
        row
        for split in ("dev", "test")
        for row in list(csv.reader((made / "private" / split / "answer.csv").open()))[1:]
    ]
    found = scored(made, tmp_path, as_csv([(one, price) for one, price in hidden]))
    assert found["value"] == 1
    [broken] = found["violations"]
    assert broken["rule"] == "hidden_labels"
    assert "146 of 146" in broken["evidence"]
    assert {rule.name: rule.invalidates for rule in TASK.spec.rules}["hidden_labels"]


@pytest.mark.eval
@pytest.mark.skipif(importlib.util.find_spec("sklearn") is None, reason="scikit-learn is not installed")
def test_the_starter_s_own_output_is_known_again_in_any_order(made: Path, tmp_path: Path, rows: Rows) -> None:
    starter = TASK.starter / "baseline.py"
    subprocess.run([sys.executable, str(starter)], cwd=made / "public", check=True, capture_output=True)
    written = (made / "public" / "submission.csv").read_text().splitlines()
    found = graded(made, tmp_path, "\n".join([written[0], *written[:0:-1]]) + "\n")
    assert found["untouched"]
    assert found["value"] == found["baseline"]
    honest = graded(made, tmp_path, as_csv(rows))
    assert not honest["untouched"]
    assert honest["baseline"] == found["baseline"]
    assert honest["baseline_spread"] > 0
