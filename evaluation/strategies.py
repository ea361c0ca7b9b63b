"""Talks with a strategy that runs in a process of its own (`evaluation.player`) and can't reach its grader.

The strategy sees neither private data nor the result channel: it holds two pipes, no file, and where the grader has
the power another user's rights. What it sends back is bounded, in turn, and checked by who asked.
"""

import contextlib
import ctypes
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

PLAYER = Path(__file__).with_name("player.py")
LONGEST_ANSWER = 4096
START_TIMEOUT_S = 60.0
MEMORY_BYTES = 2 * 1024**3
PR_SET_DUMPABLE = 4
# What nearly every message is; a game is a hundred thousand of them.
_SHORT: dict[int | None, bytes] = {None: b"null\n", 0: b"0\n", 1: b"1\n"}
_MOVES = {b"0\n": 0, b"1\n": 1}


class StrategyFailed(ValueError):
    """The strategy crashed, hung or answered nonsense; one line says which."""


class StrategyProcess:
    """One process that plays a batch of games with one strategy."""

    def __init__(self, source: str, *, function: str, modules: Sequence[str], seed: int, timeout_s: float) -> None:
        self._source = source
        self._settings = {
            "function": function,
            "modules": list(modules),
            "seed": seed,
            "cpu_s": timeout_s + 1,
            "memory_bytes": MEMORY_BYTES,
        }
        self._timeout_s = timeout_s
        self._deadline = 0.0
        self._watchdog = threading.Timer(0.0, int)

    def __enter__(self) -> Self:
        hide_from_children()
        self._answers, theirs = os.pipe()
        try:
            with _as_root():
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-B", "-c", PLAYER.read_text(), self._arguments(theirs)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(theirs,),
                    cwd="/",
                    env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
                )
        finally:
            os.close(theirs)
        try:
            self._begin()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._end()

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def first_move(self) -> object:
        """A new game: the strategy's move in round one."""
        return self._ask(None)

    def next_move(self, theirs: object) -> object:
        """The strategy's next move, now that the opponent's last one is known."""
        return self._ask(theirs)

    def _arguments(self, answers: int) -> str:
        return json.dumps({**self._settings, "answers": answers})

    def _begin(self) -> None:
        assert self._process.stdin is not None
        self._requests = self._process.stdin.fileno()
        self._allow(START_TIMEOUT_S)
        try:
            if self._receive() != "ready":
                raise StrategyFailed("not ready")
        except StrategyFailed as error:
            # Nothing of the strategy has run yet, so this is no fault of its author.
            raise RuntimeError("the process for the strategy could not be started") from error
        self._allow(self._timeout_s)
        if self._ask(self._source) != "loaded":
            raise StrategyFailed("strategy.py answered before it was asked")

    def _allow(self, seconds: float) -> None:
        """From now on so much time; ending the process ends a read that waits on it, so no read needs a clock."""
        self._watchdog.cancel()
        self._watchdog = threading.Timer(seconds, self._kill)
        self._watchdog.daemon = True
        self._watchdog.start()
        self._deadline = time.monotonic() + seconds

    def _end(self) -> None:
        self._watchdog.cancel()
        self._kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        os.close(self._answers)

    def _kill(self) -> None:
        with _as_root():
            self._process.kill()

    def _ask(self, request: object) -> object:
        self._send(request)
        return self._receive()

    def _send(self, request: object) -> None:
        data = _SHORT.get(request) if isinstance(request, int | None) else None
        data = data or json.dumps(request).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self._requests, data) :]
        except BrokenPipeError as error:
            raise self._gone() from error

    def _receive(self) -> object:
        pending = os.read(self._answers, LONGEST_ANSWER)
        if pending in _MOVES:
            return _MOVES[pending]
        while not pending.endswith(b"\n"):
            piece = os.read(self._answers, LONGEST_ANSWER)
            if not piece:
                raise self._gone()
            pending += piece
            if len(pending) > LONGEST_ANSWER:
                break
        return _read_answer(pending)

    def _gone(self) -> StrategyFailed:
        if time.monotonic() >= self._deadline:
            return StrategyFailed(f"strategy.py took longer than {self._timeout_s:g} s over a batch of games")
        return StrategyFailed("strategy.py ended its process")


def _read_answer(line: bytes) -> object:
    try:
        value = json.loads(line) if len(line) <= LONGEST_ANSWER else None
    except (ValueError, RecursionError) as error:
        raise StrategyFailed("strategy.py wrote to the grader's pipe out of turn") from error
    if value is None:
        raise StrategyFailed("strategy.py wrote to the grader's pipe out of turn")
    if isinstance(value, dict):
        raise StrategyFailed(f"strategy.py failed: {value.get('error', 'no reason given')}"[:400])
    return value


def hide_from_children() -> None:
    """Keep this process's memory and descriptors from others of the same user, through /proc or ptrace."""
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


@contextlib.contextmanager
def _as_root() -> Iterator[None]:
    """Root again for a moment, where the grader is root that reads as its files' owner: to start and end players."""
    acting = os.geteuid()
    if acting == 0 or os.getresuid()[2] != 0:
        yield
        return
    os.seteuid(0)
    try:
        yield
    finally:
        os.seteuid(acting)
