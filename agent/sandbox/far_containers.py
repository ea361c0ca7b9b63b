"""Our containers on other machines, all asked at the same time, none waited for long."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from agent.errors import SandboxUnavailable
from agent.record import index
from agent.record.home import Home
from agent.sandbox import containers, tickets
from agent.sandbox.containers import Container
from agent.sandbox.daemons import daemon_on
from agent.sandbox.machines import Machine, machine_of, machines, on_another
from agent.sandbox.tunnel import all_folders, is_up
from tasks.errors import UsageError

_REACH_S = 15.0


@dataclass(frozen=True)
class Afar:
    """What was seen, by the name of the machine, and why nothing was seen elsewhere."""

    seen: dict[str, tuple[list[Container], list[str]]]
    """The containers, and the tickets for others that may still come."""
    silent: tuple[str, ...]


def far_machines(home: Home, *, reach: bool) -> list[Machine]:
    """Those of `hosts.toml` and those that a run is on which has not ended cleanly; without `reach` only those that a
    tunnel leads to right now."""
    if not reach and not all_folders().is_dir():
        return []
    try:
        known = {name: one for name, one in machines(home).items() if not one.here}
        for summary in index.summaries(home):
            unfinished = summary.state != "ended" or summary.outcome == "lost" or bool(summary.leftovers)
            if unfinished and on_another(summary.sandbox):
                one = machine_of(home, summary.sandbox)
                known.setdefault(one.name, one)
    except UsageError:
        # A mistake in the file is told by whatever needs it.
        return []
    return [one for one in known.values() if reach or is_up(one)]


def look_afar(far: Sequence[Machine], *, timeout_s: float) -> Afar:
    """The containers on each of them that carry a run's label."""
    if not far:
        return Afar({}, ())
    seen: dict[str, tuple[list[Container], list[str]]] = {}
    silent: list[str] = []
    with ThreadPoolExecutor(max_workers=len(far)) as pool:
        for one, answer in zip(far, pool.map(lambda each: _ask(each, timeout_s), far), strict=True):
            if isinstance(answer, SandboxUnavailable):
                silent.append(answer.message)
            else:
                seen[one.name] = answer
    return Afar(seen, tuple(silent))


def _ask(machine: Machine, timeout_s: float) -> tuple[list[Container], list[str]] | SandboxUnavailable:
    try:
        with daemon_on(machine, patience_s=_REACH_S) as daemon:
            seen = containers.labelled(daemon=daemon, timeout_s=timeout_s)
            return seen, tickets.outstanding(daemon=daemon, timeout_s=timeout_s)
    except SandboxUnavailable as error:
        return error
