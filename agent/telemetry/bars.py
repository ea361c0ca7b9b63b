"""Reads progress bars: tqdm's, which Hugging Face and Lightning draw too, and those of Keras."""

import math
import re

from agent.record.values import Progress
from agent.telemetry.metric_names import MOST_VALUES, kept_name
from agent.telemetry.numbers import NUMBER, SCALE, clock_s

_TQDM = re.compile(
    r"(?<![\d.])(\d{1,15}(?:\.\d{1,3})?)([kMGT]?)i?B?/(\d{1,15}(?:\.\d{1,3})?)([kMGT]?)i?B?"
    r" \[[\d:]{4,12}<([\d:]{4,12}|\?)(?:, *(\d{1,12}(?:\.\d{1,6})?)([kMGT]?)([A-Za-z]{1,12}/s|s/[A-Za-z]{1,12}))?"
)
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
_PER = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_CLOCK = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_POSTFIX = re.compile(rf"([A-Za-z_][\w /]{{0,30}})=\s{{0,4}}({NUMBER})\s{{0,4}}(?=[,\]]|$)")
_EPOCH = re.compile(
    r"\bepoch['\"]?\s{0,3}[:=#]?\s{0,3}\[?\s{0,3}(\d{1,9})\b(?!\.\d)(?:\s{0,3}(?:/|of)\s{0,3}(\d{1,9})\b)?", re.I
)
_NO_LABEL = re.compile(r"[\d|%/#:]+")


def tqdm_bar(line: str) -> Progress | None:
    """The tqdm bar in a line, with the figures inside its brackets."""
    found = _TQDM.search(line)
    if found is None:
        return None
    done, done_unit, total, total_unit, left, rate, rate_scale, unit = found.groups()
    label, epoch, epochs = _head(line[: found.start()])
    if rate and unit.startswith("s/"):
        # Slow ones show seconds for each, and not how many a second.
        speed, unit = (1.0 / float(rate) if float(rate) else None), f"{unit[2:]}/s"
    else:
        speed, unit = (float(rate) * SCALE[rate_scale] if rate else None), unit or ""
    return Progress(
        values=_postfix(line[found.end() :]), step=int(float(done) * SCALE[done_unit]),
        total=int(float(total) * SCALE[total_unit]), rate=speed, rate_unit=unit,
        eta_s=None if left == "?" else clock_s(left), label=label, epoch=epoch, epochs=epochs,
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


def epoch_in(text: str) -> tuple[int | None, int | None]:
    """Which epoch of how many, as in `Epoch 3/10`; which one alone, as in `Epoch 3:`."""
    found = _EPOCH.search(text)
    if found is None:
        return None, None
    epoch, epochs = int(found[1]), int(found[2] or 0)
    return (epoch, epochs) if epochs > 0 and epoch <= epochs else (epoch, None)


def _clock(text: str, unit: str) -> float | None:
    return clock_s(text) if ":" in text else float(text) * _CLOCK[unit]


def _postfix(tail: str) -> dict[str, float]:
    """The `, loss=2.3, lr=1e-4]` behind a bar."""
    values: dict[str, float] = {}
    for raw, number in _POSTFIX.findall(tail)[:MOST_VALUES]:
        name = raw.strip().lower()
        if not name.isidentifier():
            name = name.replace(" ", "_").replace("/", "_")
        if math.isfinite(value := float(number)):
            values[kept_name(name) or name] = value
    return values


def _head(head: str) -> tuple[str, int | None, int | None]:
    """The label in front of a bar, and which epoch of how many: `Epoch 3:  45%|███▌ |` is an `epoch` bar."""
    if ":" not in head:
        return "", None, None
    text = head.partition("%|")[0].rpartition(":")[0] if "%|" in head else head.partition(":")[0]
    epoch, epochs = epoch_in(text) if "poch" in text else (None, None)
    return " ".join(_NO_LABEL.sub(" ", text[-80:]).split()).lower()[:40], epoch, epochs
