"""Grades predicted prices: r2 on the split's rows, beside what the starter earns on the very same rows."""

import csv
import importlib.util
import io
import math
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tasks.contract import Broken, Grade, Options, Report

Prices = dict[str, float]
STARTER = Path(__file__).parent / "starter" / "baseline.py"
NEEDED = ("pandas", "sklearn")
RESAMPLES = 500
MOST_EXACT = 0.05
"""Models do not hit more than this share of prices to the cent."""
SAME = 1e-6
HIGHEST = 1e12
"""Dollars; squares of what lies far beyond are no numbers any more."""


def grade(submission: Path, private: Path, *, split: str, options: Options, report: Report) -> Grade:
    """Join by Id, score, and compare with the starter."""
    report(0, 2, "scoring")
    data = private / split / "data"
    predicted = read_predictions(submission, data)
    answers = _prices((private / split / "answer.csv").read_bytes(), "answer.csv")
    found = measure(answers, predicted)
    report(1, 2, "running the starter on the same rows")
    starter = _starter_prices(data)
    if starter is not None:
        _compare(found, answers, predicted, starter)
        found["untouched"] = all(math.isclose(price, starter[one], rel_tol=SAME) for one, price in predicted.items())
    report(2, 2, "done")
    return found


def read_predictions(submission: Path, data: Path) -> Prices:
    """The predicted prices, one for each test row; `ValueError` says in one line what is wrong with them."""
    wanted = {row["Id"] for row in csv.DictReader(io.StringIO((data / "test.csv").read_text(encoding="utf-8")))}
    predicted = _prices((submission / "submission.csv").read_bytes(), "submission.csv")
    _require_ids(set(predicted), wanted)
    return predicted


def measure(answers: Prices, predicted: Prices) -> Grade:
    """How good the prices are, by themselves."""
    truth, guesses = _columns([(price, predicted[one]) for one, price in _sorted(answers)])
    return {
        "value": r2(truth, guesses),
        "standard_error": statistics.stdev(r2(*_columns(sample)) for sample in _resamples(truth, guesses)),
        "details": {"rmse": rmse(truth, guesses), "rows": float(len(answers))},
        "violations": _exact_hits(truth, guesses),
    }


def r2(truth: Sequence[float], guesses: Sequence[float]) -> float:
    """The share of variance explained: 1 - SS_res / SS_tot."""
    mean = statistics.fmean(truth)
    total = math.fsum((one - mean) ** 2 for one in truth)
    return 1 - math.fsum((one - guess) ** 2 for one, guess in zip(truth, guesses, strict=True)) / total


def rmse(truth: Sequence[float], guesses: Sequence[float]) -> float:
    """The root of the mean squared error, in dollars."""
    return math.sqrt(statistics.fmean((one - guess) ** 2 for one, guess in zip(truth, guesses, strict=True)))


def _compare(found: Grade, answers: Prices, predicted: Prices, starter: Prices) -> None:
    """Put the starter's value in, and the noise of the difference (a paired bootstrap) as its spread."""
    columns = _columns([(price, predicted[one], starter[one]) for one, price in _sorted(answers)])
    found["baseline"] = r2(columns[0], columns[2])
    differences = []
    for sample in _resamples(*columns):
        truth, own, theirs = _columns(sample)
        differences.append(r2(truth, own) - r2(truth, theirs))
    found["baseline_spread"] = statistics.stdev(differences)


def _sorted(prices: Prices) -> list[tuple[str, float]]:
    return sorted(prices.items(), key=lambda item: int(item[0]))


def _resamples(*columns: Sequence[float]) -> list[list[tuple[float, ...]]]:
    """Rows drawn with replacement, again and again, the same each time that it is asked for."""
    rng = random.Random(0)
    rows = list(zip(*columns, strict=True))
    return [rng.choices(rows, k=len(rows)) for _ in range(RESAMPLES)]


def _columns(rows: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
    return list(zip(*rows, strict=True))


def _prices(raw: bytes, name: str) -> Prices:
    """Prices by Id out of a CSV file; `ValueError` says in one line what is wrong with it."""
    try:
        rows = csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline=""))
        if not {"Id", "SalePrice"} <= set(rows.fieldnames or ()):
            raise ValueError(f"{name} needs the columns Id and SalePrice")
        prices: Prices = {}
        for row in rows:
            _add(prices, row, f"{name} line {rows.line_num}")
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{name} can't be read as CSV: {error}") from error
    return prices


def _add(prices: Prices, row: dict[str, str | None], place: str) -> None:
    one, raw = (row["Id"] or "").strip(), (row["SalePrice"] or "").strip()
    try:
        key, price = str(int(float(one))), float(raw)
    except (ValueError, OverflowError):
        raise ValueError(f"{place}: {one[:20]!r}, {raw[:20]!r} is not an Id and a price") from None
    if not abs(price) <= HIGHEST:
        raise ValueError(f"{place}: the price {raw[:20]!r} is not a finite number below {HIGHEST:,.0f}")
    if key in prices:
        raise ValueError(f"{place}: Id {key} is there twice")
    prices[key] = price


def _require_ids(given: set[str], wanted: set[str]) -> None:
    missing, unknown = sorted(wanted - given, key=int), sorted(given - wanted, key=int)
    if missing:
        raise ValueError(f"submission.csv lacks {len(missing)} of {len(wanted)} Ids, such as {', '.join(missing[:3])}")
    if unknown:
        raise ValueError(f"submission.csv has {len(unknown)} Ids that are not in test.csv, such as {unknown[0]:.20}")


def _exact_hits(truth: Sequence[float], guesses: Sequence[float]) -> list[Broken]:
    hits = sum(one == guess for one, guess in zip(truth, guesses, strict=True))
    if hits <= MOST_EXACT * len(truth):
        return []
    return [{"rule": "hidden_labels", "evidence": f"{hits} of {len(truth)} predictions equal the hidden price exactly"}]


def _starter_prices(data: Path) -> Prices | None:
    """What the starter predicts from the same data; None where its libraries are not installed."""
    if any(importlib.util.find_spec(name) is None for name in NEEDED):
        return None
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(data, Path(scratch) / "data")
        subprocess.run([sys.executable, str(STARTER)], cwd=scratch, check=True, stdout=subprocess.DEVNULL, timeout=120)
        return _prices((Path(scratch) / "submission.csv").read_bytes(), "the starter's submission.csv")
