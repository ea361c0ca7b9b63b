"""Amounts as people write them: `30m`, `+1h`, `2M`, `$5`; read here and written here."""

import re
from collections.abc import Sequence

from agent.record.values import Limits
from tasks.errors import UsageError

_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_COUNTS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd])", re.IGNORECASE)
NAMES = ("time", "steps", "cost", "tokens")
_FIELDS = {"time": "time_s", "steps": "steps", "cost": "cost_usd", "tokens": "tokens"}


def duration_s(text: str) -> float:
    """Seconds out of `90`, `30m`, `1h30m`, `1.5 d`."""
    text = text.strip()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = _DURATION_PART.findall(text)
    if not parts or _DURATION_PART.sub("", text).strip():
        raise UsageError(f"{text!r} is no duration", hint="write 90s, 30m, 1h30m or 2d")
    return sum(float(number) * _SECONDS[unit.lower()] for number, unit in parts)


def count(text: str) -> int:
    """A number out of `50`, `200k`, `2M`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?)", text.strip(), re.IGNORECASE)
    if not match:
        raise UsageError(f"{text!r} is no number", hint="write 50, 200k or 2M")
    return int(float(match[1]) * _COUNTS[match[2].lower()])


def given_limits(own: Limits, assignments: Sequence[str]) -> Limits:
    """The limits of a run to be launched: the task's own but for those that are given, which must be amounts."""
    for assignment in assignments:
        name, _, text = assignment.partition("=")
        if text.strip()[:1] in ("+", "-"):
            raise UsageError(
                f"{assignment!r} changes a limit, and there is none yet", hint=f"write {name}={text.strip()[1:]}"
            )
    limits = changed_limits(own, assignments)
    for name, field in _FIELDS.items():
        if getattr(limits, field) == 0:
            raise UsageError(f"a limit of {name}=0 ends the run before it begins", hint=f"{name}=none takes it away")
    return limits


def changed_limits(old: Limits, assignments: Sequence[str]) -> Limits:
    """The limits after `time=30m`, `steps=+10`, `cost=5`, `tokens=none`; `+` and `-` are meant from the old value."""
    values = {field: getattr(old, field) for field in _FIELDS.values()}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals or name not in _FIELDS:
            raise UsageError(f"{assignment!r} is no limit", hint="limits are time=30m steps=50 cost=5 tokens=2M")
        values[_FIELDS[name]] = _changed(values[_FIELDS[name]], name, text.strip())
    return Limits(**values)


def _changed(old: float | None, name: str, text: str) -> float | int | None:
    if text.lower() in ("none", "off"):
        return None
    sign = text[:1] if text[:1] in "+-" else ""
    amount = _amount(name, text.removeprefix(sign).strip().removeprefix("$"))
    if not sign:
        return amount
    if old is None:
        raise UsageError(f"{name} has no limit to add to", hint=f"write {name}={text.removeprefix(sign)}")
    changed = old + amount if sign == "+" else old - amount
    if changed < 0:
        raise UsageError(f"{name} would fall below zero")
    return changed if name in ("time", "cost") else int(changed)


def _amount(name: str, text: str) -> float | int:
    if name == "time":
        return duration_s(text)
    if name != "cost":
        return count(text)
    try:
        return float(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is no amount of money", hint="write cost=5 or cost=0.50") from error
