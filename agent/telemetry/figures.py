"""Reads the figures in a line of text, each by its name, those of an evaluation apart from the training's."""

import math
import re
from bisect import bisect

from agent.telemetry.metric_names import COMPANIONS, COUNTS, MOST_VALUES, PROCESS_ONLY, SETTINGS, kept_name
from agent.telemetry.numbers import NUMBER

_NAME = r"(?P<quote>['\"]?)(?<![A-Za-z0-9_])(?P<name>[A-Za-z][A-Za-z0-9_]{0,30}(?:@\d{1,2})?)(?P=quote)"
_SIGN = r"(?P<sign>\s{0,20}[=:]\s{0,20}|\s{1,20}(?:is\s{1,20})?)['\"]?"
_PAIR = re.compile(rf"{_NAME}{_SIGN}(?P<value>{NUMBER})(?![\w.]|\s{{0,20}}/\s{{0,20}}\d)")
# No number that JSON can hold, and the one that says that a training has failed.
_NOT_FINITE = re.compile(
    rf"{_NAME}{_SIGN}(?:[-+]?(?:nan|inf(?:inity)?)|[-+]?\d{{1,15}}\.?\d{{0,20}}e\+?\d{{3}})(?![\w.])", re.I
)
_TOO_LARGE = re.compile(r"\de\+?\d{3}")
# `9834/10000` right, of an accuracy.
_SHARE = re.compile(
    r"\b(?P<name>acc(?:uracy)?)\b['\"]?\s{0,9}[=:]?\s{0,9}(?P<right>\d{1,12})\s?/\s?(?P<all>[1-9]\d{0,11})\b", re.I
)
# A word for the data that what follows was measured on.
_MAYBE_SPLIT = re.compile(r"val|eval|test|dev", re.I)
_SPLIT = re.compile(
    r"(?<![\w/.@-])(?:(?P<train>train(?:ing)?(?:'s)?)|(?:val(?:id(?:ation)?)?|eval(?:uation|uate|uating)?|test(?:ing)?|dev)"
    r"(?:_\d)?(?:'s)?)(?![\w@]|[/.](?!\s|loss|acc|ppl|perp|f1|score|bpb|rmse|mae))",
    re.I,
)
_SAID_SPLIT = re.compile(r"['\"](?:split|phase|mode|stage|subset)['\"]\s?:\s?['\"](?:val|eval|test|dev)", re.I)
# `loss train: 2.3, val: 2.9`
_SPLIT_BEHIND = re.compile(
    rf"\b(?P<name>loss|acc(?:uracy)?|ppl)\s(?P<first>train|val)\s?[:=]\s?(?P<one>{NUMBER})"
    rf"(?:,\s(?P<second>train|val)\s?[:=]\s?(?P<other>{NUMBER}))?",
    re.I,
)
# CatBoost names its metric only once; Stable-Baselines draws a table.
_LEARN = re.compile(rf"\blearn: (?P<learn>{NUMBER})(?:\s{{1,4}}test: (?P<test>{NUMBER}))?")
_ROW = re.compile(rf"^\|\s{{1,9}}(?P<name>[a-z_0-9]{{1,30}})\s{{1,30}}\|\s(?P<value>{NUMBER})\s{{1,20}}\|")
_NOT_NOW = re.compile(
    r"\b(?:best|lowest|highest|min(?:imum)?|max(?:imum)?|prev(?:ious)?|target|threshold|baseline)"
    r"(?:[\s_/.-]+(?:train|val|eval|test|dev)\w{0,7})?[\s_/.-]*$",
    re.I,
)
# What `loss is nan` stands behind where it is code or advice, and not said of this training.
_IN_CODE = re.compile(r"[#\"'(`]|\b(?:if|when|while|unless|whether|until|raise|avoid|prevent)\b", re.I)
_SET_TO_ZERO = re.compile(r"=\s{0,9}0(?:\.0{0,9})?(?![\d.eE])")
# No figure of its own: a speed, a duration, the `s` of `tok/s`.
_SPEED = re.compile(r"_per_s(?:ec(?:ond)?s?)?(?:_per_[a-z]+)?$|runtime$|^.$")


def values_in(line: str) -> dict[str, float]:
    """The figures of a line by the names that they are kept under; none where none of them is known."""
    splits = _splits(line)
    known: dict[str, float] = {}
    others: dict[str, float] = {}
    for found in _PAIR.finditer(line):
        name = found["name"].lower().replace("@", "_")
        value = float(found["value"])
        if name in COUNTS or not math.isfinite(value):
            continue
        if (shown := _shown(name, found.start(), line, splits)) is not None:
            known.setdefault(shown, value)
        elif name in COMPANIONS:
            others[COMPANIONS[name]] = value
        elif found["sign"].strip() and (found["quote"] or "=" in found["sign"]) and not _SPEED.search(name):
            others[name] = value
    _add_rarer(line, splits, known)
    # A lone `n=5` is no progress; beside a loss or a score it is.
    merged = known | {name: value for name, value in others.items() if name not in known} if known else {}
    return dict(list(merged.items())[:MOST_VALUES])


def not_finite_in(line: str, values: dict[str, float]) -> tuple[str, ...]:
    """The names that the line gives no finite value."""
    lowered = line.lower()
    if "nan" not in lowered and "inf" not in lowered and not _TOO_LARGE.search(lowered):
        return ()
    splits = _splits(line)
    found = []
    for each in _NOT_FINITE.finditer(line):
        in_words = each["sign"].strip() in ("", "is")
        if in_words and _IN_CODE.search(line[max(0, each.start() - 60) : each.start()]):
            continue
        shown = _shown(each["name"].lower().replace("@", "_"), each.start(), line, splits)
        if shown is not None:
            found.append(shown)
    return tuple(dict.fromkeys(name for name in found if name not in values))


def set_in_code(line: str, values: dict[str, float]) -> bool:
    """Whether these values look like those of a program's text or a configuration, and not like a training's."""
    if not PROCESS_ONLY.isdisjoint(values) and all(
        kept_name(name) in (None, *PROCESS_ONLY) and not name.startswith("eval_") for name in values
    ):
        return True
    known = [value for name, value in values.items() if kept_name(name.removeprefix("eval_")) is not None]
    return bool(known) and not any(known) and _SET_TO_ZERO.search(line) is not None


def _shown(name: str, at: int, line: str, splits: tuple[list[int], list[bool]]) -> str | None:
    """What a figure at that place is kept under; None where nobody knows its name, or it is one of before."""
    shown = kept_name(name)
    if shown is None or _NOT_NOW.search(line[max(0, at - 40) : at]):
        return None
    if shown.startswith("eval_") or shown in SETTINGS or name.startswith("train"):
        return shown
    places, evaluations = splits
    before = bisect(places, at) - 1
    return f"eval_{shown}" if before >= 0 and evaluations[before] else shown


def _splits(line: str) -> tuple[list[int], list[bool]]:
    """Where the line turns to other data, and whether that is an evaluation's."""
    places: list[int] = []
    evaluations: list[bool] = []
    if _MAYBE_SPLIT.search(line) is None:
        return places, evaluations
    if _SAID_SPLIT.search(line):
        return [0], [True]
    for found in _SPLIT.finditer(line):
        places.append(found.start())
        evaluations.append(found["train"] is None)
    return places, evaluations


def _add_rarer(line: str, splits: tuple[list[int], list[bool]], known: dict[str, float]) -> None:
    """Forms that few programs use."""
    if "/" in line:
        for found in _SHARE.finditer(line):
            shown = _shown(found["name"].lower(), found.start(), line, splits)
            if shown is not None and int(found["right"]) <= int(found["all"]):
                known.setdefault(shown, int(found["right"]) / int(found["all"]))
    if " train" in line or " val" in line:
        for found in _SPLIT_BEHIND.finditer(line):
            for split, value in ((found["first"], found["one"]), (found["second"], found["other"])):
                shown = kept_name(found["name"].lower())
                if split and shown is not None and math.isfinite(float(value)):
                    known.setdefault(shown if split.lower() == "train" else f"eval_{shown}", float(value))
    learned = _LEARN.search(line) if "learn: " in line else None
    for name, group in (("loss", "learn"), ("eval_loss", "test")):
        if learned is not None and learned[group] and math.isfinite(float(learned[group])):
            known.setdefault(name, float(learned[group]))
    row = _ROW.match(line) if line.startswith("|") else None
    shown = kept_name(row["name"]) if row is not None else None
    if row is not None and shown is not None and math.isfinite(float(row["value"])):
        known.setdefault(shown, float(row["value"]))
