"""A thread for what may be slow: reading files and walking folders, while commands' output goes on."""

from __future__ import annotations

import json
import os
import queue
import threading
from collections import deque

from . import files
from .wire import Header

Answer = tuple[object, list[tuple[Header, bytes]]]
"""Whom it is for (a channel), and the frames."""


class Worker:
    """Does one job after the other; `wake` becomes readable when an answer is there."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._jobs: queue.SimpleQueue[tuple[object, Header]] = queue.SimpleQueue()
        self._answers: deque[Answer] = deque()
        self.wake, self._ring = os.pipe()
        os.set_blocking(self.wake, False)
        threading.Thread(target=self._work, daemon=True).start()

    def give(self, asker: object, request: Header) -> None:
        """Have a job done for `asker`."""
        self._jobs.put((asker, request))

    def answers(self) -> list[Answer]:
        """What is done since the last call."""
        try:
            os.read(self.wake, 4096)
        except BlockingIOError:
            return []
        done = []
        while self._answers:
            done.append(self._answers.popleft())
        return done

    def _work(self) -> None:
        while True:
            asker, request = self._jobs.get()
            try:
                frames = self._do(request)
            except (OSError, ValueError, TypeError, KeyError, files.TooLong) as error:
                frames = [(failure(request, error), b"")]
            self._answers.append((asker, frames))
            os.write(self._ring, b"!")

    def _do(self, request: Header) -> list[tuple[Header, bytes]]:
        op = request.get("op")
        done: Header = {"re": request.get("id"), "done": True}
        if op == "read":
            return _pieces(request, files.read(str(request["path"]), _integer(request["max"])))
        if op == "chunk":
            data = files.chunk(self._root, str(request["path"]), _integer(request["at"]), _integer(request["size"]))
            return [(done, data)]
        if op == "list":
            patterns = request["patterns"]
            if not isinstance(patterns, list):
                raise TypeError("patterns is no list")
            found = files.listing(self._root, [str(pattern) for pattern in patterns])
            return _pieces(request, json.dumps(found).encode())
        raise ValueError(f"no such request: {op}")


def _pieces(request: Header, data: bytes) -> list[tuple[Header, bytes]]:
    """An answer cut into frames of bounded size; the last one says that it is."""
    cuts = range(0, len(data), files.CHUNK_BYTES)
    frames: list[tuple[Header, bytes]] = [({"re": request.get("id")}, data[at : at + files.CHUNK_BYTES]) for at in cuts]
    return [*frames, ({"re": request.get("id"), "done": True}, b"")]


def failure(request: Header, error: Exception) -> Header:
    """The answer to a request that could not be met."""
    known = error if isinstance(error, OSError) else None
    return {
        "re": request.get("id"),
        "done": True,
        "error": type(error).__name__,
        "errno": known.errno if known is not None else None,
        "message": str(error),
    }


def _integer(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no whole number")
    return value
