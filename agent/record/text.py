"""Text that isn't ours: made storable on the way in, made printable on the way to a terminal."""

import re

TAB_WIDTH = 4

# CSI, OSC/DCS/SOS/PM/APC with their strings, and two-byte escapes: dropped from what is shown.
_ESCAPE_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]"
)


def _shown_as() -> dict[int, str | None]:
    """The table of characters that may not reach a terminal as they are."""
    table: dict[int, str | None] = {code: chr(0x2400 + code) for code in range(0x20)}
    table[0x7F] = "␡"
    table |= dict.fromkeys(range(128, 160), "�")
    table |= dict.fromkeys(range(55296, 57344), "�")
    # Bidi marks, embeddings, overrides and isolates reorder what a reader sees.
    table |= dict.fromkeys((1564, 8206, 8207, *range(8234, 8239), *range(8294, 8298)), "�")
    # Line and paragraph separators, and invisible format characters.
    table |= {0x2028: "␤", 0x2029: "␤", 0xFEFF: None, 0x00AD: None, 0x180E: None}
    table |= dict.fromkeys((8203, 8204, *range(8288, 8294), *range(8298, 8304)))
    table |= dict.fromkeys((*range(65529, 65532), *range(917504, 917632)))
    return table


_LINE_TABLE = _shown_as()
_BLOCK_TABLE = {code: shown for code, shown in _LINE_TABLE.items() if code != 0x0A}
_SUSPECT = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U000e0000-\U000e007f]"
)
_RUN_OF_MARKS = re.compile(
    r"([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{4})"
    r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)


def printable(text: str, *, lines: bool = False) -> str:
    """`text` with nothing in it that a terminal obeys; line ends are kept only where `lines` says so.

    Escape sequences vanish, lone control characters show as their Unicode pictures, bidi controls and lone
    surrogates as U+FFFD, tabs as spaces, towers of combining marks are cut to four.
    """
    if not text.isascii():
        text = _RUN_OF_MARKS.sub(r"\1", text)
    if not _SUSPECT.search(text):
        return text
    text = _ESCAPE_SEQUENCE.sub("", text)
    if lines:
        text = text.replace("\r\n", "\n")
    if "\t" in text:
        text = text.expandtabs(TAB_WIDTH)
    return text.translate(_BLOCK_TABLE if lines else _LINE_TABLE)


def storable(text: str) -> str:
    """`text` as valid Unicode: split surrogate pairs joined, lone surrogates replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def settle_carriage_returns(text: str) -> str:
    """`text` as a terminal would leave it: in each line only what follows the last carriage return.

    A trailing carriage return keeps its line (the next write replaces it), as progress bars end on one.
    """
    if "\r" not in text:
        return text
    return "\n".join(_settle_line(line) for line in text.replace("\r\n", "\n").split("\n"))


def _settle_line(line: str) -> str:
    head, found, tail = line.rpartition("\r")
    if not found:
        return line
    if tail:
        return tail
    return head.rpartition("\r")[2] + "\r"


def clip(text: str, limit: int) -> str:
    """`text` cut to `limit` characters with the middle left out and a note that says how much."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n… {len(text) - head - tail:,} characters left out …\n{text[-tail:]}"


def one_line(text: str, limit: int = 200) -> str:
    """`text` on one printable line of at most `limit` characters."""
    flat = " ".join(printable(text[: limit * 4], lines=True).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
