"""The tool `edit`: replaces a piece of a file that must be there exactly once."""

from collections.abc import Mapping

from agent.models.base import ToolSpec
from agent.tools import arguments as given
from agent.tools.base import Tool, ToolContext, ToolResult
from agent.tools.files import Unreadable, read_text, write_text
from agent.tools.schema import arguments_schema, string


async def _run(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
    path, old, new = (given.text(arguments, name) for name in ("path", "old", "new"))
    try:
        text = await read_text(context, path)
    except Unreadable as unreadable:
        return ToolResult(observation=str(unreadable), failed=True)
    if refusal := _refusal(path, text, old, new):
        return ToolResult(observation=refusal, failed=True)
    if trouble := await write_text(context, path, text.replace(old, new)):
        return ToolResult(observation=trouble, failed=True)
    return ToolResult(observation=f"edited {path} at line {_line_of(text, text.index(old))}")


def _refusal(path: str, text: str, old: str, new: str) -> str:
    """Why the edit cannot be made, with what would help; empty when it can."""
    if not old:
        return "`old` is empty; use `write` for a new file"
    if old == new:
        return "`old` and `new` are the same"
    count = text.count(old)
    if count == 1:
        return ""
    if count > 1:
        lines = ", ".join(str(line) for line in _lines_of(text, old)[:10])
        return f"`old` stands {count} times in {path} (lines {lines}); give more of its surroundings"
    return f"`old` does not stand in {path}{_near(text, old)}"


def _near(text: str, old: str) -> str:
    """Where something like it stands, for a model that got the white space wrong."""
    first = next((line.strip() for line in old.splitlines() if line.strip()), "")
    if not first:
        return ""
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == first]
    if not lines:
        return "; read the file again, it may have changed"
    return f"; its first line stands at line {lines[0]}, so white space or a later line differs"


def _lines_of(text: str, piece: str) -> list[int]:
    lines, position = [], text.find(piece)
    while position >= 0:
        lines.append(_line_of(text, position))
        position = text.find(piece, position + len(piece))
    return lines


def _line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


TOOL = Tool(
    spec=ToolSpec(
        name="edit",
        description="Replace a piece of a text file that stands in it exactly once, white space included.",
        parameters=arguments_schema(
            {
                "path": string("the file; a relative path is meant from the current working directory"),
                "old": string("the text to replace, exactly as it stands there"),
                "new": string("the text to put in its place"),
            },
            required=("path", "old", "new"),
        ),
    ),
    summarize=lambda arguments: str(arguments.get("path", "")),
    run=_run,
    asks=True,
    editable="new",
)
