"""A run as a whole: asked for, taken up, paused, resumed, ended."""

from agent.record.bodies.base import Body
from agent.record.values import LimitKind, Limits, OnLimit, Outcome, PauseStrength, RunSummary, Scale


class RunCreated(Body, frozen=True, kw_only=True, tag="run_created"):
    """A person asked for a run; always the first event."""

    run: str
    task: str
    scale: Scale
    scaffold: str
    model: str
    sandbox: str
    seed: int
    limits: Limits
    who: str = ""
    version: str = ""
    approve: bool = False
    on_limit: OnLimit = "end"
    gpu_usd_per_hour: float | None = None
    supervisor_model: str = ""
    """The supervisor's, where it is not the same."""


class RunStarted(Body, frozen=True, kw_only=True, tag="run_started"):
    """A runner took the run up; `resumed` where another had it before."""

    pid: int
    host: str
    resumed: bool = False


class Heartbeat(Body, frozen=True, kw_only=True, tag="heartbeat"):
    """The runner is alive; carries the summary so that a reader need not fold from the start."""

    summary: RunSummary


class RunPaused(Body, frozen=True, kw_only=True, tag="run_paused"):
    """A pause took effect."""

    strength: PauseStrength
    by: str
    why: str = ""
    request_id: int | None = None
    limit: LimitKind | None = None
    """The limit that was reached, where that paused it."""


class RunResumed(Body, frozen=True, kw_only=True, tag="run_resumed"):
    """The run goes on."""

    by: str
    request_id: int | None = None


class LimitsChanged(Body, frozen=True, kw_only=True, tag="limits_changed"):
    """The limits that hold from now on."""

    limits: Limits
    by: str
    why: str = ""
    request_id: int | None = None


class RunLeft(Body, frozen=True, kw_only=True, tag="run_left"):
    """The runner could do no more and has gone; the run is not over, and `mlrb resume` takes it up."""

    reason: str


class WorkEnded(Body, frozen=True, kw_only=True, tag="work_ended"):
    """The agent's work is over and how is decided; what is there is scored, and the run then ends so."""

    outcome: Outcome
    limit: LimitKind | None = None
    detail: str = ""


class RunEnded(Body, frozen=True, kw_only=True, tag="run_ended"):
    """Always the last event of a run's life (a later regrade may follow)."""

    outcome: Outcome
    limit: LimitKind | None = None
    detail: str = ""
