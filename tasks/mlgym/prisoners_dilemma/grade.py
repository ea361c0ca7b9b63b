"""Grades a strategy: the mean payoff per round over the split's games, against the grader's own opponent."""

from pathlib import Path

from evaluation.games import Game, grade_game, own_opponent
from tasks.contract import Grade, Options, Report

PAYOFFS = {(0, 0): 3.0, (0, 1): 0.0, (1, 0): 5.0, (1, 1): 1.0}


def grade(submission: Path, private: Path, *, split: str, options: Options, report: Report) -> Grade:
    """Play the games of a split."""
    game = Game(opponent=own_opponent(Path(__file__).parent), payoffs=PAYOFFS, rounds=int(options["rounds"]))
    return grade_game(submission, private, game, split=split, options=options, report=report)
