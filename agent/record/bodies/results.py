"""What the work led to: checkpoints, grades, alerts."""

from agent.record.bodies.base import Body
from agent.record.values import Purpose, Score


class CheckpointSeen(Body, frozen=True, kw_only=True, tag="checkpoint_seen"):
    """A weights file is there or has grown; `path` is relative to the work folder, with a `*` for its shards."""

    path: str
    size_bytes: int
    training_step: int | None = None
    """As its name says; else where the training stood when it was written."""
    written_at: float | None = None
    """By the sandbox's clock, in seconds since the epoch."""


class GradingStarted(Body, frozen=True, kw_only=True, tag="grading_started"):
    """A snapshot of the submission went to the grader; once more, by the same id, where a runner was lost over it."""

    grading_id: str
    purpose: Purpose
    split: str
    artefact_sha256: str = ""
    snapshot: int = 0
    """Which of the run's numbered copies it is."""


class GradingProgressed(Body, frozen=True, kw_only=True, tag="grading_progressed"):
    """The grader says how far it is."""

    grading_id: str
    done: int
    total: int
    what: str = ""


class Graded(Body, frozen=True, kw_only=True, tag="graded"):
    """The grader's answer."""

    grading_id: str
    purpose: Purpose
    score: Score
    duration_s: float = 0.0
    by: str = ""


class AlertRaised(Body, frozen=True, kw_only=True, tag="alert_raised"):
    """Something a person should look at: why, and what one could do."""

    alert: str
    message: str
    hint: str = ""


class AlertCleared(Body, frozen=True, kw_only=True, tag="alert_cleared"):
    """What an alert was raised for holds no more."""

    alert: str
    message: str = ""
