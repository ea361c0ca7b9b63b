"""Reads where a training stands, how fast it is and when it is done, out of a line of text."""

import math
import re

from agent.telemetry.numbers import NUMBER, SCALE, clock_s

_OF_TOTAL = re.compile(
    r"\b(step|iter|iteration|it|epoch|batch|game|round|trial|episode|generation|fold|seed)s?\b"
    # `Step 3/12 : RUN` is what an image is built of.
    r"\s{0,20}[:=#]?\s{0,20}\[?\s{0,20}(\d{1,15})\s{0,20}(?:/|of)\s{0,20}(\d{1,15})\b(?!\s:\s[A-Z]{3})",
    re.I,
)
# `[640/60000 (1%)]`, `[ 10/5005]`, `epoch 001:    100 / 1234`
_BARE = re.compile(r"(?:\[\s{0,9}|\bepoch\s\d{1,6}:\s{1,9})(\d{1,12})\s?/\s?(\d{1,12})\b", re.I)
_STEP = re.compile(
    r"\b(?:(?:global_)?(?:step|iter|iteration)\b['\"]?\s{0,20}[:=#]?|steps:|current_steps['\"]?\s?:)"
    r"\s{0,20}(\d{1,15})\b(?!\.\d)",
    re.I,
)
# XGBoost and LightGBM number their lines so.
_NUMBERED = re.compile(r"^\s{0,4}(?:\[(\d{1,9})\]\s|(\d{1,9}):\slearn:)")
_WORDS = r"tok(?:en)?s?|it(?:er(?:ation)?)?s?|samples?|ex(?:ample)?s?|steps?|batch(?:es)?|seqs?|games?|imgs?|images?"
_RATE = re.compile(
    r"(?<![\d.,])(\d{1,15}(?:\.\d{1,6})?)\s?([kKMGT]?)\s?"
    rf"({_WORDS})\s?(?:/|per\s)\s?s(?:ec(?:ond)?)?\b(?!\s{{0,9}}[:=])",
    re.I,
)
_UNITS = {"tok": "tok/s", "tps": "tok/s", "wps": "tok/s", "it": "it/s", "sam": "samples/s", "ex": "samples/s",
          "ste": "it/s", "bat": "batches/s", "seq": "seq/s", "gam": "games/s", "im": "img/s"}  # fmt: skip
# `tok_per_sec=`, `"train_samples_per_second":`, `tokens/s: `, `tps: `
_NAMED_RATE = re.compile(
    rf"(?<![A-Za-z0-9_])(?:train_)?(?P<what>(?:{_WORDS})(?:_per_|/)s(?:ec(?:ond)?)?s?(?:[_/](?:per_)?(?:gpu|device))?"
    rf"|tps|wps)['\"]?\s{{0,20}}[=:]\s{{0,20}}['\"]?(?P<value>{NUMBER})\s?(?P<scale>[kKM]?)(?![\w.])",
    re.I,
)
_EACH = re.compile(r"(?<![\d.,])(\d{1,9}(?:\.\d{1,6})?)\s?(ms|s|sec)\s?/\s?(?:it(?:er(?:ation)?)?|step|batch)\b", re.I)
_ETA = re.compile(
    r"\b(?:eta|remaining(?:\stime)?|time\sleft)\b['\"]?\s{0,20}[:=]?\s{0,20}['\"]?(?:(?P<clock>(?:\d{1,4}:)?\d{1,2}:\d{2})"
    r"|(?=[\d])(?:(?P<h>\d{1,4}(?:\.\d+)?)\s?h(?:ours?|rs?)?\s?)?(?:(?P<m>\d{1,5}(?:\.\d+)?)\s?m(?:in(?:utes?)?)?\b\s?)?"
    r"(?:(?P<s>\d{1,7}(?:\.\d+)?)\s?s?(?:ec(?:onds?)?)?)?)",
    re.I,
)
_TOKENS_PER_STEP = re.compile(r"tokens per (?:iteration|iter|step|batch)\b[^\d]{0,20}(\d{1,15})", re.I)
# How much the training has to learn from, as it says itself when it has loaded it.
_AMOUNT = r"(\d{1,15}(?:\.\d{1,6})?)\s?([kMB]?)"
_TOKENS_LOADED = re.compile(
    rf"\b(?:train(?:ing)?|loaded|tokeni[sz]ed|encoded)\b[^\d\n]{{0,30}}?\s{_AMOUNT}\s(?:train(?:ing)?\s)?tokens\b"
    r"(?!\s?/|\sper)|\b(?:total|number\sof|num|train(?:ing)?)[\s_](?:train(?:ing)?[\s_])?tokens\b['\"]?\s?[:=]\s?"
    rf"{_AMOUNT}(?![\w.])",
    re.I,
)
_OF_HELD_OUT = re.compile(r"\b(?:val(?:id(?:ation)?)?|eval(?:uation)?|test|dev)\b", re.I)


def position(line: str, *, has_values: bool) -> tuple[int | None, int | None, bool]:
    """Step and total; and whether these are epochs."""
    pairs = [(found[1].lower(), int(found[2]), int(found[3])) for found in _OF_TOTAL.finditer(line)]
    if has_values and all(pair[0] == "epoch" for pair in pairs):
        pairs += [("", int(found[1]), int(found[2])) for found in _BARE.finditer(line)]
    pairs = [pair for pair in pairs if pair[2] > 0 and pair[1] <= pair[2]]
    if pairs:
        # `Epoch 1/3 step 20/100`: the finer count moves, so it is the one to show.
        finest = next((pair for pair in pairs if pair[0] not in ("epoch", "")), None)
        finest = finest or next((pair for pair in pairs if pair[0] == "" and pair[1:] != pairs[0][1:]), pairs[0])
        return finest[1], finest[2], finest[0] == "epoch"
    found = _STEP.search(line) or (_NUMBERED.search(line) if has_values else None)
    return (int(next(filter(None, found.groups()))), None, False) if found else (None, None, False)


def rate(line: str) -> tuple[float | None, str]:
    """How many of what a second."""
    if "/" not in line and "per" not in line and "ps" not in line:
        return None, ""
    named = _NAMED_RATE.search(line)
    if named is not None and math.isfinite(float(named["value"])):
        return float(named["value"]) * SCALE[named["scale"].lower()], _unit(named["what"])
    found = _RATE.search(line)
    if found is not None:
        return float(found[1]) * SCALE[found[2].lower()], _unit(found[3])
    each = _EACH.search(line)
    if each is not None and float(each[1]):
        return (1000 if each[2].lower() == "ms" else 1) / float(each[1]), "it/s"
    return None, ""


def eta_s(line: str) -> float | None:
    """Seconds left, as the line says."""
    found = _ETA.search(line)
    if found is None:
        return None
    if found["clock"]:
        return clock_s(found["clock"])
    parts = [float(found[unit]) * seconds for unit, seconds in (("h", 3600), ("m", 60), ("s", 1)) if found[unit]]
    return sum(parts) if parts else None


def tokens_per_step(line: str) -> float | None:
    """As nanoGPT tells it."""
    found = _TOKENS_PER_STEP.search(line) if "okens per" in line else None
    return float(found[1]) if found is not None else None


def data_tokens(line: str) -> float | None:
    """How many tokens of text the training has loaded, as it says itself."""
    if (
        "oken" not in line
        or (found := _TOKENS_LOADED.search(line)) is None
        or _OF_HELD_OUT.search(line[: found.start()])
    ):
        return None
    said, scale = found.group(1, 2) if found[1] else found.group(3, 4)
    return float(said) * SCALE[scale.lower()]


def _unit(word: str) -> str:
    word = word.lower()
    return next((shown for start, shown in _UNITS.items() if word.startswith(start)), f"{word}/s")
