"""Whole runs through the command line: launched, waited for, steered, graded again, taken up when lost."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.record.home import Home, RunFolder
from agent.record.index import of_folder
from agent.record.lock import is_held
from agent.record.values import Score

MLRB = str(Path(sys.executable).with_name("mlrb"))
QUICK = str(Path(__file__).parents[1] / "bench" / "quick.jsonl")
SLEEPY = [
    {"thought": "wait", "tool": "bash", "arguments": {"command": "echo begun; sleep 600; echo over"}},
    {"thought": "hand in", "tool": "submit", "arguments": {"summary": "slept"}},
]


@contextlib.contextmanager
def home_below(folder: Path) -> Iterator[Home]:
    home = Home(folder / "a home").ensure()
    yield home
    for run in home.folders():
        if is_held(run.lock):
            mlrb(home, "kill", run.run)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with home_below(tmp_path) as home:
        yield home


@dataclass(frozen=True)
class Waited:
    """A run that was launched with `--wait --json`, and what that printed."""

    home: Home
    exit_code: int
    printed: str
    said: str


@pytest.fixture(scope="module")
def waited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Waited]:
    with home_below(tmp_path_factory.mktemp("waited")) as home:
        command = ("run", "mlgym/battle_of_sexes", "--model", f"scripted:{QUICK}", "--sandbox", "local")
        ran = mlrb(home, *command, "--wait", "--json")
        yield Waited(home, ran.returncode, ran.stdout, ran.stderr)


def mlrb(home: Home, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "MLRB_HOME": str(home.path)}
    return subprocess.run(
        [MLRB, *arguments], env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def launch(home: Home, script: str, *arguments: str) -> RunFolder:
    command = ("run", "mlgym/battle_of_sexes", "--model", f"scripted:{script}", "--sandbox", "local", *arguments)
    ran = mlrb(home, *command)
    assert ran.returncode == 0, ran.stderr
    return home.find(ran.stdout.split()[0])


def eventually(condition: Callable[[], bool], timeout_s: float = 60.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.05)


@pytest.fixture
def sleepy(tmp_path: Path) -> str:
    path = tmp_path / "sleepy.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in SLEEPY))
    return str(path)


def test_a_run_waited_for_prints_what_a_script_needs(waited: Waited) -> None:
    assert waited.exit_code == 0, waited.said
    found = json.loads(waited.printed)
    assert found["outcome"] == "submitted"
    assert found["scale"] == "smoke"
    score = found["score"]
    assert score["valid"]
    assert score["value"] > score["baseline"]
    assert (score["direction"], score["violations"]) == ("maximize", [])
    assert found["interventions"] == 0
    assert found["usage"]["steps"] == 3


def test_what_was_submitted_is_graded_again_to_the_same_score(waited: Waited) -> None:
    first = json.loads(waited.printed)
    again = mlrb(waited.home, "grade", first["run"], "--json")
    assert again.returncode == 0, again.stderr
    score = json.loads(again.stdout)["score"]
    assert score["value"] == pytest.approx(first["score"]["value"])
    assert score["artefact_sha256"] == first["score"]["artefact_sha256"]


def test_a_score_has_the_same_fields_in_every_json(waited: Waited) -> None:
    first = json.loads(waited.printed)
    run = first["run"]
    shown = json.loads(mlrb(waited.home, "show", run, "--json").stdout)
    listed = json.loads(mlrb(waited.home, "ls", "--json").stdout)
    graded = json.loads(mlrb(waited.home, "grade", run, "--json").stdout)
    for score in (first["score"], shown["final_score"], listed["last_score"], graded["score"]):
        assert set(score) == {*Score.__struct_fields__, "beats_baseline"}
    assert (first["state"], first["outcome"]) == (shown["state"], shown["outcome"]) == ("ended", "submitted")


def test_every_steering_command_prints_its_answer(home: Home, sleepy: str) -> None:
    folder = launch(home, sleepy)
    eventually(lambda: "sleep" in of_folder(folder).now)
    for arguments in (
        ("pause", "--now"),
        ("resume",),
        ("limits", "time=+10m", "--why", "a test"),
        ("interrupt",),
    ):
        verb, *rest = arguments
        ran = mlrb(home, verb, folder.run, *rest)
        assert ran.returncode == 0, (arguments, ran.stderr)
        assert ran.stdout.startswith(f"{folder.run}  {verb}: ")
    eventually(lambda: of_folder(folder).state == "ended")
    assert of_folder(folder).interventions == 3


def test_kill_leaves_nothing_and_a_second_kill_says_it_has_ended(home: Home, sleepy: str) -> None:
    folder = launch(home, sleepy)
    eventually(lambda: "sleep" in of_folder(folder).now)
    ran = mlrb(home, "kill", folder.run)
    assert ran.returncode == 0, ran.stderr
    eventually(lambda: not is_held(folder.lock))
    assert (of_folder(folder).outcome, of_folder(folder).leftovers) == ("killed", ())
    again = mlrb(home, "kill", folder.run)
    assert (again.returncode, again.stdout) == (0, f"{folder.run}  kill: it was killed before; nothing is left over\n")


def test_kill_of_a_run_that_has_ended_otherwise_says_how(home: Home) -> None:
    folder = launch(home, QUICK, "--wait")
    ran = mlrb(home, "kill", folder.run)
    assert (ran.returncode, ran.stdout) == (6, "")
    assert "has ended: submitted; nothing is left over" in ran.stderr


def test_a_run_whose_runner_was_killed_is_lost_and_can_be_taken_up(home: Home, sleepy: str) -> None:
    folder = launch(home, sleepy)
    eventually(lambda: "sleep" in of_folder(folder).now)
    os.kill(int(folder.lock.read_text()), signal.SIGKILL)
    eventually(lambda: not is_held(folder.lock))
    assert json.loads(mlrb(home, "show", folder.run, "--json").stdout)["outcome"] == "lost"
    ran = mlrb(home, "resume", folder.run)
    assert ran.returncode == 0, ran.stderr
    # The command went on meanwhile, and is followed.
    eventually(lambda: mlrb(home, "interrupt", folder.run).returncode == 0)
    eventually(lambda: of_folder(folder).state == "ended")
    assert of_folder(folder).outcome == "submitted"


def _ended(folder: RunFolder) -> None:
    eventually(lambda: not is_held(folder.lock))


def _shot(folder: RunFolder) -> None:
    """The runner's end without a word."""
    os.kill(int(folder.lock.read_text()), signal.SIGKILL)
    _ended(folder)


def test_a_lost_run_can_be_killed_and_nothing_of_it_is_left(home: Home, sleepy: str) -> None:
    folder = launch(home, sleepy)
    eventually(lambda: "sleep" in of_folder(folder).now)
    _shot(folder)
    assert left_of(folder.run)
    ran = mlrb(home, "kill", folder.run)
    assert (ran.returncode, ran.stdout) == (0, f"{folder.run}  kill: nothing is left over\n"), ran.stderr
    assert of_folder(folder).outcome == "killed"
    assert not left_of(folder.run)


def test_a_runner_that_died_before_its_first_word_is_made_up_for(home: Home, sleepy: str) -> None:
    for verb in ("kill", "resume"):
        folder = launch(home, sleepy)
        mlrb(home, "kill", folder.run)
        _ended(folder)
        for name in ("events.db", "events.db-wal", "events.db-shm"):
            (folder.path / name).unlink(missing_ok=True)
        ran = mlrb(home, verb, folder.run)
        assert ran.returncode == 0, ran.stderr
        assert of_folder(folder).seq > 0


def left_of(run: str) -> list[str]:
    """Processes that carry the run's mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if f"MLRB_RUN={run}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(entry.name)
    return found
