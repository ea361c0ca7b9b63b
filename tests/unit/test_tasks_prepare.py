"""Data preparation: made once, whole or not at all, closed to others, the same from the same seed."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tasks import catalogue
from tasks.catalogue import TASKS_VARIABLE
from tasks.prepare import is_prepared, main, prepare, prepared

COUNTING = """
import os
def generate(out, *, seed, options):
    with open({marks!r}, "a") as stream:
        stream.write("made\\n")
    (out / "public" / "numbers.txt").write_text(str(seed))
    (out / "private" / "test" / "answer.txt").write_text(str(seed * 2))
"""
FAILING = """
def generate(out, *, seed, options):
    (out / "public" / "half.txt").write_text("half")
    raise ValueError("no such seed")
"""
TOML = """
name = "own/counting"
title = "t"
goal = "g"
source = "s"
artefact = { about = "a", paths = ["a"] }
metric = { name = "m", direction = "maximize" }
[scales.smoke]
about = "x"
limits = { time_s = 1.0, steps = 1, cost_usd = 1.0 }
compute = {}
baseline = { value = 0.0, source = "s" }
"""


@pytest.fixture
def marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tasks" / "own" / "counting"
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text(TOML)
    (folder / "data.py").write_text(COUNTING.format(marks=str(tmp_path / "marks")))
    monkeypatch.setenv(TASKS_VARIABLE, str(tmp_path / "tasks"))
    return tmp_path / "marks"


def test_data_is_made_once(marks: Path, tmp_path: Path) -> None:
    task = catalogue.load("own/counting")
    out = prepared(tmp_path / "data", "own/counting", "smoke", 3)
    assert prepare(task, "smoke", 3, out)
    assert not prepare(task, "smoke", 3, out)
    assert marks.read_text() == "made\n"
    assert (out / "private" / "test" / "answer.txt").read_text() == "6"


def test_of_many_at_once_one_makes_the_data_and_all_find_it(marks: Path, tmp_path: Path) -> None:
    out = tmp_path / "data" / "own/counting" / "smoke-0"
    command = [sys.executable, "-m", "tasks.prepare", "own/counting", "--out", str(out)]
    started = [subprocess.Popen(command) for _ in range(5)]
    assert [process.wait(60) for process in started] == [0] * 5
    assert marks.read_text() == "made\n"
    assert [path.name for path in out.parent.iterdir() if path.is_dir()] == ["smoke-0"]


def test_nobody_else_can_enter(marks: Path, tmp_path: Path) -> None:
    out = tmp_path / "data" / "smoke-0"
    prepare(catalogue.load("own/counting"), "smoke", 0, out)
    folders = [Path(folder) for folder, _, _ in os.walk(out)]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}


def test_a_failure_leaves_nothing_that_looks_prepared(
    marks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = catalogue.load("own/counting")
    (task.folder / "data.py").write_text(FAILING)
    out = tmp_path / "data" / "smoke-0"
    assert main(["own/counting", "--out", str(out)]) == 1
    assert capsys.readouterr().err == "the data of own/counting cannot be made: no such seed\n"
    assert not out.exists()
    assert [path for path in out.parent.iterdir() if path.is_dir()] == []


def test_a_changed_generator_makes_the_data_anew(marks: Path, tmp_path: Path) -> None:
    task = catalogue.load("own/counting")
    out = tmp_path / "data" / "smoke-0"
    prepare(task, "smoke", 0, out)
    assert not is_prepared(task, "smoke", 1, out)
    with (task.folder / "data.py").open("a") as stream:
        stream.write("# changed\n")
    assert prepare(task, "smoke", 0, out)
    assert marks.read_text() == "made\nmade\n"


def test_a_scale_that_is_not_there_is_a_plain_error(
    marks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["own/counting", "--scale", "full", "--out", str(tmp_path / "x")]) == 2
    assert capsys.readouterr().err == "own/counting has no scale 'full'\n"


def test_a_game_s_key_cannot_be_worked_out_from_the_seed(tmp_path: Path) -> None:
    task = catalogue.load("mlgym/battle_of_sexes")
    keys = set()
    for number in range(2):
        out = tmp_path / str(number)
        prepare(task, "smoke", 0, out)
        keys |= {(out / "private" / split / "opponent.json").read_text() for split in ("dev", "test")}
        assert list((out / "public").iterdir()) == []
    assert len(keys) == 4
