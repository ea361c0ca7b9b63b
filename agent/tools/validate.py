"""The tool `validate`: grades a snapshot of the submission on the development split."""

from collections.abc import Mapping

from agent.models.base import ToolSpec
from agent.record.values import Score
from agent.tools.base import Tool, ToolContext, ToolResult
from agent.tools.schema import arguments_schema

_MOST_DETAILS = 40


async def _run(context: ToolContext, arguments: Mapping[str, object]) -> ToolResult:
    score = await context.validate()
    return ToolResult(observation=describe(score), failed=score.value is None)


def describe(score: Score) -> str:
    """A score in words for the agent: value, baseline, details, what is wrong with it."""
    lines = [_headline(score)]
    if score.error:
        lines.append(f"error: {score.error}")
    if score.untouched:
        lines.append("the artefact is still the starter, byte for byte: it earns nothing")
    lines += [
        f"violation of {found.rule}{'' if found.invalidates else ' (reported only)'}: {found.evidence}"
        for found in score.violations
    ]
    details = list(score.details.items())
    lines += [f"  {name} {value:.6g}" for name, value in details[:_MOST_DETAILS]]
    if len(details) > _MOST_DETAILS:
        lines.append(f"  … {len(details) - _MOST_DETAILS} more")
    return "\n".join(lines)


def _headline(score: Score) -> str:
    if score.value is None:
        return f"no {score.metric} could be measured on the {score.split} split"
    spread = "" if score.standard_error is None else f" ± {score.standard_error:.2g}"
    better = "higher" if score.direction == "maximize" else "lower"
    said = f"{score.metric} {score.value:.6g}{spread} on the {score.split} split ({better} is better"
    if score.baseline is not None:
        said += f"; baseline {score.baseline:.6g}"
    return said + (")" if score.valid else "); NOT VALID")


TOOL = Tool(
    spec=ToolSpec(
        name="validate",
        description=(
            "Have the submission as it is now graded on a development split, by the same grader that gives the final"
            " score on other, held-out data. As often as you like; it takes time from your limit."
        ),
        parameters=arguments_schema({}),
    ),
    summarize=lambda _: "validate",
    run=_run,
    can_repeat=True,
)
