"""Checks a call's arguments against a tool's JSON schema, in words that a model can act on."""

import difflib
from collections.abc import Mapping

from agent.models.base import ToolSpec

_NAMES = {"string": "a string", "integer": "a whole number", "number": "a number", "boolean": "true or false"}


def problems(spec: ToolSpec, arguments: Mapping[str, object]) -> list[str]:
    """What is wrong with the arguments, one line each; empty when the tool can run."""
    properties = _properties(spec)
    required = spec.parameters.get("required", ())
    assert isinstance(required, (list, tuple))
    found = [f"missing argument {name!r} ({_wanted(properties[name])})" for name in required if name not in arguments]
    for name, value in arguments.items():
        if name not in properties:
            found.append(f"unknown argument {name[:80]!r}{_known(name, list(properties))}")
        elif not _fits(value, kind := str(properties[name].get("type", ""))):
            found.append(f"argument {name!r} must be {_NAMES.get(kind, kind)}, not {_shown(value)}")
    return found


def text(arguments: Mapping[str, object], name: str) -> str:
    """A string argument that has been checked."""
    value = arguments.get(name, "")
    assert isinstance(value, str)
    return value


def number(arguments: Mapping[str, object], name: str, default: float) -> float:
    """A number argument that has been checked; `default` where it was not given."""
    value = arguments.get(name, default)
    assert isinstance(value, (int, float))
    return float(value)


def _properties(spec: ToolSpec) -> dict[str, dict[str, object]]:
    properties = spec.parameters.get("properties", {})
    assert isinstance(properties, dict)
    return properties


def _wanted(schema: Mapping[str, object]) -> str:
    return str(schema.get("description") or _NAMES.get(str(schema.get("type")), "a value"))


def _known(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name[:80], known, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; known are {', '.join(known)}" if known else "; this tool takes none"


def _fits(value: object, kind: str) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return not isinstance(value, bool) and (
                isinstance(value, int) or (isinstance(value, float) and value.is_integer())
            )
        case "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case _:
            return True


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "…"
