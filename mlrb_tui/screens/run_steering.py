"""The keys of a run's screen that ask something of the run."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType

from agent.errors import ControlHeld, RecordError
from agent.record.asked import queued_messages
from agent.record.home import RunFolder
from agent.record.inbox import ApproveMode, ChangeLimits, Request, Resume
from agent.record.log import EventReader
from agent.record.text import one_line
from agent.record.values import Limits
from mlrb_tui.control.revive import revived
from mlrb_tui.control.spent import FORCE, wanted_limits
from mlrb_tui.control.steer import send
from mlrb_tui.screens.answering import ANSWERING, ANSWERING_KEYS
from mlrb_tui.screens.controlling import Controlling
from mlrb_tui.screens.steering_keys import SteeringKeys, steering_bindings
from mlrb_tui.views import receipts, steering, words
from mlrb_tui.views.blocks import Asked
from tasks.errors import MlrbError

STEERING = ("pause", "resume", "inject", "messages", "interrupt", "score", "limits", "approve_mode", "kill", "control",
            "hand_over", *ANSWERING)  # fmt: skip
"""The actions that ask something of a run."""
STEERING_KEYS = ("p", "h", "P", "r", "i", "I", "x", "s", "l", "M", "k", "c", "C", *ANSWERING_KEYS)


class RunSteering(SteeringKeys, Controlling):
    """Requests to one run; each is said at once, and its answer comes back as an event."""

    STEERING_BINDINGS: ClassVar[tuple[BindingType, ...]] = steering_bindings(
        "run",
        Binding("l", "limits", "limits", id="run.limits", tooltip="give it more, or less, of what it may use"),
        Binding(
            "I", "messages", "messages", id="run.messages", show=False, tooltip="change or withdraw what is queued"
        ),
        Binding(
            "M", "approve_mode", "approve mode", id="run.approve", show=False, tooltip="have each change wait for you"
        ),
    )

    asked: int | None = None
    """The last request sent from here, until its answer is said."""
    asked_is_read = False
    offered: frozenset[str] = frozenset()
    """The requests whose keys are shown."""
    sending: asyncio.Lock
    """Requests reach the inbox in the order of their keys."""

    @property
    def approving(self) -> bool:
        """Whether calls wait for a person."""
        raise NotImplementedError

    @property
    def limits(self) -> Limits:
        """The limits that hold now."""
        raise NotImplementedError

    def barred(self, again: Callable[[], None]) -> bool:
        """See `SteeringKeys.barred`."""
        return self.somebody_else_steers(again)

    def action_messages(self) -> None:
        """Show what is queued, and change or take back one of it."""
        folder = self.steered
        if folder is None or self.somebody_else_steers(self.action_messages):
            return
        from mlrb_tui.widgets.queued import QueuedMessages, Wish

        try:
            with EventReader(folder.events) as reader:
                messages = queued_messages(reader)
        except RecordError as error:
            self.say(one_line(error.message))
            return
        if not messages:
            self.say("no message is queued")
            return

        def ask(wish: Wish | None) -> None:
            if wish is not None:
                self.ask(wish, "message")

        self.app.push_screen(QueuedMessages(messages), ask)

    def action_approve_mode(self) -> None:
        """Turn approve mode on or off."""
        self.ask(ApproveMode(on=not self.approving), "approve mode")

    def action_limits(self) -> None:
        """Ask for new limits and send them."""
        folder = self.steered
        if folder is None or self.somebody_else_steers(self.action_limits):
            return
        from mlrb_tui.widgets.dialogs import TextPrompt

        def send_it(text: str | None) -> None:
            if text is not None:
                # It was checked a moment ago; what has been spent since then is no reason to refuse it now.
                self.ask(ChangeLimits(limits=wanted_limits(folder, [*text.split(), FORCE])[0]), "limits")

        hint = f"Now: {words.limits(self.limits)}\nWrite time=+30m steps=+10 cost=5 tokens=2M; none takes a limit away."
        prompt = TextPrompt("Limits", hint, check=lambda text: wanted_limits(folder, text.split()))
        self.app.push_screen(prompt, send_it)

    def ask(self, request: Request, word: str, folder: RunFolder | None = None) -> None:
        """Send a request; what comes of it is told by events."""
        folder = folder or self.steered
        if folder is not None:
            self.run_worker(self._send(folder, request, word), group="steer")

    async def _send(self, folder: RunFolder, request: Request, word: str) -> None:
        try:
            async with self.sending:
                if isinstance(request, Resume) and await asyncio.to_thread(revived, folder, self.viewer, keep=True):
                    self.say("a new runner has taken it up")
                    return
                asked = await asyncio.to_thread(send, folder, request, self.viewer, keep=True)
        except ControlHeld as error:
            self.offer_control(error.message, lambda: self.ask(request, word))
        except MlrbError as error:
            self.say(one_line(" · ".join(part for part in (error.message, error.hint) if part)))
        else:
            self.look_at_control()
            # Said first: the answer, which may be there already, then takes its place.
            self.say(f"{word}: asked, the runner has not read it yet")
            self.asked, self.asked_is_read = asked, False

    def say_answer(self, asked: Asked | None) -> None:
        """Say what became of the last request; `asked` is what the record holds of it."""
        if asked is None:
            return
        if not asked.open:
            self.say(receipts.in_words(asked))
            self.asked = None
        elif not self.asked_is_read:
            # From here on the head itself says what the request waits for.
            self.asked_is_read = True
            self.say("")

    def offer(self, wanted: frozenset[str]) -> None:
        """Show the keys of these requests."""
        if wanted != self.offered:
            self.offered = wanted
            self.refresh_bindings()

    def applies(self, binding: Binding) -> bool:
        """Whether a key makes sense as the run stands."""
        name = (binding.id or "").rpartition(".")[2]
        return name not in steering.ONLY_WHERE_OFFERED or name in self.offered
