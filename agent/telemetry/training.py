"""Puts what a command's lines say of its progress together: position, speed, and when all of it will be done."""

from dataclasses import dataclass

from agent.record.values import Progress

SETTLED_S = 5.0
"""An own estimate of the time left is made no earlier after a count's first sight."""
_MOST_COUNTS = 8

_Key = tuple[str, int]


@dataclass
class _Count:
    """Something that is counted up to a total: a bar, epochs."""

    first_at: float
    first_done: float
    at: float
    left_s: float | None = None

    def see(self, done: float, total: float, at: float, said_s: float | None) -> None:
        """It stands at `done` now; `said_s` is what the output itself says is left."""
        if done < self.first_done:
            # The next one of its kind: a bar for each epoch.
            self.first_at, self.first_done = at, done
        moved, passed = done - self.first_done, at - self.first_at
        if said_s is not None:
            self.left_s = said_s
        elif moved > 0 and passed >= SETTLED_S:
            self.left_s = passed / moved * (total - done)
        self.at = at
        if done >= total:
            self.left_s = 0.0


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

    def see(self, line: Progress, at: float) -> Progress:
        """What a line says, completed by what the lines before it said; `at` is in seconds, of any clock.

        Position and speed are carried on, values never are.
        """
        self._see_epoch(line)
        self._tokens_per_step = line.tokens_per_step or self._tokens_per_step
        if line.step is not None and line.total and not line.rate_unit.startswith("B/"):
            self._count(line, line.step, line.total, at)
        if self._main is not None and "loss" in line.values:
            self._main.trained = True
        whole = self._completed(line, self._left_s(at))
        self._before = whole
        return whole

    def _see_epoch(self, line: Progress) -> None:
        if line.epoch is None:
            return
        if line.epochs is None and line.epoch == 0:
            self._first_epoch = 0
        self._epoch = line.epoch if line.epochs is not None else line.epoch - self._first_epoch + 1
        self._epochs = line.epochs or self._epochs

    def _count(self, line: Progress, step: int, total: int, at: float) -> None:
        if line.epochs is not None and (step, total) == (line.epoch, line.epochs):
            # Epoch 3 of 10 has begun; with figures behind it, it is done.
            self._see(("epochs", total), step if line.values else step - 1, total, at, line.eta_s)
            return
        key = (line.label, total)
        self._see(key, step, total, at, line.eta_s)
        if self._takes_over(key, line):
            trained = self._main is not None and self._main.key == key and self._main.trained
            self._main = _Main(key, line.label, step, total, trained)
            if self._epochs is not None and self._epoch is not None:
                self._see(("in epochs", self._epochs), self._epoch - 1 + step / total, self._epochs, at, None)

    def _takes_over(self, key: _Key, line: Progress) -> bool:
        main = self._main
        if main is None or key == main.key or "loss" in line.values:
            return True
        finished = main.step >= main.total
        return key[1] >= main.total if main.trained else finished or key[1] >= main.total

    def _see(self, key: _Key, done: float, total: float, at: float, said_s: float | None) -> None:
        count = self._counts.pop(key, None) or _Count(at, done, at)
        count.see(done, total, at, said_s)
        # The one seen last stands last; what was not seen for long falls out.
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
            epochs=self._epochs, tokens_per_step=self._tokens_per_step, command_eta_s=left_s,
        )  # fmt: skip
