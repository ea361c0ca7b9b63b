"""What the supervisor is told when it is asked: how the plan stands, who ended and how, what the others do."""

from collections.abc import Sequence

from agent.record.crew import Crew, WorkerNow
from agent.record.text import clip, one_line
from agent.scaffolds.base import Ended
from agent.scaffolds.mlrb import plan
from agent.scaffolds.mlrb.actions import Action, stuck

_SHOWN_ACTIONS = 4
_SAID, _RESULT = 300, 500
_SUBMISSION = 3_000


def report(crew: Crew, ended: Sequence[str], going: Sequence[str], status: str, asks: str) -> str:
    """The whole report; `asks` says what is wanted of the supervisor."""
    parts = [f"The plan now:\n{plan.shown(crew)}", *ended, *going, f"[{status}]", asks]
    return "\n\n".join(part for part in parts if part)


def of_ended(worker: WorkerNow, ended: Ended) -> str:
    """How a worker ended."""
    lines = [f"Worker {worker.worker} ({worker.step}) {_HOW[worker.outcome or 'failed']}."]
    if ended.submission:
        lines.append(clip(ended.submission, _SUBMISSION))
    if ended.model_path:
        lines.append(f"Its model: {one_line(ended.model_path)}")
    if ended.why:
        lines.append(f"Why: {one_line(ended.why, 600)}")
    if worker.folder and worker.outcome == "returned":
        lines.append(f"{worker.files} of its files joined the work folder; the rest stays in {worker.folder}.")
    if ended.conflicts:
        names = ", ".join(one_line(path, 80) for path in ended.conflicts)
        lines.append(f"Not joined, since they were changed elsewhere too or may not be changed: {names}")
    return "\n".join(lines)


def of_going(worker: WorkerNow, done: Sequence[Action]) -> str:
    """What a worker that goes on has done last."""
    trouble = stuck(done)
    head = f"Worker {worker.worker} ({worker.step}) has made {worker.steps} steps"
    spent = f", {worker.tokens:,} tokens, ${worker.cost_usd:.2f}" if worker.cost_usd else f", {worker.tokens:,} tokens"
    last = "\n".join(f"- {action.shown(_SAID, _RESULT)}" for action in done[-_SHOWN_ACTIONS:])
    stands = f"\nIt seems stuck: {trouble}." if trouble else ""
    return f"{head}{spent}.{stands}\n{last or '(nothing done yet)'}"


_HOW = {"returned": "has returned", "stopped": "was stopped", "failed": "has failed"}

REVIEW = (
    "Review the work: does it serve the goal within the budget? Say that they go on, or change the plan, tell or stop"
    " a worker."
)
DECIDE = (
    "No worker is at work and no step can be begun. Decide: change the plan for what is still worth doing, or call"
    " `submit` if the artefact in the work folder is as good as it will get."
)
PLAN = "Make the plan: call `plan`."
"""To a supervisor that has not made one."""
