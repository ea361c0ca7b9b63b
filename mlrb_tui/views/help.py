"""What the help screen says: the keys of a screen in groups, and what the words mean."""

from collections.abc import Iterable
from typing import NamedTuple

_STEERING = (
    "pause",
    "hold",
    "freeze",
    "resume",
    "inject",
    "interrupt",
    "score",
    "kill",
    "limits",
    "approve",
    "messages",
    "control",
    "hand_over",
)
_GROUPS = {"answer": "answering a run", "table": "moving", "move": "moving", "filter": "moving"}


class Key(NamedTuple):
    """A key and what it does."""

    binding_id: str
    key: str
    name: str
    about: str = ""


def grouped(keys: Iterable[Key]) -> dict[str, list[Key]]:
    """The keys by what they are for; one that is bound twice is said once."""
    groups: dict[str, list[Key]] = {
        "steering a run": [],
        "answering a run": [],
        "this screen": [],
        "moving": [],
        "the app": [],
    }
    by_name: dict[tuple[str, str], Key] = {}
    for key in keys:
        group = _group(key.binding_id)
        known = by_name.get((group, key.name))
        if known is None:
            groups[group].append(key)
            by_name[group, key.name] = key
        elif key.key not in known.key.split(" or "):
            joined = known._replace(key=f"{known.key} or {key.key}")
            groups[group][groups[group].index(known)] = joined
            by_name[group, key.name] = joined
    return {group: members for group, members in groups.items() if members}


def _group(binding_id: str) -> str:
    place, _, name = binding_id.partition(".")
    if name in _STEERING:
        return "steering a run"
    if place == "app":
        return "the app"
    return _GROUPS.get(place, "this screen")


CONCEPTS: tuple[tuple[str, str], ...] = (
    (
        "run",
        "One agent on one task. It belongs to no terminal: close this app, lose SSH, and it goes on. All that"
        " happens in it is recorded, and can be replayed here.",
    ),
    (
        "pause",
        "Waits for the step to end and makes no further model call. Hold waits for the running command alone. Freeze"
        " stops it at once, in its middle; it uses no CPU until you resume. Clocks stand still while a run is paused.",
    ),
    (
        "inject",
        "Your message goes out with the very next model request. The record keeps it, with its receipt: queued,"
        " delivered, answered. A run that people helped is marked as helped.",
    ),
    (
        "approve",
        "In approve mode each call that runs or changes something waits for your word. An edit and a rejection are"
        " told to the agent; always lets a class of commands through for the rest of the run. The time is yours.",
    ),
    (
        "control",
        "Any number watch a run, one steers it: whoever first asks something of it, until they leave. Another can ask"
        " for control, or take it, and whoever had it is told. Who is gone holds nothing.",
    ),
    (
        "kill",
        "Ends the agent, its commands and its sandbox, and proves each gone. What could not be proven is shown"
        " as left over, and the run then asks for you.",
    ),
    (
        "scale",
        "smoke is minutes on two CPU cores with generated data; full is the published conditions. Scores of the"
        " two are never compared.",
    ),
    (
        "score",
        "dev is what the agent sees when it validates; the final score uses held-out data that never enters its"
        " sandbox. ▲ and ▼ are the distance to the task's baseline. An untouched starter earns nothing.",
    ),
    (
        "left",
        "Time, steps, cost or tokens: whichever will end the run first. Time is working time: pauses and waits on"
        " rate limits do not count.",
    ),
    (
        "colours",
        "Green works, yellow asks for you, red is wrong, blue is held by a person. Each has a sign of its own too.",
    ),
)
"""Words of this program, and what they promise."""
