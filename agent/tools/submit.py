"""The tool `submit`: says that what is there is the submission."""

from collections.abc import Mapping

from agent.models.base import ToolSpec
from agent.record.text import one_line
from agent.tools import arguments as given
from agent.tools.base import Tool, ToolContext, ToolResult
from agent.tools.schema import arguments_schema, string


async def _run(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
    context.submit(given.text(arguments, "summary"))
    return ToolResult(observation="submitted")


TOOL = Tool(
    spec=ToolSpec(
        name="submit",
        description="End your work: the artefact as it is now is graded on held-out data. There is no way back.",
        parameters=arguments_schema({"summary": string("what you did and found, in a few sentences")}),
    ),
    summarize=lambda arguments: one_line(str(arguments.get("summary", ""))) or "submit",
    run=_run,
    asks=True,
    can_repeat=True,
    editable="summary",
)
