"""What a strategy can reach from its own process, should it get past the reading of its source."""

import os
import time
from collections.abc import Callable

import pytest

from evaluation.strategies import StrategyFailed, StrategyProcess

# Each tries to reach something and plays 1 where it could. `os`, `sys` and `time` are loaded already, so importing
# them opens no file.
REACHES = {
    "reads a file": "open('/etc/hostname')",
    "writes a file": "open('/tmp/mlrb-strategy-was-here', 'w')",
    "lists a folder": "os.listdir('/proc/self/fd')",
    "reads the grader's memory": "open(f'/proc/{os.getppid()}/mem', 'rb')",
    "reads the grader's environment": "open(f'/proc/{os.getppid()}/environ', 'rb')",
    "opens the grader's descriptors": "os.open(f'/proc/{os.getppid()}/fd/3', os.O_RDWR)",
    "forks": "os._exit(0) if os.fork() == 0 else None",
    "starts a program": "os.posix_spawn('/bin/true', ['true'], {})",
    "loads a module": "__import__('socket').socket()",
    "makes a pipe": "os.pipe()",
    "lifts its limits": "__import__('resource').setrlimit(7, (64, 64))",
    "frees a descriptor and opens": "(os.close(2), open('/etc/hostname'))",
    "ends the grader": "os.kill(os.getppid(), 9) if os.getuid() == 65534 else 1 / 0",
}
TRYING = """
import os, sys, time
def row_strategy(history):
    try:
        {reach}
    except BaseException:
        return 0
    return 1
"""


def playing(source: str, *, timeout_s: float = 20, modules: tuple[str, ...] = ()) -> StrategyProcess:
    return StrategyProcess(source, function="row_strategy", modules=modules, seed=1, timeout_s=timeout_s)


@pytest.mark.parametrize("reach", REACHES.values(), ids=REACHES)
def test_a_strategy_reaches_nothing(reach: str) -> None:
    with playing(TRYING.format(reach=reach)) as process:
        assert process.first_move() == 0


def test_only_its_two_pipes_are_open() -> None:
    counting = """
import os
def is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
def row_strategy(history):
    return sum(is_open(number) for number in range(1024))
"""
    private = [os.open("/dev/null", os.O_RDONLY) for _ in range(5)]
    with playing(counting) as process:
        # stdin, stdout and stderr (to nowhere), and the pipe for answers.
        assert process.first_move() == 4
    for number in private:
        os.close(number)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become someone else")
def test_it_runs_as_nobody_where_the_grader_may_change_that() -> None:
    with playing("import os\ndef row_strategy(history):\n    return [*os.getresuid(), *os.getresgid()]\n") as process:
        assert process.first_move() == [65534] * 6


def test_it_sees_its_own_frames_and_no_key() -> None:
    looking = """
import sys
def row_strategy(history):
    frame, found = sys._getframe(), 0
    while frame:
        found += sum('ses' + 'ame' in repr(value) for value in frame.f_locals.values())
        frame = frame.f_back
    return found
"""
    key = {"key": "sesame"}
    with playing(looking) as process:
        assert process.first_move() == 0
    assert key["key"] == "sesame"


def test_history_is_what_was_played_and_a_copy_each_time() -> None:
    echo = """
def row_strategy(history):
    assert all(type(one) is tuple for one in (history, *history))
    return len(history) % 2 if all(own == number % 2 for number, (own, _) in enumerate(history)) else 9
"""
    with playing(echo) as process:
        assert [process.first_move(), *(process.next_move(1) for _ in range(5))] == [0, 1, 0, 1, 0, 1]
        assert process.first_move() == 0


def test_numbers_of_other_kinds_are_taken_as_whole_numbers() -> None:
    with playing("import numpy as np\ndef row_strategy(h):\n    return np.int64(1)\n", modules=("numpy",)) as process:
        assert process.first_move() == 1
    with playing("def row_strategy(h):\n    return True\n") as process:
        assert process.first_move() == 1


FLOODS: dict[str, str] = {
    "two answers at once": "os.write(fd, b'0\\n0\\n')",
    "half an answer, endless": "[os.write(fd, b'0' * 4096) for _ in range(100)]",
    "not JSON": "os.write(fd, b'{\\n')",
    "deeply nested": "os.write(fd, b'[' * 4000 + b'\\n')",
    "a null": "os.write(fd, b'null\\n')",
    "bytes that are no text": "os.write(fd, b'\\xff\\xfe\\n')",
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_writing_to_the_pipe_by_hand_gains_nothing(flood: str) -> None:
    source = f"""
import os
def row_strategy(history):
    for fd in range(3, 64):
        try:
            {flood}
        except OSError:
            pass
    return 0
"""
    with playing(source) as process, pytest.raises(StrategyFailed, match="out of turn"):
        process.first_move()


ENDINGS: dict[str, tuple[str, str]] = {
    "leaves at once": ("import os\nos._exit(0)\n", "ended its process"),
    "leaves in a game": ("import os\ndef row_strategy(h):\n    os._exit(0)\n", "ended its process"),
    "closes its pipes": (
        "import os\ndef row_strategy(h):\n    os.closerange(0, 64)\n    return 0\n",
        "ended its process",
    ),
    "spins": ("def row_strategy(h):\n    while True: pass\n", "took longer than 1 s"),
    "spins while loading": ("while True: pass\n", "took longer than 1 s"),
    "sleeps": ("import time\ndef row_strategy(h):\n    time.sleep(999)\n", "took longer than 1 s"),
    "asks for input": ("def row_strategy(h):\n    return int(input())\n", "took longer|failed|ended"),
    "an error with a long text": ("def row_strategy(h):\n    raise ValueError('x' * 10 ** 6)\n", "failed: ValueError"),
    "an error with lines": ("def row_strategy(h):\n    raise ValueError('a\\nb')\n", "failed: ValueError: a b"),
}


@pytest.mark.parametrize(("source", "said"), ENDINGS.values(), ids=ENDINGS)
def test_an_end_out_of_turn_is_told_in_one_line(source: str, said: str) -> None:
    with pytest.raises(StrategyFailed, match=said) as caught, playing(source, timeout_s=1) as process:
        process.first_move()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 400


def test_nothing_of_a_strategy_stays_behind() -> None:
    with playing("import time\ndef row_strategy(h):\n    time.sleep(999)\n", timeout_s=30) as process:
        pid = process.pid
        assert runs(pid)
    assert eventually(lambda: not runs(pid))


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def eventually(holds: Callable[[], bool], *, within_s: float = 20) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if holds():
            return True
        os.sched_yield()
    return False
