"""What the README's tests share: its commands, a machine to type them on, and typing them."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.record.home import Home
from agent.record.lock import is_held
from tests.process.model_servers import Rule, fakellm_server
from tests.process.pty_terminal import PtyTerminal

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BEFORE_DOCKER, _, FROM_DOCKER_ON = README.partition("\n## On Docker\n")
"""The README in two halves, each typed by a test file of its own, since the runs in it take their time."""
MLRB = str(Path(sys.executable).with_name("mlrb"))
ANSWERS_ELSEWHERE = {
    "make demo": "test_make_demo_opens_the_app_on_a_run",
    "make test": "this very run",
    "mlrb image build": "tests/docker: no registry is needed where the base is at hand",
    "mlrb image build --host gpu-box": "tests/docker/test_remote_cli.py",
    "mlrb run mlgym/house_price --model scripted --sandbox docker@gpu-box --gpus 1 --repeat 8": "test_remote_gpus.py",
    "mlrb doctor": "tests/process/test_doctor.py: on a machine without Docker it finds something",
    "mlrb image build --base nvidia/cuda:12.6.3-runtime-ubuntu24.04": "the same, on another base",
}
_SUBMIT_AT_ONCE: list[Rule] = [
    {
        "name": "submit",
        "when": {},
        "respond": {"tool_calls": [{"name": "submit", "arguments": {"summary": "as it was"}}]},
    }
]
_NO_SANDBOX = 3


@contextmanager
def machine(folder: Path) -> Iterator[dict[str, str]]:
    """The environment of somebody who follows the README; whatever they leave running is killed."""
    home = Home(folder / "home").ensure()
    with fakellm_server(_SUBMIT_AT_ONCE, folder) as address:
        yield {
            **os.environ,
            "MLRB_HOME": str(home.path),
            "ANTHROPIC_BASE_URL": address,
            "ANTHROPIC_API_KEY": "sk-not-a-real-key",
            "FAKELLM": f"{address}/v1",
        }
        for run in home.folders():
            if is_held(run.lock):
                subprocess.run([MLRB, "kill", run.run], env={**os.environ, "MLRB_HOME": str(home.path)}, check=False)


def type_all(text: str, environment: dict[str, str], folder: Path) -> int:
    """Type every `mlrb` command of a text, in its order; returns how many there were."""
    ran = 0
    for line in _commands(text):
        if line in ANSWERS_ELSEWHERE or line.startswith("export "):
            continue
        words = shlex.split(line.replace("http://127.0.0.1:8092/v1", environment["FAKELLM"]))
        assert words[0] == "mlrb", line
        if words[1:2] in ([], ["watch"], ["replay"]):
            _opens_and_leaves(words[1:], environment, folder)
        else:
            _succeeds(words[1:], environment, folder)
        ran += 1
    return ran


def leave(terminal: PtyTerminal) -> None:
    """Back to all runs where one was open, then out."""
    if "new run" not in terminal.text:
        terminal.press("q")
        terminal.wait_for("new run")
    terminal.press("q")
    assert terminal.wait_for_end(timeout_s=20) == 0


def _commands(text: str) -> list[str]:
    """Every line of every `sh` block."""
    blocks = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def _succeeds(arguments: list[str], environment: dict[str, str], folder: Path) -> None:
    ran = subprocess.run(
        [MLRB, *arguments], env=environment, cwd=folder, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if "docker" in arguments and ran.returncode == _NO_SANDBOX:
        # No daemon here: as the README says, processes do as well.
        _succeeds(["local" if word == "docker" else word for word in arguments], environment, folder)
        return
    assert ran.returncode == 0, (arguments, ran.stdout, ran.stderr)


def _opens_and_leaves(arguments: list[str], environment: dict[str, str], folder: Path) -> None:
    command = ("sh", "-c", f"cd {shlex.quote(str(folder))} && exec {shlex.join([MLRB, *arguments])}")
    with PtyTerminal(command, columns=120, lines=40, environment=environment) as terminal:
        terminal.wait_for("mlgym/")
        leave(terminal)
