"""A conversation that a run left behind is one that a vendor accepts."""

from agent.models.base import Message
from agent.models.conversation import NO_ANSWER, NO_OUTPUT, NO_TEXT, settled
from agent.record.values import ToolCall

USER = Message("u", "user", "hello")


def reply(*call_ids: str, text: str = "") -> Message:
    calls = tuple(ToolCall(call_id=call_id, tool="bash") for call_id in call_ids)
    return Message("a" + "".join(call_ids), "assistant", text, calls=calls)


def answer(call_id: str, text: str = "fine") -> Message:
    return Message("t" + call_id, "tool", text, call_id=call_id)


def shape(*messages: Message) -> list[tuple[str, str]]:
    return [(message.role, message.call_id or message.text) for message in settled(messages)]


def test_well_kept_conversation_stays_as_it_is() -> None:
    conversation = [
        Message("s", "system", "Be brief."),
        USER,
        reply("1", "2"),
        answer("1"),
        answer("2"),
        reply(text="x"),
    ]
    assert settled(conversation) == conversation


def test_call_without_answer_is_answered() -> None:
    last = settled([USER, reply("1", "2"), answer("2")])[-2]
    assert (last.role, last.call_id, last.text, last.failed) == ("tool", "1", NO_ANSWER, True)


def test_run_that_stopped_before_the_answer_can_go_on() -> None:
    assert shape(USER, reply("1"), Message("i", "user", "go on")) == [
        ("user", "hello"),
        ("assistant", ""),
        ("tool", "1"),
        ("user", "go on"),
    ]


def test_answers_come_in_the_order_of_their_calls_and_before_injected_text() -> None:
    injected = Message("i", "user", "stop that")
    assert shape(USER, reply("1", "2"), injected, answer("2"), answer("1"))[2:] == [
        ("tool", "1"),
        ("tool", "2"),
        ("user", "stop that"),
    ]


def test_answer_whose_call_rolled_out_of_the_context_reads_as_the_users() -> None:
    (only,) = settled([answer("gone", "42 files")])
    assert only.role == "user"
    assert "42 files" in only.text


def test_second_answer_to_a_call_is_not_lost() -> None:
    *_, last = settled([USER, reply("1"), answer("1", "one"), answer("1", "two")])
    assert last.role == "user"
    assert "two" in last.text


def test_user_messages_in_a_row_become_one() -> None:
    assert shape(USER, Message("v", "user", "there")) == [("user", "hello\n\nthere")]


def test_blank_messages_do_not_stay_blank() -> None:
    assert shape(Message("s", "system", " "), Message("u", "user", "")) == [("user", NO_TEXT)]
    assert settled([USER, reply("1"), answer("1", "")])[-1].text == NO_OUTPUT


def test_blank_reply_is_left_out() -> None:
    assert shape(USER, reply(text="\n"), Message("v", "user", "there")) == [("user", "hello\n\nthere")]


def test_only_the_opening_is_system_text() -> None:
    system = Message("s", "system", "One.")
    assert shape(system, Message("s2", "system", "Two."), USER, Message("s3", "system", "Three.")) == [
        ("system", "One.\n\nTwo."),
        ("user", "hello\n\nThree."),
    ]
