"""What a supervisor and its workers do: plans, workers from their start to their end. The worker is in the envelope."""

from agent.record.bodies.base import Body
from agent.record.crew import PlanStep, WorkerOutcome
from agent.record.values import Text


class PlanMade(Body, frozen=True, kw_only=True, tag="plan_made"):
    """The supervisor's plan from now on; steps of the plan before it that bear the same name go on as they stand."""

    steps: tuple[PlanStep, ...]
    why: Text = ""


class WorkerStarted(Body, frozen=True, kw_only=True, tag="worker_started"):
    """A worker takes on a step of the plan."""

    step: str
    folder: str = ""
    """Its own folder, relative to the work folder; empty where it works in the work folder itself."""
    model: str = ""


class WorkerReported(Body, frozen=True, kw_only=True, tag="worker_reported"):
    """What the supervisor is told of a worker that goes on."""

    text: Text


class WorkerEnded(Body, frozen=True, kw_only=True, tag="worker_ended"):
    """A worker has ended; its files have joined the work folder, where it had a folder of its own."""

    outcome: WorkerOutcome
    step: str = ""
    submission: Text = ""
    """What it says it has reached, with the metric."""
    model_path: str = ""
    why: str = ""
    """Why it was stopped or failed."""
    files: tuple[str, ...] = ()
    """Its files that joined the work folder, the first ones."""
    file_count: int = 0
    conflicts: tuple[str, ...] = ()
    """Files that were changed in the work folder too, and so stayed in the worker's own."""
