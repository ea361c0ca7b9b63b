"""The catalogue: what it finds, and that a broken folder is named with all that is wrong with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tasks import catalogue
from tasks.errors import TaskInvalid, UsageError
from tasks.spec import Scale

GOOD_TOML = """
name = "own/doubling"
title = "Doubling"
goal = "Double a number."
source = "nobody"
protected = ["given.txt"]
[artefact]
about = "answer.txt"
paths = ["answer.txt"]
[metric]
name = "distance"
direction = "minimize"
[[rules]]
name = "honest"
text = "No guessing."
[scales.smoke]
about = "one number"
limits = { time_s = 60.0, steps = 5, cost_usd = 1.0 }
compute = { cpus = 1.0 }
baseline = { value = 3.0, source = "a guess" }
options = { numbers = 1200 }
"""


def make_task(
    root: Path, *, toml: str = GOOD_TOML, prompt: str = "{goal} {numbers} numbers in {time}, {steps} steps."
) -> Path:
    folder = root / "own" / "doubling"
    (folder / "starter").mkdir(parents=True)
    (folder / "starter" / "given.txt").write_text("2")
    (folder / "task.toml").write_text(toml)
    (folder / "prompt.md").write_text(prompt)
    (folder / "data.py").write_text("def generate(out, *, seed, options):\n    pass\n")
    (folder / "grade.py").write_text("def grade(submission, private, *, split, options, report):\n    pass\n")
    (folder / "baseline.jsonl").write_text('{"thought": "do it", "tool": "submit", "arguments": {"summary": "done"}}\n')
    return folder


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(catalogue.TASKS_VARIABLE, str(tmp_path))
    return tmp_path


def test_a_task_is_found_without_its_suite_where_only_one_has_that_name(root: Path) -> None:
    make_task(root)
    assert catalogue.load("doubling").spec.name == "own/doubling"
    other = root / "other" / "doubling"
    other.parent.mkdir()
    os.rename(make_task(root / "elsewhere"), other)
    with pytest.raises(UsageError) as caught:
        catalogue.load("doubling")
    assert "own/doubling or" not in caught.value.message
    assert caught.value.hint == "write other/doubling or own/doubling"


def test_shipped_mlgym_tasks_hold_together() -> None:
    assert [problem for problem in catalogue.check() if problem.startswith("mlgym/")] == []
    names = [task.spec.name for task in catalogue.all_tasks()]
    assert {"mlgym/battle_of_sexes", "mlgym/prisoners_dilemma", "mlgym/house_price"} <= set(names)
    assert names == sorted(names)


@pytest.mark.parametrize("name", ["mlgym/battle_of_sexes", "mlgym/prisoners_dilemma", "mlgym/house_price"])
@pytest.mark.parametrize("scale", ["smoke", "full"])
def test_no_place_in_a_shipped_prompt_stays_empty(name: str, scale: Scale) -> None:
    text = catalogue.prompt(catalogue.load(name), scale)
    assert "{" not in text
    assert catalogue.load(name).spec.goal in text


def test_listing_tasks_imports_nothing_heavy() -> None:
    code = (
        "import sys; from tasks import catalogue; catalogue.all_tasks(); catalogue.check();"
        "print([name for name in ('numpy', 'torch', 'sklearn', 'pandas', 'docker', 'textual') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_user_s_folder_of_tasks_is_found(root: Path) -> None:
    make_task(root)
    task = catalogue.load("own/doubling")
    assert catalogue.prompt(task, "smoke", steps=7) == "Double a number. 1,200 numbers in 60 seconds, 7 steps."
    assert [problem for problem in catalogue.check() if problem.startswith("own/")] == []


def test_everything_wrong_with_a_folder_is_listed_at_once(root: Path) -> None:
    toml = GOOD_TOML.replace('paths = ["answer.txt"]', 'paths = ["../answer.txt"]').replace('"honest"', '"not honest"')
    folder = make_task(root, toml=toml, prompt="{nonsense}")
    (folder / "starter" / "given.txt").unlink()
    (folder / "grade.py").write_text("def grade(:\n")
    (folder / "data.py").write_text("x = 1\n")
    (folder / "baseline.jsonl").write_text('{"thought": "x", "tool": "teleport", "arguments": {}}\n[1]\n')
    with pytest.raises(TaskInvalid) as caught:
        catalogue.require_sound()
    said = caught.value.message
    for part in (
        "'../answer.txt'",
        "'not honest'",
        "'given.txt' is not in starter/",
        "grade.py:",
        "data.py defines no function 'generate'",
        "line 1: unknown tool 'teleport'",
        "line 2: a step is an object",
        "prompt.md asks for nonsense",
    ):
        assert part in said


def test_an_unknown_key_in_task_toml_is_an_error_that_names_the_place(root: Path) -> None:
    make_task(root, toml=GOOD_TOML.replace("options = {", "optoins = {"))
    with pytest.raises(TaskInvalid, match=r"own/doubling: task.toml: .*optoins"):
        catalogue.load("own/doubling")
    with pytest.raises(TaskInvalid, match="own/doubling"):
        catalogue.all_tasks()


def test_a_folder_that_names_itself_otherwise_is_refused(root: Path) -> None:
    make_task(root, toml=GOOD_TOML.replace("own/doubling", "own/tripling"))
    with pytest.raises(TaskInvalid, match="names itself 'own/tripling'"):
        catalogue.load("own/doubling")


def test_a_second_folder_of_the_same_name_is_reported(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in ("one", "two"):
        make_task(root / part)
    monkeypatch.setenv(catalogue.TASKS_VARIABLE, os.pathsep.join(str(root / part) for part in ("one", "two")))
    assert any(problem.startswith("own/doubling: two folders") for problem in catalogue.check())


def test_a_mistyped_name_gets_a_suggestion() -> None:
    with pytest.raises(UsageError) as caught:
        catalogue.load("batle_of_sexs")
    assert "mlgym/battle_of_sexes" in caught.value.hint


def test_a_scale_that_measures_something_else_says_so_in_its_own_prompt(root: Path) -> None:
    own = '[scales.smoke.metric]\nname = "likeness"\ndirection = "maximize"\n'
    task = catalogue.load(make_task(root, toml=GOOD_TOML + own, prompt="{metric}, {direction}").name)
    assert (task.metric("smoke").name, task.spec.metric.name) == ("likeness", "distance")
    assert catalogue.prompt(task, "smoke") == "likeness, higher is better"
