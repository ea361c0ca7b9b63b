"""Docker tests run where a daemon answers and the image is there, and say so where not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.sandbox import containers
from agent.sandbox.choose import docker_answers
from agent.sandbox.engine import DEFAULT_IMAGE, image_is_there
from tests.docker.private_daemon import PrivateDaemon, may_run_daemons, private_daemon
from tests.process.runner_runs import Runs

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all that lies in this folder, and skip it where there is no Docker."""
    mine = [item for item in items if _HERE in item.path.parents]
    if not mine:
        return
    why = ""
    if not docker_answers():
        why = "no Docker daemon answers: see .ci/docker"
    elif not image_is_there(DEFAULT_IMAGE):
        why = f"there is no image {DEFAULT_IMAGE}: run .ci/docker or `mlrb image build`"
    for item in mine:
        item.add_marker(pytest.mark.docker)
        if why:
            item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    """A home with the probe task; its runners and its containers are gone with the test."""
    made = Runs.under(tmp_path)
    yield made
    made.close()
    for run in made.home.run_ids():
        for container in containers.labelled(run):
            containers.remove(container)


@pytest.fixture(scope="session")
def own_daemon() -> Iterator[PrivateDaemon]:
    """A daemon of the tests' own, made once."""
    if not may_run_daemons():
        pytest.skip("this user may not start a dockerd")
    with private_daemon() as running:
        yield running


@pytest.fixture
def daemon(own_daemon: PrivateDaemon) -> Iterator[PrivateDaemon]:
    """A daemon to stop and start: it runs when a test begins, and ends containers when it ends, as is usual."""
    own_daemon.live_restore = False
    if not own_daemon.is_up:
        own_daemon.start()
    yield own_daemon
    own_daemon.let_go()
