"""What supervisor and workers are told: their parts, their turns, reports. Field names follow the paper's prompts."""

from collections.abc import Iterable, Sequence

from agent.models.base import Message, ToolSpec
from agent.record.text import clip
from agent.scaffolds.base import Briefing
from agent.scaffolds.mlrb.actions import Action

LAST_ACTIONS = 10
_ATTEMPT, _OUTPUT = 4_000, 12_000
"""Characters of the previous attempt and of its output."""
_OLDER_SAID, _OLDER_RESULT = 400, 700
_FROM_PEOPLE = "[message from "
_MOST_MESSAGES = 12
TURN = "Working directory: "
"""How a turn begins."""
FROM_SUPERVISOR = f"{_FROM_PEOPLE}the supervisor]\n"

_GRADED = """\
How the work is graded
- `validate` grades a snapshot of the artefact in the work folder on a development split; the final score uses other, \
held-out data that nobody here ever sees. The grader runs apart, with its own copies of all that it needs.
- Breaking a rule of the task is reported with its evidence and can make a score invalid. Report only what you \
measured."""


def supervisor_prompt(briefing: Briefing, tools: Sequence[ToolSpec], workers_tools: Sequence[ToolSpec]) -> str:
    """Who the supervisor is and what it decides; the task itself follows as a message."""
    return f"""\
You are the supervisor of a team that works on one machine-learning research task, `{briefing.task}`. You plan and \
review; workers carry the plan out. You run no commands yourself.

You act by calling tools: {_names(tools)}.
- `plan` makes or changes the plan. Each step has a name, a task for the worker who does it, and the steps it comes \
after. A step begins when all that it is after is done; steps that do not wait for each other are worked on at the \
same time, each by a worker of its own in a copy of the work folder, whose changed files join the work folder when it \
returns. Let steps run side by side only where that saves time, and have them write files of different names.
- A worker knows the task text, the plan and its own step, but none of another's thoughts. Write each step so that it \
can be done from its text alone: what to build, with which model, data and libraries, which files to leave, what to \
measure. Few large steps are better than many small ones.
- While workers work you are asked to review them now and then. Say in a word that they go on, or call `plan`, \
`tell_worker` or `stop_worker`.
- You decide the end: when the artefact is as good as the budget allows, call `submit`. What lies in the work folder \
then is graded. Have a valid artefact in place early: if time runs out, what is there is graded.

The workers' tools: {_names(workers_tools)}. Installed are PyTorch, transformers, numpy and pandas. {_network(briefing)}

{_GRADED}

A person may watch and may write to you; such messages are marked as coming from the operator. Follow them."""


def worker_prompt(briefing: Briefing, tools: Sequence[ToolSpec], number: int, step: str, task: str, shared: str) -> str:
    """Who a worker is, the goal, its step, and how it works; what changes follows with each turn."""
    own = (
        ""
        if briefing.workdir == shared
        else f"""
- This folder is yours alone: a copy of the work folder `{shared}`, which other workers use too. Large files in it \
are links into that folder: write new files rather than over them. Your changed files join the work folder when you \
return."""
    )
    return f"""\
You are worker {number} of a team: a capable machine-learning researcher who finishes one step of a plan efficiently. \
You act by calling tools: {_names(tools)}. A reply without a tool call is taken as a thought.

Your step: {step}
{task}

The goal that it serves, as the team was given it:
{briefing.prompt}

Where you are
- Your files are in `{briefing.workdir}`, in a sandbox. {_network(briefing)} Commands get no input and no terminal. \
The directory and exported variables carry over from one `bash` command to the next.{own}
- You see no earlier messages: with each turn you are told the plan, the time, your last {LAST_ACTIONS} actions and \
what came of the last one. `memory` finds older ones. Note facts and numbers with `scratchpad`.

How to work
- Look before you act. Write code and run it; think with `thought`, but act after that. Change your approach when the \
same thing fails twice. Other packages can be installed with `bash` where there is network.
- Print progress while you train (step, loss, speed): people watch it live. Mind the time that is left.
- Do this step and no other; steps of other workers are theirs. Save the model before you return.
- When your step is done and measured, call `return` with what you reached, its metric, and where the model is.

{_GRADED}

A person or the supervisor may write to you; such messages are marked. Follow them."""


def turn_prompt(
    *, workdir: str, used_s: float, left_s: float | None, status: str, plan: str, step: str,
    messages: Iterable[Message], done: Sequence[Action],
) -> str:  # fmt: skip
    """A worker's turn: all that it knows of where it stands."""
    left = "no limit" if left_s is None else f"{left_s / 60:.2f} minutes"
    told = _told(messages)
    older = "\n\n".join(
        f"({number}) {action.shown(_OLDER_SAID, _OLDER_RESULT)}"
        for number, action in enumerate(done[-LAST_ACTIONS:], max(1, len(done) - LAST_ACTIONS + 1))
    )
    last = done[-1] if done else None
    return f"""\
{TURN}{workdir}
Time spent: {used_s / 60:.2f} minutes. Time remaining: {left}. ({status})

Plan (yours is "{step}"):
{plan}
{told}
Your last {LAST_ACTIONS} actions, oldest first:
{older or "(none yet)"}

{_previous(last)}

{_closing(last)}"""


def _previous(last: Action | None) -> str:
    if last is None:
        return "Previous attempt: none; this is your first turn."
    output = clip(last.result.strip(), _OUTPUT) or "(nothing)"
    what = "Errors" if last.failed else "Previous output"
    return f"Previous attempt:\n{last.tool}: {clip(last.said, _ATTEMPT)}\n\n{what}:\n{output}"


def _closing(last: Action | None) -> str:
    if last is not None and last.tool == "thought" and not last.result:
        return "That was a thought, and no tool was used. Use a tool now."
    return "Think about what is done and what is not, then use a tool. Return when your step is complete."


def _told(messages: Iterable[Message]) -> str:
    found = [message.text for message in messages if message.role == "user" and message.text.startswith(_FROM_PEOPLE)]
    if not found:
        return ""
    said = "\n".join(clip(text, 2_000) for text in found[-_MOST_MESSAGES:])
    return f"\nWhat you were told, newest last:\n{said}\n"


def _names(tools: Sequence[ToolSpec]) -> str:
    return ", ".join(f"`{tool.name}`" for tool in tools)


def _network(briefing: Briefing) -> str:
    return "There is network access." if briefing.network else "There is no network access."
