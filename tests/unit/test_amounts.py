"""Amounts mean what a person who types them means."""

import pytest

from agent.record.values import Limits
from mlrb_tui.control.amounts import changed_limits, count, duration_s
from tasks.errors import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("30m", 1800), ("1h30m", 5400), ("1.5 d", 129600), ("2H", 7200)]
)
def test_durations(text: str, seconds: float) -> None:
    assert duration_s(text) == seconds


@pytest.mark.parametrize(("text", "number"), [("50", 50), ("200k", 200_000), ("2M", 2_000_000), ("1.5m", 1_500_000)])
def test_counts(text: str, number: int) -> None:
    assert count(text) == number


@pytest.mark.parametrize("text", ["", "abc", "5x", "1h nonsense", "-5"])
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        duration_s(text)


def test_plus_and_minus_are_meant_from_the_old_value() -> None:
    old = Limits(time_s=600, steps=10, cost_usd=1.0)
    assert changed_limits(old, ["time=+10m", "steps=-3", "cost=+0.5"]) == Limits(time_s=1200, steps=7, cost_usd=1.5)
    assert changed_limits(old, ["time=none", "tokens=2M"]) == Limits(steps=10, cost_usd=1.0, tokens=2_000_000)


@pytest.mark.parametrize("assignment", ["steps", "speed=3", "tokens=+5k", "steps=-11", "cost=abc"])
def test_what_cannot_be_is_refused(assignment: str) -> None:
    with pytest.raises(UsageError):
        changed_limits(Limits(steps=10), [assignment])
