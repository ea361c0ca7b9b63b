"""The launch form: what to run, on what, with which limits; checked while it is filled in."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

import msgspec
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Label, Select, Static

from agent.record.home import Home
from agent.record.text import one_line, printable
from agent.record.values import Scale
from agent.sandbox.machines import machines
from agent.scaffolds.catalogue import SCAFFOLDS
from mlrb_tui.control.form import LaunchForm, launch_all, limit_fields, requests
from mlrb_tui.control.plan import task_limits
from mlrb_tui.control.settings import Settings
from mlrb_tui.views import words
from tasks.catalogue import all_tasks
from tasks.errors import MlrbError
from tasks.spec import Task

_CHECK_AFTER_S = 0.15
_MODELS = (
    "scripted", "anthropic:claude-sonnet-4-5", "anthropic:claude-opus-4-5", "anthropic:claude-haiku-4-5",
    "openai:gpt-5.2", "openai:gpt-5-mini",
)  # fmt: skip
_LIMITS = ("time", "steps", "cost", "tokens")


class LaunchScreen(ModalScreen[str | None]):
    """Launches runs; the answer is the id of the first, or None."""

    CSS_PATH = "launch.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "launch", "launch", id="launch.launch"),
        Binding("escape", "cancel", "cancel", id="launch.cancel"),
    ]

    def __init__(self, home: Home, settings: Settings | None = None, *, models: Sequence[str] = ()) -> None:
        super().__init__()
        self._home = home
        self._settings = settings or Settings()
        self._models = tuple(dict.fromkeys((*models, *_MODELS)))
        self._tasks: dict[str, Task] = {}
        self._problem = ""
        self._launching = False
        try:
            self._tasks = {task.spec.name: task for task in all_tasks()}
        except MlrbError as error:
            self._problem = error.message

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="launch", can_focus=False):
            if not self._tasks:
                yield Static(Content(printable(self._problem or "there are no tasks", lines=True)), id="launch-said")
                return
            yield self._row("task", _choice("task", list(self._tasks)))
            yield Static(id="launch-about")
            yield self._row("scale", _choice("scale", ["smoke", "full"]))
            yield self._row("scaffold", _choice("scaffold", list(SCAFFOLDS), self._settings.scaffold))
            yield self._row("model", self._model_input())
            yield self._row(
                "base URL", _field("base_url", self._settings.base_url, "only for openai: servers of your own")
            )
            yield self._row(
                "sandbox", _choice("sandbox", self._sandboxes(), self._settings.sandbox),
                Label("GPUs"), _field("gpus", "", "the task's", small=True),
            )  # fmt: skip
            yield Horizontal(Label("limits", classes="name"), *self._limit_fields(), classes="row")
            yield self._row(
                "approve", _choice("approve", ["off", "on"]),
                Label("at a limit"), _choice("on_limit", ["end", "pause"], self._settings.on_limit),
            )  # fmt: skip
            yield self._row("seed", _field("seed", "0", small=True), Label("repeat"), _field("repeat", "1", small=True))
            yield Static(id="launch-said")
            with Horizontal(classes="row", id="launch-buttons"):
                yield Button("launch", id="go", compact=True, variant="primary")
                yield Button("cancel", id="no", compact=True)
                yield Label(Content("tab next · ctrl+s launch · esc cancel"), classes="hint")

    def on_mount(self) -> None:
        self.app.clear_notifications()
        self.query_one("#launch").border_title = Content("new run")
        if self._tasks:
            self._prefill()

    # ── fields ───────────────────────────────────────────────────────────────────────────────────────────

    def _row(self, name: str, *widgets: Select[str] | Input | Label) -> Horizontal:
        return Horizontal(Label(name, classes="name"), *widgets, classes="row")

    def _sandboxes(self) -> list[str]:
        """Kinds of sandboxes, and the machines of `hosts.toml`."""
        try:
            far = [f"docker@{name}" for name, machine in machines(self._home).items() if not machine.here]
        except MlrbError:
            # A mistake in the file is told once one of them is wished for, and by the hosts screen.
            far = []
        return ["auto", "local", "docker", *far]

    def _model_input(self) -> Input:
        field = _field("model", self._settings.model or "scripted", "scripted, anthropic:NAME or openai:NAME")
        field.suggester = SuggestFromList(self._models, case_sensitive=False)
        return field

    def _limit_fields(self) -> list[Label | Input]:
        return [widget for name in _LIMITS for widget in (Label(name), _field(name, "", "none", small=True))]

    def _form(self) -> LaunchForm:
        chosen = {select.id or "": str(select.value) for select in self.query(Select)}
        typed = {field.id or "": field.value for field in self.query(Input)}
        return msgspec.convert(chosen | typed, LaunchForm)

    def _chosen(self) -> Task:
        return self._tasks[str(self.query_one("#task", Select).value)]

    @on(Select.Changed, "#task")
    @on(Select.Changed, "#scale")
    def _prefill(self) -> None:
        """Another task or scale: its limits, and what it is about."""
        task, form = self._chosen(), self._form()
        scale: Scale = "full" if form.scale == "full" and "full" in task.spec.scales else "smoke"
        filled = limit_fields(form, task_limits(task, scale))
        for name in _LIMITS:
            self.query_one(f"#{name}", Input).value = getattr(filled, name)
        conditions = task.at(scale)
        about = f"{one_line(task.spec.goal)}\n{one_line(conditions.about)}"
        baseline = f"  baseline {conditions.baseline.value:g} {task.metric(scale).name}"
        self.query_one("#launch-about", Static).update(Content(printable(about + baseline, lines=True)))
        self._check_soon()

    @on(Select.Changed)
    @on(Input.Changed)
    def _check_soon(self) -> None:
        """Check what stands there, once nothing is typed for a moment."""
        if not self._launching:
            self._check()

    @on(Input.Submitted)
    def next_field(self) -> None:
        """Enter goes on to the next field: nothing is launched by accident."""
        self.focus_next()

    # ── checking and launching ───────────────────────────────────────────────────────────────────────────

    @work(exclusive=True, group="check")
    async def _check(self) -> None:
        await asyncio.sleep(_CHECK_AFTER_S)
        if not self.query("#go"):
            return
        form = self._form()
        try:
            planned = await asyncio.to_thread(requests, self._home, form)
        except MlrbError as error:
            self._say(error.message, error.hint, wrong=True)
            return
        first = planned[0]
        runs = f"{len(planned)} runs" if len(planned) > 1 else "1 run"
        what = [runs, first.task, first.scale, first.model, first.sandbox, words.limits(first.limits)]
        what += [f"GPUs {one_line(first.gpus, 40)}"] if first.gpus else []
        what += ["asks before each call"] if first.approve else []
        what += ["pauses at a limit"] if first.on_limit == "pause" else []
        self._say(" · ".join(what), first.sandbox_notice)

    def _say(self, said: str, more: str = "", *, wrong: bool = False) -> None:
        # The form may be gone, or half gone, by the time that there is something to say in it.
        for line in self.query("#launch-said").results(Static):
            line.set_class(wrong, "-wrong")
            line.update(Content(printable("\n".join(part for part in (said, more) if part), lines=True)))
        for button in self.query("#go").results(Button):
            button.disabled = wrong

    @on(Button.Pressed, "#go")
    def action_launch(self) -> None:
        """Launch what stands in the form."""
        if self._tasks and not self._launching:
            self._launch(self._form())

    @work(exclusive=True, group="check")
    async def _launch(self, form: LaunchForm) -> None:
        self._launching = True
        try:
            runs = await asyncio.to_thread(launch_all, self._home, form, self._tell)
        except MlrbError as error:
            self._say(error.message, error.hint, wrong=True)
            self.query_one("#go", Button).disabled = False
        else:
            self.dismiss(runs[0])
        finally:
            self._launching = False

    def _tell(self, said: str) -> None:
        self.app.call_from_thread(self._say, said)

    @on(Button.Pressed, "#no")
    def action_cancel(self) -> None:
        """Go back; a launch that is under way goes on."""
        self.dismiss(None)

    def on_key(self, event: Key) -> None:
        """Up and down go from field to field, but for an open list."""
        if event.key in ("up", "down") and isinstance(self.focused, Input):
            event.stop()
            if event.key == "up":
                self.focus_previous()
            else:
                self.focus_next()


def _choice(name: str, options: Sequence[str], chosen: str = "") -> Select[str]:
    known = list(options) if not chosen or chosen in options else [*options, chosen]
    return Select(
        [(Content(printable(option)), option) for option in known],
        id=name,
        compact=True,
        allow_blank=False,
        value=chosen or known[0],
    )


def _field(name: str, value: str, hint: str = "", *, small: bool = False) -> Input:
    return Input(value, placeholder=hint, id=name, compact=True, classes="-small" if small else "")
