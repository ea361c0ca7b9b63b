"""Referees two-player repeated games: the strategy in its own process, the opponent and the record here."""

import hashlib
import json
import math
import random
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluation.code_rules import read_strategy
from evaluation.strategies import StrategyFailed, StrategyProcess
from tasks.contract import Broken, Grade, Options, Report, load_file

History = tuple[tuple[int, int], ...]
Opponent = Callable[[History, random.Random], int]
FUNCTION = "row_strategy"
KEY_FILE = "opponent.json"


@dataclass(frozen=True)
class Game:
    """A repeated game with two moves, 0 and 1."""

    opponent: Opponent
    payoffs: Mapping[tuple[int, int], float]
    """What the row player gets, by (row move, column move)."""
    rounds: int


def own_opponent(folder: Path) -> Opponent:
    """The opponent as the task ships it; what the agent made of its copy is never read."""
    strategy: Opponent = load_file(folder / "starter" / "target.py").target_column_strategy
    return strategy


def grade_game(submission: Path, private: Path, game: Game, *, split: str, options: Options, report: Report) -> Grade:
    """Play the split's number of games and average the payoff per round."""
    strategy = read_strategy(submission / "strategy.py", function=FUNCTION)
    if any(broken["rule"] == "allowed_code" for broken in strategy.violations):
        # Code that breaks this rule earns nothing, so there is no reason to run it.
        return {"value": math.nan, "violations": list(strategy.violations)}
    key = str(json.loads((private / split / KEY_FILE).read_text(encoding="utf-8"))["key"])
    scores, firsts = _play_all(strategy.source, strategy.modules, game, key, split, options, report)
    return _summary(scores, firsts, list(strategy.violations))


def _play_all(
    source: str,
    modules: tuple[str, ...],
    game: Game,
    key: str,
    split: str,
    options: Options,
    report: Report,
) -> tuple[list[float], list[float]]:
    games, batch = int(options[f"{split}_games"]), int(options["games_per_process"])
    scores: list[float] = []
    firsts: list[float] = []
    for start in range(0, games, batch):
        report(start, games, "games")
        count = min(batch, games - start)
        with StrategyProcess(
            source,
            function=FUNCTION,
            modules=modules,
            seed=_derived(key, f"row {start}"),
            timeout_s=float(options["batch_timeout_s"]),
        ) as player:
            for number in range(start, start + count):
                history = _play(player, game, random.Random(_derived(key, f"column {number}")))
                scores.append(sum(game.payoffs[moves] for moves in history) / game.rounds)
                firsts.append(sum(1 - row for row, _ in history) / game.rounds)
    report(games, games, "games")
    return scores, firsts


def _play(player: StrategyProcess, game: Game, rng: random.Random) -> History:
    """One game; the record kept here is the only one that counts."""
    history: History = ()
    theirs = 0
    for number in range(game.rounds):
        own = player.next_move(theirs) if number else player.first_move()
        if type(own) is not int or own not in (0, 1):
            shown = own if isinstance(own, int) else type(own).__name__
            raise StrategyFailed(f"{FUNCTION} must return 0 or 1, and returned {shown!s:.40} in round {number + 1}")
        theirs = game.opponent(history, rng)
        history = (*history, (own, theirs))
    return history


def _summary(scores: list[float], firsts: list[float], violations: list[Broken]) -> Grade:
    spread = statistics.stdev(scores) if len(scores) > 1 else 0.0
    return {
        "value": statistics.fmean(scores),
        "standard_error": spread / math.sqrt(len(scores)),
        "details": {"games": float(len(scores)), "share_of_move_0": statistics.fmean(firsts)},
        "violations": violations,
    }


def _derived(key: str, purpose: str) -> int:
    """A seed that tells nothing about the key or about any other seed."""
    return int.from_bytes(hashlib.sha256(f"{key} {purpose}".encode()).digest()[:8], "big")
