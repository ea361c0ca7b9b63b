"""Our containers as the daemon knows them, asked over its socket: the SDK would cost half a second to import."""

import json
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from agent.errors import SandboxUnavailable
from agent.record.values import Proof
from agent.sandbox import tickets
from agent.sandbox.daemon_http import ask_daemon, reason
from agent.sandbox.engine import REQUEST_TIMEOUT_S, is_podman

RUN_LABEL = "mlrb.run"
ROLE_LABEL = "mlrb.role"
HOME_LABEL = "mlrb.home"
GPUS_LABEL = "mlrb.gpus"
CLAIM = "claim"
"""The role of a container that only says whose a GPU is (`agent.sandbox.claims`)."""

_REMOVAL_S = 10.0


@dataclass(frozen=True)
class Container:
    """A container that carries a run's label."""

    container_id: str
    name: str
    run: str
    role: str
    """`sandbox`, `grader` or `claim`."""
    home: str
    """The mark of the home that its run belongs to; empty where it was made without one."""
    state: str
    """The daemon's word: `created`, `running`, `paused`, `exited` …"""
    since: str
    """How long it has been so, in the daemon's words."""
    gpus: tuple[str, ...] = ()
    """The UUIDs of the GPUs that it was given."""


@dataclass(frozen=True)
class State:
    """How a container stands."""

    status: str
    """The daemon's word: `running`, `paused`, `exited` …; empty where there is none of that name."""
    out_of_memory: bool = False
    ended_at: str = ""

    @property
    def runs(self) -> bool:
        """Whether there is a process in it, be it frozen."""
        return self.status in ("running", "paused")


def labels(run: str, role: str, home: str, gpus: tuple[str, ...] = ()) -> dict[str, str]:
    """What a container of a run is labelled with."""
    more = {HOME_LABEL: home, GPUS_LABEL: ",".join(gpus)}
    return {RUN_LABEL: run, ROLE_LABEL: role, **{label: value for label, value in more.items() if value}}


def labelled(run: str = "", daemon: Path | None = None, timeout_s: float = REQUEST_TIMEOUT_S) -> list[Container]:
    """All containers of that run, or of every run; raises `SandboxUnavailable` where no daemon answers."""
    wanted = f"{RUN_LABEL}={run}" if run else RUN_LABEL
    filters = quote(json.dumps({"label": [wanted]}))
    status, body = ask_daemon("GET", f"/containers/json?all=1&filters={filters}", daemon, timeout_s)
    if status != 200:
        raise SandboxUnavailable(f"the Docker daemon does not list its containers: {reason(status, body)}")
    return [_container(entry) for entry in json.loads(body)]


def of_run(run: str, home: str, daemon: Path | None = None, *, claims: bool = False) -> list[Container]:
    """The run's containers, but for those that say that they are another home's, and for its claims unless wished."""
    ours = [found for found in labelled(run, daemon) if not (found.home and home and found.home != home)]
    return [found for found in ours if claims or found.role != CLAIM]


def daemon_version(daemon: Path | None = None, timeout_s: float = REQUEST_TIMEOUT_S) -> str:
    """The daemon's version; raises `SandboxUnavailable` where none answers."""
    status, body = ask_daemon("GET", "/version", daemon, timeout_s)
    if status != 200:
        raise SandboxUnavailable(f"the Docker daemon does not say what it is: {reason(status, body)}")
    return str(json.loads(body).get("Version", ""))


def remove(container: Container, daemon: Path | None = None) -> str:
    """End and remove it; returns why that could not be, or nothing where it is gone."""
    status, body = ask_daemon("DELETE", f"/containers/{container.container_id}?force=1&v=1", daemon, REQUEST_TIMEOUT_S)
    # 404: somebody was quicker. 409: it is being removed already.
    return "" if status in (204, 404, 409) else reason(status, body)


def processes_in(container: Container, daemon: Path | None = None) -> int:
    """How many processes run in it; 0 where it does not run."""
    status, body = ask_daemon("GET", f"/containers/{container.container_id}/top", daemon, REQUEST_TIMEOUT_S)
    # Podman says 200 and nothing of a container that does not run.
    return len(json.loads(body).get("Processes") or ()) if status == 200 and body.strip() else 0


def state_of(name: str, daemon: Path | None = None, timeout_s: float = REQUEST_TIMEOUT_S) -> State:
    """How a container stands; raises `SandboxUnavailable` where no daemon answers."""
    status, body = ask_daemon("GET", f"/containers/{name}/json", daemon, timeout_s)
    if status == 404:
        return State("")
    if status != 200:
        raise SandboxUnavailable(f"the Docker daemon says nothing of {name}: {reason(status, body)}")
    said = json.loads(body)["State"]
    return State(said["Status"], bool(said.get("OOMKilled")), str(said.get("FinishedAt", "")))


def was_seen_ending(name: str, state: State, daemon: Path | None = None) -> bool:
    """Whether the daemon that answers now was there when the container ended: it remembers what happened since its
    own start, and no longer."""
    ended_at = datetime.fromisoformat(state.ended_at).timestamp()
    filters = quote(json.dumps({"container": [name]}))
    # Both by the daemon's own clock, and past, so that it answers at once; Podman then forgets all that it knows.
    until = "stream=false" if is_podman(daemon) else f"until={ended_at + 1:.3f}"
    span = f"since={ended_at - 1:.3f}&{until}"
    status, body = ask_daemon("GET", f"/events?{span}&filters={filters}", daemon, REQUEST_TIMEOUT_S)
    # Podman knows this kind of event by another name, so that its filter finds none.
    return status == 200 and any(json.loads(line).get("Action") == "die" for line in body.splitlines() if line.strip())


def start(name: str, daemon: Path | None = None) -> str:
    """Start a container that has ended; returns why that could not be, or nothing where it runs."""
    status, body = ask_daemon("POST", f"/containers/{name}/start", daemon, REQUEST_TIMEOUT_S)
    return "" if status in (204, 304) else reason(status, body)


def switch(
    name: str, to: Literal["pause", "unpause"], daemon: Path | None = None, timeout_s: float = REQUEST_TIMEOUT_S
) -> str:
    """Freeze a container or let it go on; returns why that could not be, or nothing."""
    status, body = ask_daemon("POST", f"/containers/{name}/{to}", daemon, timeout_s)
    return "" if status == 204 else reason(status, body)


def clear(run: str, home: str, daemon: Path | None = None, *, claims: bool = False) -> tuple[int, list[str]]:
    """Remove all containers of a run, and see to it that none that was asked for comes later; what it has claimed stays
    its own unless that is to go as well.

    Returns how many processes ended with them, and what is left and why. Raises `SandboxUnavailable` where no daemon
    answers.
    """
    wished = tickets.take_back(run, daemon)
    ended, left = _removed(run, home, daemon, claims=claims)
    if wished:
        # What the daemon had begun to make can't be called off: it is removed as soon as it is there.
        unmade = tickets.wait_made(wished, lambda: {found.name for found in of_run(run, home, daemon)}, daemon)
        more, left = _removed(run, home, daemon, claims=claims)
        tickets.take_back(run, daemon)
        ended, left = ended + more, [*left, *(f"{name} (the daemon is still making it)" for name in unmade)]
    return ended, left


def _removed(run: str, home: str, daemon: Path | None, *, claims: bool) -> tuple[int, list[str]]:
    ended = 0
    refused: dict[str, str] = {}
    for container in of_run(run, home, daemon, claims=claims):
        ended += processes_in(container, daemon)
        refused[container.container_id] = remove(container, daemon)
    return ended, [_left(found, refused) for found in _still_there(run, home, daemon, claims=claims)]


def proofs(ended: int, left: list[str]) -> tuple[Proof, ...]:
    """What clearing a run's containers away has proven."""
    return (
        Proof("container", not left, f"still there: {', '.join(left)}" if left else "none is labelled with this run"),
        # With a container's first process the kernel ends all others in it before the container counts as gone.
        Proof("processes", not left, f"{ended} ended with the container"),
    )


def _still_there(run: str, home: str, daemon: Path | None, *, claims: bool) -> list[Container]:
    """What is left of a run; a removal that is under way is waited for."""
    deadline = time.monotonic() + _REMOVAL_S
    while (left := of_run(run, home, daemon, claims=claims)) and time.monotonic() < deadline:
        if not any(found.state == "removing" for found in left):
            break
        time.sleep(0.1)
    return left


def _left(container: Container, refused: dict[str, str]) -> str:
    why = refused.get(container.container_id, "")
    return f"{container.name} ({why})" if why else container.name


def _container(entry: dict[str, Any]) -> Container:
    carried: dict[str, str] = entry.get("Labels") or {}
    names = entry.get("Names") or [entry["Id"][:12]]
    return Container(
        container_id=entry["Id"],
        name=str(names[0]).removeprefix("/"),
        run=carried.get(RUN_LABEL, ""),
        role=carried.get(ROLE_LABEL, ""),
        home=carried.get(HOME_LABEL, ""),
        state=str(entry.get("State", "")),
        since=str(entry.get("Status", "")),
        gpus=tuple(filter(None, carried.get(GPUS_LABEL, "").split(","))),
    )
