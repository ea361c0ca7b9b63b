"""Alarms about a training: a loss gone wrong, no checkpoint near the end, too slow, too little data."""

import statistics
from collections import deque
from dataclasses import dataclass, field

from agent.record import events as ev
from agent.record.alarm_settings import Alarm
from agent.record.values import Progress
from agent.runner.alarms.base import Conditions, DataFound, Heard, Moment, RunningCommand, Trouble, said_s

_WINDOW = 5
_SETTLED_S = 60.0
_TRIAL_S = 300.0
_CALLS_AFTER = 3
_HANDING_IN = ("submit", "validate")
_MARGIN = 1.1
"""An estimate of the time left is rough: it must be beyond the limit by a tenth."""


@dataclass
class Diverged:
    """The loss is NaN or infinite, or far above the best that it was."""

    conditions: Conditions
    alarm: Alarm = "diverged"
    _source: str = ""
    _not_finite: tuple[str, ...] = ()
    _recent: deque[float] = field(default_factory=lambda: deque(maxlen=_WINDOW))
    _first: float | None = None
    _best: float | None = None

    def hear(self, heard: Heard, at: float) -> None:
        """Losses, printed or written; a new training starts afresh."""
        match heard:
            case ev.ProgressSeen(call_id=source, progress=found):
                self._see(source, found.values.get("loss"), found.diverged)
            case ev.MetricsSeen(path=source):
                self._see(source, heard.values.get("loss"), heard.diverged)
            case ev.ToolFinished(call_id=source) if source == self._source and not self._not_finite:
                self._start("")

    def _start(self, source: str) -> None:
        self._source, self._not_finite, self._first, self._best = source, (), None, None
        self._recent.clear()

    def _see(self, source: str, loss: float | None, diverged: tuple[str, ...]) -> None:
        bad = tuple(name for name in diverged if name.removeprefix("eval_") in ("loss", "perplexity", "grad_norm"))
        if loss is None and not bad:
            return
        if source != self._source:
            self._start(source)
        if bad:
            self._not_finite = bad
        if loss is not None:
            self._not_finite = tuple(name for name in self._not_finite if name != "loss")
            self._recent.append(loss)
            if len(self._recent) == _WINDOW:
                level = statistics.median(self._recent)
                self._first = level if self._first is None else self._first
                self._best = level if self._best is None else min(self._best, level)

    def trouble(self, moment: Moment) -> Trouble | None:
        """What the newest losses say."""
        if "loss" in self._not_finite or "eval_loss" in self._not_finite:
            return Trouble(
                "the loss is not a finite number",
                "a smaller learning rate, clipped gradients, or bad data? interrupt it",
            )
        if self._best is None or self._first is None or len(self._recent) < _WINDOW:
            return None
        level = statistics.median(self._recent)
        factor = self.conditions.settings.exploding
        # A loss that may be negative has no "times as high"; and noise near zero is no explosion.
        if self._best <= 0 or level <= self._first or level < factor * self._best:
            return None
        return Trouble(
            f"the loss has exploded: {level:.4g}, it was {self._best:.4g}",
            "a smaller learning rate, or clipped gradients? interrupt it",
        )


@dataclass
class NoCheckpoint:
    """A training has written no checkpoint for long, and the run's end is near."""

    conditions: Conditions
    alarm: Alarm = "no_checkpoint"
    _command: RunningCommand = field(default_factory=RunningCommand)
    _trains: bool = False
    _saved_at: float | None = None

    def hear(self, heard: Heard, at: float) -> None:
        """Commands, losses, checkpoints."""
        self._command.hear(heard, at)
        match heard:
            case ev.ToolCalled():
                self._trains = False
            case ev.ProgressSeen(progress=progress) if "loss" in progress.values:
                self._trains = True
            case ev.MetricsSeen(values=values) if "loss" in values:
                self._trains = True
            case ev.CheckpointSeen():
                self._saved_at = at

    def trouble(self, moment: Moment) -> Trouble | None:
        """How old the newest one is, or how long the training has had none."""
        settings, left_s = self.conditions.settings, moment.time_left_s
        if not (self._command.running and self._trains) or left_s is None or left_s > settings.checkpoint_left_s:
            return None
        age_s = moment.now - max(self._command.since, self._saved_at or 0.0)
        if age_s < settings.checkpoint_age_s:
            return None
        return Trouble(
            f"no checkpoint for {said_s(age_s)}, with {said_s(left_s)} left",
            "what is not saved is lost at the limit: have the agent save one, or raise the limit",
        )


@dataclass
class TooSlow:
    """By its own account the running command will not be done before it, or the run, is out of time."""

    conditions: Conditions
    alarm: Alarm = "too_slow"
    _command: RunningCommand = field(default_factory=RunningCommand)
    _eta_s: float | None = None
    _told_at: float = 0.0

    def hear(self, heard: Heard, at: float) -> None:
        """Commands, and what they say is left."""
        self._command.hear(heard, at)
        if isinstance(heard, ev.ToolCalled):
            self._eta_s = None
        elif isinstance(heard, ev.ProgressSeen) and heard.call_id == self._command.call_id:
            self._eta_s, self._told_at = heard.progress.command_eta_s, at

    def trouble(self, moment: Moment) -> Trouble | None:
        """What it needs beside what it has."""
        if not self._command.running or self._eta_s is None or moment.now - self._command.since < _SETTLED_S:
            return None
        needs_s = max(0.0, self._eta_s - (moment.now - self._told_at))
        timeout_s = self._command.timeout_s or self.conditions.command_timeout_s
        own_s = max(0.0, self._command.since + timeout_s - moment.now)
        run_s = moment.time_left_s
        has_s, whose = (own_s, "its time-out") if run_s is None or own_s < run_s else (run_s, "the run's limit")
        if needs_s <= has_s * _MARGIN:
            return None
        return Trouble(
            f"the command needs {said_s(needs_s)} more and {whose} leaves {said_s(has_s)}",
            "raise the limit, or have the agent train less or save what it has",
        )


@dataclass
class LittleData:
    """A training has loaded, or had consumed when it ended, far less text than there is.

    What was consumed more than once counts once where the training says how much it has loaded. A short one may be a
    trial: it is told of when nothing better follows.
    """

    conditions: Conditions
    alarm: Alarm = "little_data"
    _there: float | None = None
    _loaded: float | None = None
    _consumed: float = 0.0
    _counted: float = 0.0
    _rate: tuple[float, float] | None = None
    _short: tuple[float, float] | None = None
    _calls_left: int = 0
    """So many more without another training, and a short one was no trial."""
    _trains: bool = False
    _since: float = 0.0

    def hear(self, heard: Heard, at: float) -> None:
        """What there is; tokens as they are counted, or speed over time where they are not."""
        match heard:
            case DataFound(tokens=tokens):
                self._there = tokens
            case ev.ToolCalled(tool=tool):
                self._consumed, self._counted, self._rate, self._trains = 0.0, 0.0, None, False
                self._loaded, self._since = None, at
                if tool in _HANDING_IN:
                    self._calls_left = 0
            case ev.ProgressSeen(progress=progress):
                self._take(progress.values, at)
                self._loaded = progress.data_tokens or self._loaded
                if progress.tokens_per_step and progress.step:
                    self._counted = max(self._counted, progress.tokens_per_step * _steps_in_all(progress))
                if progress.rate_unit == "tok/s" and progress.rate is not None:
                    self._pass_time(at)
                    self._rate = progress.rate, at
            case ev.MetricsSeen(values=values):
                self._take(values, at)
            case ev.ToolFinished():
                self._pass_time(at)
                self._end(at)

    def _take(self, values: dict[str, float], at: float) -> None:
        self._trains = self._trains or "loss" in values
        self._counted = max(self._counted, values.get("tokens", 0.0))

    def _pass_time(self, at: float) -> None:
        if self._rate is not None:
            self._consumed += self._rate[0] * max(0.0, at - self._rate[1])
            self._rate = self._rate[0], at

    def _end(self, at: float) -> None:
        used = self._counted or self._consumed
        if self._loaded is not None:
            used = min(used or self._loaded, self._loaded)
        if not self._trains or not used or self._there is None:
            self._calls_left = max(0, self._calls_left - 1)
            return
        self._calls_left = 0 if at - self._since >= _TRIAL_S else _CALLS_AFTER
        self._short = (used, self._there) if self._is_short(used, self._there) else None
        self._trains = False

    def _is_short(self, used: float, there: float) -> bool:
        return used < self.conditions.settings.data_share * there

    def trouble(self, moment: Moment) -> Trouble | None:
        """What the running training has loaded, or the last one that ended consumed."""
        loaded, there = self._loaded, self._there
        lasts = self._trains and moment.now - self._since >= _SETTLED_S
        if lasts and loaded is not None and there is not None and self._is_short(loaded, there):
            return Trouble(
                f"the training has loaded {loaded:,.0f} tokens of about {there:,.0f} that there are",
                "most of the data will never be seen: is the data loading as it should be? interrupt it",
            )
        if self._short is None or self._calls_left or self._trains:
            return None
        used, there = self._short
        return Trouble(
            f"the training consumed about {used:,.0f} tokens of the {there:,.0f} that there are",
            "most of the data was never seen: is the step count, or the data loading, as it should be?",
        )


def _steps_in_all(progress: Progress) -> int:
    """Steps through all epochs so far."""
    step = progress.step or 0
    if progress.epoch is None or not progress.total or progress.total == progress.epochs:
        return step
    return max(0, progress.epoch - 1) * progress.total + step
