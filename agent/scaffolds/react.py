"""The scaffold `react`: one conversation, think and act in turn; the smallest honest one."""

from collections.abc import Mapping, Sequence

from agent.models.base import Message, ToolSpec
from agent.scaffolds.base import Briefing, Cockpit, Ending
from agent.tools.base import Tool
from agent.tools.catalogue import TOOLS

MOST_NUDGES = 7
"""In a row; a small model often finds its tools late, and a nudge costs little."""
STATUS_EVERY = 5

_NUDGES = (
    "Your reply used no tool, so nothing happened. Go on with a tool call; when the work is done, call `submit`.",
    "Again no tool call. Use a tool, for example `bash`, to take the next step, or `submit` to hand in what is there.",
    "Still no tool call. If the next reply has none either, the run ends and what is there is graded.",
)


class React:
    """Asks, does what the reply asks for, shows what came of it, and asks again."""

    name = "react"
    parts = False

    def tools(self) -> Mapping[str, Tool]:
        """All the house's tools."""
        return TOOLS

    async def run(self, cockpit: Cockpit) -> Ending:
        """Lead the agent until it submits or nudges in a row lead nowhere."""
        if not cockpit.conversation:
            cockpit.say("system", system_prompt(cockpit.briefing, cockpit.tools))
        if len(cockpit.conversation) == 1:
            cockpit.say("user", cockpit.briefing.prompt, origin="task")
        nudges = _idle_replies(cockpit.conversation)
        if nudges and cockpit.conversation[-1].role == "assistant":
            # A run that was cut off between an idle reply and what is said to it.
            nudges -= 1
            if nudges >= MOST_NUDGES:
                return "gave_up"
            cockpit.say("user", _nudge(nudges, ""))
            nudges += 1
        while not cockpit.submitted:
            step = await cockpit.begin_step()
            _, reply = await cockpit.ask()
            for call in reply.calls:
                if cockpit.submitted:
                    break
                await cockpit.use(call)
            if cockpit.submitted:
                break
            if reply.calls:
                nudges = 0
            elif nudges < MOST_NUDGES:
                cockpit.say("user", _nudge(nudges, reply.stop_reason))
                nudges += 1
            else:
                return "gave_up"
            if step % STATUS_EVERY == 0:
                cockpit.say("user", f"[status: {cockpit.status}]")
        return "submitted"


def system_prompt(briefing: Briefing, tools: Sequence[ToolSpec]) -> str:
    """Who the agent is, where it works, how it is graded and how it ends; the task itself follows as a message."""
    network = "There is network access." if briefing.network else "There is no network access."
    names = ", ".join(f"`{tool.name}`" for tool in tools)
    return f"""\
You are a machine-learning researcher who works alone on one task, `{briefing.task}`. \
You work by calling tools: {names}. \
A reply without a tool call does nothing.

Where you are
- Your files are in `{briefing.workdir}`, in a sandbox of its own. {network} Commands get no input and no terminal.
- The working directory and exported variables carry over from one `bash` command to the next.
- Long output reaches you with its middle left out: write what matters to files, and print little.
- Print progress while you train (step, loss, speed): people watch it live. Save checkpoints as you go.

How to work
- Look before you act: read the files you are given and measure the starting point first.
- Form a hypothesis, test it by a small experiment, keep what helps. Note findings with `scratchpad`.
- Keep a valid artefact in place early and improve it step by step: if time runs out, what is there is graded.

How you are graded
- `validate` grades a snapshot of your artefact on a development split; the final score uses other, held-out data that \
you never see. The grader runs apart from you, with its own copies of all that it needs.
- Breaking a rule of the task is reported with its evidence and can make a score invalid. Report only what you measured.

A person may watch and may write to you; such messages are marked as coming from the operator. Follow them. \
When the work is done, call `submit` once, with a short summary."""


def _idle_replies(conversation: Sequence[Message]) -> int:
    """How many replies without a tool call the conversation ends with."""
    count = 0
    for message in reversed(conversation):
        if message.calls or message.role == "tool":
            break
        count += message.role == "assistant"
    return count


def _nudge(count: int, stop_reason: str) -> str:
    if stop_reason == "length":
        return "Your reply was cut off at the length limit before a tool call. Be shorter, and end with a tool call."
    if count == MOST_NUDGES - 1:
        return _NUDGES[-1]
    return _NUDGES[min(count, 1)]
