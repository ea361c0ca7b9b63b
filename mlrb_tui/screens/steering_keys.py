"""The keys that steer, shared by the screen of one run and that of all; how a request is sent is each screen's own."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.screen import Screen

from agent.record.home import RunFolder
from agent.record.values import PauseStrength
from mlrb_tui.views.steering import PAUSE_WORDS

if TYPE_CHECKING:
    # Imported where something is asked: the app's first paint does without.
    from agent.record.inbox import Request

_KILL_DETAIL = (
    "Its agent, its commands and its sandbox end, and each is looked for until it is gone.\n"
    "What was recorded stays. To stop it for a while, pause it instead."
)


def steering_bindings(place: str, *more: Binding) -> tuple[Binding, ...]:
    """The keys, with ids of that screen; `more` come before the last, which ends a run."""
    return (
        Binding("p", "pause('step')", "pause", id=f"{place}.pause", tooltip="stop before the next model call"),
        Binding(
            "h", "pause('command')", "hold", id=f"{place}.hold", show=False, tooltip="stop when this command has ended"
        ),
        Binding("P", "pause('now')", "freeze", id=f"{place}.freeze", tooltip="stop at once, in mid-command too"),
        Binding("r", "resume", "resume", id=f"{place}.resume", tooltip="go on after a pause"),
        Binding("i", "inject", "inject", id=f"{place}.inject", tooltip="say something to the agent"),
        Binding("x", "interrupt", "interrupt", id=f"{place}.interrupt", tooltip="end the running command"),
        Binding("s", "score", "score now", id=f"{place}.score", tooltip="grade what is there, without stopping it"),
        *more,
        Binding("k", "kill", "kill", id=f"{place}.kill", tooltip="end the run, with proof that nothing is left"),
    )


class SteeringKeys(Screen[None]):
    """What the keys ask; whoever inherits says of which run, and sends it."""

    @property
    def steered(self) -> RunFolder | None:
        """The run that keys act on; None, said to the person, where there is none to act on."""
        raise NotImplementedError

    def ask(self, request: "Request", word: str, folder: RunFolder | None = None) -> None:
        """Send a request, to the run that keys act on unless another is named; `word` is what the person calls it."""
        raise NotImplementedError

    def barred(self, again: Callable[[], None]) -> bool:
        """Whether nothing may be asked now, said to the person; `again` is for when it may."""
        raise NotImplementedError

    def action_pause(self, strength: PauseStrength) -> None:
        """Stop before the next model call, after the command, or at once."""
        from agent.record.inbox import Pause

        self.ask(Pause(strength=strength), PAUSE_WORDS[strength])

    def action_resume(self) -> None:
        """Let it go on."""
        from agent.record.inbox import Resume

        self.ask(Resume(), "resume")

    def action_interrupt(self) -> None:
        """End the running command."""
        self.interrupt_of(None)

    def interrupt_of(self, worker: int | None) -> None:
        """End that worker's running command; None where only one runs."""
        from agent.record.inbox import Interrupt

        self.ask(Interrupt(worker=worker), "interrupt")

    def action_score(self) -> None:
        """Grade a snapshot."""
        from agent.record.inbox import ScoreNow

        self.ask(ScoreNow(), "score now")

    def action_inject(self) -> None:
        """Ask for a message and send it."""
        self.inject_to(0)

    def inject_to(self, worker: int) -> None:
        """Ask for a message to that worker and send it; 0 is the supervisor, or the only agent."""
        folder = self.steered
        if folder is None or self.barred(lambda: self.inject_to(worker)):
            return
        from agent.record.inbox import Inject
        from mlrb_tui.widgets.dialogs import TextPrompt

        def send_it(text: str | None) -> None:
            if text is not None:
                self.ask(Inject(text=text, worker=worker), "message", folder)

        hint = "It goes out with the very next model request, and the record keeps it."
        whom = f"worker {worker} of {folder.run}" if worker else folder.run
        self.app.push_screen(TextPrompt(f"Say to {whom}", hint), send_it)

    def action_kill(self) -> None:
        """Ask whether it is meant, and end the run."""
        folder = self.steered
        if folder is None:
            return
        from agent.record.inbox import Kill
        from mlrb_tui.widgets.dialogs import Confirm

        def kill(sure: bool | None) -> None:
            if sure:
                self.ask(Kill(), "kill", folder)

        self.app.push_screen(Confirm(f"Kill {folder.run}?", _KILL_DETAIL, danger=True), kill)
