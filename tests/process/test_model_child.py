"""What hangs, crashes, floods or eats memory in a child is ended, told in words, and leaves nothing behind."""

import os
import signal
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evaluation.model.child import Send, _without_network, call, run


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_command_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = (
        "import os, pathlib, time\n"
        "child = os.fork() or time.sleep(99)\n"
        f"pathlib.Path({str(note)!r}).write_text(str(child))\n"
        "time.sleep(99)\n"
    )
    ended = run(_python(code), timeout_s=2)
    assert ended.timed_out
    assert ended.how.startswith("not done after 2")
    assert 2 <= ended.wall_s < 30
    deadline = time.monotonic() + 10
    while _alive(int(note.read_text())):
        assert time.monotonic() < deadline, "the grandchild lives on"


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_a_crash_is_named_by_its_signal_and_an_error_by_its_code() -> None:
    crashed = run(_python("import os,signal; os.kill(os.getpid(), signal.SIGSEGV)"), timeout_s=20)
    assert (crashed.code, crashed.how) == (-signal.SIGSEGV, "ended by SIGSEGV")
    assert run(_python("raise SystemExit(3)"), timeout_s=20).how == "exit code 3"


def test_memory_beyond_the_limit_is_refused_by_the_kernel() -> None:
    code = "x = bytearray(400 * 2**20); print('got it')"
    ended = run(_python(code), timeout_s=20, memory_bytes=200 * 2**20)
    assert ended.code == 1
    assert "MemoryError" in ended.output


def test_a_flood_of_output_is_cut_and_only_its_end_is_kept() -> None:
    ended = run(_python("while True: print('x' * 9999)"), timeout_s=60, file_bytes=2**20)
    assert not ended.timed_out
    assert ended.code != 0
    assert len(ended.output) <= 8192


def test_no_key_of_ours_reaches_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    assert "sk-secret" not in run(["env"], timeout_s=20).output


def test_a_child_cannot_reach_the_network_where_the_kernel_lets_us_cut_it_off() -> None:
    if not _without_network():
        pytest.skip("no namespaces here")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ended = run(_python(f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"), timeout_s=20)
    assert ended.code == 1
    assert "OSError" in ended.output or "Error" in ended.output


def test_a_child_cannot_become_another_user_again() -> None:
    ended = run(_python("import os; print(*os.getresuid())"), timeout_s=20)
    assert len(set(ended.output.split())) == 1


def answer(arguments: Mapping[str, Any], send: Send) -> None:
    """Called in the child by the tests below."""
    print('{"found": "printed, not sent"}')
    send({"got": arguments["number"]})
    if arguments["number"] == 2:
        os._exit(9)
    send({"done": True})


HERE = "tests.process.test_model_child:answer"


def test_a_function_sends_values_and_its_prints_are_none() -> None:
    ended = call(HERE, {"number": 1}, timeout_s=30)
    assert (ended.code, ended.reports) == (0, ({"got": 1}, {"done": True}))


def test_what_was_sent_before_a_crash_is_kept() -> None:
    ended = call(HERE, {"number": 2}, timeout_s=30)
    assert (ended.code, ended.reports) == (9, ({"got": 2},))
