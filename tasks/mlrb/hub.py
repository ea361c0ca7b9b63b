"""Lays rows out on disk as a data set of the hub, so that `datasets` reads them offline under the published name."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

BLIMP_SET = "nyu-mll/blimp"
SUPER_GLUE_SET = "aps/super_glue"
MMLU_SET = "cais/mmlu"
MERGING_SET = "AlgorithmicResearchGroup/llm_merging"

Row = Mapping[str, object]
Splits = Mapping[str, Sequence[Row]]

_CONFIG = "- config_name: "


def write_hub_set(folder: Path, name: str, configs: Mapping[str, Sequence[Row]]) -> None:
    """Write the set of that name below `folder`: one configuration each, all rows in split `train`, as BLiMP has it."""
    write_hub_splits(folder, name, {config: {"train": rows} for config, rows in configs.items()})


def write_hub_splits(folder: Path, name: str, configs: Mapping[str, Splits]) -> None:
    """Write the set of that name below `folder`: `<name>/<config>/<split>.jsonl` and the card that names them."""
    root = folder / name
    front = ["---", "configs:"]
    for config, splits in configs.items():
        front += [f"{_CONFIG}{config}", "  data_files:"]
        for split, rows in splits.items():
            write_rows(root / config / f"{split}.jsonl", rows)
            front += [f"  - split: {split}", f"    path: {config}/{split}.jsonl"]
    (root / "README.md").write_text("\n".join([*front, "---", ""]), encoding="utf-8")


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def configurations(folder: Path, name: str) -> list[str]:
    """The configurations of a set that was written here, sorted."""
    try:
        lines = (folder / name / "README.md").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return sorted(line.removeprefix(_CONFIG) for line in lines if line.startswith(_CONFIG))
