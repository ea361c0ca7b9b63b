"""Where a run comes to be: its place on the machine that was asked for, with its GPUs, after those that came before.

There is no choice between machines here: an engine that schedules over many would be another `Placement`.
"""

import asyncio
import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from agent.errors import SandboxUnavailable
from agent.record import events as ev
from agent.record.home import Home, RunFolder
from agent.record.request import RunRequest
from agent.runner.journal import Journal
from agent.sandbox import on_machine
from agent.sandbox.containers import CLAIM
from agent.sandbox.gpu_list import ListedGpu
from agent.sandbox.gpu_wish import GpuWish, parse_wish
from agent.sandbox.ledger import Held, Ledger, LedgerFile, Waiting
from agent.sandbox.machines import Machine, machine_of
from tasks.spec import Task

LOOK_EVERY_S = 0.5
_LOOK_AFAR_EVERY_S = 10.0
"""What runs of other homes hold is asked of the machine, which costs more than a look into our own ledger."""


@dataclass(frozen=True)
class Place:
    """What a run has been given."""

    gpus: tuple[str, ...] = ()
    """UUIDs."""
    notice: str = ""
    """What a person would not expect of it."""


class Placement(Protocol):
    """Gives a run its place, and takes it back."""

    async def take(self) -> Place:
        """Wait for the run's turn; raises `SandboxUnavailable` where what it wants can never be had there."""
        ...

    async def give_back(self) -> None:
        """Another run may have it. Harmless where nothing was taken."""
        ...


class MachinePlacement:
    """A place on one machine: first come, first served, unless a person has moved a run in the queue."""

    def __init__(
        self,
        home: Home,
        run: str,
        machine: Machine,
        wish: GpuWish,
        journal: Journal,
        before: ev.RunPlaced | None = None,
        *,
        image: str | None = None,
    ) -> None:
        """`image` is what its container is made of; None where it has none, and so nothing to claim GPUs with."""
        self._run = run
        self._image = image
        self._home = home
        self._machine = machine
        self._wish = wish
        self._journal = journal
        self._before = before
        self._file = LedgerFile(home, machine.name)
        self._looked_at = -_LOOK_AFAR_EVERY_S
        self._taken_elsewhere: frozenset[str] = frozenset()
        self._out_of_reach = ""
        self._told: ev.RunQueued | None = None

    async def take(self) -> Place:
        """Wait for the run's turn."""
        if self._before is not None:
            # It was here before its runner went, and what it has may be in use.
            await asyncio.to_thread(self._keep, self._before.gpus)
            return Place(self._before.gpus)
        gpus: Sequence[ListedGpu] = ()
        notice = ""
        if self._wish.wanted:
            gpus, notice = await asyncio.to_thread(on_machine.wanted_gpus, self._machine, self._wish)
        count = 0 if notice else self._wish.wanted
        while (given := await asyncio.to_thread(self._try, gpus, count)) is None:
            await asyncio.sleep(LOOK_EVERY_S)
        names = tuple(gpu.name for uuid in given for gpu in gpus if gpu.uuid == uuid)
        machine = self._machine
        self._journal.append(
            ev.RunPlaced(host=machine.name, gpus=given, names=names, cost_per_hour=machine.cost_per_hour)
        )
        return Place(given, notice)

    async def give_back(self) -> None:
        """Another run may have it."""
        await asyncio.to_thread(self._leave)

    def _keep(self, gpus: tuple[str, ...]) -> None:
        with self._file.locked() as file:
            if file.ledger.place_of(self._run) is None:
                file.ledger = _with(file.ledger, Held(run=self._run, gpus=gpus, since=time.time()))

    def _leave(self) -> None:
        held = self._file.read().place_of(self._run)
        if held is not None and held.gpus and self._image is not None:
            # What can't be let go of now is found as left over, and taken over by whoever of ours wants it next.
            with contextlib.suppress(SandboxUnavailable):
                on_machine.release_gpus(self._machine, self._run, self._home.mark())
        with self._file.locked() as file:
            file.ledger = file.ledger.without(self._run)

    def _try(self, gpus: Sequence[ListedGpu], count: int) -> tuple[str, ...] | None:
        """The GPUs, if it is this run's turn; else it is in the queue, and the record says where."""
        with self._file.locked() as file:
            ahead, full = self._ahead(file.ledger), self._full(file.ledger)
            why = "its turn is not yet" if ahead else full
            if not ahead and not full:
                free = self._free(file.ledger, gpus) if count else []
                given = tuple(gpu.uuid for gpu in free[:count])
                if len(free) >= count and self._claimed(given):
                    held = Held(run=self._run, gpus=given, since=time.time())
                    file.ledger = _with(file.ledger.without(self._run), held)
                    return given
                why = self._out_of_reach or self._who_has_them(gpus)
            file.ledger = self._queued(file.ledger, count)
            mine = next(one for one in file.ledger.waiting if one.run == self._run)
        self._tell(ev.RunQueued(host=self._machine.name, gpus=count, ahead=len(ahead), why=why, by=mine.moved_by))
        return None

    def _ahead(self, ledger: Ledger) -> list[str]:
        """Waiting runs that come first; one without a runner keeps its place and holds nobody up."""
        runs = [one.run for one in ledger.waiting]
        before = runs[: runs.index(self._run)] if self._run in runs else runs
        return [run for run in before if self._file.live(run)]

    def _full(self, ledger: Ledger) -> str:
        most = self._machine.max_runs
        if most is None or len(ledger.held) < most:
            return ""
        return f"{len(ledger.held)} of {most} runs are there"

    def _free(self, ledger: Ledger, gpus: Sequence[ListedGpu]) -> list[ListedGpu]:
        """Those that no run of ours has, here or in another home; the emptiest first."""
        held = ledger.holders()
        free = [gpu for gpu in gpus if gpu.uuid not in held]
        if len(free) >= self._wish.wanted:
            self._look_afar(ledger)
            free = [] if self._out_of_reach else [gpu for gpu in free if gpu.uuid not in self._taken_elsewhere]
        return sorted(free, key=lambda gpu: gpu.memory_used_bytes or 0)

    def _look_afar(self, ledger: Ledger) -> None:
        if time.monotonic() - self._looked_at < _LOOK_AFAR_EVERY_S:
            return
        try:
            seen = on_machine.gpus_in_containers(self._machine)
            mark = self._home.mark()
        except SandboxUnavailable as error:
            self._out_of_reach = error.message
        else:
            self._out_of_reach = ""
            ours = {one.run for one in ledger.held} | {self._run}
            # A claim of ours that the ledger does not know is one of a run that is over: it is taken over.
            others = [one for one in seen if one.home != mark or (one.run not in ours and one.role != CLAIM)]
            self._taken_elsewhere = frozenset(gpu for one in others for gpu in one.gpus)
        self._looked_at = time.monotonic()

    def _claimed(self, gpus: tuple[str, ...]) -> bool:
        """Whether they are ours for other homes as well, which may just have chosen the same."""
        if not gpus or self._image is None:
            return True
        try:
            lost = on_machine.claim_gpus(self._machine, gpus, self._run, self._home.mark(), self._image)
        except SandboxUnavailable as error:
            self._out_of_reach = error.message
            return False
        if lost:
            self._taken_elsewhere |= {lost}
        return not lost

    def _who_has_them(self, gpus: Sequence[ListedGpu]) -> str:
        elsewhere = sum(gpu.uuid in self._taken_elsewhere for gpu in gpus)
        return f"no GPU is free{f'; {elsewhere} in containers of others or left over' if elsewhere else ''}"

    def _queued(self, ledger: Ledger, count: int) -> Ledger:
        if any(one.run == self._run for one in ledger.waiting):
            return ledger
        mine = Waiting(run=self._run, gpus=count, since=time.time())
        return msgspec.structs.replace(ledger, waiting=(*ledger.waiting, mine))

    def _tell(self, now: ev.RunQueued) -> None:
        if now != self._told:
            self._told = now
            self._journal.append(now)


def placement_for(
    folder: RunFolder, request: RunRequest, task: Task, journal: Journal, before: ev.RunPlaced | None
) -> Placement:
    """The placement of a run on the machine that it names; `before` is what it had before its runner went."""
    home = Home(folder.path.parent.parent)
    wish = parse_wish(request.gpus, of_task=task.at(request.scale).compute.gpus)
    image = None if request.sandbox == "local" else request.image
    machine = machine_of(home, request.sandbox)
    return MachinePlacement(home, folder.run, machine, wish, journal, before, image=image)


def _with(ledger: Ledger, held: Held) -> Ledger:
    return msgspec.structs.replace(ledger, held=(*ledger.held, held))
