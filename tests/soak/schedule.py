"""Which fault strikes which slot when: all of it follows from the seed."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Place = Literal["local", "docker", "private"]
"""Where a slot's runs work: here, in the machine's own Docker, or in the one that the soak restarts."""
Fault = Literal[
    "pause at step", "pause after command", "pause now", "inject", "inject many", "inject and edit",
    "inject and withdraw", "interrupt", "limits", "score", "approve on", "approve off", "kill", "kill twice",
    "kill a lost run", "shoot runner", "shoot runner, resume twice", "stop runner", "stop runner, kill", "viewer",
    "launch many", "docker kill", "stop daemon", "shoot daemon",
]  # fmt: skip

EVERY_S = 0.8
"""One fault in so many seconds, on average."""
DAEMON_EVERY_S = 22.0

_ANYWHERE: dict[Fault, int] = {
    "pause at step": 6, "pause after command": 6, "pause now": 10, "inject": 8, "inject many": 4, "inject and edit": 4,
    "inject and withdraw": 4, "interrupt": 6, "limits": 6, "score": 5, "approve on": 4, "approve off": 3, "kill": 3,
    "kill twice": 1, "kill a lost run": 1, "shoot runner": 14, "shoot runner, resume twice": 3, "stop runner": 3,
    "stop runner, kill": 1, "viewer": 5, "launch many": 1,
}  # fmt: skip


@dataclass(frozen=True)
class Planned:
    """One fault to come."""

    at_s: float
    slot: int
    fault: Fault
    draw: float
    """From 0 to 1: for how long, which one of several."""

    def between(self, least: float, most: float) -> float:
        """A number from that range, the same for the same plan."""
        return least + self.draw * (most - least)


def schedule(seed: int, seconds: float, places: Sequence[Place]) -> list[Planned]:
    """All that is to happen in so many seconds."""
    rng = random.Random(seed)
    return sorted([*_runs_faults(rng, seconds, places), *_daemons_faults(rng, seconds, places)], key=lambda p: p.at_s)


def _runs_faults(rng: random.Random, seconds: float, places: Sequence[Place]) -> list[Planned]:
    planned = []
    at_s = 2.0
    while (at_s := at_s + rng.expovariate(1 / EVERY_S)) < seconds:
        slot = rng.randrange(len(places))
        weights: dict[Fault, int] = _ANYWHERE if places[slot] == "local" else {**_ANYWHERE, "docker kill": 3}
        (fault,) = rng.choices(list(weights), list(weights.values()))
        planned.append(Planned(at_s, slot, fault, rng.random()))
    return planned


def _daemons_faults(rng: random.Random, seconds: float, places: Sequence[Place]) -> list[Planned]:
    if "private" not in places:
        return []
    slot = places.index("private")
    planned = []
    at_s = rng.uniform(8.0, 14.0)
    while at_s < seconds - 4.0:
        planned.append(Planned(at_s, slot, rng.choice(("stop daemon", "shoot daemon")), rng.random()))
        at_s += rng.uniform(0.6, 1.4) * DAEMON_EVERY_S
    return planned
