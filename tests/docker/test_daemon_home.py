"""A home with a path that people really have, and a run in docker that is graded there."""

import json
import os
import subprocess
from pathlib import Path

from agent.sandbox.containers import labelled
from tests.process.runner_runs import probe_tasks
from tests.process.test_survival_launch import COMMAND, DEEP


def test_whole_run_in_docker_under_a_deep_home_with_spaces_and_letters_of_all_kinds(tmp_path: Path) -> None:
    home = tmp_path / "où ça 界 🧪: 'quoted', #1" / DEEP
    environment = {**os.environ, "MLRB_HOME": str(home), "MLRB_TASKS": str(probe_tasks(tmp_path))}
    ran = subprocess.run(
        [str(COMMAND), "run", "probe/number", "--sandbox", "docker", "--model", "scripted", "--wait", "--json"],
        env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=180,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert (result["score"]["value"], result["score"]["isolation"]) == (5.0, "docker")
    assert labelled(result["run"]) == []
