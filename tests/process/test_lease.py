"""Several viewers of real runs, one of which steers: races, viewers that die, take-overs, and what the record says."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.home import Home, RunFolder
from agent.record.inbox import Inbox, Inject, Pause, Resume
from agent.record.lease_watch import standing_of
from agent.record.lock import is_held
from tests.process.pty_terminal import MLRB as MLRB_APP
from tests.process.pty_terminal import PtyTerminal
from tests.process.runner_runs import Run, Runs, bash, processes_with, script_line, until

MLRB = str(Path(sys.executable).with_name("mlrb"))
WAITS = bash("until [ -e go.txt ]; do sleep 0.02; done")


class Viewers:
    """Programs that look at a run, each a process with a name; those still there at the end are ended."""

    def __init__(self) -> None:
        self.processes: list[subprocess.Popen[str]] = []

    def open(self, folder: RunFolder, who: str, *arguments: str) -> "subprocess.Popen[str]":
        """One more."""
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.process.lease_viewer", str(folder.inbox), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "LOGNAME": who},
        )  # fmt: skip
        self.processes.append(process)
        return process

    def steering(self, folder: RunFolder, who: str) -> "subprocess.Popen[str]":
        """One more, that has taken control."""
        process = self.open(folder, who)
        assert said(process).startswith("taken")
        return process


@pytest.fixture
def viewers() -> Iterator[Viewers]:
    made = Viewers()
    yield made
    for process in made.processes:
        process.kill()
        process.wait()


def said(process: "subprocess.Popen[str]") -> str:
    """What the viewer says of what it did."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def command(runs: Runs, who: str, *arguments: str) -> "subprocess.Popen[str]":
    """`mlrb` as that user, begun."""
    return subprocess.Popen(
        [MLRB, *arguments], env={**runs.environment, "LOGNAME": who}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def mlrb(runs: Runs, who: str, *arguments: str) -> tuple[int, str, str]:
    """`mlrb` as that user: exit code, stdout, stderr."""
    process = command(runs, who, *arguments)
    out, errors = process.communicate(timeout=90)
    return process.returncode, out, errors


def working(runs: Runs) -> Run:
    """A run whose agent is in the middle of a command."""
    run = runs.start([WAITS, script_line("submit")])
    run.wait_for(ev.ToolCalled)
    return run


def test_of_many_that_ask_at_once_exactly_one_steers(tmp_path: Path, viewers: Viewers) -> None:
    folder = Home(tmp_path).ensure().new_run()
    Inbox(folder.inbox).close()
    go = tmp_path / "go"
    started = [viewers.open(folder, f"user{number}", "--go", str(go)) for number in range(8)]
    assert [said(process) for process in started] == ["ready"] * 8
    go.write_text("")
    answers = [said(process) for process in started]
    (winner,) = [answer.split()[1] for answer in answers if answer.startswith("taken")]
    assert len([answer for answer in answers if answer.startswith("refused")]) == 7
    holder = standing_of(folder.inbox).holder
    assert holder is not None
    assert holder.viewer == winner


def test_a_viewer_killed_at_once_blocks_nobody_and_the_record_says_it_is_gone(runs: Runs, viewers: Viewers) -> None:
    run = working(runs)
    ann = viewers.steering(run.folder, "ann")
    run.wait_for(ev.ControlTaken, lambda body: body.who == "ann")
    code, _, errors = mlrb(runs, "bob", "pause", run.folder.run)
    assert (code, "ann (app)" in errors, "--take-over" in errors) == (6, True, True), errors
    ann.send_signal(signal.SIGKILL)
    ann.wait()
    released = run.wait_for(ev.ControlReleased)
    assert (released.who, released.how) == ("ann", "expired")
    code, _, errors = mlrb(runs, "bob", "pause", run.folder.run, "--now")
    assert code == 0, errors


def test_a_stopped_viewer_that_died_before_any_runner_looked_blocks_nobody(runs: Runs, viewers: Viewers) -> None:
    run = working(runs)
    ann = viewers.steering(run.folder, "ann")
    ann.send_signal(signal.SIGSTOP)
    ann.send_signal(signal.SIGKILL)
    ann.wait()
    code, _, errors = mlrb(runs, "bob", "inject", run.folder.run, "--withdraw", "77")
    assert (code, "no message" in errors) == (6, True), errors


def test_take_over_by_command_is_in_the_record_with_who_lost_it_and_control_is_free_then(
    runs: Runs, viewers: Viewers
) -> None:
    run = working(runs)
    viewers.steering(run.folder, "ann")
    code, out, errors = mlrb(runs, "carol", "pause", run.folder.run, "--now", "--take-over", "--json")
    assert code == 0, errors
    assert json.loads(out)["body"]["detail"] == "frozen"
    run.wait_for(ev.ControlReleased)
    kinds = (ev.ControlTaken, ev.ControlReleased, ev.RequestReceived)
    told = [event.body for event in run.events() if isinstance(event.body, kinds)]
    assert [type(body) for body in told] == [ev.ControlTaken, ev.ControlTaken, ev.RequestReceived, ev.ControlReleased]
    taken = told[1]
    assert isinstance(taken, ev.ControlTaken)
    assert (taken.how, taken.who, taken.from_who, taken.where) == ("taken_over", "carol", "ann", "command")
    assert json.loads(mlrb(runs, "bob", "show", run.folder.run, "--json")[1])["control"] is None
    assert mlrb(runs, "bob", "resume", run.folder.run)[0] == 0


def test_every_verb_is_refused_while_another_steers_and_nothing_of_it_happens(runs: Runs, viewers: Viewers) -> None:
    run = working(runs)
    viewers.steering(run.folder, "ann")
    verbs = (("resume",), ("inject", "hello"), ("limits", "steps=+5"), ("approve", "--mode", "on"), ("kill",))
    started = [command(runs, "bob", verb, run.folder.run, *more) for verb, *more in verbs]
    for process in started:
        out, errors = process.communicate(timeout=90)
        assert (process.returncode, out) == (6, ""), errors
        assert "ann (app) has steered this run since" in errors
        assert "--take-over" in errors
    assert run.bodies(ev.RequestReceived) == []
    assert run.summary().state == "running"
    shown = json.loads(mlrb(runs, "bob", "show", run.folder.run, "--json")[1])["control"]
    assert (shown["who"], shown["origin"], shown["pid"]) == ("ann", "app", viewers.processes[0].pid)
    assert "ann (app) since" in mlrb(runs, "bob", "show", run.folder.run)[1]


def test_a_kill_that_takes_over_ends_the_run(runs: Runs, viewers: Viewers) -> None:
    run = working(runs)
    viewers.steering(run.folder, "ann")
    code, _, errors = mlrb(runs, "bob", "kill", run.folder.run, "--take-over")
    assert code == 0, errors
    assert run.ended().outcome == "killed"
    assert processes_with(str(run.folder.work)) == []


def test_ones_own_pause_and_kill_need_no_take_over_and_the_other_program_steers_on(
    runs: Runs, viewers: Viewers
) -> None:
    run = working(runs)
    viewers.steering(run.folder, "ann")
    assert mlrb(runs, "ann", "pause", run.folder.run, "--now")[0] == 0
    assert run.wait_for(ev.RunPaused).strength == "now"
    code, _, errors = mlrb(runs, "ann", "resume", run.folder.run)
    assert (code, "--take-over" in errors) == (6, True)
    assert standing_of(run.folder.inbox).holder is not None
    assert mlrb(runs, "ann", "kill", run.folder.run)[0] == 0
    assert run.ended().outcome == "killed"
    assert [body.who for body in run.bodies(ev.ControlTaken)] == ["ann"]


def test_two_that_resume_a_paused_run_at_once_resume_it_once(runs: Runs) -> None:
    run = working(runs)
    run.answer_to(run.post(Pause(strength="now")))
    started = [command(runs, who, "resume", run.folder.run) for who in ("ann", "bob")]
    for process in started:
        process.communicate(timeout=90)
    assert sorted(process.returncode for process in started) == [0, 6]
    assert len(run.bodies(ev.RunResumed)) == 1


def test_control_handed_over_is_in_the_record(runs: Runs, viewers: Viewers) -> None:
    run = working(runs)
    viewers.steering(run.folder, "ann")
    bob = viewers.open(run.folder, "bob", "--ask")
    assert said(bob).startswith("asked")
    assert "asks for it" in mlrb(runs, "eve", "show", run.folder.run)[1]
    standing = standing_of(run.folder.inbox)
    assert standing.holder is not None
    inbox = Inbox(run.folder.inbox)
    assert inbox.control.hand_over(standing.holder, standing.asking[0])
    inbox.close()
    handed = run.wait_for(ev.ControlTaken, lambda body: body.how == "handed")
    assert (handed.who, handed.from_who) == ("bob", "ann")


def test_a_program_that_knows_nothing_of_control_is_refused_by_the_runner(runs: Runs, viewers: Viewers) -> None:
    run = working(runs)
    viewers.steering(run.folder, "ann")
    assert "ann (app) steers this run" in run.refusal_of(run.post(Inject(text="hello"), who="old")).reason
    run.answer_to(run.post(Pause(strength="now"), who="old"))
    assert "steers" in run.refusal_of(run.post(Resume(), who="old")).reason


def test_changes_of_control_are_recorded_once_across_a_new_runner(runs: Runs, viewers: Viewers) -> None:
    run = working(runs)
    ann = viewers.steering(run.folder, "ann")
    run.wait_for(ev.ControlTaken)
    assert run.process is not None
    run.process.kill()
    run.process.wait()
    ann.kill()
    ann.wait()
    viewers.steering(run.folder, "bob")
    code, _, errors = mlrb(runs, "carol", "resume", run.folder.run)
    assert (code, "bob" in errors) == (6, True)
    assert not is_held(run.folder.lock)
    assert mlrb(runs, "carol", "resume", run.folder.run, "--take-over")[0] == 0
    until(lambda: len(run.bodies(ev.ControlReleased)) == 2, "both that went are told of")
    assert [(body.how, body.who) for body in run.bodies(ev.ControlTaken)] == [
        ("free", "ann"), ("free", "bob"), ("taken_over", "carol")
    ]  # fmt: skip
    assert [(body.how, body.who) for body in run.bodies(ev.ControlReleased)] == [
        ("expired", "ann"), ("released", "carol")
    ]  # fmt: skip
    assert mlrb(runs, "ann", "kill", run.folder.run)[0] == 0


def test_an_app_that_is_killed_while_it_steers_blocks_nobody(runs: Runs) -> None:
    run = working(runs)
    app = (*MLRB_APP, "watch", run.folder.run)
    with PtyTerminal(app, columns=120, lines=30, environment={**runs.environment, "LOGNAME": "ann"}) as terminal:
        terminal.wait_for("LIVE")
        terminal.press("P")
        terminal.wait_for("you steer")
        terminal.wait_until(lambda: bool(run.bodies(ev.RunPaused)), what="the pause")
        code, _, errors = mlrb(runs, "bob", "resume", run.folder.run)
        assert (code, "ann (app on pts/" in errors) == (6, True), errors
        terminal.signal(signal.SIGKILL)
        terminal.process.wait(20)
        code, _, errors = mlrb(runs, "bob", "resume", run.folder.run)
        assert code == 0, errors
    assert [(body.who, body.how) for body in run.bodies(ev.ControlReleased)] == [("ann", "expired")]
