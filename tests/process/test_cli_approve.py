"""Approve mode, queued messages and limits that pause, by command: what a script and a person at a shell get."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record.home import Home, RunFolder
from agent.record.index import of_folder
from agent.record.lock import is_held
from tests.process.test_cli_runs import eventually, launch, mlrb

CALLS = [
    {"tool": "bash", "arguments": {"command": "echo one"}},
    {"tool": "bash", "arguments": {"command": "echo two"}},
    {"tool": "bash", "arguments": {"command": "true && sleep 600"}},
]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "a home").ensure()
    yield home
    for folder in home.folders():
        if is_held(folder.lock):
            mlrb(home, "kill", folder.run)


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "calls.jsonl"
    path.write_text("".join(json.dumps(call) + "\n" for call in CALLS))
    return str(path)


def _waits(folder: RunFolder, summary: str) -> None:
    def waits() -> bool:
        wanted = of_folder(folder).approval
        return wanted is not None and wanted.summary == summary

    eventually(waits)


def test_what_waits_is_listed_and_each_word_is_said_by_command(home: Home, script: str) -> None:
    folder = launch(home, script, "--approve")
    _waits(folder, "echo one")
    listed = mlrb(home, "approve", folder.run, "--json")
    (waiting,) = json.loads(listed.stdout)
    assert (waiting["tool"], waiting["arguments"], waiting["rule"]) == ("bash", {"command": "echo one"}, "echo *")
    shown = mlrb(home, "approve", folder.run).stdout
    assert "command (what --edit replaces):" in shown
    assert waiting["approval_id"] in shown
    other = mlrb(home, "approve", folder.run, "--accept", "--id", "q77")
    assert (other.returncode, other.stdout) == (6, "")
    assert "echo one" in other.stderr
    assert "echo one" in shown
    assert "echo *" in shown
    assert "mlrb approve" in mlrb(home, "show", folder.run).stdout
    # What would be let through is shown, and a script has to say that it is meant.
    unsure = mlrb(home, "approve", folder.run, "--always")
    assert unsure.returncode == 2
    assert "echo *" in unsure.stderr
    assert "--yes" in unsure.stderr
    sure = mlrb(home, "approve", folder.run, "--always", "--yes")
    assert (sure.returncode, "echo * goes through" in sure.stdout) == (0, True), sure.stderr
    assert sure.stdout.endswith(": bash echo one\n")
    _waits(folder, "true && sleep 600")
    assert mlrb(home, "approve", folder.run, "--always", "--yes").returncode == 6
    assert mlrb(home, "approve", folder.run, "--reject", " ").returncode == 6
    edited = mlrb(home, "approve", folder.run, "--edit", "echo three; sleep 600", "--json")
    assert json.loads(edited.stdout)["body"]["detail"] == "edited", edited.stderr
    eventually(lambda: "echo three" in of_folder(folder).now)
    nothing = mlrb(home, "approve", folder.run, "--accept")
    assert nothing.returncode == 6
    assert "nothing waits" in nothing.stderr
    assert json.loads(mlrb(home, "approve", folder.run, "--json").stdout) == []
    assert mlrb(home, "approve", folder.run, "--mode", "off").stdout.endswith("approve mode is off\n")


def test_rules_in_the_settings_hold_and_a_mistake_in_them_is_named(home: Home, script: str) -> None:
    home.settings.write_text('on_limit = "pause"\n[approve]\nlet_through = ["echo *"]\nalways_ask = ["echo two *"]\n')
    folder = launch(home, script, "--approve")
    _waits(folder, "echo two")
    assert "approve.let_through" in mlrb(home, "config").stdout
    home.settings.write_text('[approve]\nlet_through = ["ls; rm -rf /"]\n')
    refused = mlrb(home, "run", "mlgym/battle_of_sexes")
    assert refused.returncode == 2
    assert "no single simple command" in refused.stderr
    home.settings.write_text('[approve]\nlet_thru = ["ls"]\n')
    assert mlrb(home, "run", "mlgym/battle_of_sexes").returncode == 2


def test_queued_messages_are_listed_changed_and_withdrawn_by_command(home: Home, script: str) -> None:
    folder = launch(home, script, "--approve")
    _waits(folder, "echo one")
    # Nothing takes a message along while a question waits.
    assert mlrb(home, "inject", folder.run, "first").returncode == 0
    (queued,) = json.loads(mlrb(home, "inject", folder.run, "--json").stdout)
    assert queued["text"] == "first"
    changed = mlrb(home, "inject", folder.run, "--edit", str(queued["request_id"]), "second")
    assert changed.returncode == 0, changed.stderr
    assert "second" in mlrb(home, "inject", folder.run).stdout
    assert mlrb(home, "inject", folder.run, "--withdraw", str(queued["request_id"])).returncode == 0
    assert json.loads(mlrb(home, "inject", folder.run, "--json").stdout) == []
    late = mlrb(home, "inject", folder.run, "--withdraw", str(queued["request_id"]))
    assert late.returncode == 6
    assert "no message" in late.stderr
    assert mlrb(home, "inject", folder.run, "--withdraw", "1", "text").returncode == 2


def test_a_limit_that_pauses_is_raised_by_command_and_the_run_goes_on(home: Home, script: str) -> None:
    folder = launch(home, script, "--limit", "steps=1", "--on-limit", "pause")
    eventually(lambda: of_folder(folder).pause_limit == "steps")
    refused = mlrb(home, "resume", folder.run)
    assert refused.returncode == 6
    assert "raise it first" in refused.stderr
    assert mlrb(home, "limits", folder.run, "steps=+20").returncode == 0
    assert mlrb(home, "resume", folder.run).returncode == 0
    eventually(lambda: "sleep 600" in of_folder(folder).now)
