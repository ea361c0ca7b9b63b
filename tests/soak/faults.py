"""The faults themselves, each done for real: what a person types, what a kernel or an administrator does."""

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import assert_never

from tests.docker.private_daemon import PrivateDaemon
from tests.soak.schedule import Fault, Planned
from tests.soak.slots import Slot, state_of

Act = Callable[[Planned, Slot, str], Awaitable[None]]
_READY_S = 5.0
_LAUNCHES = 3
_HARDLY_BEGUN = 0.2
"""The share of faults that strike a run in its first moments where there is one."""


class Faults:
    """Does what is planned, and counts what was done."""

    def __init__(self, slots: list[Slot], daemon: PrivateDaemon | None) -> None:
        self.done: Counter[Fault] = Counter()
        self.shot_containers: set[str] = set()
        """Runs whose container was killed from outside; they may fail."""
        self._slots = slots
        self._daemon = daemon
        self._daemon_busy = asyncio.Lock()

    async def strike(self, planned: Planned) -> None:
        """Do it, where its slot holds a run that lives."""
        slot = self._slots[planned.slot]
        if planned.fault in ("stop daemon", "shoot daemon"):
            await self._restart_daemon(planned)
            return
        run = await self._alive(slot, working=planned.draw > _HARDLY_BEGUN)
        if not run:
            return
        self.done[planned.fault] += 1
        await self._do(planned, slot, run)

    async def _do(self, planned: Planned, slot: Slot, run: str) -> None:
        mlrb = slot.commands.mlrb
        match planned.fault:
            case "pause at step":
                await self._paused(planned, slot, "pause", run)
            case "pause after command":
                await self._paused(planned, slot, "pause", run, "--after-command")
            case "pause now":
                await self._paused(planned, slot, "pause", run, "--now")
            case "inject":
                await mlrb("inject", run, f"think of {planned.draw:.3f}")
            case "inject many":
                said = [mlrb("inject", run, f"first {number} of {planned.draw:.3f}") for number in range(4)]
                await asyncio.gather(*said)
            case "inject and edit" | "inject and withdraw":
                await self._change_mind(planned, slot, run)
            case "interrupt":
                await mlrb("interrupt", run)
            case "limits":
                amount = ("time=+1m", "steps=+5", "cost=2", "tokens=2M", "steps=8")[int(planned.draw * 4.99)]
                await mlrb("limits", run, amount, "--why", "the soak wants it")
            case "score":
                await mlrb("score", run)
            case "approve on":
                await mlrb("approve", run, "--mode", "on")
            case "approve off":
                await mlrb("approve", run, "--mode", "off")
            case "kill":
                await mlrb("kill", run, "--why", "the soak wants it")
            case "kill twice":
                await asyncio.gather(mlrb("kill", run), mlrb("kill", run))
            case "kill a lost run":
                await self._shot(planned, slot, "kill", run)
            case "shoot runner":
                await self._shot(planned, slot, "resume", run)
            case "shoot runner, resume twice":
                await self._shot(planned, slot, "resume", run, times=2)
            case "stop runner":
                await self._stopped(planned, slot)
            case "stop runner, kill":
                await self._stopped(planned, slot, kill=run)
            case "viewer":
                command = [sys.executable, "-m", "tests.soak.viewer", run, f"{planned.between(2, 8):.1f}"]
                await slot.commands.run(command)
            case "launch many":
                await self._launch_many(slot)
            case "docker kill":
                self.shot_containers.add(run)
                await slot.commands.run(["docker", "kill", f"mlrb-{run}"])
            case "stop daemon" | "shoot daemon":
                raise AssertionError("a daemon is no run's")
            case _:
                assert_never(planned.fault)

    async def _alive(self, slot: Slot, *, working: bool) -> str:
        """The run in the slot, as soon as there is one with a runner; `working` once its agent is at work."""
        for _ in range(int(_READY_S / 0.1)):
            if slot.over:
                return ""
            if slot.folder is not None and slot.runner() is not None and (not working or state_of(slot.folder).step):
                return slot.folder.run
            await asyncio.sleep(0.1)
        return ""

    async def _paused(self, planned: Planned, slot: Slot, *pause: str) -> None:
        slot.busy += 1
        try:
            await slot.commands.mlrb(*pause)
            await asyncio.sleep(planned.between(0.0, 4.0))
            await slot.commands.mlrb("resume", pause[1])
        finally:
            slot.busy -= 1

    async def _change_mind(self, planned: Planned, slot: Slot, run: str) -> None:
        mlrb = slot.commands.mlrb
        waiting = asyncio.create_task(mlrb("inject", run, f"of two minds {planned.draw:.3f}"))
        for _ in range(10):
            said = await mlrb("inject", run, "--json")
            if queued := json.loads(said.out) if said.code == 0 else []:
                message = str(queued[0]["request_id"])
                if planned.fault == "inject and edit":
                    await mlrb("inject", run, "--edit", message, f"of one mind {planned.draw:.3f}")
                else:
                    await mlrb("inject", run, "--withdraw", message)
                break
            if waiting.done():
                break
        await waiting

    async def _shot(self, planned: Planned, slot: Slot, then: str, run: str, *, times: int = 1) -> None:
        """SIGKILL the runner; after a while let somebody find out."""
        slot.busy += 1
        try:
            if runner := slot.runner():
                os.kill(runner.pid, signal.SIGKILL)
            await asyncio.sleep(planned.between(0.0, 3.0))
            await asyncio.gather(*(slot.commands.mlrb(then, run) for _ in range(times)))
        finally:
            slot.busy -= 1

    async def _stopped(self, planned: Planned, slot: Slot, *, kill: str = "") -> None:
        """SIGSTOP the runner, as a debugger or a suspended machine does, and let it go on."""
        slot.busy += 1
        runner = slot.runner()
        try:
            if runner is not None:
                os.kill(runner.pid, signal.SIGSTOP)
            if kill:
                await slot.commands.mlrb("kill", kill)
            else:
                await asyncio.sleep(planned.between(0.5, 4.0))
        finally:
            slot.busy -= 1
            if runner is not None and (now := slot.runner()) is not None and now.key == runner.key:
                os.kill(runner.pid, signal.SIGCONT)

    async def _launch_many(self, slot: Slot) -> None:
        """Several more at once, which are killed at once: together, and some of them hardly begun."""
        first = 1000 + len(slot.runs)
        launched = await asyncio.gather(*(slot.launch(first + number) for number in range(_LAUNCHES)))
        await asyncio.gather(*(slot.commands.mlrb("kill", folder.run) for folder in launched))

    async def _restart_daemon(self, planned: Planned) -> None:
        assert self._daemon is not None
        async with self._daemon_busy:
            if self._slots[planned.slot].over:
                return
            self.done[planned.fault] += 1
            end = self._daemon.stop if planned.fault == "stop daemon" else self._daemon.shoot
            await asyncio.to_thread(end)
            await asyncio.sleep(planned.between(0.0, 6.0))
            await asyncio.to_thread(self._daemon.start)
