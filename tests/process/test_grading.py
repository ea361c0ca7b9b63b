"""The grader as a process: what it hands out, and how it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.record.home import Home, RunFolder
from evaluation.errors import GraderFailed
from evaluation.grade import grade
from evaluation.job import GradingProgress
from tests.process.grading_jobs import ALWAYS_0, job_for, own_job, read_lines, run_with, score_of

BATTLE = "mlgym/battle_of_sexes"
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


KEEPING = """
def grade(submission, private, *, split, options, report):
    files = {"lm_eval_mmlu.json": '{"results": 1}', "../outside.json": "x", "long.txt": "x" * 9_000_000}
    return {"value": 1.0, "files": files}
"""


def test_what_a_measuring_tool_wrote_is_kept_beside_the_score_and_nowhere_else(tmp_path: Path) -> None:
    kept = tmp_path / "run" / "gradings" / "1-test"
    score = grade(
        own_job(tmp_path, KEEPING), scale="smoke", isolation="local", on_progress=lambda progress: None, keep=kept
    )
    assert score.files == ("1-test/lm_eval_mmlu.json",)
    assert [file.name for file in kept.iterdir()] == ["lm_eval_mmlu.json"]
    assert (kept / "lm_eval_mmlu.json").read_text() == '{"results": 1}'
    assert not list(tmp_path.rglob("outside.json"))
