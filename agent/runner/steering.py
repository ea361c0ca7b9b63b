"""Reads the inbox and does what people ask; each request gets a receipt and later an answer or a refusal."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Protocol, assert_never

from agent.errors import SandboxError
from agent.record import events as ev
from agent.record.inbox import (
    Approve,
    ApproveMode,
    ChangeLimits,
    EditInjection,
    Inbox,
    Inject,
    Interrupt,
    Kill,
    Pause,
    Posted,
    Request,
    Resume,
    ScoreNow,
    WithdrawInjection,
    verb_of,
)
from agent.record.text import one_line
from agent.record.values import Score
from agent.runner import limits
from agent.runner.approvals import Approvals
from agent.runner.controlling import Controlling
from agent.runner.ending import Ending, Verdict
from agent.runner.gates import Gates
from agent.runner.grading import Grading
from agent.runner.injections import Injections
from agent.runner.journal import Journal
from agent.runner.pausing import Pausing, WishedPause

POLL_S = 0.04
_FROZEN_GRACE_S = 0.5
_LONGEST_MESSAGE = 100_000

Start = Callable[[Coroutine[object, object, None]], None]


class Staff(Protocol):
    """Those who work in the run, as far as they are steered one by one."""

    def absent(self, worker: int) -> str:
        """Why nothing can be said to that worker; empty where it can."""
        ...

    async def interrupt(self, by: str, worker: int | None) -> str:
        """End that worker's running command, or the only one; returns why that cannot be, or nothing."""
        ...


class Steering:
    """Does what the inbox asks for, in order; what takes long goes on beside."""

    def __init__(
        self,
        *,
        inbox: Inbox,
        controlling: Controlling,
        last_seen: int,
        journal: Journal,
        pausing: Pausing,
        approvals: Approvals,
        injections: Injections,
        ending: Ending,
        grading: Grading,
        gates: Gates,
        start: Start,
    ) -> None:
        self._inbox = inbox
        self._controlling = controlling
        self._last_seen = last_seen
        self._journal = journal
        self._pausing = pausing
        self._approvals = approvals
        self._injections = injections
        self._ending = ending
        self._grading = grading
        self._start = start
        self._gates = gates
        self._staff: Staff | None = None
        self._for_later: list[Posted] = []
        self._grades_now = False
        self._kills: list[int] = []
        self._open: set[int] = set()
        self.closed_for = ""
        """Why nothing can be done any more but killing; empty while the agent works."""

    async def agent_started(self, staff: Staff) -> None:
        """From now on there is something to interrupt, to freeze and to score."""
        self._staff = staff
        for posted in self._for_later:
            await self._do(posted)
        self._for_later.clear()

    async def take_up(self, undone: Sequence[int]) -> None:
        """Go on with what a runner before us had received and not done."""
        for posted in self._inbox.after(0):
            if posted.request_id not in undone:
                continue
            match posted.request:
                case Kill():
                    await self._do(posted)
                case Pause() | ScoreNow():
                    self._for_later.append(posted)
                case _:
                    self._refuse(posted.request_id, "the runner was restarted before it was done; ask again")

    async def watch(self) -> None:
        """Read the inbox until cancelled."""
        while True:
            await self.read_inbox()
            await asyncio.sleep(POLL_S)

    async def read_inbox(self) -> None:
        """Do all that is new in the inbox."""
        self._controlling.end_dead()
        await self._do_all(self._inbox.after(self._last_seen))

    async def read_last(self) -> None:
        """The same for the last time: whoever asks after that is told at once that the run is over."""
        await self._do_all(self._inbox.shut(self._last_seen))

    def answer_kills(self, detail: str) -> None:
        """The run is down: answer those who asked for it."""
        for request_id in self._kills:
            self._answer(request_id, detail)
        self._kills.clear()

    def refuse_rest(self, reason: str) -> None:
        """Refuse what was begun and is not done."""
        for request_id in sorted({*self._open, *(posted.request_id for posted in self._for_later)}):
            self._refuse(request_id, reason)

    def _receive(self, posted: Posted) -> None:
        self._journal.append(
            ev.RequestReceived(
                request_id=posted.request_id,
                verb="unknown" if posted.request is None else verb_of(posted.request),
                text=one_line(posted.raw) if posted.request is None else _said(posted.request),
                who=posted.who,
                origin=posted.origin,
                worker=_whom(posted.request),
            )
        )

    async def _do_all(self, requests: Sequence[Posted]) -> None:
        for posted in requests:
            self._controlling.record(before_request=posted.request_id)
            self._last_seen = posted.request_id
            self._receive(posted)
            await self._do(posted)
        self._controlling.record(before_request=self._last_seen + 1)

    async def _do(self, posted: Posted) -> None:
        request, request_id, who = posted.request, posted.request_id, posted.who
        if request is None:
            self._refuse(request_id, "this program cannot read the request")
            return
        if self.closed_for and not isinstance(request, Kill):
            self._refuse(request_id, self.closed_for)
            return
        if refusal := self._controlling.refusal(posted):
            self._refuse(request_id, refusal)
            return
        match request:
            case Pause():
                wish = WishedPause(request.strength, who, request.why, request_id)
                await self._guarded(request_id, self._pausing.pause(wish))
            case Resume():
                await self._resume(request_id, who)
            case Inject():
                if not self._unfit(request_id, request.text) and not self._absent(request_id, request.worker):
                    self._injections.queue(request_id, request.text, request.worker)
            case EditInjection():
                if not self._unfit(request_id, request.text):
                    refusal = self._injections.edit(request.request_id, request.text, who)
                    self._settle(request_id, refusal, f"message {request.request_id} was changed")
            case WithdrawInjection():
                refusal = self._injections.withdraw(request.request_id, who)
                self._settle(request_id, refusal, f"message {request.request_id} was withdrawn")
            case ApproveMode():
                refusal = self._approvals.switch(request.on, who, request_id)
                self._settle(request_id, refusal, f"approve mode is {'on' if request.on else 'off'}")
            case Approve():
                # It is answered by the call that waits for it, so that the answer says what has happened.
                if refusal := self._approvals.answer(request, who, request_id):
                    self._refuse(request_id, refusal)
            case Interrupt():
                self._open.add(request_id)
                self._start(self._interrupt(request_id, who, request.worker))
            case ChangeLimits():
                await self._change_limits(request_id, who, request)
            case ScoreNow():
                self._score(request_id, who)
            case Kill():
                self._kill(request_id, who, request.why)
            case _:
                assert_never(request)

    async def _guarded(self, request_id: int, act: Coroutine[object, object, str]) -> bool:
        """Do it; refuse with the reason where it cannot be. Returns whether it was done."""
        try:
            refusal = await act
        except SandboxError as error:
            refusal = f"the sandbox does not answer: {error.message}"
        if refusal:
            self._refuse(request_id, refusal)
        return not refusal

    async def _resume(self, request_id: int, who: str) -> None:
        if (limit := self._gates.still_reached()) is not None:
            self._refuse(request_id, f"the limit on {limit} is still reached; raise it first")
        elif await self._guarded(request_id, self._pausing.resume(who, request_id)):
            self._answer(request_id, "resumed")

    def _unfit(self, request_id: int, text: str) -> bool:
        """Whether a text cannot be a message; it is then refused."""
        reason = "" if text.strip() else "the message is empty"
        if len(text) > _LONGEST_MESSAGE:
            reason = f"the message is longer than {_LONGEST_MESSAGE:,} characters"
        if reason:
            self._refuse(request_id, reason)
        return bool(reason)

    def _absent(self, request_id: int, worker: int) -> bool:
        """Whether that worker is not there to be told anything; the request is then refused."""
        if self._staff is not None:
            reason = self._staff.absent(worker)
        else:
            reason = f"there is no worker {worker} yet" if worker else ""
        if reason:
            self._refuse(request_id, reason)
        return bool(reason)

    async def _interrupt(self, request_id: int, who: str, worker: int | None) -> None:
        if self._pausing.frozen:
            self._refuse(request_id, "the sandbox is frozen; resume first")
            return
        try:
            refusal = "no command is running" if self._staff is None else await self._staff.interrupt(who, worker)
        except SandboxError as error:
            refusal = f"the sandbox does not answer: {error.message}"
        self._settle(request_id, refusal, "the command was ended and the agent is told")

    async def _change_limits(self, request_id: int, who: str, request: ChangeLimits) -> None:
        if problem := limits.problem(request.limits):
            self._refuse(request_id, problem)
            return
        self._journal.append(ev.LimitsChanged(limits=request.limits, by=who, why=request.why, request_id=request_id))
        self._answer(request_id, limits.shown(request.limits))
        if self._gates is not None:
            await self._gates.look_at_limits()

    def _score(self, request_id: int, who: str) -> None:
        if not self._grading.possible:
            self._refuse(request_id, "the run has not started yet")
        elif self._pausing.frozen:
            self._refuse(request_id, "the sandbox is frozen; resume first")
        elif self._grades_now:
            self._refuse(request_id, "a snapshot is being graded already")
        else:
            self._grades_now = True
            self._open.add(request_id)
            self._start(self._score_now(request_id, who))

    async def _score_now(self, request_id: int, who: str) -> None:
        try:
            score = await self._grading.grade("score_now", by=who)
        except (SandboxError, OSError) as error:
            self._refuse(request_id, f"no snapshot could be taken: {error}")
        else:
            self._answer(request_id, _score_said(score))
        finally:
            self._grades_now = False

    def _kill(self, request_id: int, who: str, why: str) -> None:
        if self._pausing.frozen:
            # What is frozen cannot let go; the sandbox is taken down as it is.
            self._ending.grace_s = _FROZEN_GRACE_S
        self._kills.append(request_id)
        self._ending.decide(Verdict("killed", detail=_kill_said(who, why)))

    def _settle(self, request_id: int, refusal: str, detail: str) -> None:
        """Answer what is done, or refuse what could not be."""
        if refusal:
            self._refuse(request_id, refusal)
        else:
            self._answer(request_id, detail)

    def _answer(self, request_id: int, detail: str) -> None:
        self._open.discard(request_id)
        self._journal.append(ev.RequestAnswered(request_id=request_id, detail=detail))

    def _refuse(self, request_id: int, reason: str) -> None:
        self._open.discard(request_id)
        self._journal.append(ev.RequestRefused(request_id=request_id, reason=reason))


def _whom(request: Request | None) -> int:
    """The worker that a request concerns."""
    return (request.worker or 0) if isinstance(request, Inject | Interrupt) else 0


def _said(request: Request) -> str:
    """The request as one would say it."""
    match request:
        case Pause():
            return f"{request.strength}{f': {request.why}' if request.why else ''}"
        case Inject():
            return request.text
        case ChangeLimits():
            return f"{limits.shown(request.limits)}{f': {request.why}' if request.why else ''}"
        case Kill():
            return request.why
        case EditInjection():
            return f"message {request.request_id}: {request.text}"
        case WithdrawInjection():
            return f"message {request.request_id}"
        case ApproveMode():
            return "on" if request.on else "off"
        case Approve():
            return f"{request.word}{f': {request.text}' if request.text else ''}"
        case Resume() | Interrupt() | ScoreNow():
            return ""
        case _:
            assert_never(request)


def _score_said(score: Score) -> str:
    if score.value is None:
        return f"no score: {score.error}"
    return f"{score.metric} {score.value:.6g}{'' if score.valid else ', not valid'}"


def _kill_said(who: str, why: str) -> str:
    return f"by {who or 'someone'}{f': {why}' if why else ''}"
