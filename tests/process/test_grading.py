"""The grader as a process: what it hands out, and that no cheat gains anything."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.record.home import Home, RunFolder
from agent.record.values import Score
from evaluation.errors import GraderFailed
from evaluation.grade import grade
from evaluation.job import GradingProgress
from tests.process.grading_jobs import ALWAYS_0, job_for, own_job, played, read_lines, run_with, score_of

BATTLE, DILEMMA = "mlgym/battle_of_sexes", "mlgym/prisoners_dilemma"
OPTIMUM = 1.44


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").ensure()


def grader(run: RunFolder, *more: str) -> list[str]:
    return [sys.executable, "-m", "evaluation.grade", str(run.path), "--snapshot", "1", *more]


def test_a_solution_is_scored_above_the_baseline_on_both_splits(home: Home) -> None:
    run = run_with(home, BATTLE, {"strategy.py": ALWAYS_0})
    scores = {}
    for split in ("dev", "test"):
        ran = subprocess.run(grader(run, "--split", split), capture_output=True, check=True)
        lines = read_lines(ran.stdout)
        assert [line.score is not None for line in lines].index(True) == len(lines) - 1
        assert lines[0].progress is not None
        assert lines[-1].score is not None
        scores[split] = lines[-1].score
    for split, score in scores.items():
        assert (score.split, score.scale, score.isolation) == (split, "smoke", "local")
        assert score.valid
        assert score.beats_baseline
        assert score.value == pytest.approx(OPTIMUM, abs=0.03)
    assert scores["dev"].value != scores["test"].value
    assert scores["test"].details["games"] == 10_000


def test_the_result_goes_to_the_descriptor_that_was_asked_for(home: Home) -> None:
    run = run_with(home, BATTLE, {})
    reading, writing = os.pipe()
    with open(reading, "rb") as result:
        ran = subprocess.run(
            grader(run, "--result-fd", str(writing)), pass_fds=(writing,), capture_output=True, check=True
        )
        os.close(writing)
        lines = read_lines(result.read())
    assert ran.stdout == b""
    assert [line.score.untouched for line in lines if line.score] == [True]


def test_grading_again_gives_the_same_score(tmp_path: Path) -> None:
    job = job_for(
        BATTLE, tmp_path, {"strategy.py": "import random\ndef row_strategy(h): return random.randint(0, 1)\n"}
    )
    assert score_of(job) == score_of(job)


def test_data_that_is_not_there_is_the_grader_s_trouble_not_a_score(home: Home) -> None:
    run = run_with(home, BATTLE, {"strategy.py": ALWAYS_0})
    for folder in home.data.iterdir():
        folder.rename(home.path / "elsewhere")
    ran = subprocess.run(grader(run), capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (7, "")
    assert "private data of mlgym/battle_of_sexes" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_broken_grader_is_told_from_a_bad_submission(tmp_path: Path) -> None:
    job = job_for(BATTLE, tmp_path, {"strategy.py": ALWAYS_0})
    (job.private / "test" / "opponent.json").write_text("{}")
    with pytest.raises(GraderFailed, match="the grader broke: KeyError"):
        score_of(job)


def test_a_grader_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    job = job_for(BATTLE, tmp_path, {"strategy.py": ALWAYS_0}, games=10_000_000, timeout_s=2)
    began = time.monotonic()
    with pytest.raises(GraderFailed, match="not done after 2 s"):
        score_of(job)
    assert time.monotonic() - began < 30


def test_a_grader_that_is_ended_takes_its_processes_along(home: Home) -> None:
    hanging = "import itertools\ndef row_strategy(h):\n    for _ in itertools.count(): pass\n"
    run = run_with(home, BATTLE, {"strategy.py": hanging})
    process = subprocess.Popen(grader(run), stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b'{"progress"')
    inside = children_of(process.pid)
    assert inside
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 128 + signal.SIGTERM
    process.stdout.close()
    assert gone(inside, within_s=20)


def children_of(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def gone(pids: list[int], *, within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        os.sched_yield()
    return False


TELLING = """
import os
def grade(submission, private, *, split, options, report):
    report(1, 2, (private / split / "secret").read_text())
    raise ValueError(" ".join(f"{name}={value}" for name, value in sorted(os.environ.items())))
"""


def test_a_task_from_a_user_s_folder_is_graded_and_sees_no_key_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret")
    said: list[GradingProgress] = []
    score = grade(own_job(tmp_path, TELLING), scale="smoke", isolation="local", on_progress=said.append)
    assert [one.what for one in said] == ["private"]
    assert "PYTHONPATH" in score.error
    assert "ANTHROPIC" not in score.error
    assert "very-secret" not in score.error


# What cheats gain. Each of these was seen in published runs or is an obvious next try.

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
