"""The data of mlrb/math_reasoning: generated from a seed at smoke scale, fetched from the hub at full scale.

`public/data/train.jsonl` has the published columns (`name`, `informal_statement`, `informal_proof`, `formal_proof`).
`private/<split>/items.jsonl` are held-out rows of the same form, `private/<split>/train.jsonl` is the training file
again, which the grader looks for copies in.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random

from tasks.contract import Options
from tasks.mlrb.hub import write_rows
from tasks.mlrb.math_reasoning.problems import Row, problems

TRACK_SET = "AlgorithmicResearchGroup/math_reasoning_autoformalization_track"
COLUMNS = ("name", "informal_statement", "informal_proof", "formal_proof")
SPLIT_SEED = "math_reasoning/full"
"""The hub's set has no split; this one is the same for everybody."""


def generate(out: Path, *, seed: int, options: Options) -> None:
    """Write the smoke data for that seed."""
    train, dev, test = problems(
        seed,
        train=int(options.get("train_items", 4000)),
        dev=int(options.get("dev_items", 60)),
        test=int(options.get("test_items", 200)),
    )
    _write(out, train, dev, test)


def download(out: Path, options: Options) -> None:
    """Fetch the published rows from the hub and hold some of them out."""
    from datasets import load_dataset  # type: ignore[import-untyped]

    rows = [{column: str(row[column]) for column in COLUMNS} for row in load_dataset(TRACK_SET, split="train")]
    _write(out, *held_out(rows, dev=int(options.get("dev_items", 50)), test=int(options.get("test_items", 100))))


def held_out(rows: Sequence[Row], *, dev: int, test: int) -> tuple[list[Row], list[Row], list[Row]]:
    """Training, development and test rows. Rows that share a statement or a script all stay on the training side."""
    shuffled = sorted(rows, key=lambda row: row["name"])
    Random(SPLIT_SEED).shuffle(shuffled)
    counts: dict[str, int] = {}
    for row in shuffled:
        for text in _marks(row):
            counts[text] = counts.get(text, 0) + 1
    alone = [row for row in shuffled if all(counts[text] == 1 for text in _marks(row))]
    chosen = alone[: dev + test]
    taken = {id(row) for row in chosen}
    return [row for row in shuffled if id(row) not in taken], chosen[:dev], chosen[dev:]


def _marks(row: Row) -> set[str]:
    return {" ".join(row[column].split()) for column in ("informal_statement", "formal_proof")}


def _write(out: Path, train: Sequence[Row], dev: Sequence[Row], test: Sequence[Row]) -> None:
    write_rows(out / "public/data/train.jsonl", train)
    for split, rows in (("dev", dev), ("test", test)):
        write_rows(out / "private" / split / "items.jsonl", rows)
        shutil.copyfile(out / "public/data/train.jsonl", out / "private" / split / "train.jsonl")
