"""The script of mlrb/baby_lm's baseline, step by step in a folder: it really trains and really solves the task."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tasks.catalogue import load
from tasks.mlrb.baby_lm import data
from tasks.mlrb.baby_lm.grade import grade

for missing in ("torch", "transformers", "lm_eval"):
    pytest.importorskip(missing)

pytestmark = [pytest.mark.eval, pytest.mark.slow]

STARTER = Path(data.__file__).parent / "starter"
PASSES, ENOUGH_PASSES = "--max-passes 4", "--max-passes 2"
"""Half of the training is enough to be far above the baseline."""


def _run_step(step: dict[str, Any], folder: Path) -> None:
    arguments = step["arguments"]
    match step["tool"]:
        case "write":
            (folder / arguments["path"]).write_text(arguments["content"], encoding="utf-8")
        case "bash":
            path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
            subprocess.run(
                ["bash", "-ec", arguments["command"]],
                cwd=folder,
                env={**os.environ, "PATH": path},
                check=True,
                capture_output=True,
                timeout=arguments.get("timeout_s", 120),
            )
        case "python":
            subprocess.run(
                [sys.executable, "-c", arguments["code"]], cwd=folder, check=True, capture_output=True, timeout=120
            )


def test_the_scripted_baseline_really_solves_the_task(tmp_path: Path) -> None:
    spec = load("mlrb/baby_lm").spec.scales["smoke"]
    data.generate(tmp_path, seed=0, options=spec.options)
    work = tmp_path / "work"
    shutil.copytree(STARTER, work)
    shutil.copytree(tmp_path / "public", work, dirs_exist_ok=True)
    script = (STARTER.parent / "baseline.jsonl").read_text(encoding="utf-8")
    assert PASSES in script
    for line in script.replace(PASSES, ENOUGH_PASSES).splitlines():
        _run_step(json.loads(line), work)
    graded = grade(work, tmp_path / "private", split="test", options=spec.options, report=lambda *_: None)
    assert graded["value"] > spec.baseline.value + 2 * spec.baseline.spread
    assert [*(work / "ckpt").glob("step_*/model.safetensors")]
    assert {broken["rule"] for broken in graded["violations"]} <= {"data_consumed"}
