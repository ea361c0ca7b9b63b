"""Reads training progress out of lines of command output: pure, tolerant and quick; no line can make it fail."""

import math
import re
from collections.abc import Iterable

import msgspec

from agent.record.values import Progress

LONGEST_LINE = 2_000
MOST_VALUES = 16

_NUMBER = r"[-+]?(?:\d{1,15}\.?\d{0,20}|\.\d{1,20})(?:[eE][-+]?\d{1,3})?"
_NUMBER_ONLY = re.compile(_NUMBER)
_HINT = re.compile(r"loss|ppl|perplex|acc|lr\b|rate|score|reward|f1|step|iter|epoch|/s|eta|it/|batch|=|%\|", re.I)

_PAIR = re.compile(
    r"(?P<quote>['\"]?)(?P<name>[A-Za-z][A-Za-z0-9_]{0,30})(?P=quote)"
    rf"(?P<sign>\s*[=:]\s*|\s+(?:is\s+)?)['\"]?(?P<value>{_NUMBER})(?![\w.]|\s*/\s*\d)"
)
# No number that JSON can hold, and the one that says that a training has failed.
_NOT_FINITE = re.compile(
    r"(?P<quote>['\"]?)(?P<name>[A-Za-z][A-Za-z0-9_]{0,30})(?P=quote)"
    r"(?:\s*[=:]\s*|\s+(?:is\s+)?)['\"]?(?:[-+]?(?:nan|inf(?:inity)?)|[-+]?\d{1,15}\.?\d{0,20}e\+?\d{3})(?![\w.])",
    re.I,
)
_MAYBE_NOT_FINITE = re.compile(r"nan|inf|e\+?\d{3}", re.I)
_SPLIT_NAME = re.compile(
    r"\b(train|val|valid|validation|eval|test|dev)[ /.-](loss|acc|accuracy|ppl|perplexity|f1|score)\b", re.I
)
_OF_TOTAL = re.compile(
    r"\b(step|iter|iteration|it|epoch|batch|game|round|trial|episode|generation|fold|seed)s?\b"
    r"\s*[:=#]?\s*\[?\s*(\d{1,15})\s*(?:/|of)\s*(\d{1,15})",
    re.I,
)
_STEP = re.compile(r"\b(?:global_)?(?:step|iter|iteration)\b['\"]?\s*[:=#]?\s*(\d{1,15})\b(?!\.\d)", re.I)
_TQDM = re.compile(
    r"(?<![\d.])(?P<done>\d{1,15}(?:\.\d{1,3})?)(?P<done_unit>[kMGT]?)i?B?/(?P<total>\d{1,15}(?:\.\d{1,3})?)(?P<total_unit>[kMGT]?)i?B?"
    r" \[(?P<elapsed>[\d:]{4,12})<(?P<left>[\d:]{4,12}|\?)(?:, *(?P<rate>\d{1,12}(?:\.\d{1,6})?)(?P<prefix>[kMGT]?)"
    r"(?P<unit>[A-Za-z]{1,12}/s|s/[A-Za-z]{1,12}))?"
)
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

_SCALE = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_KNOWN = {
    "loss": "loss", "train_loss": "loss", "training_loss": "loss", "nll": "loss", "mse": "mse", "mae": "mae",
    "rmse": "rmse", "r2": "r2", "acc": "accuracy", "accuracy": "accuracy", "train_acc": "accuracy",
    "train_accuracy": "accuracy", "ppl": "perplexity", "perplexity": "perplexity", "lr": "lr",
    "learning_rate": "lr", "grad_norm": "grad_norm", "f1": "f1", "bleu": "bleu", "score": "score",
    "reward": "reward", "payoff": "payoff", "mfu": "mfu",
}  # fmt: skip
_EVAL_PREFIX = re.compile(r"(?:val|valid|validation|eval|test|dev)_(.+)")
_COUNTS = {"step", "global_step", "iter", "iteration", "eta", "seed", "total", "max_steps"}
_UNITS = {"tok": "tok/s", "it": "it/s", "sam": "samples/s", "ex": "samples/s", "ste": "it/s", "bat": "batches/s",
          "seq": "seq/s", "gam": "games/s", "img": "img/s"}  # fmt: skip


def read_line(line: str) -> Progress | None:
    """What one line says of progress; None where it says nothing."""
    line = line[-LONGEST_LINE:]
    if not _HINT.search(line):
        return None
    bar = _TQDM.search(line)
    values = _postfix(line[bar.end() :]) if bar else _values(line)
    step, total = _position(line, bar)
    rate, unit = _rate(line, bar)
    eta_s = _eta(line, bar)
    diverged = _diverged(line, values)
    if not values and not diverged and rate is None and eta_s is None and total is None:
        return None
    return Progress(
        values=values, step=step, total=total, rate=rate, rate_unit=unit, eta_s=eta_s, diverged=diverged
    )  # fmt: skip


def read_lines(lines: Iterable[str]) -> list[Progress]:
    """What several lines say, one entry for each that says something."""
    return [progress for line in lines if (progress := read_line(line)) is not None]


def carried(before: Progress | None, now: Progress) -> Progress:
    """`now`, with position and speed from `before` where it says nothing of them; values are never carried."""
    if before is None:
        return now
    own_rate, own_position = now.rate is not None, now.step is not None
    return msgspec.structs.replace(
        now,
        step=now.step if own_position else before.step,
        total=now.total if own_position else before.total,
        rate=now.rate if own_rate else before.rate,
        rate_unit=now.rate_unit if own_rate else before.rate_unit,
        eta_s=now.eta_s if now.eta_s is not None else before.eta_s,
    )


def _values(line: str) -> dict[str, float]:
    joined = _SPLIT_NAME.sub(r"\1_\2", line)
    known: dict[str, float] = {}
    others: dict[str, float] = {}
    for found in _PAIR.finditer(joined):
        name = found["name"].lower()
        value = float(found["value"])
        if name in _COUNTS or not math.isfinite(value):
            continue
        if (shown := _known_name(name)) is not None:
            known[shown] = value
        elif found["sign"].strip() and (found["quote"] or "=" in found["sign"]):
            others[name] = value
    # A lone `n=5` is no progress; beside a loss or a score it is.
    merged = known | {name: value for name, value in others.items() if name not in known} if known else {}
    return dict(list(merged.items())[:MOST_VALUES])


def _diverged(line: str, values: dict[str, float]) -> tuple[str, ...]:
    """The names that the line gives no finite value."""
    if not _MAYBE_NOT_FINITE.search(line):
        return ()
    found = (_known_name(each["name"].lower()) for each in _NOT_FINITE.finditer(_SPLIT_NAME.sub(r"\1_\2", line)))
    return tuple(dict.fromkeys(name for name in found if name is not None and name not in values))


def _postfix(tail: str) -> dict[str, float]:
    """The `, loss=2.3, lr=1e-4]` behind a bar."""
    values: dict[str, float] = {}
    for part in tail.strip(" ,]\r").split(",", MOST_VALUES)[:MOST_VALUES]:
        name, sign, value = part.partition("=")
        name = name.strip().lower().replace(" ", "_").replace("/", "_")
        named = sign and len(name) < 32 and name.isidentifier()
        if named and _NUMBER_ONLY.fullmatch(value.strip()) and math.isfinite(float(value)):
            values[_known_name(name) or name] = float(value)
    return values


def _known_name(name: str) -> str | None:
    if name in _KNOWN:
        return _KNOWN[name]
    if (found := _EVAL_PREFIX.fullmatch(name)) and (tail := found[1]) in _KNOWN:
        return f"eval_{_KNOWN[tail]}"
    return None


def _position(line: str, bar: re.Match[str] | None) -> tuple[int | None, int | None]:
    if bar:
        done = float(bar["done"]) * _SCALE[bar["done_unit"]]
        return int(done), int(float(bar["total"]) * _SCALE[bar["total_unit"]])
    pairs = [(found[1].lower(), int(found[2]), int(found[3])) for found in _OF_TOTAL.finditer(line)]
    pairs = [pair for pair in pairs if pair[2] > 0 and pair[1] <= pair[2]]
    if pairs:
        # `Epoch 1/3 step 20/100`: the finer count moves, so it is the one to show.
        finest = next((pair for pair in pairs if pair[0] != "epoch"), pairs[0])
        return finest[1], finest[2]
    found = _STEP.search(line)
    return (int(found[1]), None) if found else (None, None)


def _rate(line: str, bar: re.Match[str] | None) -> tuple[float | None, str]:
    if bar and bar["rate"]:
        rate, unit = float(bar["rate"]) * _SCALE[bar["prefix"]], bar["unit"]
        if unit.startswith("s/"):
            return (1.0 / rate if rate else None), f"{unit[2:]}/s"
        return rate, unit
    found = _RATE.search(line)
    if not found:
        return None, ""
    word = found[3].lower()
    unit = next((shown for start, shown in _UNITS.items() if word.startswith(start)), f"{word}/s")
    return float(found[1].replace(",", "")) * _SCALE.get(found[2], 1.0), unit


def _eta(line: str, bar: re.Match[str] | None) -> float | None:
    if bar:
        return _clock_s(bar["left"]) if bar["left"] != "?" else None
    found = _ETA.search(line)
    if not found:
        return None
    if found["clock"]:
        return _clock_s(found["clock"])
    parts = [float(found[unit]) * seconds for unit, seconds in (("h", 3600), ("m", 60), ("s", 1)) if found[unit]]
    return sum(parts) if parts else None


def _clock_s(text: str) -> float | None:
    seconds = 0
    for part in text.split(":"):
        if not part:
            return None
        seconds = seconds * 60 + int(part)
    return float(seconds)
