"""Launches that meet: in a fresh home, in one run, and under paths that people really have."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record import index
from agent.record.home import Home
from tests.process.runner_runs import Runs, bash, probe_tasks, script_line

LAUNCHES = 10
COMMAND = Path(sys.executable).with_name("mlrb")
# Deeper than the 107 bytes that a socket's name may have.
DEEP = Path(*(f"a folder that lies deep {number}" for number in range(8)))


def launching(home: Path, tasks: Path, *arguments: str) -> "subprocess.Popen[str]":
    """`mlrb run` of the probe task."""
    return subprocess.Popen(
        [str(COMMAND), "run", "probe/number", "--sandbox", "local", "--model", "scripted", *arguments],
        env={**os.environ, "MLRB_HOME": str(home), "MLRB_TASKS": str(tasks)},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_launches_at_once_in_a_fresh_home_all_succeed_and_are_all_listed(tmp_path: Path) -> None:
    home, tasks = tmp_path / "home", probe_tasks(tmp_path)
    launches = [launching(home, tasks, "--wait", "--json") for _ in range(LAUNCHES)]
    results = []
    for launch in launches:
        out, said = launch.communicate(timeout=240)
        assert launch.returncode == 0, said
        assert "locked" not in said
        results.append(json.loads(out))
    assert {result["outcome"] for result in results} == {"submitted"}
    runs = {result["run"] for result in results}
    assert len(runs) == LAUNCHES
    assert {summary.run for summary in index.summaries(Home(home))} == runs
    rows = subprocess.run(
        [str(COMMAND), "ls", "--json"], env={**os.environ, "MLRB_HOME": str(home)}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert {json.loads(line)["run"] for line in rows.stdout.splitlines()} == runs


def test_of_two_runners_for_one_run_one_does_the_work(tmp_path: Path) -> None:
    runs = Runs.under(tmp_path)
    try:
        run = runs.start(
            [bash("echo once >> lines.txt; cat lines.txt; cp lines.txt answer.txt"), script_line("submit")]
        )
        first = run.process
        run.launch()
        second = run.process
        assert first is not None
        assert second is not None
        codes = sorted((first.wait(90), second.wait(90)))
        assert codes[0] == 0
        assert codes[1] in (5, 6), "held by the other one, or found that it was started before"
        assert (
            len(run.bodies(ev.RunCreated)) == len(run.bodies(ev.RunEnded)) == len(run.bodies(ev.ToolFinished)[:1]) == 1
        )
        assert run.text(run.bodies(ev.ToolFinished)[0].observation).count("once") == 1
    finally:
        runs.close()


@pytest.mark.parametrize(
    "place",
    [Path("with spaces in it"), Path("où ça 界 🧪 'quoted' \"twice\" #1 100%?"), DEEP],
    ids=["spaces", "odd", "deep"],
)
def test_whole_run_under_any_home(tmp_path: Path, place: Path) -> None:
    launch = launching(tmp_path / place, probe_tasks(tmp_path), "--wait", "--json")
    out, said = launch.communicate(timeout=120)
    assert launch.returncode == 0, said
    result = json.loads(out)
    assert (result["outcome"], result["score"]["value"]) == ("submitted", 5.0)
