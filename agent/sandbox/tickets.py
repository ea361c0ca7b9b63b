"""Tickets: a container is made from an image name of the run's own, which a kill takes away before all else.

The daemon goes on with what a dead runner asked for, and may come to it only after the run was killed. Without its
ticket that wish names no image, and nothing is made of it. What the daemon had begun by then has its name reserved.
"""

import json
import secrets
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from agent.errors import SandboxUnavailable
from agent.sandbox.daemon_http import ask_daemon, reason
from agent.sandbox.engine import REQUEST_TIMEOUT_S

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

REPOSITORY = "mlrb-run"
NAME_PREFIX = "mlrb-"
_KEPT = "mlrb-kept"
_MAKING_S = 50.0
"""How long the daemon may take over a container that it has begun to make."""
_SETTLE_S = 1.0
"""Between looking an image up and reserving a name the daemon does nothing that takes time."""
_LOOK_EVERY_S = 0.1


def make(client: "DockerClient", image: str, name: str, options: dict[str, Any], daemon: Path | None) -> "Container":
    """Have the daemon make a container, as long as nobody calls it off; raises `SandboxUnavailable` and the SDK's."""
    from docker.errors import APIError

    ticket = take_out(image, name, daemon)
    try:
        container = client.containers.create(ticket, name=name, **options)
    except APIError:
        give_back(ticket, daemon)
        raise
    # Where no answer came the ticket stays, and says that the daemon may still make it.
    give_back(ticket, daemon)
    return container


def take_out(image: str, container: str, daemon: Path | None = None) -> str:
    """An image name that is good for making this container; raises `SandboxUnavailable`."""
    ticket = f"{container.removeprefix(NAME_PREFIX)}.{secrets.token_hex(4)}"
    status, body = ask_daemon("GET", f"/images/{quote(image)}/json", daemon)
    if status == 404:
        raise SandboxUnavailable(f"there is no image {image}", hint="`mlrb image build` makes the default one")
    if status == 200 and not (found := json.loads(body)).get("RepoTags") and not found.get("RepoDigests"):
        # An image without a name goes with the last one that it is given.
        _name(image, _KEPT, found["Id"].removeprefix("sha256:")[:12], daemon)
    _name(image, REPOSITORY, ticket, daemon)
    return f"{REPOSITORY}:{ticket}"


def give_back(ticket: str, daemon: Path | None = None) -> None:
    """The daemon has answered: nothing more is wished for."""
    status, body = ask_daemon("DELETE", f"/images/{ticket}?noprune=1", daemon)
    # 404: a kill was quicker. 409: its image has no other name by now, and a container; who removes that takes it.
    if status not in (200, 404, 409):
        raise SandboxUnavailable(f"the Docker daemon keeps {ticket}: {reason(status, body)}")


def outstanding(run: str = "", daemon: Path | None = None, timeout_s: float = REQUEST_TIMEOUT_S) -> list[str]:
    """The tickets of that run, or of every run: for each a container was asked for, and no answer came."""
    wanted = quote(json.dumps({"reference": [f"{REPOSITORY}:{run}*"]}))
    status, body = ask_daemon("GET", f"/images/json?filters={wanted}", daemon, timeout_s)
    if status != 200:
        raise SandboxUnavailable(f"the Docker daemon does not list its images: {reason(status, body)}")
    tags = [tag for image in json.loads(body) for tag in image.get("RepoTags") or ()]
    return [tag for tag in tags if tag.startswith(f"{REPOSITORY}:{run}")]


def take_back(run: str, daemon: Path | None = None) -> list[str]:
    """Take a run's tickets away; the names of the containers that were asked for and not answered."""
    tickets = outstanding(run, daemon)
    for ticket in tickets:
        give_back(ticket, daemon)
    return [container_of(ticket) for ticket in tickets]


def container_of(ticket: str) -> str:
    """The name of the container that it is good for."""
    return NAME_PREFIX + ticket.partition(":")[2].rpartition(".")[0]


def wait_made(names: Iterable[str], seen: Callable[[], set[str]], daemon: Path | None = None) -> list[str]:
    """Wait until each of these containers is there or never will be; those that the daemon is still making."""
    started = time.monotonic()
    while True:
        making = [name for name in names if is_taken(name, daemon)]
        making = [name for name in making if name not in seen()]
        waited_s = time.monotonic() - started
        if waited_s > (_MAKING_S if making else _SETTLE_S):
            return making
        time.sleep(_LOOK_EVERY_S)


def is_taken(name: str, daemon: Path | None = None) -> bool:
    """Whether a container has that name, also one that is being made and that no list shows yet."""
    status, body = ask_daemon("GET", "/images/json", daemon)
    images = json.loads(body) if status == 200 else []
    if not images:
        return False
    # The daemon reserves the name before it reads the security options: with these, nothing is ever made.
    unmakable = {"Image": images[0]["Id"], "Cmd": ["true"], "HostConfig": {"SecurityOpt": ["mlrb-only-asks=1"]}}
    return ask_daemon("POST", f"/containers/create?name={quote(name)}", daemon, body=unmakable)[0] == 409


def _name(image: str, repository: str, tag: str, daemon: Path | None) -> None:
    status, body = ask_daemon("POST", f"/images/{quote(image)}/tag?repo={repository}&tag={tag}", daemon)
    if status != 201:
        raise SandboxUnavailable(f"the image {image!r} cannot be used: {reason(status, body)}")
