"""The tools `insert`, `replace` and `delete`: change a text file by the text that stands in it."""

from collections.abc import Awaitable, Callable, Mapping

from agent.models.base import ToolSpec
from agent.tools import arguments as given
from agent.tools.base import Tool, ToolContext, ToolResult
from agent.tools.files import Unreadable, read_text, write_text
from agent.tools.schema import arguments_schema, string

_PATH = string("the file; a relative path is meant from the current working directory")


async def _changed(
    context: ToolContext, path: str, target: str, change: Callable[[str], str], *, said: str
) -> ToolResult:
    """Change the file where `target` stands in it; what is not there is a failure, and nothing is written."""
    if not target:
        return ToolResult(observation="the text to look for is empty", failed=True)
    try:
        text = await read_text(context, path)
    except Unreadable as unreadable:
        return ToolResult(observation=str(unreadable), failed=True)
    count = text.count(target)
    if not count:
        return ToolResult(observation=f"that text does not stand in {path}; nothing was changed", failed=True)
    if trouble := await write_text(context, path, change(text)):
        return ToolResult(observation=trouble, failed=True)
    line = text.count("\n", 0, text.index(target)) + 1
    times = "once" if count == 1 else f"{count} times"
    return ToolResult(observation=f"{said} {path}: the text stood there {times}, first at line {line}")


async def _insert(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
    target, new = given.text(arguments, "target"), given.text(arguments, "new")
    before = bool(arguments.get("before", False))
    placed = new + target if before else target + new
    path = given.text(arguments, "path")
    return await _changed(context, path, target, lambda text: text.replace(target, placed, 1), said="inserted into")


async def _replace(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
    old, new = given.text(arguments, "old"), given.text(arguments, "new")
    if old == new:
        return ToolResult(observation="`old` and `new` are the same", failed=True)
    path = given.text(arguments, "path")
    return await _changed(context, path, old, lambda text: text.replace(old, new), said="replaced in")


async def _delete(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
    target = given.text(arguments, "target")
    path = given.text(arguments, "path")
    return await _changed(context, path, target, lambda text: text.replace(target, ""), said="deleted from")


def _tool(
    name: str,
    description: str,
    properties: dict[str, dict[str, object]],
    required: tuple[str, ...],
    run: Callable[[ToolContext, Mapping[str, object]], Awaitable[ToolResult]],
    editable: str,
) -> Tool:
    return Tool(
        spec=ToolSpec(
            name=name, description=description, parameters=arguments_schema({"path": _PATH, **properties}, required)
        ),
        summarize=lambda arguments: str(arguments.get("path", "")),
        run=run,
        asks=True,
        editable=editable,
    )


INSERT = _tool(
    "insert",
    "Insert text into a file behind the first place where a given text stands, or before it.",
    {
        "target": string("the text to insert behind, exactly as it stands there, line ends included"),
        "new": string("the text to insert"),
        "before": {"type": "boolean", "description": "insert before it instead"},
    },
    ("path", "target", "new"),
    _insert,
    "new",
)
REPLACE = _tool(
    "replace",
    "Replace a text everywhere in a file.",
    {"old": string("the text to replace, exactly as it stands there"), "new": string("the text to put in its place")},
    ("path", "old", "new"),
    _replace,
    "new",
)
DELETE = _tool(
    "delete",
    "Delete a text everywhere in a file.",
    {"target": string("the text to delete, exactly as it stands there")},
    ("path", "target"),
    _delete,
    "",
)
