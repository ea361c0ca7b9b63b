"""How long to wait before a model is asked again; whoever asks does the waiting, where people can see it."""

import random

MOST_ATTEMPTS = 30
"""With the delays below: some twenty-five minutes of patience, and enough for a storm of rate limits."""
FIRST_DELAY_S = 1.0
LONGEST_DELAY_S = 60.0
LONGEST_RETRY_AFTER_S = 3600.0
"""What a server may ask for at most; a mistaken header must not put a run to sleep for a year."""


def delay_s(attempt: int, retry_after_s: float | None, rng: random.Random) -> float:
    """Seconds to wait after failed attempt number `attempt`, which counts from 1.

    What the server asks for is kept, with up to a tenth (at most a second) on top, so that many runs that were
    turned away together do not come back together. Without it: 1, 2, 4 … at most 60 s, less up to half of it.
    """
    if retry_after_s is not None:
        wish_s = min(max(retry_after_s, 0.0), LONGEST_RETRY_AFTER_S)
        return wish_s + rng.random() * min(0.1 * wish_s, 1.0)
    # The exponent is bounded: 2.0 ** 2000 is an error, not a long time.
    longest_s = min(FIRST_DELAY_S * 2.0 ** min(max(attempt, 1) - 1, 16), LONGEST_DELAY_S)
    return longest_s * (1.0 - 0.5 * rng.random())
