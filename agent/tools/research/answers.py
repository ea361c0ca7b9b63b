"""What the research tools share: calls to libraries that block, their troubles in words, answers of bounded length."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from agent.models.base import ToolSpec
from agent.record.text import clip, one_line
from agent.tools.base import Tool, ToolContext, ToolResult
from agent.tools.schema import Schema, arguments_schema

T = TypeVar("T")

TIMEOUT_S = 20
LONGEST = 16_000
"""Characters of an answer."""
PATIENCE_S = 60.0


class NotFound(Exception):
    """What was asked for is not there, or cannot be had; the message is for the model."""


Run = Callable[[ToolContext, Mapping[str, object]], Awaitable[str]]


def research_tool(
    name: str, description: str, properties: dict[str, Schema], required: tuple[str, ...], run: Run
) -> Tool:
    """A tool that answers with text, or says why it cannot. Approve mode asks: what it looks for leaves the machine."""

    async def answered(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
        try:
            async with asyncio.timeout(PATIENCE_S):
                return ToolResult(observation=clip(await run(context, arguments), LONGEST))
        except NotFound as trouble:
            return ToolResult(observation=str(trouble), failed=True)
        except TimeoutError:
            return ToolResult(observation=f"{name} got no answer within {PATIENCE_S:.0f} s", failed=True)

    return Tool(
        spec=ToolSpec(name=name, description=description, parameters=arguments_schema(properties, required)),
        summarize=lambda arguments: one_line(" ".join(str(value) for value in arguments.values()), 200),
        run=answered,
        asks=True,
        can_repeat=True,
    )


async def in_thread(act: Callable[[], T]) -> T:
    """Do what blocks in a thread."""
    return await asyncio.to_thread(act)
