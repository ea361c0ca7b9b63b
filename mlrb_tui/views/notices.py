"""Events that are one line in a transcript: pauses, limits, the sandbox, checkpoints, alerts, unknown kinds."""

from agent.record import events as ev
from agent.record.summary import preview
from agent.record.text import one_line
from mlrb_tui.views import alarms, control, words
from mlrb_tui.views.blocks import Notice, place_of

HEADS = (
    "run_created", "run_started", "run_queued", "run_placed", "run_paused", "run_resumed", "limits_changed",
    "run_ended", "sandbox_started", "sandbox_lost", "sandbox_away", "sandbox_back", "run_left",
    "sandbox_stopped", "model_answered", "model_failed", "message_added", "tool_called",
    "note_taken", "plan_changed", "worker_started", "worker_ended",
    "request_received", "graded", "alert_raised", "alert_cleared",
    "approval_asked", "approve_mode_changed", "tool_taken_up", "control_taken", "control_released",
)  # fmt: skip
"""The kinds that begin a block."""

QUIET = (
    "heartbeat", "step_started", "model_asked", "model_streamed", "tool_output", "tool_finished", "gpu_sampled",
    "host_sampled", "progress_seen", "metrics_seen", "request_delivered", "request_answered", "request_refused",
    "request_edited", "request_withdrawn", "approval_given",
    "grading_started", "grading_progressed", "checkpoint_seen", "proof_found", "work_ended",
    "plan_made", "worker_reported",
)  # fmt: skip
"""The kinds that begin none: they add to one, or belong to a panel."""


def of(event: ev.Event) -> Notice | None:
    """The event's line; None where it has none of its own."""
    said = _said(event.body)
    if said is None:
        return None
    glyph, label, text, tone = said
    return Notice(
        place=place_of(event), glyph=glyph, label=label, text=one_line(text, 600), tone=tone
    )  # fmt: skip


def _said(body: ev.AnyBody) -> tuple[str, str, str, str] | None:
    match body:
        case ev.RunCreated():
            who = f" for {body.who}" if body.who else ""
            text = f"{body.task} · {body.scale} · {body.scaffold} · {body.model} · {body.sandbox} · seed {body.seed}"
            return "·", "run", f"{text}{who}; limits: {words.limits(body.limits)}", "dim"
        case ev.RunStarted(resumed=resumed, host=host):
            return ("↻", "run", f"taken up again on {host}", "dim") if resumed else None
        case ev.RunPaused(strength=strength, by=by, why=why):
            said = "frozen" if strength == "now" else "paused"
            return "║", said, " · ".join(part for part in (f"by {by}" if by else "", why) if part), "pause"
        case ev.RunResumed(by=by):
            return "▶", "resumed", f"by {by}" if by else "", "pause"
        case ev.ApproveModeChanged(on=on, by=by):
            said = "each call that changes something waits for a word" if on else "nothing waits for a word any more"
            return "◆", "approve mode on" if on else "approve mode off", f"{said} · by {by}", "person"
        case ev.LimitsChanged(limits=limits, by=by, why=why):
            because = f" · {why}" if why else ""
            return "≡", "limits", f"{words.limits(limits)} · by {by}{because}", "person"
        case ev.RunEnded(outcome=outcome, limit=limit, detail=detail):
            tone = "ok" if outcome == "submitted" else "bad" if outcome in ("failed", "lost") else "warn"
            return "■", "ended", " · ".join(part for part in (outcome, limit or "", detail) if part), tone
        case _:
            return _said_of_parts(body)


def _said_of_parts(body: ev.AnyBody) -> tuple[str, str, str, str] | None:
    match body:
        case ev.RunQueued(host=host, ahead=ahead, why=why, by=by):
            moved = f"moved by {by}" if by else ""
            place = f"{words.count(ahead, 'run')} ahead on {host}" if ahead else f"next on {host}"
            return "○", "queued", " · ".join(part for part in (place, why, moved) if part), "dim"
        case ev.RunPlaced(host=host, gpus=gpus, names=names):
            return ("·", "placed", f"on {host} with {', '.join(names) or ', '.join(gpus)}", "dim") if gpus else None
        case ev.SandboxStarted(sandbox=sandbox, image=image, notice=notice, network=network):
            parts = (sandbox, image, "network" if network else "no network", notice)
            return "·", "sandbox", " · ".join(part for part in parts if part), "dim"
        case ev.SandboxLost(reason=reason):
            return "×", "sandbox", f"lost: {reason}", "bad"
        case ev.SandboxAway(reason=reason):
            return "×", "sandbox", f"out of reach, the run waits: {reason}", "warn"
        case ev.SandboxBack(away_s=away_s, restarted=restarted):
            after = f"back after {words.duration(away_s)}" if away_s else "back"
            kept = "; it was started again: files are kept, what ran was cut off" if restarted else ""
            return "·", "sandbox", f"{after}{kept}", "warn" if restarted else "dim"
        case ev.RunLeft(reason=reason):
            return "×", "left", f"{reason}; `mlrb resume` takes it up again", "bad"
        case ev.SandboxStopped(proofs=proofs):
            left = [proof for proof in proofs if not proof.proven]
            if left:
                return "▲", "leftover", "; ".join(f"{proof.what}: {proof.detail}" for proof in left), "bad"
            return "·", "sandbox", f"gone, {words.count(len(proofs), 'check')}", "dim"
        case ev.ModelFailed(reason=reason, retry_in_s=retry, hint=hint):
            after = f"asks again in {words.duration(retry)}" if retry is not None else "given up"
            text = " · ".join(part for part in (reason, after, hint) if part)
            return "×", "model", text, "bad" if retry is None else "warn"
        case ev.ToolTakenUp(summary=summary, worked_s=worked_s):
            meanwhile = f"worked {words.duration(worked_s)} without a runner" if worked_s >= 1 else ""
            return "↻", "goes on", " · ".join(part for part in (preview(summary), meanwhile) if part), "dim"
        case ev.NoteTaken(text=text):
            return "✎", "note", preview(text), "dim"
        case ev.PlanChanged(items=items):
            return "≡", "plan", "; ".join(items), "thought"
        case ev.WorkerStarted(step=step, folder=folder):
            return "▸", "worker starts", f"{step}{f' in {folder}' if folder else ''}", "thought"
        case ev.WorkerEnded():
            return _worker_ended(body)
        case ev.ControlTaken() | ev.ControlReleased():
            return "◆", "control", control.said(body), "person"
        case ev.AlertRaised(alert=alert, message=message, hint=hint):
            said = " · ".join(part for part in (message, hint) if part)
            return "▲", "alarm", said, "bad" if alert in alarms.GRAVE else "warn"
        case ev.AlertCleared(alert=alert, message=message):
            return "·", "cleared", message or alert, "dim"
        case ev.Unknown(kind=kind):
            return "·", "unknown", f"{kind}: an event that this version of mlrb does not know", "dim"
        case _:
            return None


def _worker_ended(body: ev.WorkerEnded) -> tuple[str, str, str, str]:
    files = f"{words.count(body.file_count, 'file')} joined" if body.file_count else ""
    left = f"{words.count(len(body.conflicts), 'file')} did not join" if body.conflicts else ""
    said = " · ".join(part for part in (preview(body.submission), body.model_path, files, left, body.why) if part)
    tone = "ok" if body.outcome == "returned" else "warn" if body.outcome == "stopped" else "bad"
    return "■", f"worker {body.outcome}", said, tone
