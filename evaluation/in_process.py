"""Grades in a process of its own on this machine: apart from the agent's process, but not isolated from its machine."""

import contextlib
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from evaluation.job import SOURCES, Found, Job, OnProgress, Results

NAME = "local"
_LAST_WORDS = 8192
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV")


def grade_in_process(job: Job, on_progress: OnProgress) -> Found:
    """Run the task's grader; raises `GraderFailed` where it gives no result."""
    results = Results(on_progress)
    with tempfile.TemporaryDirectory(prefix="mlrb-grade-") as scratch:
        reading, writing = os.pipe()
        with open(reading, "rb", buffering=0) as channel, open(Path(scratch) / "output", "w+b") as output:
            process = _start(job, writing, output.fileno(), Path(scratch))
            in_time = False
            try:
                in_time = _follow(channel.fileno(), results, time.monotonic() + job.timeout_s)
            finally:
                ended = _end(process, patience_s=5.0 if in_time else 0.0)
            output.seek(max(0, os.fstat(output.fileno()).st_size - _LAST_WORDS))
            last_words = output.read().decode(errors="replace")
    if not in_time:
        ended = f"not done after {job.timeout_s:g} s"
    return results.outcome(ended, last_words)


def _start(job: Job, channel: int, output: int, scratch: Path) -> subprocess.Popen[bytes]:
    work = scratch / "work"
    work.mkdir()
    arguments = job.inside(str(job.submission), str(job.private), str(job.task.folder))
    try:
        return subprocess.Popen(
            [sys.executable, "-B", "-m", "evaluation.inside", arguments, f"fd:{channel}"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=work,
            env=_environment(work),
            pass_fds=(channel,),
            start_new_session=True,
            preexec_fn=_limit,
        )
    finally:
        os.close(channel)


def _follow(channel: int, results: Results, deadline: float) -> bool:
    """Read the channel to its end; False where the time was up before."""
    while (left_s := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([channel], [], [], left_s)
        if not ready:
            continue
        piece = os.read(channel, 65536)
        if not piece:
            return True
        results.feed(piece)
    return False


def _end(process: subprocess.Popen[bytes], *, patience_s: float) -> str:
    """End the whole process group; how the grader had ended by itself."""
    try:
        code = process.wait(timeout=patience_s)
    except subprocess.TimeoutExpired:
        code = None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return "it was stopped" if code is None else f"exit code {code}"


def _environment(home: Path) -> dict[str, str]:
    """What a grader may know of our environment: no keys, no settings."""
    own = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return own | offline_environment() | {"HOME": str(home), "TMPDIR": str(home), "PYTHONPATH": str(SOURCES)}


def offline_environment() -> dict[str, str]:
    """Variables that keep libraries from asking a network that is not there."""
    return {
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
