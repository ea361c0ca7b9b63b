"""Puts what a command's lines say of its progress together: position, speed, and when all of it will be done."""

from dataclasses import dataclass, field

from agent.record.values import Progress
from agent.telemetry.bars import evaluates

SETTLED_S = 5.0
"""An own estimate of the time left is made no earlier after a count's first sight."""
_MOST_COUNTS = 8
_MOST_MARKS = 32
_TOO_FAR = 3.0
_FORGOTTEN_S = 60.0
_FORGOTTEN_STRIDES = 10
"""What has not been seen for so many times its longest stride, while something else was, has been given up."""

_Key = tuple[str, int]


@dataclass
class _Count:
    """Something that is counted up to a total: a bar, epochs."""

    marks: list[tuple[float, float]] = field(default_factory=list)
    """When it stood where, evenly; when there are too many, every other one is dropped."""
    at: float = 0.0
    done: float = 0.0
    longest_s: float = 0.0
    left_s: float | None = None

    def see(self, done: float, total: float, at: float, said_s: float | None) -> None:
        """It stands at `done` now; `said_s` is what the output itself says is left."""
        if not self.marks or done <= self.marks[0][1] or done < self.done / 2:
            # The next one of its kind: a bar for each epoch. Ranks of one training are a few steps apart at most.
            self.marks, self.left_s = [(at, done)], None
        else:
            self.longest_s = max(self.longest_s, at - self.at)
        self.at, self.done = at, done
        self._mark(at, done)
        pace = self._s_each(at, done)
        own_s = None if pace is None else pace * (total - done)
        if said_s is not None and (own_s is None or said_s <= _TOO_FAR * own_s):
            self.left_s = said_s
        elif own_s is not None:
            # A bar that has stood frozen for an hour thinks that its next step took that long.
            self.left_s = own_s
        if done >= total:
            self.left_s = 0.0

    def _mark(self, at: float, done: float) -> None:
        whole_s = at - self.marks[0][0]
        if at - self.marks[-1][0] >= whole_s / _MOST_MARKS:
            self.marks.append((at, done))
            if len(self.marks) > _MOST_MARKS:
                self.marks[1:] = self.marks[2::2]

    def _s_each(self, at: float, done: float) -> float | None:
        """Seconds for each, over the newer half of the time: what began slowly is soon no matter any more."""
        first_at, first_done = self.marks[0]
        if at - first_at < SETTLED_S or done <= first_done:
            return None
        half = (first_at + at) / 2
        since_at, since_done = next((mark for mark in self.marks if mark[0] >= half), self.marks[0])
        if done <= since_done or at - since_at < SETTLED_S:
            since_at, since_done = first_at, first_done
        return (at - since_at) / (done - since_done)

    def given_up(self, at: float) -> bool:
        """Whether it will hardly be counted any further; never of what was seen only once."""
        return self.longest_s > 0 and at - self.at > max(_FORGOTTEN_S, _FORGOTTEN_STRIDES * self.longest_s)


@dataclass
class _Main:
    """The count that is the training's own, and not that of its preparation or of an evaluation between."""

    key: _Key
    label: str
    step: int
    total: int
    trained: bool = False
    """Losses were printed while it was counted."""


class Training:
    """One command's progress, line after line."""

    def __init__(self) -> None:
        self._counts: dict[_Key, _Count] = {}
        self._main: _Main | None = None
        self._before = Progress()
        self._epoch: int | None = None
        self._epochs: int | None = None
        self._first_epoch = 1
        self._tokens_per_step: float | None = None
        self._data_tokens: float | None = None

    def see(self, line: Progress, at: float) -> Progress:
        """What a line says, completed by what the lines before it said; `at` is in seconds, of any clock.

        Position and speed are carried on, values never are. A clock that stands still while the command is frozen
        gives the better estimates.
        """
        self._see_epoch(line)
        self._tokens_per_step = line.tokens_per_step or self._tokens_per_step
        if line.data_tokens:
            self._data_tokens = max(line.data_tokens, self._data_tokens or 0.0)
        aside = False
        if line.step is not None and line.total:
            aside = not self._count(line, line.step, line.total, at)
        if self._main is not None and "loss" in line.values:
            self._main.trained = True
        whole = self._completed(line, self._left_s(at))
        if not aside:
            self._before = whole
        return whole

    def _see_epoch(self, line: Progress) -> None:
        if line.epoch is None:
            return
        if line.epoch == 0:
            self._first_epoch = 0
        self._epoch = line.epoch - self._first_epoch + 1
        self._epochs = line.epochs or self._epochs

    def _count(self, line: Progress, step: int, total: int, at: float) -> bool:
        """Take in a position; False for one of something beside the training."""
        if line.epochs is not None and (step, total) == (line.epoch, line.epochs):
            # Epoch 3 of 10 has begun; with figures behind it, it is done.
            done = step + 1 - self._first_epoch
            self._see(("epochs", total), done if line.values else done - 1, total, at, line.eta_s)
            return True
        key = (line.label, total)
        self._see(key, step, total, at, line.eta_s)
        if not self._takes_over(key, line):
            return False
        trained = self._main is not None and self._main.key == key and self._main.trained
        if self._main is not None and self._main.key != key:
            # How fast the data was prepared is not how fast the training goes.
            self._before = Progress(step=step, total=total)
        self._main = _Main(key, line.label, step, total, trained)
        if self._epochs is not None and self._epoch is not None:
            self._see(("in epochs", self._epochs), self._epoch - 1 + step / total, self._epochs, at, None)
        return True

    def _takes_over(self, key: _Key, line: Progress) -> bool:
        main = self._main
        if main is None or key == main.key or "loss" in line.values:
            return True
        if evaluates(line.label):
            return False
        if main.trained:
            # A bar without a name between those of a training is that of an evaluation.
            return bool(line.label) and key[1] >= main.total
        return main.step >= main.total or key[1] >= main.total

    def _see(self, key: _Key, done: float, total: float, at: float, said_s: float | None) -> None:
        count = self._counts.pop(key, None) or _Count()
        count.see(done, total, at, said_s)
        # The one seen last stands last; what was not seen for long falls out.
        for other in [name for name, each in self._counts.items() if each.given_up(at)]:
            del self._counts[other]
            if other == ("epochs", self._epochs):
                # A training that was stopped early: what is counted now is another one.
                self._counts.pop(("in epochs", other[1]), None)
                self._epoch = self._epochs = None
        self._counts[key] = count
        while len(self._counts) > _MOST_COUNTS:
            del self._counts[next(iter(self._counts))]

    def _left_s(self, at: float) -> float | None:
        """The longest of what is left of anything that is counted."""
        known = [count.left_s - (at - count.at) for count in self._counts.values() if count.left_s is not None]
        return max(0.0, max(known)) if known else None

    def _completed(self, line: Progress, left_s: float | None) -> Progress:
        before, main = self._before, self._main
        own_rate = line.rate is not None
        step, total, label = line.step, line.total, line.label
        if step is None:
            step, total, label = (
                (before.step, before.total, "") if main is None else (main.step, main.total, main.label)
            )
        return Progress(
            values=line.values, step=step, total=total, label=label, rate=line.rate if own_rate else before.rate,
            rate_unit=line.rate_unit if own_rate else before.rate_unit,
            eta_s=line.eta_s if line.eta_s is not None else before.eta_s, diverged=line.diverged, epoch=self._epoch,
            epochs=self._epochs, tokens_per_step=self._tokens_per_step, data_tokens=self._data_tokens,
            command_eta_s=left_s,
        )  # fmt: skip
