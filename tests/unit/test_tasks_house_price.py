"""The houses: as published in form, split without a leak, and the published baseline on the real table."""

import csv
import importlib.util
import math
import os
import statistics
from pathlib import Path

import pytest

from tasks import catalogue
from tasks.contract import load_file
from tasks.mlgym.house_price.columns import COLUMNS, TARGET
from tasks.mlgym.house_price.data import KAGGLE_FILE
from tasks.mlgym.house_price.grade import r2, rmse
from tasks.prepare import prepare

TASK = catalogue.load("mlgym/house_price")
BESIDE_THE_CHECKOUT = Path(__file__).parents[3] / "shared" / "data" / "house_prices" / "train.csv"
REAL = Path(os.environ.get(KAGGLE_FILE, BESIDE_THE_CHECKOUT))
Table = list[dict[str, str]]


def read(path: Path) -> Table:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("houses") / "smoke-0"
    prepare(TASK, "smoke", 0, out)
    return out


def test_the_tables_have_the_published_columns_and_sizes(made: Path) -> None:
    sizes = {"train": 1022, "validation": 146, "test": 292}
    for name, size in sizes.items():
        table = read(made / "public" / "data" / f"{name}.csv")
        assert len(table) == size
        assert tuple(table[0]) == COLUMNS[: None if name != "test" else -1]
    assert len(COLUMNS) == 81


def test_prices_of_test_rows_are_nowhere_in_what_the_agent_sees(made: Path) -> None:
    hidden = {
        row["Id"]: row[TARGET] for split in ("dev", "test") for row in read(made / "private" / split / "answer.csv")
    }
    assert len(hidden) == 292
    seen = [path for path in (made / "public").rglob("*") if path.is_file()]
    assert sorted(path.name for path in seen) == ["test.csv", "train.csv", "validation.csv"]
    for name in ("train", "validation"):
        assert not {row["Id"] for row in read(made / "public" / "data" / f"{name}.csv")} & set(hidden)
    assert TARGET not in read(made / "public" / "data" / "test.csv")[0]


def test_dev_and_test_share_no_row(made: Path) -> None:
    dev, test = ({row["Id"] for row in read(made / "private" / split / "answer.csv")} for split in ("dev", "test"))
    assert not dev & test
    assert (len(dev), len(test)) == (146, 146)


def test_the_same_seed_gives_the_same_houses_and_another_others(made: Path, tmp_path: Path) -> None:
    for seed in (0, 1):
        prepare(TASK, "smoke", seed, tmp_path / str(seed))
    first = (made / "public" / "data" / "train.csv").read_bytes()
    assert (tmp_path / "0" / "public" / "data" / "train.csv").read_bytes() == first
    assert (tmp_path / "1" / "public" / "data" / "train.csv").read_bytes() != first


def test_the_generated_houses_look_like_the_published_ones(made: Path) -> None:
    table = read(made / "public" / "data" / "train.csv")
    prices = [float(row[TARGET]) for row in table]
    assert 150_000 < statistics.fmean(prices) < 230_000
    assert 50_000 < statistics.stdev(prices) < 110_000
    with_gaps = [name for name in COLUMNS if any(row[name] == "NA" for row in table)]
    assert 17 <= len(with_gaps) <= 19
    assert len({row["Neighborhood"] for row in table}) == 25
    for row in table:
        assert (row["GarageType"] == "NA") == (row["GarageCars"] == "0")
        assert (row["BsmtQual"] == "NA") == (row["TotalBsmtSF"] == "0")
        assert all(row.values())


@pytest.mark.eval
@pytest.mark.skipif(not REAL.is_file(), reason=f"the published table is not here; {KAGGLE_FILE} may name it")
@pytest.mark.skipif(importlib.util.find_spec("sklearn") is None, reason="scikit-learn is not installed")
def test_the_starter_earns_on_the_real_houses_what_was_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KAGGLE_FILE, str(REAL))
    prepare(TASK, "full", 0, tmp_path / "full")
    monkeypatch.chdir(tmp_path / "full" / "public")
    load_file(TASK.starter / "baseline.py").main()
    answers = {
        row["Id"]: float(row[TARGET])
        for split in ("dev", "test")
        for row in read(tmp_path / "full" / "private" / split / "answer.csv")
    }
    predicted = {row["Id"]: float(row[TARGET]) for row in read(Path("submission.csv"))}
    ids = sorted(answers)
    truth, guesses = [answers[one] for one in ids], [predicted[one] for one in ids]
    assert r2(truth, guesses) == pytest.approx(0.87999, abs=5e-6)
    assert rmse(truth, guesses) == pytest.approx(30340.11, abs=0.01)


def test_r2_is_zero_for_the_mean_and_one_for_the_truth() -> None:
    truth = [100.0, 200.0, 400.0]
    assert r2(truth, truth) == 1
    assert r2(truth, [statistics.fmean(truth)] * 3) == pytest.approx(0)
    assert rmse(truth, [101.0, 199.0, 401.0]) == 1
    assert math.isclose(r2(truth, [0.0, 0.0, 0.0]), 1 - 210_000 / 46_666.666, rel_tol=1e-4)
