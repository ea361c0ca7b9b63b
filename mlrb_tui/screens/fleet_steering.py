"""What keys ask of the selected run; the request goes to its inbox, the answer comes back as an event."""

import asyncio
import time
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import work
from textual.binding import Binding, BindingType

from agent.record.home import RunFolder
from agent.record.text import printable
from agent.record.values import PauseStrength
from mlrb_tui.screens.answering import Answering
from mlrb_tui.views.steering import PAUSE_WORDS
from tasks.errors import MlrbError

if TYPE_CHECKING:
    from agent.record.inbox import Approve, Request
    from agent.record.viewer import Viewer
    from mlrb_tui.views.blocks import Asked

_LOOK_EVERY_S = 0.15

KILL_DETAIL = (
    "Its agent, its commands and its sandbox end, and each is looked for until it is gone.\n"
    "What was recorded stays. To stop it for a while, pause it instead."
)


class Steering(Answering):
    """Keys that steer a run; whoever inherits says which one."""

    read_only: bool = False
    sending: asyncio.Lock
    """Requests reach the inbox in the order of their keys."""
    STEERING_BINDINGS: ClassVar[tuple[BindingType, ...]] = (
        Binding("p", "pause('step')", "pause", id="fleet.pause", tooltip="stop before the next model call"),
        Binding(
            "h", "pause('command')", "hold", id="fleet.hold", show=False, tooltip="stop when this command has ended"
        ),
        Binding("P", "pause('now')", "freeze", id="fleet.freeze", tooltip="stop at once, in mid-command too"),
        Binding("r", "resume", "resume", id="fleet.resume", tooltip="go on after a pause"),
        Binding("i", "inject", "inject", id="fleet.inject", tooltip="say something to the agent"),
        Binding("x", "interrupt", "interrupt", id="fleet.interrupt", tooltip="end the running command"),
        Binding("s", "score", "score now", id="fleet.score", tooltip="grade what is there, without stopping it"),
        Binding("k", "kill", "kill", id="fleet.kill", tooltip="end the run, with proof that nothing is left"),
    )

    @property
    def steered(self) -> RunFolder | None:
        """The run that keys act on."""
        raise NotImplementedError

    def may_steer(self) -> bool:
        """Whether anything may be asked of a run from here; says so where it may not."""
        if self.read_only:
            self.app.notify("this app was opened to look only (--read-only)", severity="warning")
        return not self.read_only

    def action_pause(self, strength: PauseStrength) -> None:
        """Stop the run before its next model call, after its command, or at once."""
        from agent.record.inbox import Pause

        self._ask(Pause(strength=strength), PAUSE_WORDS[strength])

    def action_resume(self) -> None:
        """Let the run go on."""
        from agent.record.inbox import Resume

        self._ask(Resume(), "resume")

    def action_interrupt(self) -> None:
        """End the running command."""
        from agent.record.inbox import Interrupt

        self._ask(Interrupt(), "interrupt")

    def action_score(self) -> None:
        """Grade a snapshot."""
        from agent.record.inbox import ScoreNow

        self._ask(ScoreNow(), "score now")

    def action_inject(self) -> None:
        """Ask for a message and send it."""
        folder = self.steered
        if folder is None or not self.may_steer():
            return
        from agent.record.inbox import Inject
        from mlrb_tui.widgets.dialogs import TextPrompt

        def say(text: str | None) -> None:
            if text is not None:
                self._ask(Inject(text=text), "message", folder)

        hint = "It goes out with the very next model request, and the record keeps it."
        self.app.push_screen(TextPrompt(f"Say to {folder.run}", hint), say)

    def action_kill(self) -> None:
        """Ask whether it is meant, and end the run."""
        folder = self.steered
        if folder is None or not self.may_steer():
            return
        from agent.record.inbox import Kill
        from mlrb_tui.widgets.dialogs import Confirm

        def kill(sure: bool | None) -> None:
            if sure:
                self._ask(Kill(), "kill", folder)

        self.app.push_screen(Confirm(f"Kill {folder.run}?", KILL_DETAIL, danger=True), kill)

    def say_word(self, folder: RunFolder, word: "Approve") -> None:
        """Send a word to a run."""
        self._ask(word, word.word, folder)

    def word_failed(self, said: str) -> None:
        """Say why a word could not be sent."""
        self.app.notify(printable(said), severity="warning", markup=False)

    def _ask(self, request: "Request", word: str, folder: RunFolder | None = None) -> None:
        folder = folder or self.steered
        if folder is not None and self.may_steer():
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
