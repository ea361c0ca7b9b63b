"""Every command in the README does what the README says, in the README's order."""

import os
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
from tests.process.model_servers import Rule, fakellm_server
from tests.process.pty_terminal import PtyTerminal

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MLRB = str(Path(sys.executable).with_name("mlrb"))
SUBMIT_AT_ONCE: list[Rule] = [
    {
        "name": "submit",
        "when": {},
        "respond": {"tool_calls": [{"name": "submit", "arguments": {"summary": "as it was"}}]},
    }
]
ANSWERS_ELSEWHERE = {
    "make demo": "test_make_demo_opens_the_app_on_a_run",
    "make test": "this very run",
    "mlrb image build": "tests/docker: no registry is needed where the base is at hand",
    "mlrb image build --base nvidia/cuda:12.6.3-runtime-ubuntu24.04": "the same, on another base",
}


def commands() -> list[str]:
    """Every line of every `sh` block."""
    blocks = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    home = Home(tmp_path / "home").ensure()
    with fakellm_server(SUBMIT_AT_ONCE, tmp_path) as address:
        yield {
            **os.environ,
            "MLRB_HOME": str(home.path),
            "ANTHROPIC_BASE_URL": address,
            "ANTHROPIC_API_KEY": "sk-not-a-real-key",
            "FAKELLM": f"{address}/v1",
        }
        for folder in home.folders():
            if is_held(folder.lock):
                subprocess.run([MLRB, "kill", folder.run], env={**os.environ, "MLRB_HOME": str(home.path)}, check=False)


@pytest.mark.slow
def test_every_command_of_the_readme_works(environment: dict[str, str], tmp_path: Path) -> None:
    ran = 0
    for line in commands():
        if line in ANSWERS_ELSEWHERE or line.startswith("export "):
            continue
        words = shlex.split(line.replace("http://127.0.0.1:8092/v1", environment["FAKELLM"]))
        assert words[0] == "mlrb", line
        if words[1:2] in ([], ["watch"], ["replay"]):
            _opens_and_leaves(words[1:], environment, tmp_path)
        else:
            _succeeds(words[1:], environment, tmp_path)
        ran += 1
    assert ran >= 12


def test_make_demo_opens_the_app_on_a_run(environment: dict[str, str]) -> None:
    command = ("make", "--no-print-directory", "-o", ".venv/base", "demo", f"BIN={Path(sys.executable).parent}")
    with PtyTerminal(command, columns=120, lines=40, environment=environment) as terminal:
        terminal.wait_for("mlgym/battle_of_sexes", timeout_s=60)
        terminal.wait_for("evaluate.py", timeout_s=60)
        _leave(terminal)
    (folder,) = Home(Path(environment["MLRB_HOME"])).folders()
    assert is_held(folder.lock), "the run goes on without the app"


def test_make_test_runs_pytest() -> None:
    ran = subprocess.run(["make", "--dry-run", "test"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "-m pytest" in ran.stdout


@pytest.mark.parametrize("command", [line for line in ANSWERS_ELSEWHERE if line.startswith("mlrb")])
def test_commands_that_need_a_registry_are_at_least_understood(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main([*shlex.split(command)[1:], "--help"])
    assert end.value.code == 0
    assert "--base" in capsys.readouterr().out


def test_every_command_of_the_steering_table_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    rows = re.findall(r"^\| `(.)` \| `mlrb (\w+) RUN", README, flags=re.MULTILINE)
    assert {verb for _, verb in rows} == {"pause", "resume", "inject", "interrupt", "limits", "score", "kill"}
    for _, verb in rows:
        with pytest.raises(SystemExit):
            main([verb, "--help"])
        assert f"mlrb {verb}" in capsys.readouterr().out


def test_the_picture_is_there() -> None:
    for path in re.findall(r"!\[[^]]*\]\(([^)]+)\)", README):
        assert (ROOT / path).is_file()


def _succeeds(arguments: list[str], environment: dict[str, str], folder: Path) -> None:
    ran = subprocess.run(
        [MLRB, *arguments], env=environment, cwd=folder, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if "docker" in arguments and ran.returncode == 3:
        return  # No daemon here; the docker tests run this for real.
    assert ran.returncode == 0, (arguments, ran.stdout, ran.stderr)


def _opens_and_leaves(arguments: list[str], environment: dict[str, str], folder: Path) -> None:
    command = ("sh", "-c", f"cd {shlex.quote(str(folder))} && exec {shlex.join([MLRB, *arguments])}")
    with PtyTerminal(command, columns=120, lines=40, environment=environment) as terminal:
        terminal.wait_for("mlgym/")
        _leave(terminal)


def _leave(terminal: PtyTerminal) -> None:
    """Back to all runs where one was open, then out."""
    if "new run" not in terminal.text:
        terminal.press("q")
        terminal.wait_for("new run")
    terminal.press("q")
    assert terminal.wait_for_end(timeout_s=20) == 0
