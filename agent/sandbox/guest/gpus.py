"""GPU samples for the host, taken in a thread of their own: a driver that hangs must not stop the guest."""

from __future__ import annotations

import threading
import time

from .nvml import Nvml

PATIENCE_S = 5.0
"""A sample that takes longer makes the GPUs n/a until the driver answers again."""


class Gpus:
    """Answers at once with the newest sample, and has the next one taken; the first answer is empty."""

    def __init__(self) -> None:
        self._sample: list[dict[str, object]] | None = []
        self._asked = threading.Event()
        self._began: float | None = None
        self._thread: threading.Thread | None = None

    def sample(self) -> list[dict[str, object]] | None:
        """The GPUs; None where there is no driver or it hangs."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()
        self._asked.set()
        if self._began is not None and time.monotonic() - self._began > PATIENCE_S:
            return None
        return self._sample

    def _work(self) -> None:
        try:
            self._began = time.monotonic()
            nvml = Nvml()
        except OSError:
            self._sample = None
            return
        finally:
            self._began = None
        while True:
            self._asked.wait()
            self._asked.clear()
            self._began = time.monotonic()
            self._sample = nvml.sample()
            self._began = None
