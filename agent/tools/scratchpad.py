"""The tool `scratchpad`: a note that stays in the record and in `scratchpad.md` of the work folder."""

from collections.abc import Mapping

from agent.models.base import ToolSpec
from agent.record.text import one_line
from agent.tools import arguments as given
from agent.tools.base import Tool, ToolContext, ToolResult
from agent.tools.schema import arguments_schema, string

FILE = "scratchpad.md"


async def _run(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
    note = given.text(arguments, "note").strip()
    if not note:
        return ToolResult(observation="the note is empty", failed=True)
    context.note(note)
    async with context.shared_file:
        return await _written(context, note)


async def _written(context: ToolContext, note: str) -> ToolResult:
    path = f"{context.shared_folder}/{FILE}"
    try:
        known = await context.sandbox.read_file(path)
    except FileNotFoundError:
        known = b""
    except (OSError, ValueError) as error:
        return ToolResult(observation=f"noted in the record; {FILE} cannot be read: {error}")
    try:
        await context.sandbox.write_file(path, known + f"- {note}\n".encode("utf-8", "replace"))
    except (OSError, ValueError) as error:
        return ToolResult(observation=f"noted in the record; {FILE} cannot be written: {error}")
    return ToolResult(observation=f"noted in {FILE}")


TOOL = Tool(
    spec=ToolSpec(
        name="scratchpad",
        description=f"Keep a note: a finding, a number, a plan. Notes are collected in {FILE} in the work folder.",
        parameters=arguments_schema({"note": string("the note")}, required=("note",)),
    ),
    summarize=lambda arguments: one_line(str(arguments.get("note", ""))),
    run=_run,
)
