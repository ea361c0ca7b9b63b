"""What the command line says of machines reached by SSH: mistakes at once, and the image built over there."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.sandbox.engine import DEFAULT_IMAGE, client
from tests.docker.loopback import NAME, Loopback, loopback
from tests.process.runner_runs import Runs, bash, script_line
from tests.process.test_kill_hung import mlrb

WHERE = f"docker@{NAME}"
TAG = "mlrb-remote-test:latest"


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


def test_build_on_a_machine_that_is_off_does_not_build_here(runs: Runs, there: Loopback) -> None:
    with client() as docker:
        before = docker.images.get(DEFAULT_IMAGE).id
    there.stop()
    ran = mlrb(runs, "image", "build", "--host", NAME)
    assert ran.returncode == 3
    assert NAME in ran.stderr
    with client() as docker:
        assert docker.images.get(DEFAULT_IMAGE).id == before
