"""Tells people beyond the terminal what happens in a run, without ever holding the run up."""

import asyncio
import contextlib
import os
import subprocess
import sys
from pathlib import Path

import msgspec

from agent.record import events as ev
from agent.record.redact import redactor, without_secrets
from agent.record.summary import preview
from agent.record.text import one_line, printable
from agent.record.values import RunSummary, Score
from agent.runner.ending import Verdict
from agent.runner.journal import Journal
from agent.runner.notify_send import TIME_OUT_S, Message
from agent.runner.notify_settings import News, NotifySettings, secrets

ALERT = "notify"
END_PATIENCE_S = 5.0
"""How long the end of a run waits to hear whether it could be told; the telling goes on without it."""
_AT_ONCE = 2
_POLL_S = 0.05


class Notifier:
    """Listens to a run's journal and sends what people want to hear of; a failure is one alert a run."""

    def __init__(self, settings: NotifySettings, journal: Journal) -> None:
        self._settings = settings
        self._journal = journal
        self._under_way: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._complained = False
        self._told_at: dict[str, float] = {}
        """When each alert was told last."""
        # What is heard has not passed the record's own redactor yet.
        self._redact = redactor(more=secrets(settings)) or str

    def hear(self, body: ev.AnyBody) -> None:
        """An event was recorded."""
        news = news_of(body)
        if news is None or news[0] not in self._settings.on:
            return
        if news[0] == "alert" and isinstance(body, ev.AlertRaised) and not self._worth_telling(body.alert):
            return
        self._tell(*news)

    def _worth_telling(self, alert: str) -> bool:
        """Whether people want to hear of this alert, and have not just done so: one that flaps floods nobody."""
        if alert in self._settings.quiet:
            return False
        now, told_at = self._journal.now(), self._told_at.get(alert)
        if told_at is not None and now - told_at < self._settings.alarm_again_s:
            return False
        self._told_at[alert] = now
        return True

    async def run_ends(self, verdict: Verdict) -> None:
        """The last event is about to be written: tell it, and wait a moment for how that went."""
        wanted: set[News] = {"ended", "limit"} if verdict.outcome == "limit" else {"ended"}
        if wanted & set(self._settings.on):
            self._tell("ended", ended_said(self._journal.summary, verdict))
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=END_PATIENCE_S)
        for task in self._under_way:
            task.cancel()

    def complain(self, why: str) -> None:
        """Say once that people are not told; more of the same would bury the record."""
        if not self._complained:
            self._complained = True
            message = f"a notification was not sent: {one_line(why, 200)}"
            hint = "mlrb config notify --test"
            self._journal.append(ev.AlertRaised(alert=ALERT, message=message, hint=hint))

    def _tell(self, news: News, said: str) -> None:
        if not self._settings.urls:
            return
        task = asyncio.ensure_future(
            self._send(message(self._settings, self._journal.summary, news, self._redact(said)))
        )
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _send(self, what: Message) -> None:
        async with self._room:
            sender = await asyncio.to_thread(start_sender, what)
            while sender.poll() is None:
                await asyncio.sleep(_POLL_S)
            if failed := failures(sender):
                self.complain("; ".join(failed))


def news_of(body: ev.AnyBody) -> tuple[News, str] | None:
    """What an event is to somebody who is not looking; None for most."""
    match body:
        case ev.AlertRaised(alert=alert, message=text, hint=hint) if alert != ALERT:
            return "limit" if alert == "limit" else "alert", " · ".join(part for part in (text, hint) if part)
        case ev.ApprovalAsked(tool=tool, summary=summary):
            return "needs_approval", f"{one_line(tool, 40)} waits for a word: {one_line(preview(summary), 200)}"
        case _:
            return None


def ended_said(summary: RunSummary, verdict: Verdict) -> str:
    """How a run ended, with its score and what is left over."""
    how = " ".join(part for part in (verdict.outcome, verdict.limit or "") if part)
    parts = [f"{how}: {verdict.detail}" if verdict.detail else how, _score_said(summary.final_score)]
    if summary.leftovers:
        parts.append(f"left over: {'; '.join(summary.leftovers)}")
    return " · ".join(part for part in parts if part)


def message(settings: NotifySettings, summary: RunSummary, news: News, said: str) -> Message:
    """The notification."""
    words = {"needs_approval": "needs approval", "limit": "is paused by a limit", "alert": "raised an alert",
             "ended": "has ended", "lost": "has lost its runner"}  # fmt: skip
    title = f"mlrb: {one_line(summary.task, 60)} {summary.run} {words[news]}"
    return Message(urls=settings.urls, title=title, body=printable(one_line(said, 1000)))


def start_sender(what: Message) -> "subprocess.Popen[bytes]":
    """Start the process that sends it; it ends by itself, with or without whoever started it."""
    sender = subprocess.Popen(
        [sys.executable, "-m", "agent.runner.notify_send"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        cwd="/", env=_environment(),
    )  # fmt: skip
    assert sender.stdin is not None
    # Addresses go through a pipe: an argument or a variable could be read by anyone on this machine.
    with contextlib.suppress(BrokenPipeError), sender.stdin:
        sender.stdin.write(msgspec.json.encode(what))
    return sender


def failures(sender: "subprocess.Popen[bytes]") -> list[str]:
    """What a sender that has ended could not do."""
    assert sender.stdout is not None
    with sender.stdout:
        raw = sender.stdout.read()
    try:
        return msgspec.json.decode(raw, type=list[str])
    except msgspec.MsgspecError:
        code = sender.wait()
        return [f"no service answered within {TIME_OUT_S} s" if code < 0 else f"the sender broke ({code})"]


def _environment() -> dict[str, str]:
    """Ours without its keys, with our packages found from anywhere."""
    known = os.environ.get("PYTHONPATH", "")
    here = str(Path(__file__).parents[2])
    return {**without_secrets(), "PYTHONPATH": os.pathsep.join(part for part in (here, known) if part)}


def _score_said(score: Score | None) -> str:
    if score is None or score.value is None:
        return ""
    return f"{score.metric} {score.value:.6g} ({score.split}, {score.scale}){'' if score.valid else ', not valid'}"
