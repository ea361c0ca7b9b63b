"""Your strategy: the row player. Only this file counts. 0 is to cooperate, 1 is to defect."""

import random


def row_strategy(history):
    """Your next move, 0 or 1.

    `history` is a tuple of (your move, opponent's move), one pair a round, empty in round one.
    """
    if not history:
        return 0 if random.random() < 0.5 else 1
    my_last, opponent_last = history[-1]
    draw = random.random()
    if opponent_last == 1:
        if draw < 0.75:
            return 1
        return my_last if draw < 0.9 else 0
    if draw < 0.6:
        return 0
    return my_last if draw < 0.9 else 1
