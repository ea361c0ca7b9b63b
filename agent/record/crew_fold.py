"""How events change the plan and the workers of a run's summary."""

import msgspec

from agent.record import events as ev
from agent.record.crew import Crew, StepNow, StepState, WorkerNow
from agent.record.text import one_line
from agent.record.values import Blob, Text

_ABOUT, _NOW, _SAID = 120, 80, 160
_ENDED: dict[str, StepState] = {"returned": "done", "stopped": "stopped", "failed": "failed"}


def fold_crew(crew: Crew, event: ev.Event) -> Crew:
    """The plan and the workers after one more event; the same object where it changes nothing."""
    body = event.body
    match body:
        case ev.PlanMade():
            return _planned(crew, body, event.at)
        case ev.WorkerStarted():
            return _started(crew, body, event)
        case ev.WorkerEnded():
            return _ended(crew, body, event)
        case _:
            return _worked(crew, event) if crew.plans or event.worker else crew


def now_of(crew: Crew) -> tuple[str, float | None]:
    """What a crew does in a few words, and since when: whoever has worked on one thing for longest comes first."""
    busy = sorted((each for each in crew.at_work if each.doing), key=lambda each: each.since)
    if not busy:
        chief = crew.supervisor
        return ("planning", chief.since) if chief is not None and chief.doing == "thinking" else ("", None)
    said = " · ".join(f"w{each.worker} {each.now or each.doing}" for each in busy[:3])
    more = f" +{len(busy) - 3}" if len(busy) > 3 else ""
    return said + more, busy[0].since


def _planned(crew: Crew, body: ev.PlanMade, at: float) -> Crew:
    # What was stopped or failed and stands in the plan again is to be done again.
    before = {step.name: step for step in crew.steps if step.state in ("done", "working")}
    steps = tuple(
        StepNow(
            name=step.name, about=one_line(step.task, _ABOUT), after=step.after,
            state=before[step.name].state if step.name in before else "waiting",
            worker=before[step.name].worker if step.name in before else 0,
        )
        for step in body.steps
    )  # fmt: skip
    return msgspec.structs.replace(
        crew, steps=steps, plans=crew.plans + 1, planned_at=at, why=one_line(_preview(body.why), _SAID)
    )


def _started(crew: Crew, body: ev.WorkerStarted, event: ev.Event) -> Crew:
    worker = WorkerNow(
        worker=event.worker, step=body.step, model=body.model, folder=body.folder, started_at=event.at, since=event.at
    )
    changed = msgspec.structs.replace(crew.with_worker(worker), started=max(crew.started, event.worker))
    return _with_step(changed, body.step, "working", event.worker)


def _ended(crew: Crew, body: ev.WorkerEnded, event: ev.Event) -> Crew:
    worker = crew.worker(event.worker) or WorkerNow(worker=event.worker)
    said = one_line(_preview(body.submission) or body.why, _SAID)
    worker = msgspec.structs.replace(
        worker, outcome=body.outcome, ended_at=event.at, doing="", now="", since=event.at, said=said,
        files=body.file_count, conflicts=len(body.conflicts),
    )  # fmt: skip
    return _with_step(crew.with_worker(worker), worker.step, _ENDED[body.outcome], event.worker)


def _with_step(crew: Crew, name: str, state: StepState, worker: int) -> Crew:
    steps = tuple(
        msgspec.structs.replace(step, state=state, worker=worker) if step.name == name else step for step in crew.steps
    )
    return msgspec.structs.replace(crew, steps=steps)


def _worked(crew: Crew, event: ev.Event) -> Crew:
    """What a worker's own acts change."""
    worker = crew.worker(event.worker) or (WorkerNow(worker=0) if event.worker == 0 else None)
    changes = {} if worker is None else _changes(worker, event)
    if worker is None or not changes:
        return crew
    return crew.with_worker(msgspec.structs.replace(worker, **changes))


def _changes(worker: WorkerNow, event: ev.Event) -> dict[str, object]:
    at = event.at
    match event.body:
        case ev.StepStarted():
            return {"steps": worker.steps + 1, "last_step": event.step}
        case ev.ModelAsked(model=model):
            return {"doing": "thinking", "now": "", "since": at, "model": model}
        case ev.ModelAnswered(usage=usage, cost_usd=cost):
            spent = {"tokens": worker.tokens + usage.total_tokens, "cost_usd": worker.cost_usd + (cost or 0.0)}
            return {"doing": "", "now": "", "since": at, **spent}
        case ev.ModelFailed(retry_in_s=retry_in_s):
            waits = "retrying" if retry_in_s is not None else ""
            return {"doing": waits, "now": "", "since": at, "errors": worker.errors + 1}
        case ev.ApprovalAsked(summary=summary, tool=tool):
            return {"doing": "asking", "now": one_line(_preview(summary), _NOW) or tool, "since": at}
        case ev.ApprovalGiven():
            return {"doing": "", "now": "", "since": at}
        case ev.ToolCalled(summary=summary, tool=tool) | ev.ToolTakenUp(summary=summary, tool=tool):
            return {"doing": "tool", "now": one_line(_preview(summary), _NOW) or tool, "since": at}
        case ev.ToolFinished(failed=failed, rejected_by=rejected):
            wrong = failed and not rejected
            return {"doing": "", "now": "", "since": at, "errors": worker.errors + wrong}
        case ev.WorkerReported(text=text):
            return {"said": one_line(_preview(text), _SAID)}
        case _:
            return {}


def _preview(text: Text) -> str:
    return text.preview if isinstance(text, Blob) else text
