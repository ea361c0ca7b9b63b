"""The data of mlrb/baby_lm: generated from a seed at smoke scale, fetched from the hub at full scale.

`public/data/{train,dev,test}.jsonl` are six rows each (`filename`, `content`), as published.
`private/<split>/nyu-mll/blimp/` is a hub data set of minimal pairs that lm-eval's stock task files read;
`private/<split>/corpus.jsonl` is the training corpus again, which the grader compares a submission with.
"""

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tasks.contract import Options
from tasks.mlrb.hub import BLIMP_SET, write_hub_set
from tasks.mlrb.world import corpus, paradigms
from tasks.mlrb.world.grammar import Part

CORPUS_SET = "AlgorithmicResearchGroup/babylm"
DEV_PAIRS = 100
"""At full scale the first hundred pairs of each paradigm are for `validate`, the other 900 for the score."""


def generate(out: Path, *, seed: int, options: Options) -> None:
    """Write the smoke data for that seed."""
    sentences = int(options.get("sentences", 30_000))
    for part, share in (("train", 1.0), ("dev", 0.05), ("test", 0.05)):
        _write_rows(out / "public/data" / f"{part}.jsonl", corpus.rows(seed, int(sentences * share), part))
    counts: dict[Part, int] = {
        "dev": int(options.get("dev_pairs", 40)),
        "test": int(options.get("test_pairs", 100)),
    }
    for split, count in counts.items():
        _write_private(out, split, paradigms.items(seed, split, count))


def download(out: Path, options: Options) -> None:
    """Fetch the published corpus and BLiMP from the hub and lay them out the same way."""
    from datasets import get_dataset_config_names, load_dataset  # type: ignore[import-untyped]

    for part in ("train", "dev", "test"):
        _write_rows(out / "public/data" / f"{part}.jsonl", load_dataset(CORPUS_SET, split=part))
    whole = {name: list(load_dataset(BLIMP_SET, name, split="train")) for name in get_dataset_config_names(BLIMP_SET)}
    dev_pairs = int(options.get("dev_pairs", DEV_PAIRS))
    _write_private(out, "dev", {name: rows[:dev_pairs] for name, rows in whole.items()})
    _write_private(out, "test", {name: rows[dev_pairs:] for name, rows in whole.items()})


def _write_private(out: Path, split: str, pairs: Mapping[str, list[dict[str, Any]]]) -> None:
    folder = out / "private" / split
    write_hub_set(folder, BLIMP_SET, pairs)
    shutil.copyfile(out / "public/data/train.jsonl", folder / "corpus.jsonl")


def _write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as out:
        out.writelines(
            json.dumps({"filename": row["filename"], "content": row["content"]}, ensure_ascii=False) + "\n"
            for row in rows
        )
