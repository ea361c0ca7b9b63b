"""The tool `memory`: finds what was done, seen and noted before, by what it is about."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from agent.models.base import ToolSpec
from agent.record.text import clip, one_line
from agent.tools import arguments as given
from agent.tools.base import Tool, ToolContext, ToolResult
from agent.tools.recall import nearest
from agent.tools.schema import arguments_schema, string

MOST_FOUND = 5
LOOKED_AT = 1_500
"""Characters of a memory that are compared with the query."""
_SHOWN = 1_200


def memory_tool(remembered: Callable[[], Sequence[str]]) -> Tool:
    """The tool over the texts that `remembered` gives, oldest first."""

    async def run(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
        query = given.text(arguments, "query")
        texts = list(remembered())
        found = await asyncio.to_thread(nearest, query, [text[:LOOKED_AT] for text in texts], MOST_FOUND)
        if not found:
            return ToolResult(observation="nothing like that was done or noted yet")
        return ToolResult(
            observation="\n\n".join(f"[{score:.2f}] {clip(texts[place], _SHOWN)}" for place, score in found)
        )

    return Tool(
        spec=ToolSpec(
            name="memory",
            description=(
                "Find earlier actions, results and notes of the whole team by what they are about,"
                f" the {MOST_FOUND} nearest first."
            ),
            parameters=arguments_schema({"query": string("what to look for, in a few words")}, required=("query",)),
        ),
        summarize=lambda arguments: one_line(str(arguments.get("query", ""))),
        run=run,
        can_repeat=True,
    )
