"""What the command line says of machines reached by SSH: mistakes at once, and the image built over there."""

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.sandbox.engine import DEFAULT_IMAGE, client, image_is_there
from tests.docker.loopback import NAME, Loopback, loopback
from tests.process.runner_runs import Runs, bash, script_line
from tests.process.test_kill_hung import mlrb

WHERE = f"docker@{NAME}"
TAG = "mlrb-remote-test:latest"
BASE = os.environ.get("MLRB_BASE", "mlrb-base:bookworm")
AT_ONCE_S = 30.0
"""Far less than a tunnel's whole patience; a busy machine takes its time."""


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


def test_machine_with_everything_is_listed_with_what_is_there(runs: Runs) -> None:
    run = runs.start([bash("until [ -e never ]; do sleep 0.1; done")], sandbox=WHERE)
    run.wait_for(ev.ToolCalled)
    shown = json.loads(mlrb(runs, "hosts", NAME, "--json").stdout)
    assert (shown["reachable"], shown["image"], shown["runs"]) == (True, True, [run.folder.run])
    assert shown["docker"]
    assert NAME in mlrb(runs, "hosts").stdout
    assert mlrb(runs, "kill", run.folder.run).returncode == 0


def test_run_on_a_machine_that_is_not_reached_fails_with_one_line_and_what_helps(runs: Runs, there: Loopback) -> None:
    there.know("other_key")
    run = runs.start([script_line("submit")], sandbox=WHERE)
    ended = run.ended()
    assert ended.outcome == "failed"
    assert "host key" in ended.detail
    assert "ssh-keygen -R" in ended.detail
    doctor = [json.loads(line) for line in mlrb(runs, "doctor", "--json").stdout.splitlines()]
    [finding] = [one for one in doctor if one["about"] == f"host {NAME}"]
    assert finding["state"] == "bad"
    assert "ssh-keygen -R" in finding["mend"]


def _wrong_key(there: Loopback) -> None:
    there.know("other_key")


def _unknown_key(there: Loopback) -> None:
    (there.root / "known_hosts").write_text("")


def _off(there: Loopback) -> None:
    there.stop()


def _wants_a_password(there: Loopback) -> None:
    shutil.copy(there.root / "other_key.pub", there.root / "authorized")
    there.client("PasswordAuthentication yes\n  KbdInteractiveAuthentication yes")


def _swallowed(there: Loopback) -> None:
    # A name for documentation only: nothing ever answers there.
    there.client("ConnectTimeout 2\n  ProxyCommand sleep 60")


def _no_docker(there: Loopback) -> None:
    there.socket = "/var/run/no-docker.sock"


def _nothing(there: Loopback) -> None:
    pass


BROKEN = [
    pytest.param(_wrong_key, (), "host key", "ssh-keygen -R", id="wrong key"),
    pytest.param(_unknown_key, (), "not known yet", "fingerprint", id="unknown key"),
    pytest.param(_off, (), "not reached", f"{NAME} true", id="off"),
    pytest.param(_swallowed, (), "not reached", f"{NAME} true", id="swallowed"),
    pytest.param(_wants_a_password, (), "lets nobody in", "ssh-copy-id", id="password"),
    pytest.param(_no_docker, (), "there is no Docker", "hosts.toml", id="no docker"),
    pytest.param(_nothing, ("--image", "mlrb-nothing:none"), "no image", "docker pull", id="no image"),
    pytest.param(_nothing, ("--gpus", "1"), "0 of the 1 GPUs", "--gpus none", id="no gpu"),
]


@pytest.mark.parametrize(("breaks", "more", "said", "helps"), BROKEN)
def test_launch_on_a_machine_that_cannot_take_it_is_one_error_at_once_and_no_run(
    runs: Runs, there: Loopback, breaks: Callable[[Loopback], None], more: tuple[str, ...], said: str, helps: str
) -> None:
    breaks(there)
    there.enter_in(runs.home)
    # Whatever asks for a password would leave a mark; nobody could type one.
    asked = there.root / "asked"
    runs.environment |= {"SSH_ASKPASS": str(asks(there.root, asked)), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":0"}
    began_at = time.monotonic()
    ran = mlrb(runs, "run", "probe/number", "--sandbox", WHERE, "--model", "scripted", "--repeat", "8", *more)
    assert time.monotonic() - began_at < AT_ONCE_S
    assert (ran.returncode, ran.stdout) == (3, "")
    message, hint = ran.stderr.strip().splitlines()[-2:]
    assert said in message
    assert helps in hint
    assert runs.home.run_ids() == []
    assert not asked.exists()


def asks(folder: Path, mark: Path) -> Path:
    """A program that asks for a password."""
    script = folder / "askpass"
    script.write_text(f"#!/bin/sh\ntouch {mark}\necho secret\n")
    script.chmod(0o755)
    return script


def test_name_that_nobody_knows_is_an_error_at_the_launch(runs: Runs) -> None:
    ran = mlrb(runs, "run", "probe/number", "--sandbox", "docker@no-such-box.invalid", "--model", "scripted")
    assert ran.returncode == 3
    assert "there is no host no-such-box.invalid" in ran.stderr
    assert "~/.ssh/config or hosts.toml" in ran.stderr
    assert runs.home.run_ids() == []


@pytest.mark.parametrize("where", ["docker@-oProxyCommand=id", "docker@"])
def test_sandbox_that_names_no_host_is_a_mistake_of_typing(runs: Runs, where: str) -> None:
    ran = mlrb(runs, "run", "probe/number", "--sandbox", where)
    assert ran.returncode == 2
    assert runs.home.run_ids() == []


def test_image_that_cannot_be_built_over_there_is_one_line(runs: Runs) -> None:
    ran = mlrb(runs, "image", "build", "--host", NAME, "--base", "mlrb-no-such-base:none", "--tag", TAG)
    assert ran.returncode == 3
    assert "Traceback" not in ran.stderr
    assert "the image was not built" in ran.stderr or "the build was cut off" in ran.stderr


def test_image_is_built_over_there_with_its_progress(runs: Runs) -> None:
    if not image_is_there(BASE):
        pytest.skip(f"there is no image {BASE}: .ci/docker makes it")
    # The daemon over there is the one that built the image here, and knows all steps but the label.
    ran = mlrb(runs, "image", "build", "--host", NAME, "--base", BASE, "--tag", TAG)
    try:
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.strip() == TAG
        assert [line for line in ran.stderr.splitlines() if line.startswith("Step 1/")]
        assert "Successfully" in ran.stderr
        with client() as docker:
            assert docker.images.get(TAG).labels["mlrb.recipe"]
    finally:
        with client() as docker, contextlib.suppress(Exception):
            docker.images.remove(TAG)


def test_build_on_a_machine_that_is_off_does_not_build_here(runs: Runs, there: Loopback) -> None:
    with client() as docker:
        before = docker.images.get(DEFAULT_IMAGE).id
    there.stop()
    ran = mlrb(runs, "image", "build", "--host", NAME)
    assert ran.returncode == 3
    assert NAME in ran.stderr
    with client() as docker:
        assert docker.images.get(DEFAULT_IMAGE).id == before
