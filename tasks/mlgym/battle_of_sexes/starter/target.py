"""The partner: the column player of Battle of the Sexes."""

import random


def target_column_strategy(history, rng=random):
    """The partner's next move, 0 or 1, given all earlier rounds as (row move, column move) pairs."""
    if not history:
        return 1
    first_row_move = history[0][0]
    other = 1 - first_row_move
    return first_row_move if rng.random() < 0.8 else other
