"""Talks with a strategy that runs in a process of its own (`evaluation.player`) and can't reach its grader.

The strategy sees neither private data nor the result channel: it holds two pipes, no file, and where the grader has
the power another user's rights. What it sends back is bounded, in turn, and checked by who asked.
"""

import ctypes
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

PLAYER = Path(__file__).with_name("player.py")
LONGEST_ANSWER = 4096
START_TIMEOUT_S = 60.0
MEMORY_BYTES = 2 * 1024**3
PR_SET_DUMPABLE = 4


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

    def __enter__(self) -> Self:
        hide_from_children()
        self._answers, theirs = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-B", "-c", PLAYER.read_text(), self._arguments(theirs)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs,),
                cwd="/",
                env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
                preexec_fn=_take_back_root,
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

    def first_move(self) -> object:
        """A new game: the strategy's move in round one."""
        return self._ask(None)

    def next_move(self, theirs: object) -> object:
        """The strategy's next move, now that the opponent's last one is known."""
        return self._ask(theirs)

    def _arguments(self, answers: int) -> str:
        return json.dumps({**self._settings, "answers": answers})

    def _begin(self) -> None:
        self._poll = select.poll()
        self._poll.register(self._answers, select.POLLIN)
        assert self._process.stdin is not None
        self._requests = self._process.stdin.fileno()
        self._deadline = time.monotonic() + START_TIMEOUT_S
        try:
            if self._receive() != "ready":
                raise StrategyFailed("not ready")
        except StrategyFailed as error:
            # Nothing of the strategy has run yet, so this is no fault of its author.
            raise RuntimeError("the process for the strategy could not be started") from error
        self._deadline = time.monotonic() + self._timeout_s
        if self._ask(self._source) != "loaded":
            raise StrategyFailed("strategy.py answered before it was asked")

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        os.close(self._answers)

    def _ask(self, request: object) -> object:
        self._send(request)
        return self._receive()

    def _send(self, request: object) -> None:
        data = json.dumps(request).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self._requests, data) :]
        except BrokenPipeError as error:
            raise StrategyFailed("strategy.py ended its process") from error

    def _receive(self) -> object:
        pending = b""
        while not pending.endswith(b"\n"):
            left_ms = (self._deadline - time.monotonic()) * 1000
            if left_ms <= 0 or not self._poll.poll(left_ms):
                raise StrategyFailed(f"strategy.py took longer than {self._timeout_s:g} s over a batch of games")
            piece = os.read(self._answers, LONGEST_ANSWER)
            pending += piece
            if not piece:
                raise StrategyFailed("strategy.py ended its process")
            if len(pending) > LONGEST_ANSWER or pending.count(b"\n") > 1:
                raise StrategyFailed("strategy.py wrote to the grader's pipe out of turn")
        return _read_answer(pending)


def _read_answer(line: bytes) -> object:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise StrategyFailed("strategy.py wrote to the grader's pipe out of turn") from error
    if isinstance(value, dict):
        raise StrategyFailed(f"strategy.py failed: {value.get('error', 'no reason given')}"[:400])
    return value


def hide_from_children() -> None:
    """Keep this process's memory and descriptors from others of the same user, through /proc or ptrace."""
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def _take_back_root() -> None:
    """Between fork and exec: a grader that reads as the owner of its files starts players as root, which they drop."""
    if os.geteuid() != 0 and os.getresuid()[2] == 0:
        os.seteuid(0)
