"""Reads progress bars: tqdm's, which Hugging Face and Lightning draw too, those of Keras and of rich."""

import math
import re

from agent.record.values import Progress
from agent.telemetry.figures import values_in
from agent.telemetry.metric_names import MOST_VALUES, SETTINGS, kept_name
from agent.telemetry.numbers import NUMBER, SCALE, clock_s

_PACE = r"(\d{1,12}(?:\.\d{1,6})?)([kMGT]?) ?([A-Za-z]{1,12}/s|s/[A-Za-z]{1,12})"
_TQDM = re.compile(
    r"(?<![\d.])(\d{1,15}(?:\.\d{1,3})?)([kMGT]?)i?B?/(\d{1,15}(?:\.\d{1,3})?)([kMGT]?)i?B?"
    rf" \[[\d:]{{4,12}}<([\d:]{{4,12}}|\?)(?:, *(?:{_PACE}|\?))?"
)
# One whose end is not known.
_ENDLESS = re.compile(rf"(?<![\d.])(\d{{1,15}})([kMGT]?) ?[A-Za-z]{{0,12}} \[[\d:]{{4,12}}, *{_PACE}")
_KERAS = re.compile(
    r"(?<![\d/])(?P<done>\d{1,12})/(?P<total>\d{1,12}) (?:━{1,60} |\[[=>.]{1,60}\] - |- )"
    r"(?:ETA: )?(?P<clock>[\d:]{1,12})(?P<clock_unit>[smh]?)(?: -)? "
    r"(?P<per>\d{1,9})(?P<per_unit>us|ms|s)/(?:step|epoch)"
)
# While it runs, an older Keras gives no time a step.
_OLD_KERAS = re.compile(
    r"(?<![\d/])(?P<done>\d{1,12})/(?P<total>\d{1,12}) \[[=>.]{1,60}\] - ETA: "
    r"(?P<clock>[\d:]{1,12})(?P<clock_unit>[smh]?)"
)
# Lightning's shows the time taken before the time left, rich's own only the time left.
_RICH = re.compile(
    r"(?<![━╸╺])[━╸╺]{4,200}(?![━╸╺]) {1,200}"
    r"(?:(?P<done>\d{1,12})/(?P<total>\d{1,12})|(?P<percent>\d{1,3})%) {0,9}"
    r"(?:(?P<clock>[\d:]{4,12}|-:--:--)(?: {1,4}• {1,4}(?P<left>[\d:]{4,12}|-:--:--))?)?"
    r"(?: {1,4}(?P<pace>\d{1,12}(?:\.\d{1,6})?)it/s)?"
)
_PER = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_CLOCK = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_POSTFIX = re.compile(rf"([A-Za-z_][\w /]{{0,30}})=\s{{0,4}}({NUMBER})%?\s{{0,4}}(?=[,\]]|$)")
_FIGURES = re.compile(r"loss|acc|ppl|perp|reward|score|bpb", re.I)
_EPOCH = re.compile(
    r"\bepoch['\"]?\s{0,3}[:=#]?\s{0,3}\[?\s{0,3}(\d{1,9})\b(?!\.\d)(?:\s{0,3}(?:/|of)\s{0,3}(\d{1,9})\b)?", re.I
)
_EVALUATES = re.compile(r"\b(?:eval\w*|val|valid\w*|test\w*|predict\w*|infer\w*|sanity check\w*)\b")
_LABEL_NUMBER = re.compile(rf"{NUMBER}|[|%/#:]+")


def tqdm_bar(line: str) -> Progress | None:
    """The tqdm bar in a line, with the figures before it and inside its brackets; one that counts bytes is none."""
    found = _TQDM.search(line)
    if found is None:
        return _endless_bar(line)
    done, done_unit, total, total_unit, left, pace, pace_scale, unit = found.groups()
    speed, unit = _speed(pace, pace_scale, unit)
    label, epoch, epochs = _head(line[: found.start()])
    return Progress(
        values=_figures(line[: found.start()], line[found.end() :], label),
        step=int(float(done) * SCALE[done_unit.lower()]), total=int(float(total) * SCALE[total_unit.lower()]),
        rate=speed, rate_unit=unit, eta_s=None if left == "?" else clock_s(left), label=label, epoch=epoch,
        epochs=epochs,
    )  # fmt: skip


def _endless_bar(line: str) -> Progress | None:
    found = _ENDLESS.search(line)
    if found is None:
        return None
    done, done_unit, pace, pace_scale, unit = found.groups()
    speed, unit = _speed(pace, pace_scale, unit)
    label, epoch, epochs = _head(line[: found.start()])
    return Progress(
        values=_figures(line[: found.start()], line[found.end() :], label), rate=speed, rate_unit=unit, label=label,
        step=int(float(done) * SCALE[done_unit.lower()]), epoch=epoch, epochs=epochs,
    )  # fmt: skip


def keras_bar(line: str) -> tuple[Progress, str] | None:
    """The Keras bar in a line; and what follows it, where its figures stand as in a log line."""
    found = _KERAS.search(line)
    if found is not None:
        per_s = float(found["per"]) * _PER[found["per_unit"]]
    elif (found := _OLD_KERAS.search(line)) is not None:
        per_s = 0.0
    else:
        return None
    step, total = int(found["done"]), int(found["total"])
    bar = Progress(
        step=step,
        total=total,
        rate=1 / per_s if per_s else None,
        rate_unit="it/s" if per_s else "",
        # A bar that is full shows how long it took.
        eta_s=0.0 if step >= total else _clock(found["clock"], found["clock_unit"]),
    )
    return bar, line[found.end() :]


def rich_bar(line: str) -> Progress | None:
    """The bar that rich draws, or Lightning with it, and the figures behind it; in percent where it counts nothing."""
    found = _RICH.search(line)
    if found is None:
        return None
    counts = found["done"] is not None
    step, total = (int(found["done"]), int(found["total"])) if counts else (int(found["percent"]), 100)
    head = line[max(0, found.start() - 80) : found.start()].strip()
    label, epoch, epochs = _head(f"{head}:")
    pace = float(found["pace"]) if found["pace"] else None
    return Progress(
        values=_figures(head, line[found.end() :], label), step=step, total=total, rate=pace,
        rate_unit="it/s" if pace is not None else "", eta_s=clock_s(found["left"] or found["clock"] or ""),
        label=label, epoch=epoch, epochs=epochs,
    )  # fmt: skip


def epoch_in(text: str) -> tuple[int | None, int | None]:
    """Which epoch of how many, as in `Epoch 3/10`; which one alone, as in `Epoch 3:`."""
    found = _EPOCH.search(text)
    if found is None:
        return None, None
    epoch, epochs = int(found[1]), int(found[2] or 0)
    return (epoch, epochs) if epochs > 0 and epoch <= epochs else (epoch, None)


def evaluates(label: str) -> bool:
    """Whether a bar with that label counts through an evaluation and not through a training."""
    return bool(label) and _EVALUATES.search(label) is not None


def _speed(pace: str | None, scale: str | None, unit: str | None) -> tuple[float | None, str]:
    """How many a second; slow bars show seconds for each."""
    if not pace or not unit:
        return None, ""
    if unit.startswith("s/"):
        return (1.0 / float(pace) if float(pace) else None), f"{unit[2:]}/s"
    return float(pace) * SCALE[(scale or "").lower()], unit


def _clock(text: str, unit: str) -> float | None:
    return clock_s(text) if ":" in text else float(text) * _CLOCK[unit]


def _figures(head: str, tail: str, label: str) -> dict[str, float]:
    """Those that a bar shows: `, loss=2.3, lr=1e-4]` behind it, `loss 2.3:` before it."""
    values: dict[str, float] = {}
    for raw, number in _POSTFIX.findall(tail)[:MOST_VALUES]:
        name = raw.strip().lower()
        if not name.isidentifier():
            name = name.replace(" ", "_").replace("/", "_")
        if math.isfinite(value := float(number)):
            values[kept_name(name) or name] = value
    if not values and _FIGURES.search(tail):
        values = values_in(tail)
    if _FIGURES.search(head):
        values = values_in(head[-200:]) | values
    if not evaluates(label):
        return values
    return {
        f"eval_{name}" if kept_name(name) is not None and name not in SETTINGS else name: value
        for name, value in values.items()
    }


def _head(head: str) -> tuple[str, int | None, int | None]:
    """The label in front of a bar, and which epoch of how many: `Epoch 3:  45%|███▌ |` is an `epoch` bar."""
    if ":" not in head:
        return "", None, None
    text = head.partition("%|")[0].rpartition(":")[0] if "%|" in head else head.rpartition(":")[0]
    epoch, epochs = epoch_in(text) if "poch" in text else (None, None)
    return " ".join(_LABEL_NUMBER.sub(" ", text[-80:]).split()).lower()[:40], epoch, epochs
