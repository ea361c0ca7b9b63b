"""The README's first half, typed as it stands, and what the README says elsewhere than in commands."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record.home import Home
from agent.record.lock import is_held
from mlrb_tui.cli import main
from tests.process.pty_terminal import PtyTerminal
from tests.process.readme_commands import ANSWERS_ELSEWHERE, BEFORE_DOCKER, README, ROOT, leave, machine, type_all


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    with machine(tmp_path) as made:
        yield made


@pytest.mark.slow
def test_every_command_up_to_docker_works(environment: dict[str, str], tmp_path: Path) -> None:
    assert type_all(BEFORE_DOCKER, environment, tmp_path) >= 12


def test_make_demo_opens_the_app_on_a_run(environment: dict[str, str]) -> None:
    command = ("make", "--no-print-directory", "-o", ".venv/base", "demo", f"BIN={Path(sys.executable).parent}")
    with PtyTerminal(command, columns=120, lines=40, environment=environment) as terminal:
        terminal.wait_for("mlgym/battle_of_sexes", timeout_s=60)
        terminal.wait_for("evaluate.py", timeout_s=60)
        leave(terminal)
    (folder,) = Home(Path(environment["MLRB_HOME"])).folders()
    assert is_held(folder.lock), "the run goes on without the app"


def test_make_test_runs_pytest() -> None:
    ran = subprocess.run(["make", "--dry-run", "test"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "-m pytest" in ran.stdout


@pytest.mark.parametrize("command", [line for line in ANSWERS_ELSEWHERE if line.startswith("mlrb")])
def test_commands_that_answer_elsewhere_are_at_least_understood(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(command)[1:]
    with pytest.raises(SystemExit) as end:
        main([*words, "--help"])
    assert end.value.code == 0
    told = capsys.readouterr().out
    assert all(word in told for word in words if word.startswith("--"))


def test_every_command_of_the_steering_table_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    rows = re.findall(r"^\| `(.)` \| `mlrb (\w+) RUN", README, flags=re.MULTILINE)
    steering = {"pause", "resume", "inject", "interrupt", "limits", "approve", "score", "kill"}
    assert {verb for _, verb in rows} == steering
    for _, verb in rows:
        with pytest.raises(SystemExit):
            main([verb, "--help"])
        assert f"mlrb {verb}" in capsys.readouterr().out


def test_the_picture_is_there() -> None:
    for path in re.findall(r"!\[[^]]*\]\(([^)]+)\)", README):
        assert (ROOT / path).is_file()
