"""The tool `return`: ends a worker's part with what it reached."""

from collections.abc import Mapping, Sequence

from agent.models.base import Message, ToolSpec
from agent.record.text import one_line
from agent.scaffolds.base import Ended
from agent.tools import arguments as given
from agent.tools.base import Tool, ToolContext, ToolResult
from agent.tools.schema import arguments_schema, string

RETURN = "return"


async def _run(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
    if not given.text(arguments, "submission").strip():
        return ToolResult(observation="say what you reached, with its metric", failed=True)
    return ToolResult(observation="returned")


TOOL = Tool(
    spec=ToolSpec(
        name=RETURN,
        description="End your step: it is done, measured, and its model is saved. There is no way back.",
        parameters=arguments_schema(
            {
                "submission": string("what you did and reached, with the final metric as you measured it"),
                "model_path": string("where the model or the artefact is, relative to your folder; may be left out"),
            },
            required=("submission",),
        ),
    ),
    summarize=lambda arguments: one_line(str(arguments.get("submission", ""))) or RETURN,
    run=_run,
    can_repeat=True,
)


def returned(conversation: Sequence[Message]) -> Ended | None:
    """How a worker returned; None where it has not."""
    well = {message.call_id for message in conversation if message.role == "tool" and not message.failed}
    for message in conversation:
        for call in message.calls:
            if call.tool == RETURN and call.call_id in well:
                texts = {name: str(call.arguments.get(name, "")).strip() for name in ("submission", "model_path")}
                return Ended("returned", texts["submission"], texts["model_path"])
    return None
