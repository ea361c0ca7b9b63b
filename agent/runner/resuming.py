"""What a run that lost its runner left behind, read from its record."""

from dataclasses import dataclass, field

from agent.models.base import Message
from agent.record import events as ev
from agent.record.crew import PlanStep
from agent.record.home import RunFolder
from agent.record.log import EventReader
from agent.record.values import Purpose
from agent.runner.approvals import StandingQuestion, standing_question
from agent.runner.conversation import conversations
from agent.runner.cut_call import CutCall, read_cut_calls
from agent.runner.ending import Verdict
from agent.runner.open_requests import OpenRequests, open_requests

_OF_STAGES = (
    "run_placed", "sandbox_started", "sandbox_stopped", "run_paused", "run_resumed", "tool_finished", "work_ended",
    "grading_started", "graded", "step_started", "model_asked", "model_answered", "model_failed",
    "plan_made", "worker_ended",
)  # fmt: skip


@dataclass
class Part:
    """Where one of those who work in a run stood: the only agent, the supervisor, a worker."""

    messages: list[Message] = field(default_factory=list)
    cut: CutCall | None = None
    """The call that was going on."""
    asked: str = ""
    """The model call that was going on."""
    step: int = 0
    in_step: bool = False
    """Whether that step had begun and the model had not answered in it yet."""


@dataclass
class Remains:
    """Where a run stood."""

    parts: dict[int, Part] = field(default_factory=dict)
    """By worker; 0 is the supervisor, or the only agent."""
    plan: tuple[PlanStep, ...] = ()
    """The newest, where a supervisor made one."""
    requests: OpenRequests = field(default_factory=OpenRequests)
    standing: StandingQuestion = field(default_factory=StandingQuestion)
    """What a person had been asked, and what people had let through for good."""
    sandbox: ev.SandboxStarted | None = None
    """None where the run was cut off before its sandbox stood."""
    placed: ev.RunPlaced | None = None
    """None where it had no place yet."""
    pause: ev.RunPaused | None = None
    """The pause that was in effect."""
    submitted: bool = False
    verdict: Verdict | None = None
    """How the run ends, where the agent's work was over."""
    gradings: dict[Purpose, ev.GradingStarted] = field(default_factory=dict)
    """Those that were begun and gave no score."""
    graded: bool = False
    """Whether the final score is there."""
    taken_down: bool = False
    """Whether the sandbox was taken down after that."""

    def part(self, worker: int) -> Part:
        """Where that worker stood."""
        return self.parts.setdefault(worker, Part())

    @property
    def cut(self) -> list[CutCall]:
        """All calls that were going on."""
        return [part.cut for part in self.parts.values() if part.cut is not None]


def read_remains(folder: RunFolder) -> Remains:
    """Read where the run stood."""
    with EventReader(folder.events) as reader:
        remains = Remains(requests=open_requests(reader))
        for worker, messages in conversations(reader).items():
            remains.part(worker).messages = messages
        for worker, cut in read_cut_calls(reader).items():
            remains.part(worker).cut = cut
        approvals = reader.of_kinds(("approval_asked", "approval_given", "tool_called"))
        remains.standing = standing_question([event.body for event in approvals])
        for event in reader.of_kinds(_OF_STAGES):
            _see(remains, event.body)
            _see_part(remains.part(event.worker), event)
    if remains.graded and remains.verdict is None:
        # Recorded by an earlier version of this program, which did not say how the agent's work had ended.
        remains.verdict = Verdict("submitted" if remains.submitted else "failed")
    return remains


def _see(remains: Remains, body: ev.AnyBody) -> None:
    """Take in one event, the oldest first."""
    match body:
        case ev.RunPlaced():
            remains.placed = body
        case ev.SandboxStarted():
            remains.sandbox, remains.taken_down = body, False
        case ev.SandboxStopped():
            remains.taken_down = True
        case ev.RunPaused():
            remains.pause = body
        case ev.RunResumed():
            remains.pause = None
        case ev.ToolFinished(tool="submit", failed=False):
            remains.submitted = True
        case ev.PlanMade(steps=steps):
            remains.plan = steps
        case _:
            _see_end(remains, body)


def _see_part(part: Part, event: ev.Event) -> None:
    match event.body:
        case ev.StepStarted():
            part.step, part.in_step = event.step, True
        case ev.ModelAsked(call_id=call_id):
            part.asked = call_id
        case ev.ModelFailed():
            part.asked = ""
        case ev.ModelAnswered():
            part.asked, part.in_step = "", False
        case ev.WorkerEnded():
            part.asked, part.in_step, part.cut = "", False, None
        case _:
            pass


def _see_end(remains: Remains, body: ev.AnyBody) -> None:
    match body:
        case ev.WorkEnded(outcome=outcome, limit=limit, detail=detail):
            remains.verdict = Verdict(outcome, limit, detail)
        case ev.GradingStarted(purpose=purpose):
            remains.gradings[purpose] = body
        case ev.Graded(purpose=purpose):
            remains.gradings.pop(purpose, None)
            remains.graded = remains.graded or purpose == "final"
        case _:
            pass
