"""One question to the model: retried in plain view, trimmed when it does not fit, and never losing what people said."""

import asyncio
import random
from pathlib import Path

import pytest

from agent.errors import ContextOverflow, ModelBusy, ModelError, ModelUnavailable, ReplyMalformed
from agent.models.base import Message, Reply
from agent.models.retry import MOST_ATTEMPTS
from agent.record import events as ev
from agent.record.log import EventReader
from agent.record.values import Limits, PauseStrength, ToolCall, Usage
from agent.runner.asking import Asking, compact_ids
from agent.runner.conversation import Conversation, conversation, unanswered
from agent.runner.ending import Ending
from agent.runner.gates import Gates
from agent.runner.injections import Injections
from agent.runner.pausing import Pausing, WishedPause
from agent.runner.trimming import Trimming
from tests.unit.runner_parts import Desk, ListedModel, Turn


class Setting:
    """Everything one question needs."""

    def __init__(self, folder: Path, turns: list[Turn], limits: Limits | None = None) -> None:
        self.desk = Desk(folder, limits)
        self.model = ListedModel(turns)
        self.talk = Conversation(self.desk.journal, [])
        self.injections = Injections(self.desk.journal)
        self.ending = Ending()
        self.pausing = Pausing(self.desk.journal)
        self.asking = Asking(
            journal=self.desk.journal, model=self.model, tools=[], conversation=self.talk,
            injections=self.injections, gates=Gates(self.desk.journal, self.pausing, self.ending),
            rng=random.Random(1),
        )  # fmt: skip
        self.talk.say("system", "be good")
        self.talk.say("user", "do it", origin="task")

    def of(self, kind: type[ev.Body]) -> list[ev.AnyBody]:
        """The events of a kind."""
        return [body for body in self.desk.bodies() if isinstance(body, kind)]


async def test_rate_limits_are_retried_visibly_with_the_working_clock_stopped(tmp_path: Path) -> None:
    busy = ModelBusy("slow down", retry_after_s=0.01)
    setting = Setting(tmp_path, [busy, busy, Reply(text="hi", usage=Usage(input_tokens=5, output_tokens=2))])
    waiting: list[bool] = []
    question = asyncio.create_task(setting.asking.ask(None))
    while not question.done():
        waiting.append(setting.desk.journal.summary.waiting)
        await asyncio.sleep(0)
    message, reply = question.result()
    assert (message.text, reply.text) == ("hi", "hi")
    failed = [body for body in setting.desk.bodies() if isinstance(body, ev.ModelFailed)]
    assert [body.attempt for body in failed] == [1, 2]
    assert all(body.retry_in_s is not None and body.retry_in_s >= 0.01 for body in failed)
    assert True in waiting
    assert not setting.desk.journal.summary.waiting
    assert setting.desk.journal.summary.cost_usd == 2.0


async def test_twenty_rate_limits_in_a_row_are_outlived(tmp_path: Path) -> None:
    turns: list[Turn] = [ModelBusy("429", retry_after_s=0.0)] * 20
    setting = Setting(tmp_path, [*turns, Reply(text="at last")])
    _, reply = await setting.asking.ask(None)
    assert reply.text == "at last"


async def test_patience_has_an_end_and_says_how_often_it_tried(tmp_path: Path) -> None:
    setting = Setting(tmp_path, [ModelBusy("down", retry_after_s=0.0)] * MOST_ATTEMPTS)
    with pytest.raises(ModelUnavailable, match=f"{MOST_ATTEMPTS} attempts: down"):
        await setting.asking.ask(None)
    last = [body for body in setting.desk.bodies() if isinstance(body, ev.ModelFailed)][-1]
    assert last.retry_in_s is None


@pytest.mark.parametrize("error", [ModelUnavailable("no key"), ReplyMalformed("garbage")])
async def test_what_asking_again_does_not_mend_is_given_up_on(tmp_path: Path, error: ModelError) -> None:
    setting = Setting(tmp_path, [error] * 50)
    with pytest.raises(type(error)):
        await setting.asking.ask(None)
    assert len(setting.model.asked) == (1 if isinstance(error, ModelUnavailable) else 4)


async def test_malformed_reply_is_asked_for_again(tmp_path: Path) -> None:
    setting = Setting(tmp_path, [ReplyMalformed("cut short"), Reply(text="whole")])
    assert (await setting.asking.ask(None))[1].text == "whole"


async def test_overflow_shortens_old_observations_and_keeps_the_newest(tmp_path: Path) -> None:
    setting = Setting(tmp_path, [ContextOverflow("too long"), Reply(text="fits"), Reply(text="still fits")])
    for number in range(10):
        setting.talk.observed(setting.talk.next_id(), f"c{number}", f"{number}" * 5_000, failed=False)
    await setting.asking.ask(None)
    first, second = (sum(len(message.text) for message in asked) for asked in setting.model.asked)
    assert second < first * 0.8
    assert setting.model.asked[1][-1].text == "9" * 5_000
    assert setting.model.asked[1][0].text == "be good"
    await setting.asking.ask(None)
    assert "left out to make room" in setting.model.asked[2][2].text
    assert len(setting.talk.messages[2].text) == 5_000


async def test_overflow_that_cannot_be_mended_ends_in_bounded_time(tmp_path: Path) -> None:
    setting = Setting(tmp_path, [ContextOverflow("too long")] * 50)
    for number in range(40):
        setting.talk.observed(setting.talk.next_id(), f"c{number}", "x" * 5_000, failed=False)
    with pytest.raises(ContextOverflow):
        await setting.asking.ask(None)
    assert len(setting.model.asked) < 14


async def test_message_injected_while_waiting_for_a_retry_goes_out_with_the_next_attempt(tmp_path: Path) -> None:
    setting = Setting(tmp_path, [ModelBusy("429", retry_after_s=0.05), Reply(text="ok")])
    question = asyncio.create_task(setting.asking.ask(None))
    while not setting.of(ev.ModelFailed):
        await asyncio.sleep(0)
    setting.injections.queue(7, "listen")
    await question
    assert setting.model.asked[1][-1].text == "[message from the operator]\nlisten"
    asked = [body.call_id for body in setting.desk.bodies() if isinstance(body, ev.ModelAsked)]
    delivered = [body for body in setting.desk.bodies() if isinstance(body, ev.RequestDelivered)]
    assert [(body.request_id, body.call_id) for body in delivered] == [(7, asked[1])]
    assert [body.request_id for body in setting.desk.bodies() if isinstance(body, ev.RequestAnswered)] == [7]


async def test_injected_message_goes_out_also_with_messages_that_a_scaffold_chose(tmp_path: Path) -> None:
    setting = Setting(tmp_path, [Reply(text="ok")])
    setting.injections.queue(1, "look here")
    await setting.asking.ask([Message(message_id="m1", role="system", text="short window")])
    assert [message.text for message in setting.model.asked[0]] == [
        "short window",
        "[message from the operator]\nlook here",
    ]


async def test_call_ids_that_a_server_uses_twice_are_made_unique(tmp_path: Path) -> None:
    call = ToolCall(call_id="call_0", tool="bash", arguments={"command": "ls"})
    setting = Setting(tmp_path, [Reply(calls=(call, call)), Reply(calls=(call,))])
    _, first = await setting.asking.ask(None)
    _, second = await setting.asking.ask(None)
    ids = [one.call_id for one in (*first.calls, *second.calls)]
    assert len(set(ids)) == 3
    assert ids[0] == "call_0"


async def test_pause_holds_the_next_question_and_resume_lets_it_go(tmp_path: Path) -> None:
    setting = Setting(tmp_path, [Reply(text="ok")])
    await setting.pausing.pause(WishedPause("step", "ann", "", 1))
    question = asyncio.create_task(setting.asking.ask(None))
    while "run_paused" not in setting.desk.kinds():
        await asyncio.sleep(0)
    assert setting.model.asked == []
    await setting.pausing.resume("ann", 2)
    assert (await question)[1].text == "ok"


async def test_pause_while_a_retry_is_waited_for_takes_effect_at_once(tmp_path: Path) -> None:
    setting = Setting(tmp_path, [ModelBusy("429", retry_after_s=600.0), Reply(text="ok")])
    question = asyncio.create_task(setting.asking.ask(None))
    while not setting.of(ev.ModelFailed):
        await asyncio.sleep(0)
    await setting.pausing.pause(WishedPause("step", "ann", "", 1))
    assert setting.desk.kinds()[-2:] == ["run_paused", "request_answered"]
    question.cancel()


async def test_second_pause_joins_the_first_and_the_stronger_of_them_holds(tmp_path: Path) -> None:
    setting = Setting(tmp_path, [])
    strengths: tuple[PauseStrength, ...] = ("step", "command", "step")
    for request_id, strength in enumerate(strengths, 1):
        assert await setting.pausing.pause(WishedPause(strength, "ann", "", request_id)) == ""
    tool = asyncio.create_task(setting.pausing.gate("tool"))
    while not setting.of(ev.RunPaused):
        await asyncio.sleep(0)
    assert [body.request_id for body in setting.desk.bodies() if isinstance(body, ev.RequestAnswered)] == [1, 2, 3]
    assert setting.of(ev.RequestRefused) == []
    await setting.pausing.resume("ann", 4)
    await tool


async def test_resume_refuses_every_pause_that_had_not_taken_effect(tmp_path: Path) -> None:
    setting = Setting(tmp_path, [])
    for request_id in (1, 2):
        await setting.pausing.pause(WishedPause("step", "ann", "", request_id))
    await setting.pausing.resume("ann", 3)
    assert [body.request_id for body in setting.desk.bodies() if isinstance(body, ev.RequestRefused)] == [1, 2]


async def test_limit_that_is_used_up_stops_the_question_before_it_is_sent(tmp_path: Path) -> None:
    setting = Setting(tmp_path, [Reply(text="ok", usage=Usage(output_tokens=3))] * 2, Limits(cost_usd=3.0))
    await setting.asking.ask(None)
    with pytest.raises(asyncio.CancelledError):
        await setting.asking.ask(None)
    assert setting.ending.verdict is not None
    assert setting.ending.verdict.limit == "cost"
    assert len(setting.model.asked) == 1


async def test_conversation_is_rebuilt_from_the_record_as_it_was(tmp_path: Path) -> None:
    call = ToolCall(call_id="c9", tool="bash", arguments={"command": "ls"})
    setting = Setting(tmp_path, [Reply(text="long " * 4_000, reasoning="why", calls=(call,), opaque='{"a": 1}')])
    setting.injections.queue(3, "psst")
    await setting.asking.ask(None)
    with EventReader(setting.desk.path) as reader:
        rebuilt = conversation(reader)
    assert rebuilt == setting.talk.messages
    assert unanswered(rebuilt) == [call]


async def test_stream_is_batched_and_whole(tmp_path: Path) -> None:
    text = "word " * 3_000
    setting = Setting(tmp_path, [Reply(text=text)])
    await setting.asking.ask(None)
    streamed = [body for body in setting.desk.bodies() if isinstance(body, ev.ModelStreamed)]
    assert "".join(body.text for body in streamed).strip() == text.strip()
    assert len(streamed) < 10


def test_message_names_are_ranges() -> None:
    assert compact_ids([f"m{number}" for number in range(1, 41)]) == ("m1..m40",)
    assert compact_ids(["m1", "m5", "m6", "x", "m8"]) == ("m1", "m5..m6", "x", "m8")


def test_trimming_says_when_nothing_is_left_to_cut() -> None:
    trimming = Trimming()
    messages = [Message(message_id=f"m{number}", role="user", text="short") for number in range(9)]
    assert trimming.tighten(messages) == ""
    assert trimming.applied(messages) == messages
