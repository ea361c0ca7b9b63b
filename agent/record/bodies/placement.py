"""Where a run is placed: it waits its turn on a machine, then has its GPUs."""

from agent.record.bodies.base import Body


class RunQueued(Body, frozen=True, kw_only=True, tag="run_queued"):
    """The run waits its turn; again whenever its place or the reason changes."""

    host: str
    """The machine, as `hosts.toml` names it; `local` is this one."""
    gpus: int
    """How many it waits for."""
    ahead: int
    """Runs that come before it."""
    why: str
    by: str = ""
    """Who moved it to another place in the queue, where somebody did."""


class RunPlaced(Body, frozen=True, kw_only=True, tag="run_placed"):
    """The run has its place, and its GPUs until it ends."""

    host: str
    gpus: tuple[str, ...] = ()
    """Their UUIDs."""
    names: tuple[str, ...] = ()
    """What they are, in the same order."""
    cost_per_hour: float | None = None
    """US dollars that an hour of one of them costs; of the machine, where it has none."""
