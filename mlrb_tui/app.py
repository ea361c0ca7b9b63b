"""The terminal app: its screens, its themes, and how it ends."""

import contextlib
import gc
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from agent.record.home import Home
from agent.record.text import one_line, printable
from mlrb_tui.control.alarm_bell import AlarmBell
from mlrb_tui.control.settings import Settings, read_settings, remember
from mlrb_tui.screens.fleet import FleetScreen
from mlrb_tui.terminal import clipboard_sequence, kept_sane, may_take_mouse, set_mouse
from mlrb_tui.themes import THEMES, is_plain, starting_theme
from tasks.errors import MlrbError

if TYPE_CHECKING:
    from agent.record.viewer import Viewer
    from mlrb_tui.control.recording import Recording

_HERE = Path(__file__).parent


class MlrbApp(App[int]):
    """The flight deck."""

    TITLE = "mlrb"
    # A default screen's own style sheet is not loaded, only those of screens that are pushed.
    CSS_PATH = [_HERE / "app.tcss", _HERE / "screens" / "fleet.tcss"]  # noqa: RUF012
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "help", id="app.help", key_display="?", tooltip="all keys, and what is what"),
        Binding("ctrl+t", "toggle_mouse", "mouse", id="app.mouse", show=False, tooltip="take or free the mouse"),
        Binding("ctrl+z", "suspend_process", "suspend", id="app.suspend", show=False, tooltip="fg brings the app back"),
    ]  # fmt: skip

    def __init__(
        self,
        home: Home,
        settings: Settings | None = None,
        *,
        recording: "Recording | None" = None,
        read_only: bool = False,
        environment: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.time,
    ) -> None:
        plain = is_plain(environment)
        super().__init__(ansi_color=True if plain else None)
        self.home = home
        self.settings = settings or Settings()
        self.read_only = read_only
        self._clock = clock
        self.alarm_bell = AlarmBell(self.bell, on=self.settings.bell)
        self.live_runs = 0
        self.crash = ""
        """What broke the app, in one line."""
        self.watched = ""
        """The live run that was looked at when the app was ended."""
        self._recording = recording
        self._mouse_taken = self.settings.mouse and may_take_mouse(environment)
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = starting_theme(self.settings.theme, environment)
        self._theme_at_start = self.theme

    @property
    def takes_mouse(self) -> bool:
        """Whether the mouse is the app's, now."""
        return self._mouse_taken

    @property
    def log_file(self) -> Path:
        """Where the traceback of a crash goes."""
        return self.home.path / "app.log"

    @cached_property
    def viewer(self) -> "Viewer":
        """This app, as one of those who may steer."""
        from agent.record.viewer import Viewer

        return Viewer.here("app")

    def get_default_screen(self) -> Screen[None]:
        """All runs."""
        screen = FleetScreen(self.home, self.settings, read_only=self.read_only, clock=self._clock)
        screen.alarm_bell = self.alarm_bell
        return screen

    def on_mount(self) -> None:
        if self._recording is not None:
            self._show_run(self._recording)
        self.theme_changed_signal.subscribe(self, lambda theme: self._keep_theme(theme.name))
        self.app_resume_signal.subscribe(self, lambda _: self._paint_anew())

    def on_ready(self) -> None:
        """The first screen stands: from now on garbage is looked for, but not among what was made until then."""
        if not gc.isenabled():
            gc.freeze()
            gc.enable()

    # ── screens ──────────────────────────────────────────────────────────────────────────────────────────

    def open_run(self, name: str) -> None:
        """The run screen on that run."""
        from mlrb_tui.control.recording import open_recording

        try:
            recording = open_recording(self.home, name)
        except MlrbError as error:
            self.complain(error)
        else:
            self._show_run(recording)

    def _show_run(self, recording: "Recording") -> None:
        from mlrb_tui.screens.run import RunScreen

        ascii_only = self.settings.glyphs == "ascii"
        screen = RunScreen(recording, viewer=self.viewer, read_only=self.read_only, ascii_only=ascii_only)
        screen.alarm_bell = self.alarm_bell
        self.push_screen(screen)

    def complain(self, error: MlrbError) -> None:
        """Say what went wrong, and what helps."""
        said = " · ".join(part for part in (error.message, error.hint) if part)
        self.notify(printable(said), severity="error", markup=False)

    def action_help(self) -> None:
        """All keys of the screen, and what the words mean."""
        from mlrb_tui.screens.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen))

    def action_help_quit(self) -> None:
        """What ctrl+c says; it must never end a run or this app by accident."""
        self.notify("q quits; runs go on without the app", timeout=3)

    # ── the palette ──────────────────────────────────────────────────────────────────────────────────────

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action of the screen, from its bindings, and the themes."""
        seen = set()
        for active in screen.active_bindings.values():
            binding = active.binding
            if binding.id and binding.description and binding.id not in seen:
                seen.add(binding.id)
                about = f"{binding.tooltip}  ({self.get_key_display(binding)})".strip()
                yield SystemCommand(binding.description.capitalize(), about, _run(self, active.node, binding.action))
        yield SystemCommand("Theme", "choose the colours", self.action_change_theme)

    # ── the terminal ─────────────────────────────────────────────────────────────────────────────────────

    def action_toggle_mouse(self) -> None:
        """Let go of the mouse, so that the terminal selects text by itself; or take it again."""
        if set_mouse(self._driver, not self._mouse_taken):
            self._mouse_taken = not self._mouse_taken
        said = "the mouse is the app's" if self._mouse_taken else "the mouse is the terminal's: select and copy as ever"
        self.notify(said + "  (ctrl+t)", timeout=3)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy by OSC 52, which works over SSH, in tmux and in screen."""
        self._clipboard = text
        if self._driver is not None:
            self._driver.write(clipboard_sequence(text))

    def _paint_anew(self) -> None:
        """All of the screen: the shell has had the terminal meanwhile, and what did not change since is not there."""
        self.refresh(layout=True)

    def _keep_theme(self, name: str) -> None:
        if name != self._theme_at_start:
            self._theme_at_start = name
            with contextlib.suppress(MlrbError, OSError):
                remember(self.home, "theme", name)

    def leave(self, code: int) -> None:
        """End the app from a signal handler."""
        self.watched = self._looked_at()
        loop = self._loop
        if loop is not None:
            loop.call_soon_threadsafe(lambda: self.exit(code, return_code=code))

    def _looked_at(self) -> str:
        """The live run on the screen, or below a dialog on it."""
        stack = self._screen_stacks.get(self._current_mode, [])
        recordings = [screen.recording for screen in stack if hasattr(screen, "recording")]
        return recordings[-1].name if recordings and recordings[-1].live else ""

    def _handle_exception(self, error: Exception) -> None:
        """A bug ends the app in one clear line; the traceback goes to a file, not over the screen."""
        import traceback

        self.watched = self._looked_at()
        self.crash = self.crash or one_line(f"{type(error).__name__}: {error}", 300)
        with contextlib.suppress(OSError), self.log_file.open("a", encoding="utf-8", errors="replace") as file:
            file.write(time.strftime("── %Y-%m-%d %H:%M:%S\n") + "".join(traceback.format_exception(error)))
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._close_messages_no_wait()


def run_app(home: Home, *, open_run: str | None = None, replay: str | None = None, read_only: bool = False) -> int:
    """The app until it is left; returns the exit code. What is wrong with the arguments is raised before it opens."""
    settings = read_settings(home)
    recording = None
    if name := open_run or replay:
        from mlrb_tui.control.recording import open_recording

        recording = open_recording(home, name)
    return run(MlrbApp(home, settings, recording=recording, read_only=read_only))


def run(app: MlrbApp) -> int:
    """That app until it is left; the terminal is sane afterwards, however it ended."""
    with kept_sane(app.leave):
        app.run(mouse=app.takes_mouse)
    with contextlib.suppress(OSError):
        _say_goodbye(app)
    return app.return_code or 0


def _say_goodbye(app: MlrbApp) -> None:
    """What a person should know once the shell is back: what broke, and where the runs are."""
    said = []
    if app.crash:
        said = [f"the app broke: {app.crash}", f"the traceback is in {app.log_file}"]
    if app.watched:
        said.append(f"run {app.watched} goes on without the app: mlrb watch {app.watched}")
    elif app.live_runs:
        runs, them = ("1 run goes", "it") if app.live_runs == 1 else (f"{app.live_runs} runs go", "them")
        said.append(f"{runs} on without the app; mlrb comes back to {them}, mlrb ls lists {them}")
    for number, line in enumerate(said):
        print(f"{'mlrb:' if not number else '     '} {line}", file=sys.stderr)


def _run(app: App[int], node: object, action: str) -> Callable[[], Awaitable[None]]:
    async def run() -> None:
        await app.run_action(action, default_namespace=node)  # type: ignore[arg-type]

    return run
