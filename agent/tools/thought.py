"""The tool `thought`: thinks aloud, and does nothing else."""

from collections.abc import Mapping

from agent.models.base import ToolSpec
from agent.record.text import one_line
from agent.tools.base import Tool, ToolContext, ToolResult
from agent.tools.schema import arguments_schema, string


async def _run(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
    return ToolResult(observation="thought through; now act on it")


TOOL = Tool(
    spec=ToolSpec(
        name="thought",
        description="Think something through before you act; nothing else happens.",
        parameters=arguments_schema({"thought": string("what you think")}, required=("thought",)),
    ),
    summarize=lambda arguments: one_line(str(arguments.get("thought", "")), 400),
    run=_run,
    can_repeat=True,
)
