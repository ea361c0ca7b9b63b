"""The values that events, requests and summaries are made of."""

from typing import Annotated, Literal, NewType

import msgspec
from msgspec import Meta, Struct

from agent.record.crew import Crew as Crew
from agent.record.measured import Gpu as Gpu
from agent.record.measured import Host as Host
from agent.record.measured import Progress as Progress

RunId = NewType("RunId", str)

Scale = Literal["smoke", "full"]
Direction = Literal["maximize", "minimize"]
State = Literal["queued", "starting", "running", "paused", "scoring", "ended"]
Outcome = Literal["submitted", "limit", "killed", "failed", "lost"]
LimitKind = Literal["time", "steps", "cost", "tokens"]
PauseStrength = Literal["step", "command", "now"]
Purpose = Literal["validate", "score_now", "final", "regrade"]
OnLimit = Literal["end", "pause"]
Decision = Literal["accepted", "edited", "rejected", "lapsed"]
"""What became of a question whether a tool call may run; `lapsed` where the run ended first."""


class Blob(Struct, frozen=True):
    """Where a payload over 8 KiB lies: in the blob table of the same log, by its sha256."""

    sha256: str
    size_bytes: int
    preview: str


Text = str | Blob
"""Text in an event: itself, or the address of a longer one."""


class Limits(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a run may use; None means without limit."""

    time_s: float | None = None
    """Seconds of working time: the agent's own, without pauses, waits on rate limits, preparation and final scoring."""
    steps: int | None = None
    cost_usd: float | None = None
    tokens: int | None = None
    """Input and output tokens together, cached ones included."""


class ApproveRules(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Which tool calls approve mode lets through without a question; `agent.record.approve_rules` reads them."""

    let_through: Annotated[tuple[str, ...], Meta(description="patterns of calls that run without a question")] = ()
    always_ask: Annotated[
        tuple[str, ...], Meta(description="patterns of calls that are asked for whatever lets them through")
    ] = ()


class WantedApproval(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The question that a run waits with: may this tool call run?"""

    approval_id: str
    call_id: str
    tool: str
    summary: str = ""
    """The call as one line, cut."""
    rule: str = ""
    """What `always` would let through; empty where there is no class that could safely be let through."""
    asked_at: float = 0.0
    worker: int = 0
    """Whose call it is; 0 is the supervisor's, or that of the only agent."""


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens of one or many model calls."""

    input_tokens: int = 0
    """All input tokens, cached ones included."""
    output_tokens: int = 0
    """All output tokens, reasoning included."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


class ToolCall(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A model's wish to use a tool."""

    call_id: str
    tool: str
    arguments: dict[str, object] = msgspec.field(default_factory=dict)
    malformed: str = ""
    """The raw arguments where they could not be read as a JSON object; `arguments` is then empty."""


class Violation(Struct, frozen=True):
    """A rule of the task that a submission breaks, with its evidence."""

    rule: str
    evidence: str
    invalidates: bool = True


class Score(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the grader found. A score carries its scale and its split everywhere."""

    metric: str
    value: float | None = None
    """None where there is nothing that could be measured; never zero for unknown."""
    direction: Direction = "maximize"
    scale: Scale = "smoke"
    split: Literal["dev", "test"] = "test"
    baseline: float | None = None
    baseline_spread: float = 0.0
    """Standard deviation of the gain by chance alone; an improvement counts only beyond twice that."""
    valid: bool = False
    untouched: bool = False
    """The artefact is the starter, byte for byte: it earns nothing."""
    violations: tuple[Violation, ...] = ()
    details: dict[str, float] = msgspec.field(default_factory=dict)
    """Secondary metrics by name."""
    standard_error: float | None = None
    files: tuple[str, ...] = ()
    """What the grader's tools wrote themselves, kept in the run folder's `gradings`."""
    artefact_sha256: str = ""
    protocol: Literal["isolated", "paper"] = "isolated"
    isolation: str = ""
    """Where the grader ran: `docker` without network, or `local`, which isolates nothing."""
    error: str = ""
    """Why there is no value, in one line."""

    @property
    def beats_baseline(self) -> bool:
        """Whether a valid value lies beyond the baseline and its noise, in the metric's direction."""
        if not self.valid or self.value is None or self.baseline is None:
            return False
        gain = self.value - self.baseline if self.direction == "maximize" else self.baseline - self.value
        return gain > 2 * self.baseline_spread


class Proof(Struct, frozen=True):
    """One line of a kill's checklist: what was looked at, and whether it is gone."""

    what: str
    proven: bool
    detail: str = ""


class StandingAlert(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An alert that was raised and not cleared."""

    alert: str
    message: str = ""
    hint: str = ""
    at: float = 0.0


class RunSummary(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run in one row: the fold of its events so far (`agent.record.summary`)."""

    run: str = ""
    task: str = ""
    scale: Scale = "smoke"
    scaffold: str = ""
    model: str = ""
    sandbox: str = ""
    """As asked for; replaced by what was really used once it has started."""
    seed: int = 0
    who: str = ""
    state: State = "queued"
    outcome: Outcome | None = None
    outcome_limit: LimitKind | None = None
    outcome_detail: str = ""
    seq: int = 0
    """The last event folded in."""
    step: int = 0
    limits: Limits = Limits()
    created_at: float = 0.0
    started_at: float | None = None
    ended_at: float | None = None
    at: float = 0.0
    """When the last event happened."""
    working_s: float = 0.0
    """Working clock: without pauses and without waits on rate limits."""
    paused_s: float = 0.0
    waited_s: float = 0.0
    """Time spent waiting on rate limits and server trouble."""
    waiting: bool = False
    retry_at: float | None = None
    """When the model is asked again, while that is waited for."""
    away: str = ""
    """Why the sandbox is out of reach, while what it runs on does not answer."""
    away_since: float | None = None
    approval_s: float = 0.0
    """Time spent waiting for a person's word on a tool call."""
    approve: bool = False
    """Whether tool calls that change something wait for a person."""
    approval: WantedApproval | None = None
    """The question that waits for a person."""
    pause: PauseStrength | None = None
    pause_by: str = ""
    pause_why: str = ""
    pause_limit: LimitKind | None = None
    """The limit that paused it, where one did."""
    paused_at: float | None = None
    usage: Usage = Usage()
    cost_usd: float = 0.0
    cost_known: bool = True
    """False once a call had no known price: the cost is then a lower bound."""
    now: str = ""
    """What it does, in a few words: the running command, `thinking`, `retrying in 8 s` …"""
    now_since: float | None = None
    last_score: Score | None = None
    final_score: Score | None = None
    interventions: int = 0
    """What people did to it: messages that it answered, interrupts, pauses, changed limits, scores asked for, words on
    its calls, kills. What was refused, withdrawn or is not done yet does not count."""
    undone: tuple[int, ...] = ()
    """The requests that will count once they are done."""
    errors: int = 0
    """Commands that failed and model calls that did."""
    alerts: int = 0
    """How many were raised."""
    last_alert: str = ""
    """The newest that stands; empty where none does."""
    standing: tuple[StandingAlert, ...] = ()
    """What was raised and not cleared, the newest last; one of each kind."""
    host: Host | None = None
    gpus: tuple[Gpu, ...] = ()
    given_gpus: tuple[str, ...] = ()
    """The UUIDs of the GPUs that it has to itself."""
    gpus_at: float | None = None
    """When they were sampled last."""
    gpu_held_s: float = 0.0
    """GPU-seconds reserved: each GPU counts by itself, pauses and scoring count too (`agent.record.ledger`)."""
    gpu_busy_s: float = 0.0
    """GPU-seconds of those in which the run's GPUs were seen to work."""
    gpu_usd_per_hour: float | None = None
    """What one GPU costs: on its machine, by `hosts.toml`; else as the settings said at the launch."""
    progress: Progress | None = None
    progress_at: float | None = None
    """When it was seen."""
    loss_tail: tuple[float, ...] = ()
    """The newest training's losses, at most 24 spread over its course, the newest last; for a sparkline."""
    loss_call: str = ""
    """The call that prints them."""
    loss_at: float | None = None
    """When it printed the last; None once it has ended."""
    loss_stride: int = 1
    """How many losses each of them stands for."""
    loss_skipped: int = 0
    """How many of those the last one stands for so far, besides the first."""
    busy_tail: tuple[float, ...] = ()
    """How busy its GPUs were (its cores, where it has no GPU), in percent: one value for each 15 s, at most 24."""
    busy_tail_at: float = 0.0
    """When the last of those 15 s began."""
    diverged: tuple[str, ...] = ()
    """Names whose last value was NaN or infinite."""
    checkpoints: int = 0
    proofs: tuple[Proof, ...] = ()
    """A kill's checklist, as far as it is filled in."""
    leftovers: tuple[str, ...] = ()
    """What a stop could not prove gone."""
    crew: Crew = Crew()
    """The plan and its workers, where a supervisor leads some."""
