"""What the runner's tests share: a small task of their own, scripts, real runner processes, and waiting for events."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from agent.errors import RecordError
from agent.record import events as ev
from agent.record import index
from agent.record.alarm_settings import AlarmSettings
from agent.record.home import Home, RunFolder
from agent.record.inbox import Inbox, Request
from agent.record.log import EventReader
from agent.record.request import RunRequest, write_request
from agent.record.values import ApproveRules, Limits, OnLimit, RunSummary, Text
from agent.sandbox import leftovers

T = TypeVar("T", bound=ev.Body)

TASK = "probe/number"
DEADLINE_S = 90.0

_TASK_TOML = """
name = "probe/number"
title = "A number"
goal = "Write a large number into answer.txt."
source = "tests"
protected = ["rules.txt"]

[artefact]
about = "answer.txt with one number"
paths = ["answer.txt"]

[metric]
name = "number"
direction = "maximize"

[scales.smoke]
about = "one number"
limits = { time_s = 60.0, steps = 20, cost_usd = 1.0, command_timeout_s = 30.0 }
compute = { cpus = 1.0, memory_gb = 1.0, processes = 256 }
grading_timeout_s = 20.0

[scales.smoke.baseline]
value = 1.0
source = "tests"
"""

_DATA = '''"""Data of the probe task."""


def generate(out, *, seed, options):
    (out / "public" / "input.txt").write_text(f"seed {seed}\\n")
    for split in ("dev", "test"):
        (out / "private" / split / "bonus.txt").write_text("1" if split == "dev" else "2")
'''

_GRADE = '''"""Grader of the probe task: the number, and one for the test split."""

import time


def grade(submission, private, *, split, options, report):
    text = (submission / "answer.txt").read_text().strip()
    if text == "slow":
        for done in range(600):
            report(done, 600, "naps")
            time.sleep(0.1)
    if text == "break":
        raise RuntimeError("the grader trips")
    try:
        value = float(text)
    except ValueError:
        raise ValueError("answer.txt holds no number") from None
    bonus = [file for file in private.rglob("bonus.txt")]
    return {"value": value, "details": {"bonus_files": float(len(bonus))}}
'''


def probe_tasks(root: Path) -> Path:
    """A folder for `MLRB_TASKS` that holds the task `probe/number`."""
    folder = root / "tasks" / "probe" / "number"
    (folder / "starter").mkdir(parents=True)
    (folder / "task.toml").write_text(_TASK_TOML)
    (folder / "prompt.md").write_text("{goal} You have {time} and {steps} steps.\n")
    (folder / "data.py").write_text(_DATA)
    (folder / "grade.py").write_text(_GRADE)
    (folder / "starter" / "answer.txt").write_text("0\n")
    (folder / "starter" / "rules.txt").write_text("be honest\n")
    (folder / "baseline.jsonl").write_text(script_line("bash", command="echo 5 > answer.txt") + script_line("submit"))
    return root / "tasks"


def script_line(tool: str, **arguments: object) -> str:
    """One line of a scripted model's script."""
    return json.dumps({"thought": f"I use {tool}.", "tool": tool, "arguments": arguments}) + "\n"


def bash(command: str, **arguments: object) -> str:
    """A script line that runs a command."""
    return script_line("bash", command=command, **arguments)


@dataclass
class Runs:
    """A home of its own, in which runs of the probe task are started."""

    home: Home
    tasks: Path
    environment: dict[str, str]
    processes: list["subprocess.Popen[bytes]"]
    through: tuple[str, ...] = ()
    """A command that runs the runners, such as one that takes rights away."""

    @classmethod
    def under(cls, root: Path) -> "Runs":
        """Runs below a test's own folder."""
        tasks = probe_tasks(root)
        environment = {**os.environ, "MLRB_TASKS": str(tasks), "MLRB_HOME": str(root / "home")}
        home = Home(root / "home").ensure()
        # Made here once: each runner would else start a process to make it, for seconds on a slow machine.
        index.create(home.index)
        return cls(home, tasks, environment, [])

    def start(
        self,
        script: Sequence[str],
        *,
        limits: Limits | None = None,
        pace_s: float = 0.0,
        model: str = "",
        approve: bool = False,
        rules: ApproveRules | None = None,
        on_limit: OnLimit = "end",
        sandbox: str = "local",
        base_url: str = "",
        task: str = TASK,
        gpus: str = "",
        alarms: AlarmSettings | None = None,
        gpu_usd_per_hour: float | None = None,
        scaffold: str = "react",
        supervisor_model: str = "",
    ) -> "Run":
        """Start a run whose model speaks this script."""
        folder = self.home.new_run()
        file = folder.path / "script.jsonl"
        file.write_text("".join(script), encoding="utf-8")
        write_request(
            folder.request,
            RunRequest(
                run=folder.run, task=task, model=model or f"scripted:{file}", sandbox=sandbox, who="tester",
                limits=limits or Limits(time_s=60.0, steps=50), pace_s=pace_s, approve=approve, base_url=base_url,
                approve_rules=rules or ApproveRules(), on_limit=on_limit, gpus=gpus, alarms=alarms or AlarmSettings(),
                gpu_usd_per_hour=gpu_usd_per_hour, scaffold=scaffold, supervisor_model=supervisor_model,
            ),
        )  # fmt: skip
        Inbox(folder.inbox).close()
        run = Run(self, folder)
        run.launch()
        return run

    def close(self) -> None:
        """End what still runs."""
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for run in self.home.run_ids():
            # What a runner that was shot has left goes on without it.
            leftovers.clear_processes(self.home, run)


@dataclass
class Run:
    """One run and its runner."""

    runs: Runs
    folder: RunFolder
    process: "subprocess.Popen[bytes] | None" = None

    def launch(self, *arguments: str) -> None:
        """Start a runner for it."""
        with self.folder.runner_out.open("ab") as out:
            self.process = subprocess.Popen(
                [*self.runs.through, sys.executable, "-m", "agent.runner", str(self.folder.path), *arguments],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True, cwd="/",
                env=self.runs.environment,
            )  # fmt: skip
        self.runs.processes.append(self.process)

    def post(self, request: Request, who: str = "ann") -> int:
        """Ask something of it."""
        inbox = Inbox(self.folder.inbox)
        try:
            return inbox.post(request, who=who)
        finally:
            inbox.close()

    def events(self) -> list[ev.Event]:
        """All its events so far."""
        try:
            with EventReader(self.folder.events) as reader:
                return list(reader.all())
        except RecordError:
            return []  # its tables are not made yet

    def last_seq(self) -> int:
        """The number of the newest event."""
        try:
            with EventReader(self.folder.events) as reader:
                return reader.last_seq()
        except RecordError:
            return 0

    def events_after(self, seq: int) -> list[ev.Event]:
        """Those that are newer than that one, a page of them."""
        try:
            with EventReader(self.folder.events) as reader:
                return reader.since(seq)
        except RecordError:
            return []  # its tables are not made yet

    def bodies(self, kind: type[T]) -> list[T]:
        """The events of one kind so far."""
        return [event.body for event in self.events() if isinstance(event.body, kind)]

    def text(self, text: Text) -> str:
        """A text whole."""
        with EventReader(self.folder.events) as reader:
            return reader.text(text)

    def summary(self) -> RunSummary:
        """Its summary."""
        with EventReader(self.folder.events) as reader:
            return reader.summary()

    def wait_for(self, kind: type[T], where: Callable[[T], bool] = lambda _: True, count: int = 1) -> T:
        """The `count`th event of that kind, as soon as it is there."""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            found = [body for body in self.bodies(kind) if where(body)]
            if len(found) >= count:
                return found[count - 1]
            if self.process is not None and self.process.poll() is not None:
                found = [body for body in self.bodies(kind) if where(body)]
                if len(found) >= count:
                    return found[count - 1]
                raise AssertionError(f"the runner ended without {kind.__name__}: {self.said()}")
            time.sleep(0.01)
        raise AssertionError(f"no {kind.__name__} in time; {self.said()}")

    def ended(self) -> ev.RunEnded:
        """How it ended, once its runner is gone."""
        body = self.wait_for(ev.RunEnded)
        assert self.process is not None
        self.process.wait(DEADLINE_S)
        return body

    def answer_to(self, request_id: int) -> ev.RequestAnswered:
        """The answer to a request."""
        return self.wait_for(ev.RequestAnswered, lambda body: body.request_id == request_id)

    def refusal_of(self, request_id: int) -> ev.RequestRefused:
        """The refusal of a request."""
        return self.wait_for(ev.RequestRefused, lambda body: body.request_id == request_id)

    def said(self) -> str:
        """What the runner printed, for a failing test's message."""
        out = self.folder.runner_out.read_text(errors="replace") if self.folder.runner_out.exists() else ""
        return f"{len(self.events())} events, last {[event.body for event in self.events()[-3:]]}; {out[-2000:]}"


def until(condition: Callable[[], bool], what: str, deadline_s: float = DEADLINE_S) -> None:
    """Wait until it holds; a condition that never does fails the test."""
    deadline = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.01)


def processes_with(mark: str) -> list[int]:
    """Processes whose command line holds this text."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found
