"""Reads training progress out of lines of command output: pure, tolerant and quick; no line can make it fail."""

import math
import re
from collections.abc import Iterable, Sequence

import msgspec

from agent.record.values import Progress
from agent.telemetry.bars import epoch_in, keras_bar, tqdm_bar
from agent.telemetry.metric_names import COMPANIONS, COUNTS, MOST_VALUES, kept_name
from agent.telemetry.numbers import NUMBER, SCALE, clock_s

LONGEST_LINE = 2_000

_HINT = re.compile(r"loss|ppl|perplex|acc|lr\b|rate|score|reward|f1|step|iter|epoch|/s|eta|it/|batch|=|%\||nan", re.I)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]{0,20}[@-~]|[\x00-\x08\x0b-\x1f]")

_PAIR = re.compile(
    r"(?P<quote>['\"]?)(?P<name>[A-Za-z][A-Za-z0-9_]{0,30})(?P=quote)"
    rf"(?P<sign>\s*[=:]\s*|\s+(?:is\s+)?)['\"]?(?P<value>{NUMBER})(?![\w.]|\s*/\s*\d)"
)
# No number that JSON can hold, and the one that says that a training has failed.
_NOT_FINITE = re.compile(
    r"(?P<quote>['\"]?)(?P<name>[A-Za-z][A-Za-z0-9_]{0,30})(?P=quote)"
    r"(?:\s*[=:]\s*|\s+(?:is\s+)?)['\"]?(?:[-+]?(?:nan|inf(?:inity)?)|[-+]?\d{1,15}\.?\d{0,20}e\+?\d{3})(?![\w.])",
    re.I,
)
_MAYBE_NOT_FINITE = re.compile(r"[nN][aA][nN]|[iI][nN][fF]|[eE]\+?\d{3}")
_SPLIT_NAME = re.compile(
    r"\b(train|val|valid|validation|eval|test|dev)[ /.-](loss|acc|accuracy|ppl|perplexity|f1|score)\b", re.I
)
_OF_TOTAL = re.compile(
    r"\b(step|iter|iteration|it|epoch|batch|game|round|trial|episode|generation|fold|seed)s?\b"
    r"\s*[:=#]?\s*\[?\s*(\d{1,15})\s*(?:/|of)\s*(\d{1,15})",
    re.I,
)
_TOKENS_PER_STEP = re.compile(r"tokens per (?:iteration|iter|step|batch)\b[^\d]{0,20}(\d[\d,]{0,15})", re.I)
_STEP = re.compile(r"\b(?:global_)?(?:step|iter|iteration)\b['\"]?\s*[:=#]?\s*(\d{1,15})\b(?!\.\d)", re.I)
_RATE = re.compile(
    r"(?<![\d.,])(\d[\d,]{0,15}(?:\.\d{1,6})?)\s?([kKMGT]?)\s?"
    r"(tok(?:en)?s?|it(?:er(?:ation)?)?s?|samples?|ex(?:ample)?s?|steps?|batch(?:es)?|seqs?|games?|imgs?)"
    r"\s?(?:/|per\s)\s?s(?:ec(?:ond)?)?\b",
    re.I,
)
_ETA = re.compile(
    r"\beta\b['\"]?\s*[:=]?\s*(?:(?P<clock>(?:\d{1,4}:)?\d{1,2}:\d{2})"
    r"|(?=[\d])(?:(?P<h>\d{1,4}(?:\.\d+)?)\s?h(?:ours?|rs?)?\s?)?(?:(?P<m>\d{1,5}(?:\.\d+)?)\s?m(?:in(?:utes?)?)?\b\s?)?"
    r"(?:(?P<s>\d{1,7}(?:\.\d+)?)\s?s?(?:ec(?:onds?)?)?)?)",
    re.I,
)


_UNITS = {"tok": "tok/s", "it": "it/s", "sam": "samples/s", "ex": "samples/s", "ste": "it/s", "bat": "batches/s",
          "seq": "seq/s", "gam": "games/s", "img": "img/s"}  # fmt: skip
# `tok_per_sec=`, `"samples_per_second":`, `tokens/s: `
_NAMED_RATE = re.compile(
    r"\b(?P<what>tok(?:en)?s?|it(?:er(?:ation)?)?s?|samples?|steps?|examples?)(?:_per_|/)s(?:ec(?:ond)?)?s?['\"]?\s*[=:]\s*"
    rf"['\"]?(?P<value>{NUMBER})(?P<scale>[kKM]?)(?![\w.])",
    re.I,
)
# No figure of its own: a speed, a duration, the `s` of `tok/s`.
_SPEED = re.compile(r"_per_s(?:ec(?:ond)?)?$|runtime$|^.$")
# What Hugging Face prints when a training or an evaluation is over: means over all of it, no points of a series.
_CLOSING = "train_runtime"


def read_line(line: str) -> Progress | None:
    """What one line says of progress; None where it says nothing."""
    line = line[-LONGEST_LINE:]
    if "\x1b" in line or "\x08" in line:
        line = _ESCAPES.sub("", line)
    if "it/s" in line or "%|" in line or "s/it" in line or "<" in line:
        bar = tqdm_bar(line)
        if bar is not None:
            diverged = _diverged(line, bar.values)
            return msgspec.structs.replace(bar, diverged=diverged) if diverged else bar
    if not _HINT.search(line) or _CLOSING in line:
        return None
    if "/step" in line or "ETA: " in line:
        found = keras_bar(line)
        if found is not None:
            return _of_keras(line, *found)
    return _of_text(line)


def read_lines(lines: Iterable[str]) -> list[Progress]:
    """What several lines say, one entry for each that says something."""
    return [progress for line in lines if (progress := read_line(line)) is not None]


def telling(progresses: Sequence[Progress], most: int) -> list[Progress]:
    """The newest `most` of them, in order; those with values of their own go before bare bars, but for the last."""
    if len(progresses) <= most:
        return list(progresses)
    worth = [
        index
        for index, each in enumerate(progresses)
        if index == len(progresses) - 1
        or (each.values and each.values != progresses[index + 1].values)
        or each.diverged
    ]
    return [progresses[index] for index in worth[-most:]]


def _of_keras(line: str, bar: Progress, rest: str) -> Progress:
    values = _values(rest)
    return msgspec.structs.replace(bar, values=values, diverged=_diverged(line, values))


def _of_text(line: str) -> Progress | None:
    values = _values(line)
    step, total = _position(line)
    rate, unit = _rate(line)
    eta_s = _eta(line)
    diverged = _diverged(line, values)
    tokens = _TOKENS_PER_STEP.search(line) if "okens per" in line else None
    if not (values or diverged or tokens) and rate is None and eta_s is None and total is None:
        return None
    epoch, epochs = epoch_in(line) if "poch" in line and total is not None else (None, None)
    epoch = epoch if epochs is not None else None
    return Progress(
        values=values, step=step, total=total, rate=rate, rate_unit=unit, eta_s=eta_s, diverged=diverged,
        epoch=epoch, epochs=epochs, tokens_per_step=float(tokens[1].replace(",", "")) if tokens else None,
    )  # fmt: skip


def _values(line: str) -> dict[str, float]:
    joined = _SPLIT_NAME.sub(r"\1_\2", line)
    known: dict[str, float] = {}
    others: dict[str, float] = {}
    for found in _PAIR.finditer(joined):
        name = found["name"].lower()
        value = float(found["value"])
        if name in COUNTS or not math.isfinite(value):
            continue
        if (shown := kept_name(name)) is not None:
            known[shown] = value
        elif name in COMPANIONS:
            others[COMPANIONS[name]] = value
        elif found["sign"].strip() and (found["quote"] or "=" in found["sign"]) and not _SPEED.search(name):
            others[name] = value
    # A lone `n=5` is no progress; beside a loss or a score it is.
    merged = known | {name: value for name, value in others.items() if name not in known} if known else {}
    return dict(list(merged.items())[:MOST_VALUES])


def _diverged(line: str, values: dict[str, float]) -> tuple[str, ...]:
    """The names that the line gives no finite value."""
    if not _MAYBE_NOT_FINITE.search(line):
        return ()
    found = (kept_name(each["name"].lower()) for each in _NOT_FINITE.finditer(_SPLIT_NAME.sub(r"\1_\2", line)))
    return tuple(dict.fromkeys(name for name in found if name is not None and name not in values))


def _position(line: str) -> tuple[int | None, int | None]:
    pairs = [(found[1].lower(), int(found[2]), int(found[3])) for found in _OF_TOTAL.finditer(line)]
    pairs = [pair for pair in pairs if pair[2] > 0 and pair[1] <= pair[2]]
    if pairs:
        # `Epoch 1/3 step 20/100`: the finer count moves, so it is the one to show.
        finest = next((pair for pair in pairs if pair[0] != "epoch"), pairs[0])
        return finest[1], finest[2]
    found = _STEP.search(line)
    return (int(found[1]), None) if found else (None, None)


def _rate(line: str) -> tuple[float | None, str]:
    found = _RATE.search(line)
    if found:
        return float(found[1].replace(",", "")) * SCALE.get(found[2], 1.0), _unit(found[3])
    if "_per_s" in line or "/s" in line:
        named = _NAMED_RATE.search(line)
        if named and math.isfinite(float(named["value"])):
            return float(named["value"]) * SCALE[named["scale"]], _unit(named["what"])
    return None, ""


def _unit(word: str) -> str:
    word = word.lower()
    return next((shown for start, shown in _UNITS.items() if word.startswith(start)), f"{word}/s")


def _eta(line: str) -> float | None:
    found = _ETA.search(line)
    if not found:
        return None
    if found["clock"]:
        return clock_s(found["clock"])
    parts = [float(found[unit]) * seconds for unit, seconds in (("h", 3600), ("m", 60), ("s", 1)) if found[unit]]
    return sum(parts) if parts else None
