"""The tests' own daemon keeps to itself: what it does is seen by nobody else's."""

from pathlib import Path

from tests.docker.private_daemon import PrivateDaemon


def test_own_daemon_leaves_the_machines_network_as_it_was(daemon: PrivateDaemon) -> None:
    before = _links()
    daemon.shoot()
    daemon.start()
    assert _links() == before


def _links() -> list[str]:
    return sorted(link.name for link in Path("/sys/class/net").iterdir())
