"""What a report tells of one run, as one struct: what `mlrb report --format json` prints."""

from typing import Literal

from msgspec import Struct

from agent.record.crew import StepNow, WorkerNow
from agent.record.gpu_time import GpuHours
from agent.record.ledger import CommandHours
from agent.record.values import (
    Decision,
    LimitKind,
    Limits,
    Outcome,
    PauseStrength,
    Proof,
    Purpose,
    Scale,
    Score,
    State,
    Usage,
)  # fmt: skip

Fate = Literal["done", "refused", "withdrawn", "waiting"]


class RuleHeld(Struct, frozen=True, kw_only=True):
    """A rule of the task, and whether the graded submission breaks it."""

    name: str
    text: str
    """Empty where the task does not name it: its grader does."""
    invalidates: bool
    broken: bool | None = None
    """None where grading came to no value; False where the grader reported nothing."""
    evidence: str = ""


class Grading(Struct, frozen=True, kw_only=True):
    """One answer of the grader."""

    at: float
    purpose: Purpose
    score: Score
    duration_s: float
    by: str = ""


class LimitChange(Struct, frozen=True, kw_only=True):
    """The limits that held from then on."""

    at: float
    limits: Limits
    by: str
    why: str


class Intervention(Struct, frozen=True, kw_only=True):
    """What a person asked for, and what came of it."""

    at: float
    verb: str
    text: str
    who: str
    origin: str
    worker: int
    fate: Fate = "waiting"
    detail: str = ""


class Approval(Struct, frozen=True, kw_only=True):
    """A person's word on a tool call."""

    at: float
    tool: str
    call: str
    decision: Decision
    by: str
    reason: str


class Pause(Struct, frozen=True, kw_only=True):
    """A stretch in which the run was paused."""

    at: float
    strength: PauseStrength
    by: str
    why: str
    limit: LimitKind | None
    ended_at: float | None = None
    """None while it holds."""


class Alarm(Struct, frozen=True, kw_only=True):
    """Something that a person should have looked at."""

    at: float
    alert: str
    message: str
    hint: str
    cleared_at: float | None = None
    """None where it stood to the end."""


class Outage(Struct, frozen=True, kw_only=True):
    """A stretch in which the sandbox was out of reach, or lost."""

    at: float
    reason: str
    away_s: float | None = None
    """None where it never came back."""


class Checkpoint(Struct, frozen=True, kw_only=True):
    """A weights file as it was seen last."""

    at: float
    path: str
    size_bytes: int
    training_step: int | None


class Setting(Struct, frozen=True, kw_only=True):
    """With what it ran, and where."""

    scaffold: str = ""
    model: str = ""
    supervisor_model: str = ""
    sandbox: str = ""
    image: str = ""
    network: bool | None = None
    isolates: bool | None = None
    notice: str = ""
    host: str = ""
    seed: int = 0
    version: str = ""
    who: str = ""
    """Who launched it."""


class Times(Struct, frozen=True, kw_only=True):
    """Its moments in seconds since the epoch, and its clocks in seconds."""

    created_at: float = 0.0
    started_at: float | None = None
    ended_at: float | None = None
    told_at: float = 0.0
    """The moment that the report is of."""
    working_s: float = 0.0
    paused_s: float = 0.0
    waited_s: float = 0.0
    """For the model, on rate limits and server trouble."""
    approval_s: float = 0.0
    """For a person's word."""


class Gpus(Struct, frozen=True, kw_only=True):
    """What the GPUs of a run were held for; only what held one is in `commands`."""

    names: tuple[str, ...] = ()
    hours: GpuHours = GpuHours()
    usd_per_hour: float | None = None
    commands: tuple[CommandHours, ...] = ()


class Plan(Struct, frozen=True, kw_only=True):
    """The plan as it was last, and who carried it out."""

    items: tuple[str, ...] = ()
    """Of a single agent."""
    steps: tuple[StepNow, ...] = ()
    """Of a supervisor."""
    changes: int = 0
    why: str = ""
    supervisor: WorkerNow | None = None
    workers: tuple[WorkerNow, ...] = ()
    """The newest, as many as a summary tells of."""
    workers_started: int = 0


class Report(Struct, frozen=True, kw_only=True):
    """One run; the first seven fields are those of the paper's report (arXiv 2410.22553), in its order.

    Every text in it is printable: nothing in it is obeyed by a terminal.
    """

    task: str
    run: str
    submission: str
    """What the agent said of it, with line ends; empty where it submitted nothing."""
    model_path: str
    """As a worker named it, relative to its folder; empty where nobody did."""
    tokens: int
    turns: int
    time_s: float
    """From its start to its end, pauses included."""

    artefact: tuple[str, ...]
    """Where the task wants what is graded, below the work folder; empty where the task is not known."""
    so_far: bool
    """The run has not ended: all figures are those of `times.told_at`."""
    scale: Scale
    state: State
    outcome: Outcome | None
    outcome_limit: LimitKind | None
    outcome_detail: str
    score: Score | None
    """The final one, else the newest; `score_is_final` says which."""
    score_is_final: bool
    beats_baseline: bool | None
    """None where there is no score, or no baseline."""
    gradings: tuple[Grading, ...]
    rules: tuple[RuleHeld, ...]
    limits: Limits
    used: dict[str, float]
    """Of each limit, under its name."""
    limit_changes: tuple[LimitChange, ...]
    usage: Usage
    cost_usd: float
    cost_known: bool
    """False where a call's price is not known: the cost is a lower bound."""
    interventions: int
    """How much people helped it: what they asked for and was done; looking on does not count."""
    requests: tuple[Intervention, ...]
    approvals: tuple[Approval, ...]
    pauses: tuple[Pause, ...]
    alarms: tuple[Alarm, ...]
    outages: tuple[Outage, ...]
    taken_up: int
    """How often another runner took it up."""
    model_failures: int
    errors: int
    gpu: Gpus
    checkpoints: tuple[Checkpoint, ...]
    plan: Plan
    setting: Setting
    times: Times
    leftovers: tuple[str, ...]
    proofs: tuple[Proof, ...]
