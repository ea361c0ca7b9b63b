"""The tool `write`: writes a whole file."""

from collections.abc import Mapping

from agent.models.base import ToolSpec
from agent.tools import arguments as given
from agent.tools.base import Tool, ToolContext, ToolResult
from agent.tools.files import write_text
from agent.tools.schema import arguments_schema, string


async def _run(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
    path, content = given.text(arguments, "path"), given.text(arguments, "content")
    if trouble := await write_text(context, path, content):
        return ToolResult(observation=trouble, failed=True)
    size = len(content.encode("utf-8", "replace"))
    lines = content.count("\n") + (not content.endswith("\n") and bool(content))
    return ToolResult(observation=f"wrote {path}: {lines} lines, {size:,} bytes")


TOOL = Tool(
    spec=ToolSpec(
        name="write",
        description="Write a file, replacing what is there; folders are made as needed.",
        parameters=arguments_schema(
            {
                "path": string("the file; a relative path is meant from the current working directory"),
                "content": string("the whole content"),
            },
            required=("path", "content"),
        ),
    ),
    summarize=lambda arguments: str(arguments.get("path", "")),
    run=_run,
    asks=True,
    editable="content",
)
