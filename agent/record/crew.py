"""A run's plan and the workers that carry it out: values, kept small since every heartbeat holds them."""

from typing import Literal

import msgspec
from msgspec import Struct

MOST_STEPS = 24
MOST_SHOWN = 16
"""Workers that a summary tells of; the newest."""
LONGEST_NAME = 40

WorkerOutcome = Literal["returned", "stopped", "failed"]
StepState = Literal["waiting", "working", "done", "failed", "stopped"]
Doing = Literal["", "thinking", "tool", "retrying", "asking"]
"""What somebody does: `asking` waits for a person's word on a call, `retrying` for the model."""


class PlanStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of a plan; steps whose `after` are all done may be worked on side by side."""

    name: str
    task: str = ""
    """What is to be done, for the worker that does it."""
    after: tuple[str, ...] = ()


class StepNow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a step of the plan stands."""

    name: str
    about: str = ""
    """Its task, cut to a line."""
    after: tuple[str, ...] = ()
    state: StepState = "waiting"
    worker: int = 0
    """Who works or worked on it last; 0 is nobody."""


class WorkerNow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a worker stands; number 0 is the supervisor."""

    worker: int
    step: str = ""
    model: str = ""
    folder: str = ""
    outcome: WorkerOutcome | None = None
    """None while it works."""
    doing: Doing = ""
    now: str = ""
    """The running command or tool, cut to a line."""
    since: float = 0.0
    """When it began to do that."""
    steps: int = 0
    last_step: int = 0
    """The run's number of its newest step."""
    tokens: int = 0
    cost_usd: float = 0.0
    errors: int = 0
    started_at: float = 0.0
    ended_at: float | None = None
    said: str = ""
    """What it reported or returned last, cut to a line."""
    files: int = 0
    """How many of its files joined the run's work folder."""
    conflicts: int = 0

    @property
    def at_work(self) -> bool:
        """Whether it has been started and has not ended."""
        return self.outcome is None


class Crew(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The plan and who works on it; empty in a run of a single agent."""

    steps: tuple[StepNow, ...] = ()
    plans: int = 0
    """How many plans were made; all but the first are changes."""
    planned_at: float = 0.0
    why: str = ""
    """Why the plan is as it is, cut to a line."""
    supervisor: WorkerNow | None = None
    workers: tuple[WorkerNow, ...] = ()
    started: int = 0
    """How many workers were ever started; each has a number of its own."""

    @property
    def at_work(self) -> tuple[WorkerNow, ...]:
        """Workers that work now."""
        return tuple(worker for worker in self.workers if worker.at_work)

    @property
    def done(self) -> int:
        """How many steps of the plan are done."""
        return sum(step.state == "done" for step in self.steps)

    @property
    def everyone(self) -> tuple[WorkerNow, ...]:
        """The supervisor and the workers that work now."""
        return (*(() if self.supervisor is None else (self.supervisor,)), *self.at_work)

    @property
    def working(self) -> bool:
        """Whether anybody does something, rather than wait for a model or for a person."""
        return any(each.doing in ("thinking", "tool") for each in self.everyone)

    @property
    def retrying(self) -> bool:
        """Whether anybody waits to ask the model again."""
        return any(each.doing == "retrying" for each in self.everyone)

    def worker(self, number: int) -> WorkerNow | None:
        """The worker of that number, 0 for the supervisor."""
        if number == 0:
            return self.supervisor
        return next((worker for worker in self.workers if worker.worker == number), None)

    def with_worker(self, changed: WorkerNow) -> "Crew":
        """The same with that worker as it stands now."""
        if changed.worker == 0:
            return msgspec.structs.replace(self, supervisor=changed)
        others = [worker for worker in self.workers if worker.worker != changed.worker]
        whole = sorted((*others, changed), key=lambda worker: worker.worker)
        # Whoever works is told of, whatever their number.
        spare = max(0, len(whole) - MOST_SHOWN)
        kept = [worker for index, worker in enumerate(whole) if worker.at_work or index >= spare]
        return msgspec.structs.replace(self, workers=tuple(kept))
