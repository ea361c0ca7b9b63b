"""The tool `python`: runs a piece of Python as a file, with the working directory importable."""

import hashlib
import shlex
from collections.abc import Mapping

from agent.models.base import ToolSpec
from agent.tools import arguments as given
from agent.tools.base import Tool, ToolContext, ToolResult
from agent.tools.commands import run_command
from agent.tools.schema import arguments_schema, seconds, string


async def _run(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
    code = given.text(arguments, "code").encode("utf-8", "replace")
    # A file of its own per piece: a traceback names it, and one that still runs keeps its source.
    file = f"{context.workdir}/.mlrb/python-{hashlib.sha256(code).hexdigest()[:8]}.py"
    try:
        await context.sandbox.write_file(file, code)
    except OSError as error:
        return ToolResult(observation=f"the code could not be written to a file: {error}", failed=True)
    command = f'PYTHONPATH="$PWD${{PYTHONPATH:+:$PYTHONPATH}}" python -u {shlex.quote(file)}'
    return await run_command(context, command, given.number(arguments, "timeout_s", context.command_timeout_s))


TOOL = Tool(
    spec=ToolSpec(
        name="python",
        description=(
            "Run Python code as a script in the current working directory, whose modules it can import."
            " Each call is a fresh process: print what you want to see, save what you want to keep."
        ),
        parameters=arguments_schema(
            {
                "code": string("the source"),
                "timeout_s": seconds("seconds after which it is ended; leave out for the task's usual limit"),
            },
            required=("code",),
        ),
    ),
    summarize=lambda arguments: str(arguments.get("code", "")),
    run=_run,
    asks=True,
    can_repeat=True,
    editable="code",
)
