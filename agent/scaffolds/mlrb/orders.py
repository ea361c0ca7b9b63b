"""The supervisor's tools: make the plan, stop a worker, tell one something."""

from collections.abc import Mapping
from typing import Protocol

from agent.models.base import ToolSpec
from agent.record.crew import PlanStep
from agent.record.text import one_line
from agent.scaffolds.mlrb.plan import BadPlan, read_plan
from agent.tools import arguments as given
from agent.tools.base import Tool, ToolContext, ToolResult
from agent.tools.schema import arguments_schema, string, whole


class Led(Protocol):
    """What the supervisor's tools act on."""

    def take_plan(self, steps: tuple[PlanStep, ...], why: str) -> str:
        """Make it the plan; returns what follows from it."""
        ...

    def stop_worker(self, number: int, why: str) -> str:
        """End that worker's part; returns why that cannot be, or nothing."""
        ...

    def tell_worker(self, number: int, text: str) -> str:
        """Have that worker's next turn say it; returns why that cannot be, or nothing."""
        ...


def orders(led: Led) -> tuple[Tool, ...]:
    """The tools."""

    async def plan(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
        try:
            steps = read_plan(arguments.get("steps"))
        except BadPlan as trouble:
            return ToolResult(observation=f"no plan was made: {trouble}", failed=True)
        return ToolResult(observation=led.take_plan(steps, given.text(arguments, "why")))

    async def stop(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
        number = int(given.number(arguments, "worker", 0))
        refusal = led.stop_worker(number, one_line(given.text(arguments, "why"), 300))
        return ToolResult(observation=refusal or f"worker {number} is stopped", failed=bool(refusal))

    async def tell(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
        number = int(given.number(arguments, "worker", 0))
        refusal = led.tell_worker(number, given.text(arguments, "text"))
        return ToolResult(observation=refusal or f"worker {number} is told with its next turn", failed=bool(refusal))

    who = whole("the worker's number", 1)
    return (
        Tool(
            spec=ToolSpec(
                name="plan",
                description=(
                    "Make the plan, or change it. Steps that are done or worked on keep their state under their name;"
                    " a worker whose step is no longer in it is stopped; a failed step that stands in it is done again."
                ),
                parameters=arguments_schema({"steps": _STEPS, "why": string("why so, or why it changes")}, ("steps",)),
            ),
            summarize=_steps_said,
            run=plan,
            can_repeat=True,
        ),
        Tool(
            spec=ToolSpec(
                name="stop_worker",
                description="End a worker's part, and the command that it runs. Its changed files do not join.",
                parameters=arguments_schema({"worker": who, "why": string("why")}, ("worker", "why")),
            ),
            summarize=lambda arguments: f"worker {arguments.get('worker', '')}: {arguments.get('why', '')}",
            run=stop,
        ),
        Tool(
            spec=ToolSpec(
                name="tell_worker",
                description="Tell a worker something; it reads it with its next turn and from then on.",
                parameters=arguments_schema({"worker": who, "text": string("what it is told")}, ("worker", "text")),
            ),
            summarize=lambda arguments: f"worker {arguments.get('worker', '')}: {arguments.get('text', '')}",
            run=tell,
        ),
    )


_STEPS: dict[str, object] = {
    "type": "array",
    "description": "the steps, in order",
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "a few words, different for each step"},
            "task": {"type": "string", "description": "what is to be done, in full; which tools and files"},
            "after": {
                "type": "array",
                "items": {"type": "string"},
                "description": "names of steps that must be done before; steps that need not wait run side by side",
            },
        },
        "required": ["name", "task"],
    },
}


def _steps_said(arguments: Mapping[str, object]) -> str:
    try:
        return "; ".join(_step_said(step) for step in read_plan(arguments.get("steps")))
    except BadPlan:
        return "plan"


def _step_said(step: PlanStep) -> str:
    return f"{step.name} (after {', '.join(step.after)})" if step.after else step.name
