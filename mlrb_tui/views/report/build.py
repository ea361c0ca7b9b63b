"""A run's report as a pure function of its events."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from agent.record import events as ev
from agent.record.gpu_time import of_run
from agent.record.ledger import CommandHours
from agent.record.summary import preview
from agent.record.text import clip, printable, storable
from agent.record.values import RunSummary, Score, Text
from mlrb_tui.views import words
from mlrb_tui.views.report.values import (
    Alarm,
    Approval,
    Checkpoint,
    Fate,
    Gpus,
    Grading,
    Intervention,
    LimitChange,
    Outage,
    Pause,
    Plan,
    Report,
    RuleHeld,
    Setting,
    Times,
)  # fmt: skip
from tasks.spec import TaskSpec

KINDS = (
    "run_created", "run_started", "run_paused", "run_resumed", "run_placed", "limits_changed", "run_ended",
    "sandbox_started", "sandbox_away", "sandbox_back", "sandbox_lost", "model_failed", "plan_changed", "worker_ended",
    "request_received", "request_answered", "request_refused", "request_edited", "request_withdrawn",
    "approval_asked", "approval_given", "checkpoint_seen", "graded", "alert_raised", "alert_cleared",
)  # fmt: skip
"""The kinds of events that a report is made of, besides the calls of `SUBMIT`."""
SUBMIT = "submit"
_LONGEST = 4_000


def report_of(
    events: Iterable[ev.Event],
    summary: RunSummary,
    *,
    commands: Sequence[CommandHours] = (),
    task: TaskSpec | None = None,
) -> Report:
    """The report of a run whose events so far come to this summary; of them only those of `KINDS` count.

    `commands` are the GPU-hours of each command; `task`, where it is known, gives the rules and the artefact.
    """
    told = _Told()
    for event in events:
        told.take(event)
    score = summary.final_score or summary.last_score
    compared = score is not None and score.baseline is not None
    report = Report(
        task=summary.task,
        run=summary.run,
        submission=told.submission,
        model_path=told.model_path,
        artefact=task.artefact.paths if task is not None else (),
        tokens=summary.usage.total_tokens,
        turns=summary.step,
        time_s=round(_elapsed_s(summary), 3),
        so_far=summary.state != "ended",
        scale=summary.scale,
        state=summary.state,
        outcome=summary.outcome,
        outcome_limit=summary.outcome_limit,
        outcome_detail=summary.outcome_detail,
        score=score,
        score_is_final=summary.final_score is not None,
        beats_baseline=score.beats_baseline if score is not None and compared else None,
        gradings=tuple(told.gradings),
        rules=tuple(_rules(task, score)),
        limits=summary.limits,
        used={name: float(value) for name, value in words.used(summary).items()},
        limit_changes=tuple(told.limit_changes),
        usage=summary.usage,
        cost_usd=round(summary.cost_usd, 6),
        cost_known=summary.cost_known,
        interventions=summary.interventions,
        requests=tuple(told.requests.values()),
        approvals=tuple(told.approvals),
        pauses=tuple(told.pauses),
        alarms=tuple(told.alarms),
        outages=tuple(told.outages),
        taken_up=told.taken_up,
        model_failures=told.model_failures,
        errors=summary.errors,
        gpu=Gpus(
            names=told.gpus or tuple(gpu.name for gpu in summary.gpus if gpu.name),
            hours=of_run(summary),
            usd_per_hour=summary.gpu_usd_per_hour,
            commands=tuple(commands),
        ),
        checkpoints=tuple(told.checkpoints.values()),
        plan=_plan(summary, told),
        setting=told.setting_of(summary),
        times=_times(summary),
        leftovers=summary.leftovers,
        proofs=summary.proofs,
    )
    return _cleaned(report)


@dataclass
class _Told:
    """What the events tell that a summary does not keep."""

    created: ev.RunCreated | None = None
    sandbox: ev.SandboxStarted | None = None
    host: str = ""
    taken_up: int = 0
    gpus: tuple[str, ...] = ()
    submission: str = ""
    model_path: str = ""
    items: tuple[str, ...] = ()
    plans: int = 0
    model_failures: int = 0
    gradings: list[Grading] = field(default_factory=list)
    limit_changes: list[LimitChange] = field(default_factory=list)
    requests: dict[int, Intervention] = field(default_factory=dict)
    asked: dict[str, ev.ApprovalAsked] = field(default_factory=dict)
    approvals: list[Approval] = field(default_factory=list)
    pauses: list[Pause] = field(default_factory=list)
    alarms: list[Alarm] = field(default_factory=list)
    outages: list[Outage] = field(default_factory=list)
    checkpoints: dict[str, Checkpoint] = field(default_factory=dict)

    def take(self, event: ev.Event) -> None:
        """Take in the next event."""
        for family in (self._of_run, self._of_people, self._of_results):
            if family(event.body, event.at):
                return

    def setting_of(self, summary: RunSummary) -> Setting:
        """With what it ran; as asked for, where nothing was started yet."""
        created, sandbox = self.created, self.sandbox
        return Setting(
            scaffold=summary.scaffold,
            model=summary.model,
            supervisor_model=created.supervisor_model if created is not None else "",
            sandbox=summary.sandbox,
            image=sandbox.image if sandbox is not None else "",
            network=sandbox.network if sandbox is not None else None,
            isolates=sandbox.isolates if sandbox is not None else None,
            notice=sandbox.notice if sandbox is not None else "",
            host=self.host,
            seed=summary.seed,
            version=created.version if created is not None else "",
            who=summary.who,
        )

    def _of_run(self, body: ev.AnyBody, at: float) -> bool:
        match body:
            case ev.RunCreated():
                self.created = body
            case ev.RunStarted(host=host, resumed=resumed):
                self.host = host
                self.taken_up += resumed
            case ev.RunPlaced(names=names):
                self.gpus = names
            case ev.RunPaused():
                self._end_pause(at)
                self.pauses.append(
                    Pause(at=at, strength=body.strength, by=body.by, why=body.why, limit=body.limit)
                )  # fmt: skip
            case ev.RunResumed() | ev.RunEnded():
                self._end_pause(at)
            case ev.SandboxStarted():
                self.sandbox = body
            case ev.SandboxAway(reason=reason) | ev.SandboxLost(reason=reason):
                self.outages.append(Outage(at=at, reason=reason))
            case ev.SandboxBack(away_s=away_s):
                if self.outages:
                    away_s = away_s or at - self.outages[-1].at
                    self.outages[-1] = msgspec.structs.replace(self.outages[-1], away_s=round(away_s, 3))
            case ev.ModelFailed():
                self.model_failures += 1
            case _:
                return False
        return True

    def _of_people(self, body: ev.AnyBody, at: float) -> bool:
        match body:
            case ev.LimitsChanged(limits=limits, by=by, why=why):
                self.limit_changes.append(LimitChange(at=at, limits=limits, by=by, why=why))
            case ev.RequestReceived():
                self.requests[body.request_id] = Intervention(
                    at=at, verb=body.verb, text=body.text, who=body.who, origin=body.origin, worker=body.worker
                )
            case ev.RequestAnswered(request_id=number, detail=detail):
                self._settle(number, "done", detail)
            case ev.RequestRefused(request_id=number, reason=reason):
                self._settle(number, "refused", reason)
            case ev.RequestWithdrawn(request_id=number):
                self._settle(number, "withdrawn", "")
            case ev.RequestEdited(request_id=number, text=text) if number in self.requests:
                self.requests[number] = msgspec.structs.replace(self.requests[number], text=text)
            case ev.ApprovalAsked():
                self.asked[body.approval_id] = body
            case ev.ApprovalGiven():
                self._decide(body, at)
            case _:
                return False
        return True

    def _of_results(self, body: ev.AnyBody, at: float) -> bool:
        match body:
            case ev.ToolCalled(tool=tool) if tool == SUBMIT:
                self.submission = _said(body)
            case ev.ToolFinished(tool=tool, failed=True) if tool == SUBMIT:
                self.submission = ""
            case ev.WorkerEnded(model_path=model_path):
                self.model_path = model_path or self.model_path
            case ev.PlanChanged(items=items):
                self.items = items
                self.plans += 1
            case ev.CheckpointSeen(path=path, size_bytes=size_bytes, training_step=step):
                self.checkpoints[path] = Checkpoint(at=at, path=path, size_bytes=size_bytes, training_step=step)
            case ev.Graded(purpose=purpose, score=score, duration_s=duration_s, by=by):
                self.gradings.append(Grading(at=at, purpose=purpose, score=score, duration_s=duration_s, by=by))
            case ev.AlertRaised(alert=alert, message=message, hint=hint):
                self.alarms.append(Alarm(at=at, alert=alert, message=message, hint=hint))
            case ev.AlertCleared(alert=alert):
                self._clear(alert, at)
            case _:
                return False
        return True

    def _end_pause(self, at: float) -> None:
        if self.pauses and self.pauses[-1].ended_at is None:
            self.pauses[-1] = msgspec.structs.replace(self.pauses[-1], ended_at=at)

    def _settle(self, number: int, fate: Fate, detail: str) -> None:
        if number in self.requests:
            self.requests[number] = msgspec.structs.replace(self.requests[number], fate=fate, detail=detail)

    def _decide(self, body: ev.ApprovalGiven, at: float) -> None:
        asked = self.asked.get(body.approval_id)
        tool, call = (asked.tool, preview(asked.summary)) if asked is not None else ("", "")
        given = Approval(at=at, tool=tool, call=call, decision=body.decision, by=body.by, reason=body.reason)
        self.approvals.append(given)

    def _clear(self, alert: str, at: float) -> None:
        for index, alarm in enumerate(self.alarms):
            if alarm.alert == alert and alarm.cleared_at is None:
                self.alarms[index] = msgspec.structs.replace(alarm, cleared_at=at)


def _said(body: ev.ToolCalled) -> str:
    """What the agent said as it submitted."""
    said = body.arguments.get("summary")
    if isinstance(said, str):
        return said
    shown: Text = body.summary
    return preview(shown)


def _elapsed_s(summary: RunSummary) -> float:
    if summary.started_at is None:
        return 0.0
    return max(0.0, (summary.ended_at or summary.at) - summary.started_at)


def _times(summary: RunSummary) -> Times:
    return Times(
        created_at=summary.created_at,
        started_at=summary.started_at,
        ended_at=summary.ended_at,
        told_at=summary.at,
        working_s=round(summary.working_s, 3),
        paused_s=round(summary.paused_s, 3),
        waited_s=round(summary.waited_s, 3),
        approval_s=round(summary.approval_s, 3),
    )


def _plan(summary: RunSummary, told: _Told) -> Plan:
    crew = summary.crew
    return Plan(
        items=told.items,
        steps=crew.steps,
        changes=max(0, max(crew.plans, told.plans) - 1),
        why=crew.why,
        supervisor=crew.supervisor,
        workers=crew.workers,
        workers_started=crew.started,
    )


def _rules(task: TaskSpec | None, score: Score | None) -> Iterable[RuleHeld]:
    """The task's rules, each with what the grader reported; then what it reported beside them."""
    found = {violation.rule: violation for violation in score.violations} if score is not None else {}
    # A grader that came to no value may not have come to the rules either.
    graded = score is not None and score.value is not None
    for rule in task.rules if task is not None else ():
        broken = found.pop(rule.name, None)
        yield RuleHeld(
            name=rule.name,
            text=rule.text,
            invalidates=rule.invalidates if broken is None else broken.invalidates,
            broken=True if broken is not None else False if graded else None,
            evidence=broken.evidence if broken is not None else "",
        )
    for name, violation in found.items():
        yield RuleHeld(
            name=name, text="", invalidates=violation.invalidates, broken=True, evidence=violation.evidence
        )  # fmt: skip


def _cleaned(report: Report) -> Report:
    """The same with every text in it printable and of bounded length."""
    return msgspec.convert(_clean(msgspec.to_builtins(report)), Report)


def _clean(value: object) -> object:
    if isinstance(value, str):
        return printable(clip(storable(value), _LONGEST), lines=True).strip()
    if isinstance(value, list | tuple):
        return [_clean(each) for each in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(each) for key, each in value.items()}
    return value
