"""What a grader asks of the Docker daemon is asked again when the daemon comes back."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from agent.sandbox import outage
from agent.sandbox.engine import docker_answers
from evaluation.errors import GraderFailed
from evaluation.job import GradingProgress, OnProgress

_TELL_EVERY_S = 5.0
_LOOK_EVERY_S = 0.2
_MOST_TRIES = 20
"""A daemon that answers a ping and breaks off everything else is not waited for without end."""

T = TypeVar("T")


class DaemonWait:
    """Waits for a daemon that is away, and says so."""

    def __init__(self, on_progress: OnProgress, daemon: Path | None = None) -> None:
        self._on_progress = on_progress
        self._daemon = daemon
        self._tries = 0
        self.waited_s = 0.0
        """How long it was away, all outages together."""

    def patiently(self, work: Callable[[], T]) -> T:
        """What `work` gives; done again after an outage. What the daemon itself refuses is raised."""
        import requests
        from docker.errors import APIError, DockerException

        while True:
            try:
                return work()
            except APIError:
                raise
            except (requests.RequestException, DockerException) as error:
                self.until_back(error)

    def until_back(self, error: Exception) -> None:
        """Wait until it answers; raises `GraderFailed` where it does not."""
        self._tries += 1
        began_at = told_at = time.monotonic()
        self._tell()
        while not docker_answers(self._daemon):
            if time.monotonic() - began_at > outage.PATIENCE_S:
                raise GraderFailed(
                    f"the Docker daemon did not answer for {outage.PATIENCE_S:.0f} s", hint="`mlrb grade` grades again"
                ) from error
            if time.monotonic() - told_at > _TELL_EVERY_S:
                told_at = time.monotonic()
                self._tell()
            time.sleep(_LOOK_EVERY_S)
        self.waited_s += time.monotonic() - began_at
        if self._tries > _MOST_TRIES:
            raise GraderFailed(f"docker could not run the grader: {error}", hint="docker info") from error

    def _tell(self) -> None:
        self._on_progress(GradingProgress(0, 0, "waits for the Docker daemon", waiting=True))
