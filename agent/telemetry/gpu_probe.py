"""Reads the GPUs from a process of its own: a driver that hangs takes that process with it, and never a runner.

A thread would not do: the kernel lets nobody end a process while one of its threads is stuck in a driver.
"""

import argparse
import contextlib
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from pathlib import Path

import msgspec

from agent.record.redact import without_secrets
from agent.record.values import Gpu
from agent.telemetry.gpu import open_gpus
from agent.telemetry.gpu_owners import Owner

WAIT_S = 1.0
PATIENCE_S = 5.0
_MOST_BYTES = 4 * 1024**2


class GpuProbe:
    """Asks its process for samples. All calls take bounded time; those that ask may block, so make them in a thread."""

    def __init__(self, run: str = "", container_id: str = "", wanted: Collection[str] | None = None) -> None:
        self._arguments = [run, container_id, "all" if wanted is None else ",".join(sorted(wanted))]
        self._process: subprocess.Popen[bytes] | None = None
        self._answered = bytearray()
        self._asked_at: float | None = None
        self._lock = threading.Lock()
        self._last: tuple[Gpu, ...] = ()
        self.absent = False
        """There is no GPU that could be read."""

    @property
    def pid(self) -> int | None:
        """The number of its process."""
        return self._process.pid if self._process is not None else None

    def sample(self, wait_s: float = WAIT_S, patience_s: float = PATIENCE_S) -> tuple[Gpu, ...]:
        """What the GPUs are at; empty where there are none, or none is known yet.

        Blocks for `wait_s` at most. A driver that has not answered by then is asked again with the next call, and once
        it has not for `patience_s` the GPUs are n/a.
        """
        if self.absent:
            return ()
        with self._lock:
            if self._process is None:
                self._process, self._asked_at = self._started(), time.monotonic()
            elif self._asked_at is None:
                self._ask(self._process)
            line = self._line(self._process, wait_s)
            if line is None:
                hangs = self._asked_at is not None and time.monotonic() - self._asked_at >= patience_s
                return self._unknown() if hangs else self._last
            self._asked_at = None
            if line:
                self._last = msgspec.json.decode(line, type=tuple[Gpu, ...])
                return self._last
            # It has ended: at once where there is no GPU, later where the driver took it along.
            self.absent = not self._last
            self._let_go()
            return self._unknown()

    def _unknown(self) -> tuple[Gpu, ...]:
        return tuple(Gpu(index=gpu.index, name=gpu.name, uuid=gpu.uuid, mig=gpu.mig) for gpu in self._last)

    def close(self) -> None:
        """End the process; one that hangs in the driver is not waited for."""
        process = self._process
        if process is None:
            return
        # Whoever waits for an answer in another thread hears of the end by it.
        process.kill()
        if self._lock.acquire(timeout=1.0):
            self._let_go()
            self._lock.release()

    def _let_go(self) -> None:
        process, self._process = self._process, None
        self._answered.clear()
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.5)

    def _started(self) -> "subprocess.Popen[bytes]":
        known = os.environ.get("PYTHONPATH", "")
        here = str(Path(__file__).parents[2])
        paths = os.pathsep.join(part for part in (here, known) if part)
        return subprocess.Popen(
            [sys.executable, "-m", "agent.telemetry.gpu_probe", *self._arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/",
            env={**without_secrets(), "PYTHONPATH": paths}, start_new_session=True, bufsize=0,
        )  # fmt: skip

    def _ask(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"\n")
        self._asked_at = time.monotonic()

    def _line(self, process: "subprocess.Popen[bytes]", patience_s: float) -> bytes | None:
        """The next answer; None where it does not come in time, empty where the process has ended."""
        assert process.stdout is not None
        deadline = time.monotonic() + patience_s
        while b"\n" not in self._answered:
            left_s = deadline - time.monotonic()
            if left_s <= 0 or not select.select([process.stdout], [], [], left_s)[0]:
                return None
            data = os.read(process.stdout.fileno(), 65_536)
            if not data or len(self._answered) > _MOST_BYTES:
                return b""
            self._answered += data
        line, _, rest = bytes(self._answered).partition(b"\n")
        self._answered = bytearray(rest)
        return line


def main(arguments: list[str] | None = None) -> None:
    """Answer each line on stdin with a sample; end with it, or at once where there is no GPU."""
    parser = argparse.ArgumentParser(prog="python -m agent.telemetry.gpu_probe")
    parser.add_argument("run")
    parser.add_argument("container_id")
    parser.add_argument("wanted")
    given = parser.parse_args(arguments)
    wanted = None if given.wanted == "all" else {uuid for uuid in given.wanted.split(",") if uuid}
    owner = Owner(given.run, given.container_id) if given.run else None
    reader = open_gpus(owner, wanted)
    if reader is None:
        return
    while True:
        sys.stdout.buffer.write(msgspec.json.encode(reader.sample()) + b"\n")
        sys.stdout.buffer.flush()
        if not sys.stdin.buffer.readline():
            return


if __name__ == "__main__":
    main()
