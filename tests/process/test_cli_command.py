"""The command line as a script sees it: one line of error with a hint, exit codes that mean something."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.record.home import Home
from agent.record.jsonl import read_jsonl
from tests.bench.made_runs import made_run

MLRB = Path(sys.executable).with_name("mlrb")


def mlrb(home: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "MLRB_HOME": str(home)}
    return subprocess.run(
        [str(MLRB), *arguments], env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "runs live here").ensure()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("fly",), 2),
        (("show", "nothere"), 5),
        (("pause", "nothere"), 5),
        (("run", "mlgym/no_such_task"), 2),
        (("run", "mlgym/battle_of_sexes", "--limit", "speed=3"), 2),
        (("run", "mlgym/battle_of_sexes", "--model", "nonsense:x"), 2),
        (("run", "mlgym/battle_of_sexes", "--scaffold", "nonsense"), 2),
        (("run", "mlgym/battle_of_sexes", "--sandbox", "nonsense"), 2),
        (("watch", "last"), 5),
        (("replay", "/no/such/file.jsonl"), 2),
    ],
)
def test_a_mistake_is_one_line_and_a_hint_never_a_traceback(home: Home, arguments: tuple[str, ...], code: int) -> None:
    ran = mlrb(home.path, *arguments)
    assert ran.returncode == code, ran.stderr
    assert ran.stdout == ""
    lines = ran.stderr.strip().splitlines()
    assert lines[0].startswith("mlrb: ")
    assert len(lines) <= 2
    assert "Traceback" not in ran.stderr


def test_list_of_none_says_how_to_begin(home: Home) -> None:
    assert "mlrb run" in mlrb(home.path, "ls").stdout


def test_json_prints_one_object_a_run_and_nothing_else(home: Home) -> None:
    made_run(home, "aa000001", 100)
    made_run(home, "bb000002", 100)
    lines = mlrb(home.path, "ls", "--json").stdout.splitlines()
    assert sorted(json.loads(line)["run"] for line in lines) == ["aa000001", "bb000002"]


def test_a_run_is_shown_by_the_start_of_its_id(home: Home) -> None:
    made_run(home, "aa000001", 100)
    assert json.loads(mlrb(home.path, "show", "aa", "--json").stdout)["outcome"] == "submitted"
    assert "aa000001" in mlrb(home.path, "show", "last").stdout


def test_export_reads_back_as_the_same_events(home: Home, tmp_path: Path) -> None:
    made_run(home, "aa000001", 500)
    target = tmp_path / "out.jsonl"
    assert mlrb(home.path, "export", "aa", "--output", str(target)).returncode == 0
    assert [event.seq for event in read_jsonl(target)] == list(range(1, 501))


def test_events_can_be_chosen_by_kind_and_number(home: Home) -> None:
    made_run(home, "aa000001", 100)
    lines = mlrb(home.path, "events", "aa", "--kind", "step_started", "--since", "10").stdout.splitlines()
    events = [json.loads(line) for line in lines]
    assert events
    assert all(event["body"]["kind"] == "step_started" and event["seq"] > 10 for event in events)


def test_steering_an_ended_run_says_so(home: Home) -> None:
    made_run(home, "aa000001", 100)
    ran = mlrb(home.path, "pause", "aa")
    assert ran.returncode == 6
    assert "has ended: submitted" in ran.stderr


def test_a_reader_that_leaves_early_is_no_error(home: Home) -> None:
    made_run(home, "aa000001", 20_000)
    environment = {**os.environ, "MLRB_HOME": str(home.path)}
    ran = subprocess.run(
        f"{MLRB} events aa | head -1", shell=True, env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stderr == ""


def test_hostile_names_do_not_reach_the_terminal_raw(home: Home) -> None:
    ran = mlrb(home.path, "show", "\x1b]0;owned\x07")
    assert "\x1b" not in ran.stderr


def test_reindex_counts_the_runs(home: Home) -> None:
    made_run(home, "aa000001", 100)
    assert json.loads(mlrb(home.path, "reindex", "--json").stdout) == {"runs": 1}
