"""What keys ask of the selected run; the request goes to its inbox, the answer comes back as an event."""

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import work
from textual.binding import BindingType

from agent.record.home import RunFolder
from agent.record.text import printable
from mlrb_tui.screens.answering import Answering
from mlrb_tui.screens.steering_keys import SteeringKeys, steering_bindings
from tasks.errors import MlrbError

if TYPE_CHECKING:
    from agent.record.inbox import Approve, Request
    from agent.record.viewer import Viewer
    from mlrb_tui.views.blocks import Asked

_LOOK_EVERY_S = 0.15


class Steering(SteeringKeys, Answering):
    """Keys that steer a run; whoever inherits says which one."""

    read_only: bool = False
    sending: asyncio.Lock
    """Requests reach the inbox in the order of their keys."""
    STEERING_BINDINGS: ClassVar[tuple[BindingType, ...]] = steering_bindings("fleet")

    def may_steer(self) -> bool:
        """Whether anything may be asked of a run from here; says so where it may not."""
        if self.read_only:
            self.app.notify("this app was opened to look only (--read-only)", severity="warning")
        return not self.read_only

    def barred(self, again: Callable[[], None]) -> bool:
        """Who steers is found out when something is sent."""
        return False

    def say_word(self, folder: RunFolder, word: "Approve") -> None:
        """Send a word to a run."""
        self.ask(word, word.word, folder)

    def word_failed(self, said: str) -> None:
        """Say why a word could not be sent."""
        self.app.notify(printable(said), severity="warning", markup=False)

    def ask(self, request: "Request", word: str, folder: RunFolder | None = None) -> None:
        """Send a request; what comes of it is told where that is soon."""
        folder = folder or self.steered
        if folder is not None:
            self._send(folder, request, word)

    def _offer_to_take_over(self, said: str, folder: RunFolder, request: "Request", word: str) -> None:
        """Say who steers that run, and send the request all the same where that is wanted."""
        from mlrb_tui.widgets.who_steers import Choice, WhoSteers

        def go_on(choice: Choice | None) -> None:
            if choice == "take over":
                self._send(folder, request, word, take_over=True)

        self.app.push_screen(WhoSteers(f"{folder.run}: {said}", can_ask=False), go_on)

    @work(group="steer")
    async def _send(self, folder: RunFolder, request: "Request", word: str, take_over: bool = False) -> None:
        from agent.errors import ControlHeld
        from agent.record.inbox import Resume
        from mlrb_tui.control.revive import revived
        from mlrb_tui.control.steer import patience_s, send

        try:
            async with self.sending:
                viewer: Viewer = self.app.viewer  # type: ignore[attr-defined]
                revive = isinstance(request, Resume)
                if revive and await asyncio.to_thread(revived, folder, viewer, take_over=take_over):
                    self.app.notify(f"a new runner has taken up {folder.run}", timeout=3)
                    return
                asked = await asyncio.to_thread(send, folder, request, viewer, take_over=take_over)
            self.app.notify(f"{word}: asked of {folder.run}", timeout=2)
            await self._tell_answer(folder, asked, patience_s(request))
        except ControlHeld as error:
            self._offer_to_take_over(error.message, folder, request, word)
        except MlrbError as error:
            said = " · ".join(part for part in (error.message, error.hint) if part)
            self.app.notify(printable(said), severity="error", markup=False)

    async def _tell_answer(self, folder: RunFolder, request_id: int, patience_s: float) -> None:
        """Say what came of a request, if that is soon; a run's own screen shows it in any case."""
        until = time.monotonic() + patience_s
        while time.monotonic() < until:
            asked = await asyncio.to_thread(_standing, folder, request_id)
            if asked is not None and not asked.open:
                from mlrb_tui.views.receipts import in_words

                severity: Literal["error", "information"] = "error" if asked.refused else "information"
                said = f"{folder.run[:8]}  {in_words(asked)}"
                self.app.notify(printable(said), severity=severity, markup=False, timeout=4)
                return
            await asyncio.sleep(_LOOK_EVERY_S)


def _standing(folder: RunFolder, request_id: int) -> "Asked | None":
    from agent.record.log import EventReader
    from mlrb_tui.views.receipts import standing

    with EventReader(folder.events) as reader:
        return standing(reader, request_id)
