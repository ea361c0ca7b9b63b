"""Makes or fetches the houses and splits them; of the test rows a half is `dev` and the other half `test`."""

import csv
import io
import os
import random
from collections.abc import Sequence
from pathlib import Path

from tasks.contract import Options
from tasks.mlgym.house_price.columns import COLUMNS, TARGET
from tasks.mlgym.house_price.houses import House, build_house, found_town

KAGGLE_FILE = "MLRB_HOUSE_PRICES"
"""Names a file of the user's: Kaggle's `train.csv`, read in place of OpenML's copy of it."""
OPENML_ID = 42165
PUBLISHED_SPLIT_SEED = 42


def generate(out: Path, *, seed: int, options: Options) -> None:
    """Build a town's houses from the seed."""
    rng = random.Random(f"house_price {seed}")
    town = found_town(rng)
    houses = [build_house(number, town, rng) for number in range(1, int(options["rows"]) + 1)]
    rng.shuffle(houses)
    train, validation = int(options["train_rows"]), int(options["validation_rows"])
    write_tables(out, houses[:train], houses[train : train + validation], houses[train + validation :], options)


def download(out: Path, options: Options) -> None:
    """The published houses, split as published (scikit-learn's splitter, seed 42)."""
    from sklearn.model_selection import train_test_split  # type: ignore[import-untyped]

    houses = _published_houses()
    rest, test = train_test_split(houses, test_size=0.2, random_state=PUBLISHED_SPLIT_SEED)
    train, validation = train_test_split(rest, test_size=0.125, random_state=PUBLISHED_SPLIT_SEED)
    write_tables(out, train, validation, test, options)


def write_tables(
    out: Path, train: Sequence[House], validation: Sequence[House], test: Sequence[House], options: Options
) -> None:
    """Write what the agent sees, and what only the grader does."""
    unpriced = tuple(name for name in COLUMNS if name != TARGET)
    tables = {
        "train.csv": _csv(train, COLUMNS),
        "validation.csv": _csv(validation, COLUMNS),
        "test.csv": _csv(test, unpriced),
    }
    order = sorted(range(len(test)), key=lambda row: random.Random(f"half {test[row]['Id']}").random())
    dev = set(order[: int(options["dev_rows"])])
    for split, rows in (("dev", dev), ("test", set(order) - dev)):
        answers = [house for row, house in enumerate(test) if row in rows]
        _write(out / "private" / split, {"answer.csv": _csv(answers, ("Id", TARGET))})
        # The starter is run on them, for a comparison on the very rows that are graded.
        _write(out / "private" / split / "data", tables)
    _write(out / "public" / "data", tables)


def read_houses(path: Path) -> list[House]:
    """The houses of a CSV file in the published form."""
    with path.open(newline="", encoding="utf-8") as stream:
        houses = list(csv.DictReader(stream))
    if not houses or set(houses[0]) != set(COLUMNS):
        raise ValueError(f"{path.name} does not have the columns of the published table")
    return houses


def _published_houses() -> list[House]:
    given = os.environ.get(KAGGLE_FILE)
    if given:
        return read_houses(Path(given))
    from sklearn.datasets import fetch_openml  # type: ignore[import-untyped]

    table = fetch_openml(data_id=OPENML_ID, as_frame=True).frame
    text = table[list(COLUMNS)].to_csv(index=False, na_rep="NA")
    return list(csv.DictReader(io.StringIO(text)))


def _csv(houses: Sequence[House], columns: Sequence[str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(houses)
    return text.getvalue()


def _write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
