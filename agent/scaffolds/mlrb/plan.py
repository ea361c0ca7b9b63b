"""A plan as a supervisor writes it: read leniently, checked strictly, and which of its steps can be begun."""

import json
from collections.abc import Mapping, Sequence

from agent.record.crew import LONGEST_NAME, MOST_STEPS, Crew, PlanStep, StepNow
from agent.record.text import one_line

LONGEST_TASK = 4_000


class BadPlan(Exception):
    """A plan that cannot be carried out; the message is for the model."""


def read_plan(given: object) -> tuple[PlanStep, ...]:
    """The steps out of a tool's argument; plain texts in place of steps are done one after the other.

    Raises `BadPlan`.
    """
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError as error:
            raise BadPlan(f"`steps` is text that is no JSON list: {error}") from error
    if isinstance(given, Mapping):
        given = given.get("steps", [given])
    if not isinstance(given, Sequence) or not given:
        raise BadPlan("`steps` must be a list of at least one step")
    if len(given) > MOST_STEPS:
        raise BadPlan(f"a plan has at most {MOST_STEPS} steps, this one has {len(given)}: join some")
    steps: list[PlanStep] = []
    for number, each in enumerate(given, 1):
        steps.append(_step(each, number, steps))
    _check(steps)
    return tuple(steps)


def _step(given: object, number: int, before: Sequence[PlanStep]) -> PlanStep:
    if isinstance(given, str):
        after = (before[-1].name,) if before else ()
        return PlanStep(name=f"step {number}", task=_task(given, number), after=after)
    if not isinstance(given, Mapping):
        raise BadPlan(f"step {number} is neither an object nor a text")
    name = one_line(str(given.get("name") or f"step {number}"), LONGEST_NAME).strip()
    after = given.get("after") or ()
    names = (after,) if isinstance(after, str) else after
    if not isinstance(names, Sequence):
        raise BadPlan(f"`after` of {name!r} must be a list of step names")
    return PlanStep(
        name=name, task=_task(given.get("task"), number),
        after=tuple(dict.fromkeys(one_line(str(each), LONGEST_NAME).strip() for each in names)),
    )  # fmt: skip


def _task(given: object, number: int) -> str:
    if not isinstance(given, str) or not given.strip():
        raise BadPlan(f"step {number} has no `task`: say what is to be done")
    if len(given) > LONGEST_TASK:
        raise BadPlan(f"the task of step {number} is longer than {LONGEST_TASK:,} characters")
    return given.strip()


def _check(steps: Sequence[PlanStep]) -> None:
    names = [step.name for step in steps]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadPlan(f"each step needs a name of its own; twice there: {', '.join(twice)}")
    for step in steps:
        unknown = [name for name in step.after if name not in names]
        if unknown:
            raise BadPlan(f"{step.name!r} is after {', '.join(map(repr, unknown))}, which the plan does not have")
        if step.name in _before(step.name, steps):
            raise BadPlan(f"{step.name!r} would have to be done before itself")


def _before(name: str, steps: Sequence[PlanStep] | Sequence[StepNow]) -> set[str]:
    """All that must be done before that step."""
    after = {step.name: step.after for step in steps}
    found: set[str] = set()
    waiting = list(after.get(name, ()))
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += after.get(one, ())
    return found


def is_apart(name: str, steps: Sequence[PlanStep]) -> bool:
    """Whether another step may be worked on at the same time, so that each needs a folder of its own."""
    before = _before(name, steps)
    return any(
        step.name != name and step.name not in before and name not in _before(step.name, steps) for step in steps
    )


def ready(crew: Crew) -> list[str]:
    """Steps that can be begun now, in the plan's order."""
    open_steps = {step.name for step in crew.steps if step.state != "done"}
    return [step.name for step in crew.steps if step.state == "waiting" and not open_steps & set(step.after)]


def shown(crew: Crew) -> str:
    """The plan and how it stands, a line a step."""
    if not crew.steps:
        return "(no plan yet)"
    return "\n".join(_line(number, step) for number, step in enumerate(crew.steps, 1))


def _line(number: int, step: StepNow) -> str:
    who = f" by worker {step.worker}" if step.worker and step.state != "waiting" else ""
    after = f" (after {', '.join(step.after)})" if step.after else ""
    return f"{number}. [{step.state}{who}] {step.name}{after}: {step.about}"
