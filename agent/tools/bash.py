"""The tool `bash`: runs a command in a shell whose folder and exported variables carry over."""

from collections.abc import Mapping

from agent.models.base import ToolSpec
from agent.tools import arguments as given
from agent.tools.base import Tool, ToolContext, ToolResult
from agent.tools.commands import run_command
from agent.tools.schema import arguments_schema, seconds, string


async def _run(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
    timeout_s = given.number(arguments, "timeout_s", context.command_timeout_s)
    return await run_command(context, given.text(arguments, "command"), timeout_s)


TOOL = Tool(
    spec=ToolSpec(
        name="bash",
        description=(
            "Run a bash command. The working directory and exported variables carry over to the next command."
            " There is no terminal and no input: nothing interactive. Long output reaches you with its middle left out."
        ),
        parameters=arguments_schema(
            {
                "command": string("the command; several lines are fine"),
                "timeout_s": seconds("seconds after which it is ended; leave out for the task's usual limit"),
            },
            required=("command",),
        ),
    ),
    summarize=lambda arguments: str(arguments.get("command", "")),
    run=_run,
    asks=True,
    can_repeat=True,
    editable="command",
)
