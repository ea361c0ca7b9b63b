"""A run's summary: one pure fold over its events, used by the runner, the index and every screen."""

from collections.abc import Iterable

import msgspec

from agent.record import events as ev
from agent.record import tails
from agent.record.clocks import clocks_at
from agent.record.crew_fold import fold_crew, now_of
from agent.record.gpu_time import gpu_time_at
from agent.record.text import one_line
from agent.record.values import Blob, Progress, Proof, RunSummary, StandingAlert, Text, WantedApproval

MOST_DIVERGED = 16
MOST_STANDING = 32
_INTERVENTIONS = {"inject", "interrupt", "pause", "limits", "score", "approve", "kill"}
"""What counts as a person's help once it is done; going on after a pause, and what concerns a message that is still
queued, change nothing by themselves."""
Changes = dict[str, object]
"""Fields of the summary and what they are from now on."""
_IN_REACH: Changes = {"away": "", "away_since": None}


def fold(summary: RunSummary, event: ev.Event) -> RunSummary:
    """The summary after one more event."""
    # Between a runner's death and the next one's start nothing worked, waited or was paused.
    taken_up = isinstance(event.body, ev.RunStarted) and event.body.resumed
    changes: Changes = {}
    if not taken_up:
        changes |= clocks_at(summary, event.at) | gpu_time_at(summary, event.at)
    changes |= {"seq": event.seq, "at": max(summary.at, event.at), "step": max(summary.step, event.step)}
    changes |= _changes(summary, event)
    changes |= _by_crew(summary, event)
    return msgspec.structs.replace(summary, **changes)


def fold_all(events: Iterable[ev.Event], start: RunSummary | None = None) -> RunSummary:
    """The summary of a whole series of events."""
    summary = start or RunSummary()
    for event in events:
        summary = fold(summary, event)
    return summary


def preview(text: Text) -> str:
    """Text as far as it lies in the event itself."""
    return text.preview if isinstance(text, Blob) else text


def _changes(summary: RunSummary, event: ev.Event) -> Changes:
    """What this event changes besides the clocks."""
    for family in (_by_work, _by_people, _by_results, _by_sandbox, _by_run):
        changes = family(summary, event)
        if changes is not None:
            return changes
    return {}


def _by_crew(summary: RunSummary, event: ev.Event) -> Changes:
    """What it changes in a run of several: what one does must not hide what the others do."""
    crew = fold_crew(summary.crew, event)
    if crew is summary.crew:
        return {}
    if not crew.at_work:
        return {"crew": crew} | (_now("", event.at) if summary.crew.at_work else {})
    said, since = now_of(crew)
    return {"crew": crew, "waiting": crew.retrying and not crew.working, "now": said, "now_since": since}


def _by_run(summary: RunSummary, event: ev.Event) -> Changes | None:
    """What an event of the run as a whole changes."""
    match event.body:
        case ev.RunCreated() as body:
            return {
                "run": body.run, "task": body.task, "scale": body.scale, "scaffold": body.scaffold,
                "model": body.model, "sandbox": body.sandbox, "seed": body.seed, "who": body.who,
                "limits": body.limits, "created_at": event.at, "state": "queued", "approve": body.approve,
                "gpu_usd_per_hour": body.gpu_usd_per_hour,
            }  # fmt: skip
        case ev.RunStarted():
            started = summary.started_at if summary.started_at is not None else event.at
            return {
                "state": "starting", "started_at": started, "proofs": (), "outcome_detail": "", "waiting": False,
                **_IN_REACH,
            } | _now("starting", event.at)  # fmt: skip
        case ev.RunQueued() as body:
            return {"state": "queued"} | _now(_awaited(body), event.at)
        case ev.RunPlaced(gpus=gpus, cost_per_hour=cost):
            # What the machine itself costs is known better than what one costs in general.
            price = {} if cost is None else {"gpu_usd_per_hour": cost}
            return {"state": "starting", "given_gpus": gpus} | price | _now("starting", event.at)
        case ev.StepStarted():
            return {"state": "running"} | _now("", event.at) if summary.state == "starting" else {}
        case ev.WorkEnded():
            return {"state": "scoring", "pause": None, "waiting": False, "approval": None} | _now("scoring", event.at)
        case ev.RunLeft(reason=reason):
            return {"outcome_detail": reason} | _now("", event.at)
        case ev.RunEnded(outcome=outcome, limit=limit, detail=detail):
            return {
                "state": "ended", "outcome": outcome, "outcome_limit": limit, "outcome_detail": detail,
                "ended_at": event.at, "pause": None, "waiting": False, "retry_at": None, "approval": None, **_IN_REACH,
            } | _now("", event.at)  # fmt: skip
        case _:
            return None


def _by_sandbox(summary: RunSummary, event: ev.Event) -> Changes | None:
    """What an event of the sandbox changes."""
    match event.body:
        case ev.SandboxStarted(sandbox=sandbox):
            return {"sandbox": sandbox}
        case ev.SandboxLost(reason=reason):
            return _now(f"sandbox lost: {one_line(reason, 60)}", event.at) | {"errors": summary.errors + 1}
        case ev.SandboxAway(reason=reason):
            return {"away": one_line(reason, 60), "away_since": event.at}
        case ev.SandboxBack():
            return _IN_REACH
        case ev.SandboxStopped(proofs=proofs):
            return {"leftovers": tuple(f"{p.what}: {p.detail}" for p in proofs if not p.proven)}
        case ev.ProofFound(what=what, proven=proven, detail=detail):
            others = tuple(proof for proof in summary.proofs if proof.what != what)
            return {"proofs": (*others, Proof(what, proven, detail))} | _now("ending", event.at)
        case _:
            return None


def _by_work(summary: RunSummary, event: ev.Event) -> Changes | None:
    """What the model, the agent's tools and their measurements change."""
    match event.body:
        case ev.ModelAsked():
            return _working(summary) | {"waiting": False, "retry_at": None} | _now("thinking", event.at)
        case ev.ModelAnswered(usage=usage, cost_usd=cost):
            return {
                "waiting": False, "usage": summary.usage + usage, "cost_usd": summary.cost_usd + (cost or 0.0),
                "cost_known": summary.cost_known and cost is not None,
            } | _now("", event.at)  # fmt: skip
        case ev.ModelFailed(retry_in_s=retry_in_s, reason=reason):
            said = f"retrying in {retry_in_s:.0f} s" if retry_in_s is not None else one_line(reason, 60)
            retry_at = None if retry_in_s is None else event.at + retry_in_s
            waits = {"waiting": retry_in_s is not None, "retry_at": retry_at}
            return waits | {"errors": summary.errors + 1} | _now(said, event.at)
        case ev.ToolCalled(summary=shown, tool=tool):
            return (
                _working(summary)
                | _asked_no_more(summary, event)
                | _now(one_line(preview(shown), 80) or tool, event.at)
            )
        case ev.ToolTakenUp() as body:
            return _taken_up(summary, body, event)
        case ev.ToolFinished(call_id=call_id, failed=failed, rejected_by=rejected_by):
            # What another worker's training tells stays.
            beside = any(each.doing == "tool" and each.worker != event.worker for each in summary.crew.at_work)
            progress = summary.progress if beside else None
            changed: Changes = {"errors": summary.errors + (failed and not rejected_by), "progress": progress}
            return changed | tails.without_training(summary, call_id) | _now("", event.at)
        case ev.HostSampled(host=host):
            return {"host": host} | tails.with_cpu(summary, event.at, host)
        case ev.GpuSampled(gpus=gpus):
            return {"gpus": gpus, "gpus_at": event.at} | tails.with_gpus(summary, event.at, gpus)
        case ev.ProgressSeen(call_id=call_id, progress=progress):
            return {
                "progress": progress, "progress_at": event.at, "diverged": still_diverged(summary.diverged, progress),
            } | tails.with_loss(summary, call_id, event.at, progress.values.get("loss"))  # fmt: skip
        case _:
            return None


def _by_people(summary: RunSummary, event: ev.Event) -> Changes | None:
    """What people do changes: pauses, limits, approval, requests."""
    match event.body:
        case ev.RunPaused(strength=strength, by=by, why=why, limit=limit):
            paused = {"state": "paused", "pause": strength, "pause_by": by, "paused_at": event.at}
            return paused | {"pause_why": one_line(why, 60), "pause_limit": limit}
        case ev.RunResumed():
            going = {
                "state": "running", "pause": None, "pause_by": "", "pause_why": "", "paused_at": None,
                "pause_limit": None,
            }  # fmt: skip
            return going | _cleared(summary, "limit", "disk_full")
        case ev.LimitsChanged(limits=limits):
            return {"limits": limits}
        case ev.ApproveModeChanged(on=on):
            return {"approve": on}
        case ev.ApprovalAsked() as body:
            return (
                _working(summary)
                | {"approval": _wanted(body, event.at, event.worker)}
                | _now("wants approval", event.at)
            )
        case ev.ApprovalGiven():
            return {"approval": None} | _now("", event.at)
        case ev.RequestReceived(request_id=request_id, verb=verb) if verb in _INTERVENTIONS:
            return {"undone": (*summary.undone, request_id)}
        case ev.RequestAnswered(request_id=request_id) if request_id in summary.undone:
            return {"interventions": summary.interventions + 1} | _settled(summary, request_id)
        case ev.RequestRefused(request_id=request_id) | ev.RequestWithdrawn(request_id=request_id):
            return _settled(summary, request_id)
        case _:
            return None


def _by_results(summary: RunSummary, event: ev.Event) -> Changes | None:
    """What checkpoints, grades and alerts change."""
    match event.body:
        case ev.GradingStarted(purpose="final"):
            return {"state": "scoring", "pause": None, "approval": None} | _now("scoring", event.at)
        case ev.Graded(score=score, purpose=purpose):
            counts = purpose in ("final", "regrade")
            return {"last_score": score, "final_score": score if counts else summary.final_score}
        case ev.CheckpointSeen():
            return {"checkpoints": summary.checkpoints + 1}
        case ev.AlertRaised() as body:
            return _raised(summary, body, event.at)
        case ev.AlertCleared(alert=alert):
            return _cleared(summary, alert)
        case _:
            return None


def _working(summary: RunSummary) -> dict[str, object]:
    """A run that was taken up in the middle of a step works again with that step's next call."""
    return {"state": "running"} if summary.state == "starting" else {}


def _settled(summary: RunSummary, request_id: int) -> dict[str, object]:
    return {"undone": tuple(each for each in summary.undone if each != request_id)}


def _taken_up(summary: RunSummary, body: ev.ToolTakenUp, event: ev.Event) -> dict[str, object]:
    said = _now(one_line(preview(body.summary), 80) or body.tool, event.at)
    return _working(summary) | _asked_no_more(summary, event) | said


def _asked_no_more(summary: RunSummary, event: ev.Event) -> dict[str, object]:
    """A call that begins waits for nobody's word; another worker's question still does."""
    wanted = summary.approval
    others = wanted is not None and event.worker != wanted.worker
    return {} if others else {"approval": None}


def _awaited(body: ev.RunQueued) -> str:
    place = f"{body.ahead} ahead" if body.ahead else "next"
    what = {0: "a place", 1: "a GPU"}.get(body.gpus, f"{body.gpus} GPUs")
    return f"waits for {what} on {one_line(body.host, 40)}, {place}"


def _wanted(body: ev.ApprovalAsked, at: float, worker: int) -> WantedApproval:
    return WantedApproval(
        approval_id=body.approval_id, call_id=body.call_id, tool=body.tool,
        summary=one_line(preview(body.summary), 200), rule=body.rule, asked_at=at,
        worker=worker,
    )  # fmt: skip


def still_diverged(before: tuple[str, ...], progress: Progress) -> tuple[str, ...]:
    """The names whose last value was not finite: one leaves when it has a finite value again."""
    names = dict.fromkeys((*before, *progress.diverged))
    return tuple(name for name in names if name not in progress.values)[-MOST_DIVERGED:]


def _raised(summary: RunSummary, body: ev.AlertRaised, at: float) -> dict[str, object]:
    message = one_line(body.message)
    others = (each for each in summary.standing if each.alert != body.alert)
    raised = StandingAlert(alert=body.alert, message=message, hint=one_line(body.hint), at=at)
    return {"alerts": summary.alerts + 1, "last_alert": message, "standing": (*others, raised)[-MOST_STANDING:]}


def _cleared(summary: RunSummary, *alerts: str) -> dict[str, object]:
    standing = tuple(each for each in summary.standing if each.alert not in alerts)
    if len(standing) == len(summary.standing):
        return {}
    return {"standing": standing, "last_alert": standing[-1].message if standing else ""}


def _now(said: str, at: float) -> dict[str, object]:
    return {"now": said, "now_since": at if said else None}
