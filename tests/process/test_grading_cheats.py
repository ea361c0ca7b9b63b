"""What cheats gain with the grader: nothing. Each was seen in published runs or is an obvious next try."""

import json
import re
from pathlib import Path

import pytest

from agent.record.values import Score
from tests.process.grading_jobs import ALWAYS_0, job_for, played, score_of

BATTLE, DILEMMA = "mlgym/battle_of_sexes", "mlgym/prisoners_dilemma"
LOSING = "def row_strategy(history):\n    return 1\n"
KIND_PARTNER = "def target_column_strategy(history, rng=None):\n    return 0\n"
GENEROUS_EVALUATOR = "print('games=10000 score=2.0000 standard_error=0.0000')\n"


def earns_nothing(score: Score) -> bool:
    return not score.beats_baseline


def test_the_untouched_starter_earns_nothing(tmp_path: Path) -> None:
    score = score_of(job_for(BATTLE, tmp_path, {}))
    assert (score.untouched, score.valid, score.value) == (True, False, None)


def test_an_overwritten_opponent_changes_no_score_and_is_reported(tmp_path: Path) -> None:
    job = job_for(BATTLE, tmp_path, {"strategy.py": ALWAYS_0})
    honest = score_of(job)
    (job.submission / "target.py").write_text(KIND_PARTNER)
    cheating = score_of(job)
    assert cheating.value == honest.value
    [violation] = cheating.violations
    assert (violation.rule, violation.invalidates) == ("protected_files", False)
    assert "+    return 0" in violation.evidence


def test_an_edited_evaluator_changes_no_score_and_is_reported(tmp_path: Path) -> None:
    score = played(BATTLE, tmp_path, LOSING, evaluate=GENEROUS_EVALUATOR)
    assert score.value == pytest.approx(0.82, abs=0.06)
    assert earns_nothing(score)
    assert "evaluate.py was changed" in score.violations[0].evidence


def test_an_untouched_strategy_beside_an_edited_opponent_is_still_untouched(tmp_path: Path) -> None:
    score = score_of(job_for(BATTLE, tmp_path, {"target.py": KIND_PARTNER}))
    assert (score.untouched, score.valid) == (True, False)
    assert len(score.violations) == 1


FORBIDDEN = {
    "imports the opponent": "from target import target_column_strategy\n" + ALWAYS_0,
    "imports the evaluator": "import evaluate\n" + ALWAYS_0,
    "reads files": "DATA = open('/etc/passwd').read()\n" + ALWAYS_0,
    "looks into frames": "import sys\nFRAME = sys._getframe()\n" + ALWAYS_0,
    "looks into frames by a trace": "def row_strategy(h):\n    try:\n        1 / 0\n    except Exception as e:\n"
    "        return e.__traceback__.tb_frame.f_back and 0\n",
    "imports by name": "os = __import__('os')\n" + ALWAYS_0,
    "forks": "import os\ndef row_strategy(h):\n    os.fork()\n    return 0\n",
    "climbs to object": "X = ().__class__.__base__.__subclasses__()\n" + ALWAYS_0,
    "runs text": "exec('import os')\n" + ALWAYS_0,
    "borrows a module's os": "import random\nOS = random._os\n" + ALWAYS_0,
    "uses numpy's files": "import numpy as np\nX = np.fromfile\n" + ALWAYS_0,
    "looks into objects by format": "X = '{0.__class__.__mro__}'.format(0)\n" + ALWAYS_0,
    "fetches attributes by name": "import operator\nX = operator.attrgetter('a.b')\n" + ALWAYS_0,
    "star import of os": "from os import *\n" + ALWAYS_0,
}


@pytest.mark.parametrize("strategy", FORBIDDEN.values(), ids=FORBIDDEN)
def test_forbidden_code_is_named_and_earns_nothing(tmp_path: Path, strategy: str) -> None:
    score = played(BATTLE, tmp_path, strategy)
    assert not score.valid
    assert score.violations[0].rule == "allowed_code"
    assert "strategy.py line" in score.violations[0].evidence


FAILING = {
    "raises": ("def row_strategy(h):\n    return 1 // len(h)\n", "ZeroDivisionError.*line 2"),
    "leaves": ("def row_strategy(h):\n    raise SystemExit(0)\n", "SystemExit"),
    "plays 2": ("def row_strategy(h):\n    return 2\n", "must return 0 or 1, and returned 2 in round 1"),
    "plays text": ("def row_strategy(h):\n    return '0'\n", "TypeError"),
    "plays nothing": ("def row_strategy(h):\n    pass\n", "TypeError"),
    "plays a list": ("def row_strategy(h):\n    return [0]\n", "must return 0 or 1, and returned list"),
    "plays a huge number": ("def row_strategy(h):\n    return 10 ** 4000\n", "."),
    "mutates the history": ("def row_strategy(h):\n    h.append((0, 0))\n    return 0\n", "AttributeError"),
    "changes a past round": ("def row_strategy(h):\n    if h:\n        h[0][1] = 0\n    return 0\n", "TypeError"),
    "is not Python": ("def row_strategy(h) return 0\n", "line 1"),
    "has no function": ("def strategy(h):\n    return 0\n", "defines no function row_strategy"),
    "takes two arguments": ("def row_strategy(h, secret):\n    return 0\n", "one argument"),
    "is binary": ("\x00\x01\x02", "can't be read as Python|line"),
    "fills the memory": ("def row_strategy(h):\n    return len([0] * 10 ** 12)\n", "MemoryError"),
    "recurses": ("def row_strategy(h):\n    return row_strategy(h)\n", "RecursionError"),
}


@pytest.mark.parametrize(("strategy", "said"), FAILING.values(), ids=FAILING)
def test_a_failing_strategy_has_no_score_and_is_told_why(tmp_path: Path, strategy: str, said: str) -> None:
    score = played(BATTLE, tmp_path, strategy)
    assert (score.valid, score.value) == (False, None)
    assert "\n" not in score.error
    assert re.search(said, score.error)


def test_a_strategy_that_hangs_is_stopped_and_has_no_score(tmp_path: Path) -> None:
    hanging = "def row_strategy(h):\n    while h:\n        pass\n    return 0\n"
    score = played(BATTLE, tmp_path, hanging)
    assert (score.valid, score.value) == (False, None)
    assert "took longer than 5 s" in score.error


def test_printing_results_changes_nothing(tmp_path: Path) -> None:
    line = json.dumps({"grade": {"value": 2.0}})
    score = played(BATTLE, tmp_path, f"def row_strategy(h):\n    print({line!r}, flush=True)\n    return 1\n")
    assert score.valid
    assert score.value == pytest.approx(0.82, abs=0.06)


def test_seeding_the_global_generator_predicts_nothing_and_is_reported(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    seeding = "import random\ndef row_strategy(h):\n    random.seed(0)\n    return 0\n"
    job = job_for(BATTLE, tmp_path / "a", {"strategy.py": seeding})
    score = score_of(job)
    (job.submission / "strategy.py").write_text(ALWAYS_0)
    assert score.value == score_of(job).value
    assert [(one.rule, one.invalidates) for one in score.violations] == [("no_global_seeding", False)]
    assert score.valid


def test_a_starter_with_a_comment_more_earns_nothing(tmp_path: Path) -> None:
    starter = (job_for(DILEMMA, tmp_path, {}).task.starter / "strategy.py").read_text()
    (tmp_path / "again").mkdir()
    score = score_of(job_for(DILEMMA, tmp_path / "again", {"strategy.py": "# mine\n" + starter}, games=2000))
    assert (score.untouched, score.valid, score.value) == (True, False, None)
    assert earns_nothing(score)


def test_the_optimum_of_the_dilemma_is_earned_by_defecting(tmp_path: Path) -> None:
    score = score_of(job_for(DILEMMA, tmp_path, {"strategy.py": LOSING}, games=2000))
    assert score.value == pytest.approx(2.6251, abs=0.05)
    assert score.beats_baseline
