"""Machines looked at, and runs that wait for one of them moved in its queue."""

from collections.abc import Sequence

from agent.errors import RunError
from agent.record.home import Home
from agent.record.viewer import user_name
from agent.sandbox.ledger import Ledger, LedgerFile
from agent.sandbox.machines import machine, machines
from agent.sandbox.on_machine import SeenMachine, look_at


def look(home: Home, names: Sequence[str] = ()) -> list[SeenMachine]:
    """The machines of those names, else all that are known; blocks until the slowest has answered or was given up."""
    chosen = [machine(home, name) for name in names] or list(machines(home).values())
    return look_at(home, chosen)


def queues(home: Home) -> dict[str, Ledger]:
    """By machine, who is there and who waits; read from our own files, so that no machine is asked."""
    folder = home.path / "places"
    hosts = sorted(path.stem for path in folder.glob("*.json")) if folder.is_dir() else []
    return {LedgerFile.host_of(name): LedgerFile(home, LedgerFile.host_of(name)).read() for name in hosts}


def move(home: Home, run: str, to: int) -> str:
    """Have a waiting run be the `to`th (from 1) of its machine's queue; returns the machine. Raises `RunError`."""
    for host, ledger in queues(home).items():
        if any(one.run == run for one in ledger.waiting):
            with LedgerFile(home, host).locked() as file:
                # It may just have had its turn.
                if any(one.run == run for one in file.ledger.waiting):
                    file.ledger = file.ledger.moved(run, max(0, to - 1), user_name())
                    return host
    raise RunError(f"{run} does not wait for its turn", hint="mlrb queue lists those that do")


def place_in_queue(home: Home, run: str) -> int:
    """Which it is in its machine's queue, from 1; 0 where it waits for nothing."""
    for ledger in queues(home).values():
        waiting = [one.run for one in ledger.waiting]
        if run in waiting:
            return waiting.index(run) + 1
    return 0
