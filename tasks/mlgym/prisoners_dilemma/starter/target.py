"""The opponent: the column player of the Prisoner's Dilemma. 0 is to cooperate, 1 is to defect.

Before each of its moves it draws one of eleven rules, each as likely as the others.
"""

import random


def noisy_random(rows, columns, rng):
    """Mostly repeats its own last move, with some noise."""
    if not rows:
        return 1
    draw = rng.random()
    if draw < 0.3333:
        return 0
    if draw < 0.5:
        return 1
    return columns[-1] if draw < 0.9 else 1 - rows[-1]


def tit_for_tat(rows, columns, rng):
    """Starts kindly, then answers in kind."""
    return rows[-1] if rows else 0


def always_cooperate(rows, columns, rng):
    return 0


def always_defect(rows, columns, rng):
    return 1


def fair_coin(rows, columns, rng):
    return 0 if rng.random() < 0.5 else 1


def grim(rows, columns, rng):
    """Cooperates until the row player has ever defected."""
    return 1 if 1 in rows else 0


def pavlov(rows, columns, rng):
    """Cooperates at first and wherever both did the same last time."""
    return 0 if not rows or rows[-1] == columns[-1] else 1


def tit_for_two_tats(rows, columns, rng):
    """Defects only after two defections in a row."""
    return 1 if rows[-2:] == [1, 1] else 0


def suspicious_tit_for_tat(rows, columns, rng):
    """Starts with a defection, then answers in kind."""
    return rows[-1] if rows else 1


def second_coin(rows, columns, rng):
    return 0 if rng.random() < 0.5 else 1


def forgiving_tit_for_tat(rows, columns, rng):
    """Answers in kind, but lets two defections in a row pass."""
    if not rows or rows[-2:] == [1, 1]:
        return 0
    return rows[-1]


RULES = (
    noisy_random,
    tit_for_tat,
    always_cooperate,
    always_defect,
    fair_coin,
    grim,
    pavlov,
    tit_for_two_tats,
    suspicious_tit_for_tat,
    second_coin,
    forgiving_tit_for_tat,
)


def target_column_strategy(history, rng=random):
    """The opponent's next move, given all earlier rounds as (row move, column move) pairs."""
    rows = [row for row, _ in history]
    columns = [column for _, column in history]
    return rng.choice(RULES)(rows, columns, rng)
