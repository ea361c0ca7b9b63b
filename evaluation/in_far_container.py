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
from agent.sandbox.engine import client
from evaluation.errors import GraderFailed
from evaluation.in_container import DEFAULT_IMAGE, LINES, RESULT, ROOT, fresh_name, settings, shown
from evaluation.job import Found, Job, OnProgress, Results

if TYPE_CHECKING:
    from docker.models.containers import Container

_POLL_S = 0.5
_OUTAGE_S = 600.0
"""How long the machine may be out of reach in the middle of a grading, which goes on there."""
_IN_MEMORY_BYTES = 8 * 1024**2


def grade_afar(job: Job, on_progress: OnProgress, image: str, daemon: Path) -> Found:
    """Run the task's grader over there; raises `GraderFailed` where it gives no result."""
    import docker.errors
    import requests

    image = image or DEFAULT_IMAGE
    with client(daemon) as over_there:
        try:
            # Nothing of this machine can be mounted there. A volume of its own takes files though all else is closed
            # to writing; it goes with the container.
            options = {"volumes": [ROOT], **settings(job)}
            container = tickets.make(over_there, image, fresh_name(job), options, daemon)
            try:
                with _packed(job) as archive:
                    container.put_archive(ROOT, archive)
                container.start()
                return _result(container, job, Results(on_progress))
            finally:
                container.remove(force=True, v=True)
        except SandboxUnavailable as error:
            raise GraderFailed(f"docker could not run the grader: {error.message}", hint=error.hint) from error
        except (docker.errors.DockerException, requests.RequestException) as error:
            raise GraderFailed(f"docker could not run the grader: {error}", hint="mlrb hosts") from error


def _result(container: "Container", job: Job, results: Results) -> Found:
    """Follow the results until the container has ended; an outage shorter than some minutes is waited out."""
    import requests

    deadline = time.monotonic() + job.timeout_s
    seen, answered_at = 0, time.monotonic()
    while True:
        try:
            container.reload()
            running = container.status in ("created", "running")
            lines = _fetched(container)
            last_words = "" if running else container.logs(tail=20).decode(errors="replace")
        except requests.ConnectionError:
            if time.monotonic() - answered_at > _OUTAGE_S:
                raise
            time.sleep(_POLL_S)
            continue
        answered_at = time.monotonic()
        results.feed(lines[seen:])
        seen = len(lines)
        if not running:
            state: dict[str, Any] = container.attrs["State"]
            ended = "out of memory" if state.get("OOMKilled") else f"exit code {state.get('ExitCode')}"
            return results.outcome(ended, last_words)
        if time.monotonic() > deadline:
            return results.outcome("not done in time", "")
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
