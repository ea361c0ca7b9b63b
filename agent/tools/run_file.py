"""The tool `run_file`: runs a Python file, its output shown as it is written."""

import shlex
from collections.abc import Mapping

from agent.models.base import ToolSpec
from agent.tools import arguments as given
from agent.tools.base import Tool, ToolContext, ToolResult
from agent.tools.commands import run_command
from agent.tools.schema import arguments_schema, seconds, string


async def _run(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
    path, rest = given.text(arguments, "path"), given.text(arguments, "arguments")
    if not path.strip():
        return ToolResult(observation="the path is empty", failed=True)
    # A path that begins with a dash would be read as an option of Python's.
    command = f"python -u {shlex.quote(path if not path.startswith('-') else f'./{path}')} {rest}".rstrip()
    return await run_command(context, command, given.number(arguments, "timeout_s", context.command_timeout_s))


TOOL = Tool(
    spec=ToolSpec(
        name="run_file",
        description="Run a Python file in the current working directory. There is no terminal and no input.",
        parameters=arguments_schema(
            {
                "path": string("the file"),
                "arguments": string("its command line, as a shell reads it; may be left out"),
                "timeout_s": seconds("seconds after which it is ended; leave out for the task's usual limit"),
            },
            required=("path",),
        ),
    ),
    summarize=lambda arguments: f"python {arguments.get('path', '')} {arguments.get('arguments', '')}".rstrip(),
    run=_run,
    asks=True,
    can_repeat=True,
    editable="arguments",
)
