"""One question to the model: gates and limits before it, the stream while it is answered, retries in plain view."""

import random
from collections.abc import Collection, Sequence

import msgspec

from agent.errors import ContextOverflow, ModelBusy, ModelError, ModelUnavailable, ReplyMalformed
from agent.models.base import Message, Model, Reply, ToolSpec
from agent.models.retry import MOST_ATTEMPTS, delay_s
from agent.record import events as ev
from agent.record.values import ToolCall
from agent.runner.conversation import Conversation
from agent.runner.gates import Gates
from agent.runner.injections import Injections
from agent.runner.journal import Journal
from agent.runner.streaming import StreamBatcher
from agent.runner.trimming import Trimming

MOST_MALFORMED = 4
MOST_OVERFLOWS = 12


class Asking:
    """Asks the model until it has answered, or has shown that it will not."""

    def __init__(
        self,
        *,
        journal: Journal,
        model: Model,
        tools: Sequence[ToolSpec],
        conversation: Conversation,
        injections: Injections,
        gates: Gates,
        rng: random.Random,
    ) -> None:
        self._journal = journal
        self._model = model
        self._tools = tools
        self._conversation = conversation
        self._injections = injections
        self._gates = gates
        self._rng = rng
        self._trimming = Trimming()

    async def ask(self, given: Sequence[Message] | None, without: Collection[str] = ()) -> tuple[Message, Reply]:
        """The reply to the conversation, or to the messages given; raises `ModelError` when there is none to be had.

        The tools named in `without` are not offered.
        """
        failures = _Failures()
        offered = [tool for tool in self._tools if tool.name not in without]
        injected: list[Message] = []
        while True:
            await self._gates.before_model()
            injected += self._injections.take(self._conversation)
            whole = [*given, *injected] if given is not None else self._conversation.messages
            call_id = self._journal.fresh_id("a")
            try:
                return await self._once(call_id, self._trimming.applied(whole), offered)
            except ModelError as error:
                await self._outlive(error, call_id, failures, whole)

    async def _once(
        self, call_id: str, messages: Sequence[Message], offered: Sequence[ToolSpec]
    ) -> tuple[Message, Reply]:
        asked_at = self._journal.now()
        ids = compact_ids([message.message_id for message in messages])
        self._journal.append(ev.ModelAsked(call_id=call_id, model=self._model.name, message_ids=ids))
        self._injections.delivered(call_id, self._journal)
        batcher = StreamBatcher(self._journal, call_id)
        try:
            reply = await self._model.ask(messages, offered, batcher.add)
        finally:
            batcher.flush()
        reply = with_fresh_ids(reply, self._conversation.call_ids, self._journal)
        message_id = self._conversation.next_id()
        self._journal.append(
            ev.ModelAnswered(
                call_id=call_id,
                message_id=message_id,
                text=reply.text,
                reasoning=reply.reasoning,
                calls=reply.calls,
                usage=reply.usage,
                cost_usd=self._model.cost_usd(reply.usage),
                stop_reason=reply.stop_reason,
                duration_s=self._journal.now() - asked_at,
                opaque=reply.opaque,
            )
        )
        message = self._conversation.replied(message_id, reply)
        self._injections.answered(self._journal)
        return message, reply

    async def _outlive(self, error: ModelError, call_id: str, failures: "_Failures", whole: Sequence[Message]) -> None:
        """Record a failure and wait until it is time to ask again; raises where asking again does not help."""
        failures.count += 1
        wait_s, reason = self._wait_s(error, failures, whole)
        self._journal.append(
            ev.ModelFailed(call_id=call_id, reason=reason, attempt=failures.count, retry_in_s=wait_s, hint=error.hint)
        )
        if wait_s is None:
            if isinstance(error, ModelBusy):
                raise ModelUnavailable(
                    f"gave up after {failures.count} attempts: {error.message}", hint=error.hint
                ) from error
            raise error
        await self._gates.wait_to_ask_again(wait_s)

    def _wait_s(self, error: ModelError, failures: "_Failures", whole: Sequence[Message]) -> tuple[float | None, str]:
        """Seconds until it is asked again, or None; and the reason in words."""
        if isinstance(error, ModelBusy):
            failures.busy += 1
            if failures.busy >= MOST_ATTEMPTS:
                return None, error.message
            return delay_s(failures.busy, error.retry_after_s, self._rng), error.message
        if isinstance(error, ReplyMalformed):
            failures.malformed += 1
            return (0.0 if failures.malformed < MOST_MALFORMED else None), error.message
        if isinstance(error, ContextOverflow):
            failures.overflows += 1
            done = self._trimming.tighten(whole) if failures.overflows <= MOST_OVERFLOWS else ""
            return (0.0, f"{error.message}; {done}") if done else (None, error.message)
        return None, error.message


class _Failures:
    """How often one question failed, and how."""

    def __init__(self) -> None:
        self.count = self.busy = self.malformed = self.overflows = 0


def compact_ids(ids: Sequence[str]) -> tuple[str, ...]:
    """Message names with consecutive ones as a range, `m1..m40`: a long run would else repeat them without end."""
    ranges: list[tuple[str, str]] = []
    for name in ids:
        if ranges and _follows(ranges[-1][1], name):
            ranges[-1] = (ranges[-1][0], name)
        else:
            ranges.append((name, name))
    return tuple(first if first == last else f"{first}..{last}" for first, last in ranges)


def with_fresh_ids(reply: Reply, used: set[str], journal: Journal) -> Reply:
    """The reply with call ids that this run has not seen: some servers count from zero in every reply."""
    seen = set(used)
    calls: list[ToolCall] = []
    for call in reply.calls:
        if not call.call_id or call.call_id in seen:
            call = msgspec.structs.replace(call, call_id=journal.fresh_id("call_"))
        seen.add(call.call_id)
        calls.append(call)
    if tuple(calls) == reply.calls:
        return reply
    return Reply(
        text=reply.text,
        reasoning=reply.reasoning,
        calls=tuple(calls),
        usage=reply.usage,
        stop_reason=reply.stop_reason,
        opaque=reply.opaque,
    )


def _follows(before: str, name: str) -> bool:
    whose, m, number = before.rpartition("m")
    return bool(m) and number.isdigit() and name == f"{whose}m{int(number) + 1}"
