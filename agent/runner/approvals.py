"""Approve mode: tool calls that change something wait for a person's word, and time spent so is nobody's work."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from agent.record import events as ev
from agent.record.approve_rules import always_asks, is_let_through, rule_for
from agent.record.inbox import Approve
from agent.record.text import one_line, storable
from agent.record.values import ApproveRules, Decision, ToolCall
from agent.runner.journal import Journal
from agent.runner.pausing import Pausing
from agent.tools.base import Tool

POLL_S = 0.03


@dataclass(frozen=True)
class Word:
    """What a person said to a call."""

    decision: Decision
    by: str = ""
    reason: str = ""
    edited: str = ""
    rule: str = ""
    request_id: int | None = None


@dataclass(frozen=True)
class StandingQuestion:
    """What a runner before us had asked, and nobody had answered when it died."""

    asked: ev.ApprovalAsked | None = None
    rules: tuple[str, ...] = ()
    """What people had let through for the rest of the run."""


@dataclass
class _Open:
    """The question that waits, and the word once it is there."""

    asked: ev.ApprovalAsked
    journal: Journal
    """Of the worker whose call it is."""
    word: Word | None = field(default=None)


class Approvals:
    """Asks before tool calls, one question at a time, and takes the answers that people send."""

    def __init__(self, journal: Journal, pausing: Pausing, rules: ApproveRules, *, on: bool) -> None:
        self._journal = journal
        self._pausing = pausing
        self._rules = rules
        self._learned: list[str] = []
        self._open: _Open | None = None
        self._asking = asyncio.Lock()
        self._on = on

    def take_up(self, standing: StandingQuestion) -> None:
        """Go on from where a runner before us stood: the same question can be answered at once."""
        self._learned = list(standing.rules)
        self._open = _Open(standing.asked, self._journal) if standing.asked is not None else None

    def switch(self, on: bool, by: str, request_id: int | None) -> str:
        """Turn the mode on or off; returns why that cannot be, or nothing. Off lets through what waits."""
        if on == self._on:
            return f"approve mode is {'on' if on else 'off'} already"
        self._on = on
        self._journal.append(ev.ApproveModeChanged(on=on, by=by, request_id=request_id))
        if not on and self._open is not None and self._open.word is None:
            self._open.word = Word("accepted", by=by, reason="approve mode was turned off")
        return ""

    def answer(self, request: Approve, by: str, request_id: int) -> str:
        """Take a person's word; returns why it cannot be taken, or nothing."""
        question = self._open
        if question is None or question.asked.approval_id != request.approval_id:
            return f"no question {one_line(request.approval_id, 20)!r} waits for an answer"
        if question.word is not None:
            return f"it was answered already, by {question.word.by or 'someone'}"
        if refusal := _refusal(question.asked, request):
            return refusal
        question.word = _word(request, by, request_id)
        return ""

    def refuse_rest(self, reason: str) -> None:
        """The run is over: a word that no call came to hear is refused."""
        if self._open is not None:
            self._refuse_word(self._open, reason)

    async def ask(self, call: ToolCall, tool: Tool, journal: Journal) -> Word | None:
        """Wait for a person's word on a call; None where nobody needs to be asked. `journal` is the caller's."""
        async with self._asking:
            return await self._ask(call, tool, journal)

    async def _ask(self, call: ToolCall, tool: Tool, journal: Journal) -> Word | None:
        standing = self._open
        if standing is not None and standing.asked.call_id != call.call_id:
            self._open = standing = None
        if (standing is None or standing.word is None) and not self._must_ask(call, tool):
            self._let_through(standing)
            return None
        # Numbered anew only where nobody has been asked: a runner that takes the run up asks the same question again.
        asked = standing.asked if standing is not None else self._question(call, tool)
        question = _Open(asked, journal, standing.word if standing is not None else None)
        self._open = question
        journal.append(asked)
        try:
            word = await self._awaited(question)
        except asyncio.CancelledError:
            self._close(question, Word("lapsed", reason="the run ended first"))
            self._refuse_word(question)
            raise
        if word.rule:
            self._learned.append(word.rule)
        self._close(question, word)
        return word

    async def _awaited(self, question: _Open) -> Word:
        while question.word is None:
            await asyncio.sleep(POLL_S)
            # Nothing runs while a person thinks, so a pause takes effect here and not after the call.
            await self._pausing.gate("tool")
        return question.word

    def _must_ask(self, call: ToolCall, tool: Tool) -> bool:
        if not self._on or not tool.asks:
            return False
        if always_asks(self._rules.always_ask, call.tool, call.arguments):
            return True
        return not is_let_through((*self._rules.let_through, *self._learned), call.tool, call.arguments)

    def _let_through(self, standing: _Open | None) -> None:
        """Nobody has to be asked any more, of a question that a runner before us had put."""
        if standing is not None:
            self._close(standing, Word("accepted", reason="nothing asks for it any more"))

    def _question(self, call: ToolCall, tool: Tool) -> ev.ApprovalAsked:
        kept_out = always_asks(self._rules.always_ask, call.tool, call.arguments)
        return ev.ApprovalAsked(
            approval_id=self._journal.fresh_id("q"),
            call_id=call.call_id,
            tool=call.tool,
            summary=tool.summarize(call.arguments),
            arguments=msgspec.json.encode(call.arguments).decode(),
            editable=tool.editable,
            rule="" if kept_out else rule_for(call.tool, call.arguments),
        )

    def _close(self, question: _Open, word: Word) -> None:
        self._open = None
        question.journal.append(
            ev.ApprovalGiven(
                approval_id=question.asked.approval_id, decision=word.decision, by=word.by, reason=word.reason,
                edited=word.edited, rule=word.rule, request_id=word.request_id,
            )
        )  # fmt: skip
        if word.request_id is not None:
            self._journal.append(ev.RequestAnswered(request_id=word.request_id, detail=_said(word)))

    def _refuse_word(self, question: _Open, reason: str = "the run ended first") -> None:
        word, question.word = question.word, None
        if word is not None and word.request_id is not None:
            self._journal.append(ev.RequestRefused(request_id=word.request_id, reason=reason))


def edited_call(call: ToolCall, tool: Tool, word: Word) -> ToolCall:
    """The call with what the person wrote in the place of what the agent had written."""
    return msgspec.structs.replace(call, arguments={**call.arguments, tool.editable: storable(word.edited)})


def told_of_edit(call: ToolCall, tool: Tool, word: Word) -> str:
    """What the agent is told above the result of a call that was changed."""
    before = json.dumps(call.arguments.get(tool.editable, ""), ensure_ascii=False)
    after = json.dumps(word.edited, ensure_ascii=False)
    return (
        f"[the operator changed this call before it ran: {tool.editable} was {one_line(before, 300)}"
        f" and is now {one_line(after, 2000)}]\n"
    )


def told_of_rejection(call: ToolCall, word: Word) -> str:
    """What the agent is told instead of a result."""
    return f"the operator did not let this {call.tool} call run. Their reason: {word.reason}"


def standing_question(events: Sequence[ev.AnyBody]) -> StandingQuestion:
    """The question that nobody has answered and whose call has not begun, and the rules learned so far."""
    asked: ev.ApprovalAsked | None = None
    rules: list[str] = []
    for body in events:
        match body:
            case ev.ApprovalAsked():
                asked = body
            case ev.ApprovalGiven(decision="lapsed"):
                asked = None
            case ev.ApprovalGiven(rule=rule) if rule:
                rules.append(rule)
            case ev.ToolCalled(call_id=call_id) if asked is not None and asked.call_id == call_id:
                asked = None
            case _:
                pass
    return StandingQuestion(asked, tuple(rules))


def _word(request: Approve, by: str, request_id: int) -> Word:
    decisions: Mapping[str, Decision] = {"edit": "edited", "reject": "rejected"}
    return Word(
        decisions.get(request.word, "accepted"),
        by=by,
        reason=request.text.strip() if request.word == "reject" else "",
        edited=request.text if request.word == "edit" else "",
        rule=request.text if request.word == "always" else "",
        request_id=request_id,
    )


def _refusal(asked: ev.ApprovalAsked, request: Approve) -> str:
    """Why that word cannot be said to that question."""
    match request.word:
        case "edit" if not asked.editable:
            return f"a {asked.tool} call has nothing to edit; reject it with a reason"
        case "edit" if not request.text.strip():
            return "the edited call is empty"
        case "reject" if not request.text.strip():
            return "a rejection needs a reason: the agent is told it"
        case "always" if not asked.rule:
            return "there is no class of calls that could safely be let through; accept this one"
        case "always" if request.text != asked.rule:
            return f"what would be let through is {asked.rule!r}"
        case _:
            return ""


def _said(word: Word) -> str:
    if word.rule:
        return f"accepted; {word.rule} goes through from now on"
    return word.decision
