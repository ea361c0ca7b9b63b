"""Steering by command: a script gets a number and a state at once, a person gets to know what is waited for."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record.home import Home, RunFolder
from agent.record.index import of_folder
from agent.record.lock import is_held
from tests.process.test_cli_runs import eventually, home_below, launch, mlrb

HOLDS = {"tool": "bash", "arguments": {"command": "until [ -e go.txt ]; do sleep 0.05; done"}}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with home_below(tmp_path) as home:
        yield home


@pytest.fixture
def busy(home: Home, tmp_path: Path) -> RunFolder:
    """A run in the middle of a command that ends once `go.txt` is there."""
    path = tmp_path / "holds.jsonl"
    path.write_text(json.dumps(HOLDS) + "\n")
    folder = launch(home, str(path))
    eventually(lambda: "go.txt" in of_folder(folder).now)
    return folder


def test_a_message_is_queued_at_once_with_a_number_that_edit_and_withdraw_take(home: Home, busy: RunFolder) -> None:
    first = mlrb(home, "inject", busy.run, "hello", "there")
    assert first.returncode == 0, first.stderr
    assert first.stdout == f"{busy.run}  inject: queued as message 1; it goes out with the next model request\n"
    second = json.loads(mlrb(home, "inject", busy.run, "--json", "and", "more").stdout)
    assert (second["run"], second["id"], second["verb"], second["state"]) == (busy.run, 2, "inject", "queued")
    edited = mlrb(home, "inject", busy.run, "--edit", "2", "less")
    assert edited.stdout == f"{busy.run}  inject: message 2 was changed\n"
    assert mlrb(home, "inject", busy.run, "--withdraw", "1").returncode == 0
    (left,) = json.loads(mlrb(home, "inject", busy.run, "--json").stdout)
    assert (left["request_id"], left["text"]) == (2, "less")
    empty = mlrb(home, "inject", busy.run, " ")
    assert (empty.returncode, empty.stdout) == (2, "")


def test_a_pause_that_has_to_wait_says_for_what_and_a_second_one_joins_it(home: Home, busy: RunFolder) -> None:
    first = mlrb(home, "pause", busy.run)
    assert first.returncode == 0, first.stderr
    assert "pausing at the next step; `until [ -e go.txt ]" in first.stdout
    second = json.loads(mlrb(home, "pause", busy.run, "--json").stdout)
    assert second["state"] == "pausing"
    (busy.work / "go.txt").write_text("")
    eventually(lambda: of_folder(busy).state == "paused")
    kinds = ("--kind", "request_answered", "--kind", "request_refused")
    told = [json.loads(line)["body"] for line in mlrb(home, "events", busy.run, *kinds).stdout.splitlines()]
    assert [(body["kind"], body["request_id"]) for body in told] == [("request_answered", 1), ("request_answered", 2)]
    queued = mlrb(home, "inject", busy.run, "when you are back")
    assert queued.stdout.endswith("it goes out with the next model request; the run is paused\n")


def test_a_limit_that_is_exceeded_already_is_set_only_by_force(home: Home, busy: RunFolder) -> None:
    shown = json.loads(mlrb(home, "limits", busy.run, "--json").stdout)
    assert shown["limits"]["steps"] == of_folder(busy).limits.steps
    assert shown["used"]["steps"] == 1
    assert f"1 of {of_folder(busy).limits.steps}" in mlrb(home, "limits", busy.run).stdout
    for spent in ("time=0.01s", "steps=0", "cost=0"):
        refused = mlrb(home, "limits", busy.run, "--why", "enough", spent)
        assert (refused.returncode, refused.stdout) == (2, ""), spent
        assert "already exceeded" in refused.stderr
        assert "--force" in refused.stderr
    # The step that is under way is done in any case.
    assert mlrb(home, "limits", busy.run, "steps=1").returncode == 0
    forced = mlrb(home, "limits", busy.run, "time=0.01s", "--force")
    assert forced.returncode == 0, forced.stderr
    assert "the run ends by it at once" in forced.stdout
    eventually(lambda: of_folder(busy).outcome_limit == "time")


def test_a_reason_that_is_no_text_is_kept_as_far_as_it_is(home: Home, busy: RunFolder) -> None:
    ran = mlrb(home, "limits", busy.run, "steps=+1", "--why", os.fsdecode(b"lr \xff too high"))
    assert ran.returncode == 0, ran.stderr
    (told,) = mlrb(home, "events", busy.run, "--kind", "limits_changed").stdout.splitlines()
    assert json.loads(told)["body"]["why"] == "lr \ufffd too high"


def test_what_is_lost_and_what_has_ended_are_told_apart(home: Home, busy: RunFolder) -> None:
    os.kill(int(busy.lock.read_text()), signal.SIGKILL)
    eventually(lambda: not is_held(busy.lock))
    for verb in ("pause", "interrupt", "score"):
        lost = mlrb(home, verb, busy.run)
        assert lost.returncode == 6
        assert "is lost" in lost.stderr
        assert f"mlrb resume {busy.run}" in lost.stderr
    assert mlrb(home, "kill", busy.run).returncode == 0
    ended = mlrb(home, "inject", busy.run, "hello")
    assert ended.returncode == 6
    assert "has ended: killed" in ended.stderr


def test_options_may_stand_anywhere(home: Home, busy: RunFolder) -> None:
    for arguments in (("--json", busy.run, "one", "two"), (busy.run, "--json", "one", "two"), (busy.run, "one", "two")):
        assert mlrb(home, "inject", *arguments).returncode == 0, arguments
    listed = json.loads(mlrb(home, "inject", busy.run, "--json").stdout)
    assert [message["text"] for message in listed] == ["one two"] * 3
    assert mlrb(home, "inject").returncode == 2
    assert mlrb(home, "limits", busy.run, "--why", "it learns", "time=+1h", "steps=+1").returncode == 0


def test_words_for_verbs_are_a_persons_not_the_records(home: Home, busy: RunFolder) -> None:
    assert mlrb(home, "approve", busy.run, "--mode", "on").stdout == f"{busy.run}  approve: approve mode is on\n"
    refused = mlrb(home, "inject", busy.run, "--withdraw", "77")
    assert "_" not in refused.stderr
