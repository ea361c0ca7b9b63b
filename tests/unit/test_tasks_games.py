"""The games: their opponents are the published ones, and the grader's copy is the one that the agent reads."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from evaluation.games import History, own_opponent
from tasks import catalogue
from tasks.contract import load_file
from tasks.mlgym.battle_of_sexes.grade import PAYOFFS as BATTLE
from tasks.mlgym.prisoners_dilemma.grade import PAYOFFS as DILEMMA
from tasks.spec import Task

BATTLE_TASK, DILEMMA_TASK = catalogue.load("mlgym/battle_of_sexes"), catalogue.load("mlgym/prisoners_dilemma")


def share_of_zero(task: Task, history: History, *, draws: int = 20_000) -> float:
    opponent, rng = own_opponent(task.folder), random.Random(1)
    return sum(opponent(history, rng) == 0 for _ in range(draws)) / draws


def test_the_partner_opens_with_one_and_then_answers_the_first_move_alone() -> None:
    assert share_of_zero(BATTLE_TASK, ()) == 0
    for last in (0, 1):
        assert share_of_zero(BATTLE_TASK, ((0, 1), (last, 0))) == pytest.approx(0.8, abs=0.01)
        assert share_of_zero(BATTLE_TASK, ((1, 1), (last, 0))) == pytest.approx(0.2, abs=0.01)


def test_the_opponent_cooperates_at_first_in_seven_of_eleven() -> None:
    # Six rules open with 0, and two toss a coin.
    assert share_of_zero(DILEMMA_TASK, ()) == pytest.approx(7 / 11, abs=0.012)


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        # The published rules in their order: the noisy one first, then the other ten.
        (((0, 0),), (0.3333 + 0.4) / 11 + (1 + 1 + 0 + 0.5 + 1 + 1 + 1 + 1 + 0.5 + 1) / 11),
        (((1, 1),), (0.3333 + 0.1) / 11 + (0 + 1 + 0 + 0.5 + 0 + 1 + 1 + 0 + 0.5 + 0) / 11),
        (((1, 0), (1, 0)), (0.3333 + 0.4 + 0.1) / 11 + (0 + 1 + 0 + 0.5 + 0 + 0 + 0 + 0 + 0.5 + 1) / 11),
        (((1, 1), (0, 1)), 0.3333 / 11 + (1 + 1 + 0 + 0.5 + 0 + 0 + 1 + 1 + 0.5 + 1) / 11),
    ],
)
def test_the_opponent_s_mixture_is_the_published_one(history: History, expected: float) -> None:
    assert share_of_zero(DILEMMA_TASK, history) == pytest.approx(expected, abs=0.012)


@pytest.mark.parametrize("task", [BATTLE_TASK, DILEMMA_TASK], ids=["battle", "dilemma"])
def test_the_grader_s_opponent_moves_as_the_one_that_the_agent_reads(task: Task) -> None:
    target = load_file(task.starter / "target.py").target_column_strategy
    history: History = ()
    rng = random.Random(99)
    with global_seed(99):
        for number in range(200):
            move = target(history)
            assert own_opponent(task.folder)(history, rng) == move
            history = (*history[-8:], (number % 2, move))


@pytest.mark.parametrize(
    ("task", "payoffs"), [(BATTLE_TASK, BATTLE), (DILEMMA_TASK, DILEMMA)], ids=["battle", "dilemma"]
)
def test_the_agent_s_own_simulator_pays_as_the_grader_does(task: Task, payoffs: dict[tuple[int, int], float]) -> None:
    source = (task.starter / "evaluate.py").read_text()
    line = next(line for line in source.splitlines() if line.startswith("PAYOFF = "))
    assert eval(line.removeprefix("PAYOFF = ")) == payoffs


@contextmanager
def global_seed(seed: int) -> Iterator[None]:
    before = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(before)
