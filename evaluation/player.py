"""Runs a strategy that is not ours: started by `evaluation.strategies` as `python -I -c`, never imported.

It shuts itself in before it reads a line of the strategy: an unprivileged user where it may change to one, no files,
no children, bounded memory and CPU. Requests come on stdin, one JSON value a line: null starts a game, anything else
is the opponent's last move. Answers leave on a pipe of their own; stdout and stderr lead nowhere.
"""

import importlib
import json
import math
import operator
import os
import random
import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

NOBODY = 65534
SHORT = {b"null": None, b"0": 0, b"1": 1}
"""What nearly every request is."""


def shut_in(cpu_s: int, memory_bytes: int) -> None:
    """Give up every right that playing a game does not need."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    # With no descriptor to be had, nothing can be opened, connected to or loaded any more; the pipes stay open.
    for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(kind, (0, 0))


def frozen(move: Any) -> Any:
    """A move that cannot be changed."""
    return tuple(frozen(part) for part in move) if isinstance(move, list) else move


def plain(move: Any) -> Any:
    """A move as plain numbers; numpy's integers are welcome, fractions are not."""
    if isinstance(move, list | tuple):
        return [operator.index(part) for part in move]
    return operator.index(move)


def lines(descriptor: int) -> Iterator[bytes]:
    """The lines that arrive on a pipe."""
    pending = b""
    while True:
        line, found, rest = pending.partition(b"\n")
        if found:
            yield line
            pending = rest
            continue
        piece = os.read(descriptor, 65536)
        if not piece:
            return
        pending += piece


def answer(descriptor: int, value: object) -> None:
    """Send one JSON value."""
    os.write(descriptor, json.dumps(value).encode() + b"\n")


def play(strategy: Callable[[Any], Any], requests: Iterator[bytes], descriptor: int) -> None:
    """Answer each request with a move, until there are no more."""
    history: tuple[Any, ...] = ()
    own: Any = None
    for line in requests:
        theirs = SHORT[line] if line in SHORT else json.loads(line)
        history = () if theirs is None else (*history, (frozen(own), frozen(theirs)))
        own = plain(strategy(history))
        if own == 0 or own == 1:
            os.write(descriptor, b"1\n" if own else b"0\n")
        else:
            answer(descriptor, own)


def one_line(error: BaseException) -> str:
    """What went wrong, and in which line of the strategy."""
    place, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "strategy.py":
            place = f" (strategy.py line {trace.tb_lineno})"
        trace = trace.tb_next
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text[:300] + place


def main(settings: Mapping[str, Any]) -> None:
    """Prepare, shut in, load the strategy, play."""
    requests, descriptor = lines(0), int(settings["answers"])
    for module in settings["modules"]:
        importlib.import_module(module)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(settings["seed"] % 2**32)
    random.seed(settings["seed"])
    shut_in(math.ceil(settings["cpu_s"]), settings["memory_bytes"])
    answer(descriptor, "ready")
    source = json.loads(next(requests))
    try:
        names: dict[str, Any] = {"__name__": "strategy"}
        exec(compile(source, "strategy.py", "exec"), names)
        answer(descriptor, "loaded")
        play(names[settings["function"]], requests, descriptor)
    except BaseException as error:  # noqa: BLE001 -- the border to code that may raise anything, SystemExit too
        answer(descriptor, {"error": one_line(error)})


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
