"""What can be wrong with a machine reached by SSH: each is one clear error, at once, with what mends it."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.errors import SandboxUnavailable
from agent.record.lock import is_held
from agent.sandbox import tunnel
from agent.sandbox.machines import Machine
from agent.sandbox.remote import RemoteDockerSandbox
from agent.sandbox.tunnel_keeper import Places
from tests.docker.loopback import NAME, Loopback, loopback, opened
from tests.process.runner_runs import until
from tests.process.sandbox_promises import make_plan

AT_ONCE_S = 20.0
"""Far less than a tunnel's whole patience; logging in takes its time on a busy machine."""


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Loopback]:
    with loopback(tmp_path / "box") as machine:
        yield machine


def refused(machine: Machine, *, let_in: bool = False) -> SandboxUnavailable:
    """Why there is no tunnel to it; nothing of one may stay where the machine did not even let us in."""
    began_at = time.monotonic()
    with pytest.raises(SandboxUnavailable) as error, opened(machine):
        pass
    assert time.monotonic() - began_at < AT_ONCE_S
    if not let_in:
        places = Places(str(tunnel.folder_of(machine)))
        until(lambda: not is_held(places.keeper), "its keeper is gone")
        assert not places.socket.exists()
    return error.value


def test_changed_host_key_is_refused_and_not_learned(there: Loopback) -> None:
    there.know("other_key")
    before = (there.root / "known_hosts").read_text()
    error = refused(there.machine)
    assert "host key" in error.message
    assert "not the one that is known" in error.message
    assert "ssh-keygen -R" in error.hint
    assert (there.root / "known_hosts").read_text() == before


def test_unknown_host_key_is_refused_and_not_learned(there: Loopback) -> None:
    (there.root / "known_hosts").write_text("")
    error = refused(there.machine)
    assert "not known yet" in error.message
    assert "fingerprint" in error.hint
    assert (there.root / "known_hosts").read_text() == ""


def test_user_who_accepts_keys_of_hosts_unknown_to_them_is_let_to(there: Loopback) -> None:
    (there.root / "known_hosts").write_text("")
    there.client("StrictHostKeyChecking accept-new")
    with opened(there.machine):
        assert "ssh-ed25519" in (there.root / "known_hosts").read_text()


def test_key_that_is_not_let_in_does_not_lead_to_a_prompt(there: Loopback) -> None:
    shutil.copy(there.root / "other_key.pub", there.root / "authorized")
    error = refused(there.machine)
    assert "lets nobody in" in error.message
    assert "ssh-copy-id" in error.hint


def test_machine_that_is_off_is_not_waited_for(there: Loopback) -> None:
    there.stop()
    error = refused(there.machine)
    assert "not reached" in error.message
    assert "refused" in error.message
    assert error.hint == f"ssh -F {there.root}/ssh_config {NAME} true"


def test_name_that_nobody_knows_says_so(there: Loopback) -> None:
    error = refused(Machine(name="no-such-box.invalid", ssh_options=there.machine.ssh_options))
    assert "there is no host no-such-box.invalid" in error.message


def test_machine_without_docker_says_where_it_was_looked_for(there: Loopback) -> None:
    there.socket = "/var/run/no-docker.sock"
    error = refused(there.machine, let_in=True)
    assert "there is no Docker" in error.message
    assert there.socket in error.message
    assert "hosts.toml" in error.hint


def test_daemon_that_is_not_running_says_so(there: Loopback) -> None:
    there.socket = str(there.root / "dead.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(there.socket)
    assert "does not run" in refused(there.machine, let_in=True).message


def test_server_that_forwards_no_sockets_says_what_to_allow(there: Loopback) -> None:
    with (there.root / "sshd_config").open("a") as config:
        config.write("AllowStreamLocalForwarding no\n")
    there.stop()
    there.start()
    error = refused(there.machine, let_in=True)
    assert "does not answer through SSH" in error.message
    assert "AllowStreamLocalForwarding" in error.hint


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_user_without_rights_on_the_socket_is_told_apart_from_a_machine_without_docker(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    path = Path("/tmp") / f"closed-{os.getpid()}.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        path.chmod(0o600)
        try:
            nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            command = [*nobody, "sh", "-c", tunnel.LOOK, "look", str(path)]
            assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "closed\nnobody\n"
        finally:
            path.unlink()


async def test_missing_image_says_how_it_gets_there(there: Loopback, tmp_path: Path) -> None:
    sandbox = RemoteDockerSandbox(make_plan(tmp_path, image="mlrb-nothing:none"), there.machine)
    with pytest.raises(SandboxUnavailable) as error:
        await sandbox.start()
    await sandbox.stop()
    assert error.value.message == f"'{NAME}' has no image 'mlrb-nothing:none'"
    assert "docker pull mlrb-nothing:none over there" in error.value.hint


def test_port_that_the_user_forwards_in_another_session_does_not_matter(there: Loopback) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        there.client(f"LocalForward {port} 127.0.0.1:1\n  ExitOnForwardFailure yes\n  ControlPath {there.root}/%C")
        with opened(there.machine):
            pass
