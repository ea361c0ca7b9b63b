"""The soak itself: runs that go on, faults that strike them, and the calm afterwards in which all come to an end."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Coroutine

from agent.record.lock import is_held
from tests.soak.faults import Faults
from tests.soak.schedule import Planned
from tests.soak.slots import Slot, state_of

_REPORT_S = 10.0
_CALM_S = 150.0
"""A run that does not come to its end in so long is stuck."""


class Storm:
    """Runs and faults side by side."""

    def __init__(self, slots: list[Slot], faults: Faults, tell: Callable[[str], None]) -> None:
        self._slots = slots
        self._faults = faults
        self._tell = tell

    async def rage(self, planned: list[Planned], seconds: float) -> list[str]:
        """Let it happen; returns the runs that did not come to an end."""
        async with asyncio.TaskGroup() as group:
            kept = {group.create_task(slot.keep()): slot for slot in self._slots}
            progress = group.create_task(self._tell_progress(seconds))
            await self._strike(planned, seconds, group.create_task)
            self._tell("calm: what lives is brought to an end")
            await self._kill_half()
            _, stuck = await asyncio.wait(kept, timeout=_CALM_S)
            for task in (*stuck, progress):
                task.cancel()
        return [folder.run for task in stuck if (folder := kept[task].folder) is not None]

    async def _strike(
        self,
        planned: list[Planned],
        seconds: float,
        start: Callable[[Coroutine[object, object, None]], "asyncio.Task[None]"],
    ) -> None:
        started_at = time.monotonic()
        struck = []
        for one in planned:
            await asyncio.sleep(max(0.0, started_at + one.at_s - time.monotonic()))
            struck.append(start(self._faults.strike(one)))
        await asyncio.sleep(max(0.0, started_at + seconds - time.monotonic()))
        for slot in self._slots:
            slot.over = True
        await asyncio.gather(*struck)

    async def _kill_half(self) -> None:
        """Every other run that lives; the others go on to their submission."""
        kills = [
            slot.commands.mlrb("kill", slot.folder.run, "--why", "the soak is over")
            for slot in self._slots[::2]
            if slot.folder is not None and is_held(slot.folder.lock)
        ]
        await asyncio.gather(*kills)

    async def _tell_progress(self, seconds: float) -> None:
        started_at = time.monotonic()
        while True:
            await asyncio.sleep(_REPORT_S)
            states = Counter(state_of(slot.folder).state for slot in self._slots if slot.folder is not None)
            runs, faults = sum(len(slot.runs) for slot in self._slots), self._faults.done.total()
            now = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
            passed = f"{time.monotonic() - started_at:.0f} of {seconds:.0f} s"
            self._tell(f"{passed} · {runs} runs · {faults} faults · {now}")
