"""How long to wait, and what it costs."""

import random

import pytest

from agent.models.prices import cost_usd
from agent.models.retry import LONGEST_RETRY_AFTER_S, MOST_ATTEMPTS, delay_s
from agent.record.values import Usage

ANTHROPIC = "https://api.anthropic.com"
OPENAI = "https://api.openai.com/v1"
MILLION = 1_000_000


@pytest.mark.parametrize("asked_s", [0.0, 0.25, 2.0, 60.0, 600.0])
def test_never_earlier_than_the_server_asked_for(asked_s: float) -> None:
    for seed in range(100):
        assert asked_s <= delay_s(9, asked_s, random.Random(seed)) <= asked_s + min(0.1 * asked_s, 1.0)


def test_mistaken_header_does_not_put_a_run_to_sleep() -> None:
    assert delay_s(1, 1e12, random.Random(0)) <= LONGEST_RETRY_AFTER_S + 1
    assert delay_s(1, -5.0, random.Random(0)) == 0.0


@pytest.mark.parametrize("attempt", [*range(1, MOST_ATTEMPTS + 1), 0, -1, 10**6])
def test_waits_grow_and_stay_bounded(attempt: int) -> None:
    longest = min(2.0 ** min(max(attempt, 1) - 1, 10), 60.0)
    for seed in range(50):
        assert longest / 2 <= delay_s(attempt, None, random.Random(seed)) <= longest


def test_runs_turned_away_together_do_not_come_back_together() -> None:
    assert len({delay_s(3, 2.0, random.Random(seed)) for seed in range(20)}) == 20
    assert len({delay_s(3, None, random.Random(seed)) for seed in range(20)}) == 20


def test_cached_reads_and_writes_have_their_own_prices() -> None:
    # Claude Sonnet 4.5 a million tokens: input $3, cache read $0.30, cache write $3.75, output $15.
    usage = Usage(input_tokens=100_000, cache_read_tokens=60_000, cache_write_tokens=30_000, output_tokens=10_000)
    expected = (10_000 * 3 + 60_000 * 0.3 + 30_000 * 3.75 + 10_000 * 15) / MILLION
    assert cost_usd(usage, "claude-sonnet-4-5", ANTHROPIC) == pytest.approx(expected)


def test_reasoning_is_paid_as_output_and_not_twice() -> None:
    # GPT-5 a million tokens: input $1.25, cached input $0.125, output $10.
    usage = Usage(input_tokens=1_000, cache_read_tokens=500, output_tokens=800, reasoning_tokens=700)
    expected = (500 * 1.25 + 500 * 0.125 + 800 * 10) / MILLION
    assert cost_usd(usage, "gpt-5", OPENAI) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("model", "base_url"),
    [
        ("nobody-knows-it", OPENAI),
        ("gpt-5", "http://127.0.0.1:8080/v1"),
        ("smol", "http://gpu-box:8000/v1"),
        ("", OPENAI),
    ],
)
def test_unknown_price_is_unknown_and_not_zero(model: str, base_url: str) -> None:
    assert cost_usd(Usage(input_tokens=1_000), model, base_url) is None


def test_counts_that_do_not_add_up_still_have_a_price() -> None:
    usage = Usage(input_tokens=10, cache_read_tokens=500, cache_write_tokens=500, output_tokens=1)
    price = cost_usd(usage, "claude-sonnet-4-5", ANTHROPIC)
    assert price is not None
    assert 0 < price < 0.001
