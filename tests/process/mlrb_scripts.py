"""Scripts for a supervisor and its workers, and waiting for one of them."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from agent.record import events as ev
from tests.process.runner_runs import DEADLINE_S, Run

T = TypeVar("T", bound=ev.Body)

Step = Mapping[str, object]


def line(worker: int, tool: str = "", /, **arguments: object) -> str:
    """A line of a script that this worker speaks; 0 is the supervisor, and no tool is a thought."""
    said: dict[str, object] = {"worker": worker, "thought": f"{worker} thinks of {tool or 'nothing'}."}
    if tool:
        said |= {"tool": tool, "arguments": arguments}
    return json.dumps(said) + "\n"


def step(name: str, *after: str) -> Step:
    """A step of a plan."""
    return {"name": name, "task": f"do {name}", "after": list(after)}


def plan(*steps: Step, why: str = "") -> str:
    """The supervisor makes that plan."""
    return line(0, "plan", steps=list(steps), **({"why": why} if why else {}))


def does(worker: int, command: str) -> str:
    """A worker runs a command."""
    return line(worker, "bash", command=command)


def returns(worker: int, said: str = "done") -> str:
    """A worker returns."""
    return line(worker, "return", submission=said)


def waits_for(file: Path) -> str:
    """A shell command that goes on once the file is there."""
    return f"until [ -e {file} ]; do sleep 0.02; done"


def of_worker(run: Run, worker: int, kind: type[T]) -> list[T]:
    """A worker's events of one kind so far."""
    return [event.body for event in run.events() if event.worker == worker and isinstance(event.body, kind)]


def wait_of(run: Run, worker: int, kind: type[T], where: Callable[[T], bool] = lambda _: True, count: int = 1) -> T:
    """The `count`th event of that kind of a worker's, as soon as it is there."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        found = [body for body in of_worker(run, worker, kind) if where(body)]
        if len(found) >= count:
            return found[count - 1]
        time.sleep(0.01)
    raise AssertionError(f"no {kind.__name__} of worker {worker} in time; {run.said()}")


def commands_of(run: Run, worker: int) -> Sequence[str]:
    """The commands that a worker began."""
    called = of_worker(run, worker, ev.ToolCalled)
    return [str(body.arguments["command"]) for body in called if body.tool == "bash"]
