"""Numbers and clocks as programs print them."""

import re

NUMBER = r"[-+]?(?:\d{1,15}\.?\d{0,20}|\.\d{1,20})(?:[eE][-+]?\d{1,3})?"
SCALE = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "b": 1e9, "t": 1e12}
"""By a suffix in lower case."""
BYTES_A_SECOND = re.compile(r"(?:[\d?]|\d\s[kKMGT])(?:[kKMGT]i?)?B(?:ytes)?/s|\d\s?[kKMGT]i?[Bb](?:ytes|ps)?/s\b")
"""What a download says of its speed, and no training does."""
_GROUPS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")


def without_groups(line: str) -> str:
    """`1,234.5` as `1234.5`."""
    return _GROUPS.sub(lambda found: found[0].replace(",", ""), line) if "," in line else line


def clock_s(text: str) -> float | None:
    """Seconds of `12:30` or `1:02:03`; None where a part is empty."""
    seconds = 0
    for part in text.split(":"):
        if not part.isdigit():
            return None
        seconds = seconds * 60 + int(part)
    return float(seconds)
