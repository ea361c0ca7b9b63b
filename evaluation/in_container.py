"""Grades in a fresh container without network: the submission, the split's private data and our sources read-only."""

import contextlib
import os
import secrets
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import SandboxUnavailable
from agent.sandbox import tickets
from agent.sandbox.containers import labels
from agent.sandbox.engine import daemon_socket, docker_answers
from evaluation.daemon_wait import DaemonWait
from evaluation.errors import GraderFailed
from evaluation.in_process import offline_environment
from evaluation.job import PACKAGES, SOURCES, Found, Job, OnProgress, Results

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

NAME = "docker"
DEFAULT_IMAGE = "mlrb:latest"
ROLE = "grader"
ROOT = "/grader"
_CODE, SUBMISSION, PRIVATE, TASK, RESULT = (
    f"{ROOT}/{name}" for name in ("code", "submission", "private", "task", "result")
)
LINES = f"{RESULT}/lines.jsonl"
_POLL_S = 0.1
_SCRATCH = "rw,nosuid,nodev,size=2g,mode=1777"


def grade_in_container(job: Job, on_progress: OnProgress, image: str = "") -> Found:
    """Run the task's grader in docker; raises `GraderFailed` where it gives no result."""
    import docker
    import docker.errors
    import requests

    wait = DaemonWait(on_progress)
    while True:
        try:
            with contextlib.closing(docker.from_env(timeout=60)) as client, _result_folder() as folder:
                return _grade(client, job, Results(on_progress), image or DEFAULT_IMAGE, folder, wait)
        except _EndedWithDaemon:
            continue
        except SandboxUnavailable as error:
            if docker_answers():
                raise GraderFailed(f"docker could not run the grader: {error.message}", hint=error.hint) from error
            wait.until_back(error)
        except docker.errors.APIError as error:
            raise GraderFailed(f"docker could not run the grader: {error}", hint="docker info") from error
        except (docker.errors.DockerException, requests.RequestException) as error:
            wait.until_back(error)


class _EndedWithDaemon(Exception):
    """The daemon was restarted and its container is no more, before it could say what it found."""


def _grade(client: "DockerClient", job: Job, results: Results, image: str, folder: Path, wait: DaemonWait) -> Found:
    lines = folder / "lines.jsonl"
    lines.touch(mode=0o600)
    container = tickets.make(
        client, image, fresh_name(job), {"mounts": _mounts(job, folder), **settings(job)}, daemon_socket()
    )
    try:
        container.start()
        with lines.open("rb") as channel:
            ended = _follow(container, channel.fileno(), results, time.monotonic() + job.timeout_s, wait)
        last_words = wait.patiently(lambda: container.logs(tail=20)).decode(errors="replace")
    finally:
        wait.patiently(lambda: remove(container))
    return results.outcome(ended, last_words)


def remove(container: "Container") -> None:
    """Have it gone; harmless where it is."""
    from docker.errors import NotFound

    # The answer to a first try may have been lost with the daemon.
    with contextlib.suppress(NotFound):
        container.remove(force=True, v=True)


def _follow(container: "Container", channel: int, results: Results, deadline: float, wait: DaemonWait) -> str:
    """Read the results as they are written until the container has ended; how it did."""
    before_s = wait.waited_s
    while True:
        wait.patiently(container.reload)
        running = container.status in ("created", "running")
        while piece := os.read(channel, 65536):
            results.feed(piece)
        away_s = wait.waited_s - before_s
        if not running:
            if away_s and not results.over:
                raise _EndedWithDaemon
            state: dict[str, Any] = container.attrs["State"]
            return "out of memory" if state.get("OOMKilled") else f"exit code {state.get('ExitCode')}"
        if time.monotonic() > deadline + away_s:
            wait.patiently(container.kill)
            return "not done in time"
        time.sleep(_POLL_S)


def fresh_name(job: Job) -> str:
    """A name for a grader's container."""
    return f"{tickets.NAME_PREFIX}{job.run}-{ROLE}-{secrets.token_hex(4)}"


def settings(job: Job) -> dict[str, Any]:
    """Everything off but what a grader needs: root's right to become someone lesser, and to end whom it started so."""
    arguments = job.inside(SUBMISSION, PRIVATE, TASK)
    memory = int(max(job.compute.memory_gb, 1.0) * 1024**3)
    return {
        "command": ["python3", "-B", "-m", "evaluation.inside", arguments, f"file:{LINES}"],
        "entrypoint": [],
        "working_dir": "/tmp",
        "user": "0:0",
        "environment": offline_environment() | {"PYTHONPATH": _CODE, "HOME": "/tmp"},
        "labels": labels(job.run, ROLE, job.home),
        "network_mode": "none",
        "cap_drop": ["ALL"],
        "cap_add": ["SETUID", "SETGID", "KILL"],
        "security_opt": ["no-new-privileges"],
        "read_only": True,
        "tmpfs": {"/tmp": _SCRATCH},
        "init": True,
        "mem_limit": memory,
        "memswap_limit": memory,
        "nano_cpus": int(max(job.compute.cpus, 1.0) * 1e9),
        "pids_limit": job.compute.processes,
        "shm_size": int(job.compute.shm_gb * 1024**3),
        "log_config": {"Type": "json-file", "Config": {"max-size": "1m"}},
    }


def shown(job: Job) -> dict[str, Path]:
    """What a grader may read, by where it finds it."""
    sources = {f"{_CODE}/{package}": SOURCES / package for package in PACKAGES}
    return sources | {
        SUBMISSION: job.submission, f"{PRIVATE}/{job.split}": job.private / job.split, TASK: job.task.folder,
    }  # fmt: skip


def _mounts(job: Job, folder: Path) -> list[Any]:
    from docker.types import Mount

    mounts = [Mount(inside, str(here.absolute()), type="bind", read_only=True) for inside, here in shown(job).items()]
    return [*mounts, Mount(RESULT, str(folder), type="bind")]


@contextlib.contextmanager
def _result_folder() -> Iterator[Path]:
    """A folder for the result alone, which no user but the grader's may enter."""
    with tempfile.TemporaryDirectory(prefix="mlrb-grade-") as folder:
        yield Path(folder)
