"""Lays rows out on disk as a data set of the hub, so that `datasets` reads them offline under the published name."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

BLIMP_SET = "nyu-mll/blimp"


def write_hub_set(folder: Path, name: str, configs: Mapping[str, Sequence[Mapping[str, object]]]) -> None:
    """Write the set of that name below `folder`: one configuration each, all rows in split `train`, as BLiMP has it."""
    root = folder / name
    root.mkdir(parents=True, exist_ok=True)
    front = ["---", "configs:"]
    for config, rows in configs.items():
        with (root / f"{config}.jsonl").open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        front += [f"- config_name: {config}", "  data_files:", "  - split: train", f"    path: {config}.jsonl"]
    (root / "README.md").write_text("\n".join([*front, "---", ""]), encoding="utf-8")
