"""The react scaffold: its order of calls, its nudges, its end."""

from collections.abc import Sequence
from typing import Literal

from agent.models.base import Message, Reply, StopReason, ToolSpec
from agent.record.values import ToolCall
from agent.scaffolds.base import Briefing
from agent.scaffolds.react import MOST_NUDGES, React
from agent.tools.catalogue import TOOLS


class ListedCockpit:
    """A cockpit whose model says what a list holds; remembers what the scaffold did."""

    def __init__(self, replies: list[Reply], conversation: list[Message] | None = None) -> None:
        self.briefing = Briefing(task="t/one", prompt="the task", workdir="/home/agent/workspace", network=False)
        self.tools: Sequence[ToolSpec] = [tool.spec for tool in TOOLS.values()]
        self.conversation = conversation or []
        self.status = "step 5"
        self.submitted = False
        self.did: list[str] = []
        self._replies = replies
        self._step = 0

    async def begin_step(self) -> int:
        """Count."""
        self._step += 1
        self.did.append(f"step {self._step}")
        return self._step

    def say(self, role: Literal["system", "user"], text: str, *, origin: str = "harness") -> Message:
        """Remember."""
        self.did.append(f"{role} {origin}: {text.splitlines()[0][:20]}")
        message = Message(message_id="m", role=role, text=text)
        self.conversation = [*self.conversation, message]
        return message

    async def ask(self, messages: Sequence[Message] | None = None) -> tuple[Message, Reply]:
        """The next reply."""
        self.did.append("ask")
        reply = self._replies.pop(0)
        return Message(message_id="m", role="assistant", text=reply.text), reply

    async def use(self, call: ToolCall) -> Message:
        """Remember."""
        self.did.append(f"use {call.call_id}")
        self.submitted = self.submitted or call.tool == "submit"
        return Message(message_id="m", role="tool", text="", call_id=call.call_id)


def _calls(*tools: str) -> Reply:
    return Reply(calls=tuple(ToolCall(call_id=f"{tool}{number}", tool=tool) for number, tool in enumerate(tools)))


def _silent(stop_reason: StopReason = "end") -> Reply:
    return Reply(text="hm", stop_reason=stop_reason)


async def test_calls_of_a_reply_are_used_in_order_and_nothing_after_submit() -> None:
    cockpit = ListedCockpit([_calls("bash", "read"), _calls("submit", "bash")])
    assert await React().run(cockpit) == "submitted"
    assert cockpit.did == [
        "system harness: You are a machine-le", "user task: the task", "step 1", "ask", "use bash0", "use read1",
        "step 2", "ask", "use submit0",
    ]  # fmt: skip


async def test_replies_without_a_call_are_nudged_and_bounded() -> None:
    cockpit = ListedCockpit([_silent() for _ in range(20)])
    assert await React().run(cockpit) == "gave_up"
    assert cockpit.did.count("ask") == MOST_NUDGES + 1
    nudges = [done for done in cockpit.did if "tool" in done and done.startswith("user harness")]
    assert "Still no tool call" in nudges[-1]
    assert "Still no tool call" not in nudges[-2]


async def test_nudges_start_over_after_a_call() -> None:
    replies = [
        _silent(),
        _silent(),
        _silent("length"),
        _calls("bash"),
        *(_silent() for _ in range(MOST_NUDGES)),
        _calls("submit"),
    ]
    cockpit = ListedCockpit(replies)
    assert await React().run(cockpit) == "submitted"


async def test_status_is_told_now_and_then() -> None:
    cockpit = ListedCockpit([_calls("bash") for _ in range(6)] + [_calls("submit")])
    await React().run(cockpit)
    assert [done for done in cockpit.did if "[status" in done] == ["user harness: [status: step 5]"]


async def test_run_that_is_taken_up_again_is_not_told_the_task_twice() -> None:
    told = [Message("m1", "system", "known"), Message("m2", "user", "the task")]
    cockpit = ListedCockpit([_calls("submit")], told)
    await React().run(cockpit)
    assert cockpit.did == ["step 1", "ask", "use submit0"]


async def test_run_that_was_cut_off_before_the_task_was_told_is_told_it() -> None:
    cockpit = ListedCockpit([_calls("submit")], [Message("m1", "system", "known")])
    await React().run(cockpit)
    assert cockpit.did == ["user task: the task", "step 1", "ask", "use submit0"]


async def test_nudges_that_were_spent_before_a_crash_stay_spent() -> None:
    idle = [Message(f"m{number}", role, "hm") for number in range(MOST_NUDGES) for role in ("assistant", "user")]
    told = [Message("s", "system", "known"), Message("t", "user", "the task"), *idle]
    cockpit = ListedCockpit([_silent(), _silent()], told)
    assert await React().run(cockpit) == "gave_up"
    assert cockpit.did == ["step 1", "ask"]
    cut_off = ListedCockpit([_calls("submit")], [*told[:2], Message("m1", "assistant", "hm")])
    assert await React().run(cut_off) == "submitted"
    assert cut_off.did == ["user harness: Your reply used no t", "step 1", "ask", "use submit0"]


async def test_system_prompt_names_every_tool_and_the_place() -> None:
    cockpit = ListedCockpit([_calls("submit")])
    await React().run(cockpit)
    prompt = cockpit.conversation[0].text
    assert all(f"`{name}`" in prompt for name in TOOLS)
    assert "/home/agent/workspace" in prompt
    assert "no network" in prompt
