"""The tool `read`: shows a text file with line numbers, a window at a time."""

from collections.abc import Mapping

from agent.models.base import ToolSpec
from agent.record.text import clip
from agent.tools import arguments as given
from agent.tools.base import Tool, ToolContext, ToolResult
from agent.tools.files import Unreadable, read_text
from agent.tools.schema import arguments_schema, string, whole

DEFAULT_LINES = 400
_LONGEST_LINE = 2_000
_MOST_CHARACTERS = 16_000


async def _run(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
    path = given.text(arguments, "path")
    offset = int(given.number(arguments, "offset", 1))
    limit = int(given.number(arguments, "limit", DEFAULT_LINES))
    if offset < 1 or limit < 1:
        return ToolResult(observation="offset and limit must be 1 or more", failed=True)
    try:
        text = await read_text(context, path)
    except Unreadable as trouble:
        return ToolResult(observation=str(trouble), failed=True)
    return _window(path, text, offset, limit)


def _window(path: str, text: str, offset: int, limit: int) -> ToolResult:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        return ToolResult(observation=f"{path} is empty")
    if offset > len(lines):
        return ToolResult(observation=f"{path} has only {len(lines)} lines", failed=True)
    shown = lines[offset - 1 : offset - 1 + limit]
    body = "\n".join(f"{number:>5}  {clip(line, _LONGEST_LINE)}" for number, line in enumerate(shown, offset))
    last = offset + len(shown) - 1
    rest = f"\n[lines {offset} to {last} of {len(lines)}]" if len(shown) < len(lines) else ""
    return ToolResult(observation=clip(body, _MOST_CHARACTERS) + rest)


def _summarize(arguments: Mapping[str, object]) -> str:
    window = "".join(f" {name} {arguments[name]}" for name in ("offset", "limit") if name in arguments)
    return f"{arguments.get('path', '')}{window}"


TOOL = Tool(
    spec=ToolSpec(
        name="read",
        description="Show a text file with line numbers.",
        parameters=arguments_schema(
            {
                "path": string("the file; a relative path is meant from the current working directory"),
                "offset": whole("the first line to show, from 1", 1),
                "limit": whole(f"how many lines; {DEFAULT_LINES} unless given", 1),
            },
            required=("path",),
        ),
    ),
    summarize=_summarize,
    run=_run,
    can_repeat=True,
)
