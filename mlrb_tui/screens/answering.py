"""The keys that say a person's word to a tool call that waits for it; shared by the screens of one run and of all."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.binding import Binding, BindingType
from textual.screen import Screen

from agent.errors import RecordError
from agent.record.home import RunFolder
from agent.record.values import WantedApproval

if TYPE_CHECKING:
    # Imported where a question is answered: the app's first paint does without.
    from agent.record.asked import WaitingCall
    from agent.record.inbox import Approve

ANSWERING = ("accept", "edit_call", "reject", "always")
"""The actions that answer a question."""
ANSWERING_KEYS = ("a", "e", "d", "A")
_FOR_GOOD = "Such calls run without a question for the rest of this run. What the settings always ask for still asks."


class Answering(Screen[None]):
    """Answers the question that is shown; whoever inherits says which one that is."""

    ANSWER_BINDINGS: ClassVar[tuple[BindingType, ...]] = (
        Binding("a", "accept", "accept", id="answer.accept", tooltip="let the call that waits run"),
        Binding("e", "edit_call", "edit", id="answer.edit", tooltip="run something else instead; the agent is told"),
        Binding("d", "reject", "reject", id="answer.reject", tooltip="don't let it run; the agent is told why"),
        Binding("A", "always", "always", id="answer.always", tooltip="let its class of calls through in this run"),
    )

    @property
    def questioned(self) -> tuple[RunFolder, WantedApproval] | None:
        """The run and the question that keys answer; None, said to the person, where there is none."""
        raise NotImplementedError

    def say_word(self, folder: RunFolder, word: "Approve") -> None:
        """Send a word to a run."""
        raise NotImplementedError

    def word_failed(self, said: str) -> None:
        """Say why a word could not be sent."""
        raise NotImplementedError

    def action_accept(self) -> None:
        """Let the call run."""
        if (asked := self.questioned) is not None:
            folder, wanted = asked
            self._say(folder, wanted.approval_id, "accept")

    def action_edit_call(self) -> None:
        """Ask what shall run instead."""
        from mlrb_tui.widgets.dialogs import TextPrompt

        found = self._whole()
        if found is None:
            return
        folder, call = found
        if not call.editable:
            self.word_failed(f"a {call.tool} call has nothing to edit; reject it with a reason")
            return
        hint = f"This {call.editable} runs instead; the agent is told what you changed."
        prompt = TextPrompt(f"Edit {call.tool} of {folder.run}", hint, initial=call.edited_from)
        self.app.push_screen(prompt, self._sender(folder, call.approval_id, "edit"))

    def action_reject(self) -> None:
        """Ask for the reason and don't let the call run."""
        from mlrb_tui.widgets.dialogs import TextPrompt

        if (asked := self.questioned) is not None:
            folder, wanted = asked
            prompt = TextPrompt(f"Reject {wanted.tool} of {folder.run}: why?", "The agent is told your reason.")
            self.app.push_screen(prompt, self._sender(folder, wanted.approval_id, "reject"))

    def action_always(self) -> None:
        """Show what would be let through, and have it confirmed."""
        from mlrb_tui.widgets.dialogs import Confirm

        asked = self.questioned
        if asked is None:
            return
        folder, wanted = asked
        if not wanted.rule:
            self.word_failed("there is no class of calls that could safely be let through; accept this one")
            return

        def let_through(sure: bool | None) -> None:
            if sure:
                self._say(folder, wanted.approval_id, "always", wanted.rule)

        self.app.push_screen(Confirm(f"Always let `{wanted.rule}` through?", _FOR_GOOD), let_through)

    def _say(
        self, folder: RunFolder, approval_id: str, word: Literal["accept", "edit", "reject", "always"], text: str = ""
    ) -> None:
        from agent.record.inbox import Approve

        self.say_word(folder, Approve(approval_id=approval_id, word=word, text=text))

    def _sender(
        self, folder: RunFolder, approval_id: str, word: Literal["edit", "reject"]
    ) -> Callable[[str | None], None]:
        def send(text: str | None) -> None:
            if text is not None:
                self._say(folder, approval_id, word, text)

        return send

    def _whole(self) -> "tuple[RunFolder, WaitingCall] | None":
        """The question with all that it is about, if it is still the one that is shown."""
        from agent.record.asked import waiting_call
        from agent.record.log import EventReader

        asked = self.questioned
        if asked is None:
            return None
        folder, wanted = asked
        try:
            with EventReader(folder.events) as reader:
                call = waiting_call(reader)
        except RecordError as error:
            self.word_failed(error.message)
            return None
        if call is None or call.approval_id != wanted.approval_id:
            self.word_failed("that call waits no longer")
            return None
        return folder, call
