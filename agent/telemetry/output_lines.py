"""Cuts a command's output into whole lines, however its pieces were cut, and no more of them than one can look at."""

import re
from collections.abc import Sequence
from typing import TypeVar

from agent.record.values import Progress
from agent.telemetry.progress import LONGEST_LINE, read_lines

LINES_A_SECOND = 600
MOST_LINES = 2_000
_LINE_CHARACTERS = 100
"""A longer line counts as several: it takes as much longer to read."""
TOLD_A_SECOND = 50
MOST_TOLD = 200
T = TypeVar("T")

_LINE_END = re.compile(r"[\r\n]+")
_DRAWN = ("]", "}")


class Allowance:
    """So many a second, and as many at once as have been saved up."""

    def __init__(self, a_second: float, most: int) -> None:
        self._a_second = a_second
        self._most = most
        self._left = float(most)
        self._at: float | None = None

    def some(self, wished: int, at: float) -> int:
        """How many of those that are wished there may be, at that moment; one at least."""
        if self._at is not None:
            self._left = min(self._most, self._left + max(0.0, at - self._at) * self._a_second)
        self._at = at
        granted = max(1, min(wished, int(self._left)))
        self._left = max(0.0, self._left - granted)
        return granted


class OutputLines:
    """What one command's output says of its progress, piece after piece."""

    def __init__(self) -> None:
        self._rest = ""
        self._drawn = ""
        self._lines = Allowance(LINES_A_SECOND, MOST_LINES)

    def read(self, text: str, at: float) -> list[Progress]:
        """The next piece; a line that it leaves open waits, unless it is a bar that is all there."""
        *lines, rest = _LINE_END.split(self._rest + text)
        self._rest = rest[-LONGEST_LINE:]
        if lines and self._drawn:
            if lines[0] == self._drawn:
                del lines[0]
            self._drawn = ""
        if rest != self._drawn and self._rest.rstrip().endswith(_DRAWN):
            self._drawn = self._rest
            lines.append(rest)
        lines = [line for line in lines if line]
        return read_lines(self._newest(lines, at)) if lines else []

    def _newest(self, lines: list[str], at: float) -> list[str]:
        """As many of the last ones as may be read."""
        costs = [1 + min(len(line), LONGEST_LINE) // _LINE_CHARACTERS for line in lines]
        granted = self._lines.some(sum(costs), at)
        count = 0
        while count < len(lines) and (granted := granted - costs[-1 - count]) >= 0:
            count += 1
        return lines[-max(1, count) :]

    def finish(self) -> list[Progress]:
        """What was left open when the output ended."""
        rest, self._rest = self._rest, ""
        return read_lines([rest]) if rest and rest != self._drawn else []


def telling(progresses: Sequence[Progress], most: int) -> list[Progress]:
    """At most so many of them, evenly and in order, the last one always.

    Those with values of their own go before bare bars, and what is rare (an evaluation, a loss that is no number)
    before what comes with each line.
    """
    if len(progresses) <= most:
        return list(progresses)
    last = len(progresses) - 1
    worth = [
        index
        for index, each in enumerate(progresses)
        if index == last or (each.values and each.values != progresses[index + 1].values) or each.diverged
    ]
    rare = [index for index in worth if _is_rare(progresses[index])]
    kept = set(thinned(rare, max(1, most // 2)))
    kept |= set(thinned([index for index in worth if index not in kept], max(1, most - len(kept))))
    return [progresses[index] for index in sorted(kept)]


def _is_rare(progress: Progress) -> bool:
    return bool(progress.diverged) or any(name.startswith("eval_") for name in progress.values)


def thinned(these: list[T], most: int) -> list[T]:
    """About `most` of them, evenly, the last one always."""
    if len(these) <= most:
        return these
    stride = -(-len(these) // most)
    return these[-1::-stride][::-1]
