"""Grades in a container on another machine: what a grader may read is carried there, its results are fetched."""

import io
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from agent.errors import SandboxUnavailable
from agent.sandbox import tickets
from agent.sandbox.engine import client, docker_answers
from evaluation.daemon_wait import DaemonWait
from evaluation.errors import GraderFailed
from evaluation.in_container import DEFAULT_IMAGE, LINES, RESULT, ROOT, fresh_name, remove, settings, shown
from evaluation.job import Found, Job, OnProgress, Results

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

_POLL_S = 0.5
_PING_S = 5.0
_IN_MEMORY_BYTES = 8 * 1024**2


def grade_afar(job: Job, on_progress: OnProgress, image: str, daemon: Path) -> Found:
    """Run the task's grader over there; raises `GraderFailed` where it gives no result."""
    import docker.errors
    import requests

    wait = DaemonWait(on_progress, daemon)
    while True:
        try:
            with client(daemon) as over_there:
                return _grade(over_there, job, Results(on_progress), image or DEFAULT_IMAGE, daemon, wait)
        except SandboxUnavailable as error:
            if docker_answers(daemon, _PING_S):
                raise GraderFailed(f"docker could not run the grader: {error.message}", hint=error.hint) from error
            wait.until_back(error)
        except docker.errors.APIError as error:
            raise GraderFailed(f"docker could not run the grader: {error}", hint="mlrb hosts") from error
        except (docker.errors.DockerException, requests.RequestException) as error:
            wait.until_back(error)


def _grade(over_there: "DockerClient", job: Job, results: Results, image: str, daemon: Path, wait: DaemonWait) -> Found:
    # Nothing of this machine can be mounted there. A volume of its own takes files though all else is closed to
    # writing; it goes with the container.
    options = {"volumes": [ROOT], **settings(job)}
    container = tickets.make(over_there, image, fresh_name(job), options, daemon)
    try:
        with _packed(job) as archive:
            container.put_archive(ROOT, archive)
        container.start()
        ended = _follow(container, results, time.monotonic() + job.timeout_s, wait)
        last_words = wait.patiently(lambda: container.logs(tail=20)).decode(errors="replace")
    finally:
        wait.patiently(lambda: remove(container))
    return results.outcome(ended, last_words)


def _follow(container: "Container", results: Results, deadline: float, wait: DaemonWait) -> str:
    """Fetch the results again and again until the container has ended, which it does by itself; how it did."""
    before_s, seen = wait.waited_s, 0
    while True:
        wait.patiently(container.reload)
        running = container.status in ("created", "running")
        lines = wait.patiently(lambda: _fetched(container))
        results.feed(lines[seen:])
        seen = len(lines)
        if not running:
            state: dict[str, Any] = container.attrs["State"]
            return "out of memory" if state.get("OOMKilled") else f"exit code {state.get('ExitCode')}"
        if time.monotonic() > deadline + wait.waited_s - before_s:
            return "not done in time"
        time.sleep(_POLL_S)


def _fetched(container: "Container") -> bytes:
    pieces, _ = container.get_archive(LINES)
    with tarfile.open(fileobj=io.BytesIO(b"".join(pieces))) as archive:
        for entry in archive:
            if (file := archive.extractfile(entry)) is not None:
                return file.read()
    return b""


@contextmanager
def _packed(job: Job) -> Iterator[IO[bytes]]:
    """All that a grader may read, and the empty file that its results go to; root's, as are those that grade."""
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES) as spooled:
        _pack(job, spooled)
        spooled.seek(0)
        yield spooled


def _pack(job: Job, file: IO[bytes]) -> None:
    with tarfile.open(fileobj=file, mode="w") as archive:
        for inside, here in shown(job).items():
            archive.add(here, _below_root(inside), filter=_roots)
        results = tarfile.TarInfo(_below_root(RESULT))
        results.type, results.mode = tarfile.DIRTYPE, 0o700
        archive.addfile(results)
        archive.addfile(tarfile.TarInfo(_below_root(LINES)))


def _below_root(path: str) -> str:
    return path.removeprefix(f"{ROOT}/")


def _roots(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if entry.name.endswith("/__pycache__"):
        return None
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry
