"""Builds the JSON schema of a tool's arguments."""

from collections.abc import Mapping

Schema = dict[str, object]


def arguments_schema(properties: Mapping[str, Schema], required: tuple[str, ...] = ()) -> Schema:
    """An object with these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def string(description: str) -> Schema:
    """A string argument."""
    return {"type": "string", "description": description}


def whole(description: str, minimum: int) -> Schema:
    """A whole-number argument."""
    return {"type": "integer", "description": description, "minimum": minimum}


def seconds(description: str) -> Schema:
    """A time-out argument."""
    return {"type": "number", "description": description, "exclusiveMinimum": 0}
