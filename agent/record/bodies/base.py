"""What every event's body is."""

from msgspec import Struct


class Body(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """What every event's body is."""
