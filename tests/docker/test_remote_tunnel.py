"""One tunnel a machine: whoever comes at the same time shares it, and nothing of it outlives its use unseen."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from agent.errors import SandboxUnavailable
from agent.record.lock import is_held
from agent.sandbox import tunnel
from agent.sandbox.guest.processes import look
from tests.docker.loopback import Loopback, keeper_pid, loopback, opened
from tests.process.runner_runs import Runs, processes_with, until
from tests.process.test_kill_hung import mlrb

_OPENS = """
import sys, msgspec
from agent.sandbox.machines import Machine
from agent.sandbox.tunnel import Tunnel
tunnel = Tunnel(msgspec.json.decode(sys.argv[1], type=Machine))
tunnel.open()
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Loopback]:
    with loopback(tmp_path / "box") as machine:
        yield machine


@pytest.fixture
def runs(tmp_path: Path, there: Loopback) -> Iterator[Runs]:
    made = Runs.under(tmp_path)
    there.enter_in(made.home)
    yield made
    made.close()


def is_gone(pid: int) -> bool:
    """Whether a process lives no more, though nobody may have taken in its end."""
    process = look(pid)
    return process is None or not process.alive


def test_those_who_come_at_the_same_time_share_one_connection(there: Loopback) -> None:
    machine = msgspec.json.encode(there.machine).decode()
    users = [
        subprocess.Popen([sys.executable, "-c", _OPENS, machine], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(6)
    ]
    try:
        for user in users:
            assert user.stdout is not None
            assert user.stdout.readline() == b"open\n"
        assert there.word().ups == 1
        assert len([pid for pid in processes_with(str(there.places.control)) if not is_gone(pid)]) == 1
        assert there.places.socket.stat().st_mode & 0o077 == 0
    finally:
        for user in users:
            user.kill()
            user.wait()
    # Killed, they let go as well.
    until(lambda: not is_held(there.places.keeper), "the keeper has gone")


def test_connection_does_not_outlive_its_keeper(there: Loopback) -> None:
    with opened(there.machine):
        connection = there.word().ssh
        os.kill(keeper_pid(there.places), signal.SIGKILL)
        until(lambda: is_gone(connection), "the connection is gone")


def test_keys_are_in_the_environment_of_no_process_of_a_tunnel(
    there: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-never-to-be-seen")
    with opened(there.machine):
        for pid in (keeper_pid(there.places), there.word().ssh):
            assert b"sk-never-to-be-seen" not in Path(f"/proc/{pid}/environ").read_bytes()


def test_tunnel_that_stands_still_is_listed_and_removed(runs: Runs, there: Loopback) -> None:
    with opened(there.machine):
        keeper, connection = keeper_pid(there.places), there.word().ssh
        os.kill(keeper, signal.SIGSTOP)
    listed = json.loads(mlrb(runs, "reap", "--json").stdout)["leftovers"]
    assert [keeper, connection] in [one["pids"] for one in listed if one["kind"] == "tunnel"]
    removed = mlrb(runs, "reap", "--remove", "--yes")
    assert removed.returncode == 0, removed.stdout + removed.stderr
    until(lambda: is_gone(keeper) and is_gone(connection), "both are gone")


def test_tunnel_in_use_is_no_leftover(runs: Runs, there: Loopback) -> None:
    with opened(there.machine):
        listed = json.loads(mlrb(runs, "reap", "--json").stdout)["leftovers"]
        assert str(keeper_pid(there.places)) not in json.dumps([one for one in listed if one["kind"] == "tunnel"])


def test_folder_that_others_may_write_to_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    theirs.chmod(0o777)
    with pytest.raises(SandboxUnavailable, match="not ours alone"):
        tunnel.make_own(theirs)
    link = tmp_path / "link"
    (tmp_path / "ours").mkdir(mode=0o700)
    link.symlink_to(tmp_path / "ours")
    with pytest.raises(SandboxUnavailable, match="not ours alone"):
        tunnel.make_own(link)
