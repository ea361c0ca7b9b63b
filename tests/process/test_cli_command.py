"""The command line as a script sees it: one line of error with a hint, exit codes that mean something."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.home import Home
from agent.record.jsonl import read_jsonl
from agent.record.lock import hold
from agent.record.log import EventLog
from agent.record.values import Limits, RunSummary
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
        (("run", "battle_of_sexes", "--limit", "time=-5m"), 2),
        (("run", "battle_of_sexes", "--limit", "steps=0"), 2),
        (("run", "battle_of_sexes", "--sandbox", "local", "--model", "scripted:/no/such/script.jsonl"), 4),
        (("tasks", "show", "batle_of_sexes"), 2),
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


def test_a_file_that_cannot_be_written_is_one_line_not_a_traceback(home: Home, tmp_path: Path) -> None:
    made_run(home, "aa000001", 500)
    for target in (tmp_path / "nodir" / "x.jsonl", tmp_path, Path("/dev/full")):
        ran = mlrb(home.path, "export", "aa", "--output", str(target))
        assert ran.returncode == 5, target
        assert ran.stderr.startswith(f"mlrb: cannot write {target}: ")
        assert len(ran.stderr.splitlines()) == 2
    for command in ("export", "events", "show"):
        environment = {**os.environ, "MLRB_HOME": str(home.path)}
        with Path("/dev/full").open("w") as full:
            piped = subprocess.run(
                [MLRB, command, "aa"], env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert (piped.returncode, len(piped.stderr.splitlines())) == (5, 2), piped.stderr


def test_a_kind_of_event_that_there_is_not_is_an_error_that_names_the_nearest(home: Home) -> None:
    made_run(home, "aa000001", 100)
    ran = mlrb(home.path, "events", "aa", "--kind", "step_start")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "step_started" in ran.stderr


def test_every_json_has_the_same_fields_of_a_run(home: Home) -> None:
    made_run(home, "aa000001", 100)
    listed = json.loads(mlrb(home.path, "ls", "--json").stdout)
    shown = json.loads(mlrb(home.path, "show", "aa", "--json").stdout)
    assert set(RunSummary.__struct_fields__) <= set(listed)
    assert set(listed) <= set(shown)
    assert (shown["state"], shown["outcome"]) == ("ended", "submitted")


def test_a_tasks_folder_that_is_not_there_is_said(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLRB_TASKS", "/no/such/folder")
    listed = mlrb(home.path, "tasks")
    assert listed.returncode == 0
    assert "/no/such/folder" in listed.stderr
    assert mlrb(home.path, "tasks", "check").returncode == 2
    assert "/no/such/folder" in mlrb(home.path, "tasks", "show", "mine").stderr


def test_config_works_on_a_broken_file_and_shows_what_may_stand_there(home: Home) -> None:
    whole = mlrb(home.path, "config")
    assert whole.returncode == 0
    for name in ("model", "approve.let_through", "theme", "glyphs", "mouse", "notify.on"):
        (line,) = [line for line in whole.stdout.splitlines() if line.startswith(f"{name} ")]
        assert len(line.split()) > 3, line
    home.settings.write_text('modell = "x"\n')
    broken = mlrb(home.path, "config")
    assert broken.returncode == 2
    assert "theme" in broken.stdout
    assert "did you mean model?" in broken.stderr
    assert json.loads(mlrb(home.path, "config", "--json").stdout)["error"]


def test_what_it_does_now_is_cut_with_a_sign_that_it_is(home: Home) -> None:
    folder = home.new_run()
    with hold(folder.lock), EventLog(folder.events) as log:
        log.append(
            ev.RunCreated(
                run=folder.run, task="a/b", scale="smoke", scaffold="react", model="m", sandbox="local", seed=0,
                limits=Limits(),
            )
        )  # fmt: skip
        log.append(ev.RunStarted(pid=1, host="box"))
        log.append(ev.StepStarted())
        log.append(
            ev.ToolCalled(call_id="c1", tool="bash", arguments={}, summary="python train.py --lr 3e-4 --epochs 9")
        )
        assert " python train.py --lr 3e-4 --epo… " in mlrb(home.path, "ls").stdout


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
