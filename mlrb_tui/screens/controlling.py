"""Who steers the run that a screen shows: looked at, taken, kept, asked for, handed over, let go."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen

from agent.record.home import RunFolder
from agent.record.lease import RENEW_EVERY_S, Standing, held_by
from agent.record.lease_watch import LeaseWatch
from agent.record.text import one_line, printable
from agent.record.viewer import Viewer
from mlrb_tui.control import leases
from mlrb_tui.views import control
from mlrb_tui.widgets.who_steers import Choice, WhoSteers
from tasks.errors import MlrbError

_NOTICE_S = 30.0


class Controlling(Screen[None]):
    """One viewer steers a run; this one does so from its first request until its screen is left."""

    CONTROL_BINDINGS: ClassVar[tuple[BindingType, ...]] = (
        Binding("c", "control", "control", id="run.control", show=False, tooltip="take control, or let it go"),
        Binding("C", "hand_over", "hand over", id="run.hand_over", show=False, tooltip="give control to who asks"),
    )
    viewer: Viewer
    lease: LeaseWatch | None = None
    """None where there is no run to steer, only a file."""
    _told_of = ""
    """The question for control that was last shown."""

    @property
    def steered(self) -> RunFolder | None:
        """The run that keys act on; None, said to the person, where there is none to act on."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """Show a word to the person."""
        raise NotImplementedError

    @property
    def standing(self) -> Standing:
        """How control stood at the last look."""
        return Standing() if self.lease is None else self.lease.standing

    @property
    def mine(self) -> bool:
        """Whether this app steers."""
        holder = self.standing.holder
        return holder is not None and holder.viewer == self.viewer.viewer

    def watch_control(self, folder: RunFolder | None) -> None:
        """From now on look who steers, and keep what this app holds."""
        if folder is not None:
            self.lease = LeaseWatch(folder.inbox)
            self.look_at_control()
            self.set_interval(RENEW_EVERY_S, lambda: self._renew(folder))

    def leave_control(self, folder: RunFolder | None) -> None:
        """Let go of what is held; the screen is left."""
        if self.lease is not None and folder is not None:
            self.lease.look()
            if self.mine:
                leases.release(folder, self.viewer)
            self.lease.close()

    def look_at_control(self) -> None:
        """Look who steers, and tell of what concerns this app; writes nothing."""
        if self.lease is None:
            return
        for change in self.lease.look():
            if said := control.notice(change, self.viewer):
                self._tell(said)
                self._say_nothing()
        asked = control.asked(self.standing, self.viewer)
        if asked != self._told_of:
            self._told_of = asked
            if asked:
                self._tell(asked)

    def somebody_else_steers(self, then: Callable[[], None]) -> bool:
        """Whether somebody else does; they are then named, and what was wanted is done after a take-over."""
        self.look_at_control()
        lease = self.standing.lease
        if lease is None or self.mine or self.standing.holder is None:
            return False
        self.offer_control(held_by(lease).message, then)
        return True

    def offer_control(self, said: str, then: Callable[[], None]) -> None:
        """Say who steers, and ask whether to take over (`then` follows) or to ask for control."""
        folder = self.steered
        if folder is None:
            return

        def go_on(choice: Choice | None) -> None:
            match choice:
                case "take over":
                    self._do(lambda: leases.take(folder, self.viewer, take_over=True), then)
                case "ask":
                    self._do(lambda: leases.ask_for(folder, self.viewer), self._say_asked)
                case None:
                    pass

        self.app.push_screen(WhoSteers(said, can_ask=True), go_on)

    def action_control(self) -> None:
        """Take control where nobody has it; let it go where this app has it."""
        folder = self.steered
        if folder is None or self.somebody_else_steers(self._say_nothing):
            return
        if self.mine:
            self._do(lambda: leases.release(folder, self.viewer), lambda: self.say("you steer no more"))
        else:
            self._do(lambda: leases.take(folder, self.viewer), self._say_nothing)

    def action_hand_over(self) -> None:
        """Give control to who asked first."""
        folder = self.steered
        if folder is None:
            return
        self.look_at_control()
        asking = self.standing.asking
        if not (self.mine and asking):
            self.say("nobody asks for control" if self.mine else "you do not steer this run")
            return
        given = f"{one_line(asking[0].said, 60)} steers now"
        self._do(lambda: leases.hand_over(folder, self.viewer, asking[0]), lambda: self.say(given))

    def _renew(self, folder: RunFolder) -> None:
        if self.mine:
            self._do(lambda: leases.renew(folder, self.viewer), lambda: None)

    def _do(self, act: Callable[[], object], then: Callable[[], None]) -> None:
        """Do it in a thread, look how control stands, and go on; say why where it can't be done."""

        async def do() -> None:
            try:
                await asyncio.to_thread(act)
            except MlrbError as error:
                self.say(one_line(error.message))
                return
            self.look_at_control()
            then()

        self.run_worker(do(), group="control")

    def _say_asked(self) -> None:
        self.say("" if self.mine else "asked for control; you are told when it is handed over")

    def _tell(self, said: str) -> None:
        self.app.notify(printable(said), severity="warning", timeout=_NOTICE_S, markup=False)

    def _say_nothing(self) -> None:
        """Take back the last word: the head itself says who steers."""
        self.say("")
