"""Numbers and clocks as programs print them."""

NUMBER = r"[-+]?(?:\d{1,15}\.?\d{0,20}|\.\d{1,20})(?:[eE][-+]?\d{1,3})?"
SCALE = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def clock_s(text: str) -> float | None:
    """Seconds of `12:30` or `1:02:03`; None where a part is empty."""
    seconds = 0
    for part in text.split(":"):
        if not part:
            return None
        seconds = seconds * 60 + int(part)
    return float(seconds)
