"""Pause and resume: gates that the agent passes, and a sandbox that can be frozen."""

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from agent.errors import SandboxError, SandboxLost
from agent.record import events as ev
from agent.record.values import LimitKind, PauseStrength
from agent.runner.journal import Journal
from agent.sandbox.base import Sandbox

Place = Literal["model", "tool"]
_DISK_FULL = "the disk is full"
_FORCE: dict[PauseStrength, int] = {"step": 0, "command": 1, "now": 2}
"""A stronger pause keeps what a weaker one promised."""


@dataclass(frozen=True)
class WishedPause:
    """A pause that somebody asked for."""

    strength: PauseStrength
    by: str
    why: str
    request_id: int | None
    limit: LimitKind | None = None
    """The limit that was reached, where that is why."""
    joined: tuple[int, ...] = ()
    """Other requests that it answers with its own."""

    @property
    def request_ids(self) -> list[int]:
        """The requests that it answers, in their order."""
        own = () if self.request_id is None else (self.request_id,)
        return sorted((*own, *self.joined))

    def and_also(self, other: "WishedPause") -> "WishedPause":
        """One pause in the place of two: the stronger of them, which answers both."""
        weaker, stronger = (self, other) if _FORCE[other.strength] > _FORCE[self.strength] else (other, self)
        return replace(stronger, joined=(*stronger.joined, *weaker.request_ids))

    def holds_at(self, place: Place) -> bool:
        """Whether the agent stops here: `step` stops it before the next model call, the others before a tool too."""
        return place == "model" or self.strength != "step"


class Pausing:
    """Holds the agent at its gates while a pause is in effect."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._sandbox: Sandbox | None = None
        self._wished: WishedPause | None = None
        self._in_effect: WishedPause | None = None
        self._disk_pause: WishedPause | None = None
        self._at_work = 1
        self._standing = 0
        """Of those at work, how many stand where the wished pause holds them."""
        self._wish_moved = asyncio.Event()
        self.held_by_disk = False
        """Whether the disk is full, be that why it is paused or not."""
        self._free = asyncio.Event()
        self._free.set()

    @property
    def frozen(self) -> bool:
        """Whether the sandbox stands still."""
        return self._in_effect is not None and self._in_effect.strength == "now"

    @property
    def held_by_limit(self) -> LimitKind | None:
        """The limit that the run stands at."""
        return self._in_effect.limit if self._in_effect is not None else None

    @property
    def several(self) -> bool:
        """Whether more than one is at work."""
        return self._at_work > 1

    @property
    def paused(self) -> bool:
        """Whether a pause is in effect."""
        return self._in_effect is not None

    def sandbox_started(self, sandbox: Sandbox) -> None:
        """From now on there is something to freeze."""
        self._sandbox = sandbox

    async def pause(self, wish: WishedPause) -> str:
        """Ask for a pause; returns why it cannot be, or nothing. It is answered when it takes effect.

        One that was asked for before is joined, and the stronger of the two holds.
        """
        if self._in_effect is not None and not self._is_stronger(wish):
            by = "the disk is full" if self.held_by_disk else f"by {self._in_effect.by or 'someone'}"
            return f"it is paused already, {by}"
        if self._wished is not None:
            wish = self._wished.and_also(wish)
        if wish.strength == "now" and self._sandbox is not None:
            await self._sandbox.freeze()
            self._take_effect(wish)
        else:
            self._wished = wish
            self._look_whether_all_stand()
            # Where the new wish is the stronger one, whoever passed the weaker may have to stand.
            self._tell_of_wish()
        return ""

    async def pause_at_limit(self, limit: LimitKind, *, frozen: bool) -> None:
        """Stop at a limit; `frozen` where something may be running. Raises `SandboxError` where it cannot be frozen."""
        if frozen and self._sandbox is not None:
            await self._sandbox.freeze()
        if self._in_effect is not None:
            # Another worker came to it at the same moment.
            return
        if self._wished is not None:
            self._withdraw(f"the limit on {limit} paused it first")
        strength: PauseStrength = "now" if frozen and self._sandbox is not None else "step"
        self._take_effect(WishedPause(strength, "", f"the limit on {limit} is reached", None, limit))
        hint = "raise the limit and resume, or kill it"
        self._journal.append(
            ev.AlertRaised(alert="limit", message=f"paused: the limit on {limit} is reached", hint=hint)
        )

    async def take_up(self, pause: ev.RunPaused) -> None:
        """Stand where a runner before us stood: a person's pause outlives it, one for a full disk is looked at anew."""
        if pause.why == _DISK_FULL and not pause.by:
            self._journal.append(ev.RunResumed(by="the runner"))
            return
        strength = pause.strength
        if strength == "now" and self._sandbox is not None:
            try:
                await self._sandbox.freeze()
            except SandboxLost:
                # Nothing is left that could be frozen; the agent waits all the same.
                strength = "step"
        # Somebody may have asked for a pause since; one that is no stronger is answered here, or never.
        wish = self._wished
        self._take_effect(WishedPause(strength, pause.by, pause.why, None, pause.limit))
        if wish is not None:
            self._wished = wish
            if not self._is_stronger(wish):
                self._withdraw(f"it is paused already, by {pause.by or 'someone'}")

    async def hold_sandbox(self) -> None:
        """A sandbox that was just taken up is awake: freeze it where a pause says so."""
        if self._sandbox is None:
            return
        if self.frozen:
            await self._sandbox.freeze()
        elif self._wished is not None and self._wished.strength == "now":
            await self._sandbox.freeze()
            self._take_effect(self._wished)

    async def hold_for_disk(self) -> None:
        """The record's disk is full: nothing runs until it is not. A pause that is in effect already does as well."""
        self.held_by_disk = True
        if self._in_effect is not None:
            return
        frozen = False
        if self._sandbox is not None:
            # What is out of reach cannot be frozen; the gates hold in any case.
            with contextlib.suppress(SandboxError):
                await self._sandbox.freeze()
                frozen = True
        wished = self._wished
        self._disk_pause = WishedPause("now" if frozen else "step", "", _DISK_FULL, None)
        self._take_effect(self._disk_pause)
        self._wished = wished

    async def go_on_with_disk(self) -> None:
        """There is room again; what somebody else had paused stays so."""
        self.held_by_disk = False
        if self._in_effect is not None and self._in_effect is self._disk_pause:
            await self._go_on("the runner", None)

    async def resume(self, by: str, request_id: int | None) -> str:
        """Go on; returns why that cannot be, or nothing."""
        if self.held_by_disk:
            return "the disk is full; it goes on by itself when there is room"
        if self._in_effect is None and self._wished is None:
            return "it is not paused"
        if self._wished is not None:
            self._withdraw("resumed before it took effect")
        if self._in_effect is not None:
            await self._go_on(by, request_id)
        return ""

    async def _go_on(self, by: str, request_id: int | None) -> None:
        if self.frozen and self._sandbox is not None:
            await self._sandbox.thaw()
        self._in_effect = None
        self._journal.append(ev.RunResumed(by=by, request_id=request_id))
        self._free.set()

    async def gate(self, place: Place) -> None:
        """Pass when no pause holds here; a wished one takes effect once all who are at work stand at such a gate."""
        while True:
            # Two are not in effect at once: the second would not know that the first one froze the sandbox.
            await self._free.wait()
            wish = self._wished
            if wish is None or not wish.holds_at(place):
                return
            moved = self._wish_moved
            with self._stand():
                if self._wished is wish:
                    await moved.wait()

    @contextlib.contextmanager
    def between_calls(self) -> Iterator[None]:
        """No model call is open and none comes before long: whoever is here stands where any pause holds."""
        with self._stand():
            yield

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """One more is at work: a pause waits for them to come to a gate."""
        self._at_work += 1
        try:
            yield
        finally:
            self._at_work -= 1
            self._look_whether_all_stand()

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Somebody waits for the others, and holds no pause up."""
        self._at_work -= 1
        self._look_whether_all_stand()
        try:
            yield
        finally:
            self._at_work += 1

    @contextlib.contextmanager
    def _stand(self) -> Iterator[None]:
        self._standing += 1
        try:
            self._look_whether_all_stand()
            yield
        finally:
            self._standing -= 1

    def _look_whether_all_stand(self) -> None:
        if self._wished is not None and self._in_effect is None and self._standing >= max(1, self._at_work):
            self._take_effect(self._wished)

    def _tell_of_wish(self) -> None:
        self._wish_moved.set()
        self._wish_moved = asyncio.Event()

    async def let_go(self) -> None:
        """The agent's work is over, maybe in the middle of a pause; what is frozen could not be read."""
        self.held_by_disk = False
        if self._in_effect is not None:
            await self.resume("the runner", None)

    def refuse_wished(self, reason: str) -> None:
        """The run is over: a pause that has not taken effect never will."""
        if self._wished is not None:
            self._withdraw(reason)

    def _is_stronger(self, wish: WishedPause) -> bool:
        return wish.strength == "now" and not self.frozen

    def _take_effect(self, wish: WishedPause) -> None:
        self._wished = None
        self._in_effect = wish
        self._free.clear()
        self._tell_of_wish()
        self._journal.append(
            ev.RunPaused(strength=wish.strength, by=wish.by, why=wish.why, request_id=wish.request_id, limit=wish.limit)
        )
        for request_id in wish.request_ids:
            self._journal.append(ev.RequestAnswered(request_id=request_id, detail=_SAID[wish.strength]))

    def _withdraw(self, reason: str) -> None:
        assert self._wished is not None
        for request_id in self._wished.request_ids:
            self._journal.append(ev.RequestRefused(request_id=request_id, reason=reason))
        self._wished = None
        self._tell_of_wish()


_SAID: dict[PauseStrength, str] = {
    "step": "paused before the next model call",
    "command": "paused after the command",
    "now": "frozen",
}
