"""What a figure is: a value beside a reference from the same run, and the bar it must stay under."""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from msgspec import Struct


class Figure(Struct, frozen=True, kw_only=True):
    """One line of the table and one object in `bench.json`."""

    name: str
    value: float
    unit: str
    reference: float
    """Measured in the same run; what it is stands in `note`."""
    ratio: float
    """value / reference."""
    bar: float
    """What `judged` must not exceed (or must reach, where `at_least`)."""
    ok: bool
    note: str = ""


@dataclass(frozen=True)
class Bar:
    """A limit on the value itself, or on its ratio to the reference."""

    limit: float
    on: str = "value"
    at_least: bool = False


def figure(name: str, value: float, unit: str, reference: float, bar: Bar, note: str) -> Figure:
    """A figure judged by its bar."""
    ratio = value / reference if reference else 0.0
    judged = value if bar.on == "value" else ratio
    ok = judged >= bar.limit if bar.at_least else judged <= bar.limit
    return Figure(
        name=name,
        value=round(value, 4),
        unit=unit,
        reference=round(reference, 4),
        ratio=round(ratio, 3),
        bar=bar.limit,
        ok=ok,
        note=note,
    )


Bench = Callable[[], Iterator[Figure]]


def median_s(action: Callable[[], object], repeat: int) -> float:
    """The median wall time of an action, in seconds."""
    return statistics.median(_timed(action) for _ in range(repeat))


def interleaved_s(actions: list[Callable[[], object]], repeat: int) -> list[float]:
    """The median wall time of each action, taken in turns so that a slow minute strikes all of them alike."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(repeat):
        for taken, action in zip(times, actions, strict=True):
            taken.append(_timed(action))
    return [statistics.median(taken) for taken in times]


def percentile(values: list[float], percent: float) -> float:
    """The nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def _timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
