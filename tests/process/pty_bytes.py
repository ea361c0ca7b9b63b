"""What a program wrote to its terminal, taken apart: escape sequences, and the text between them."""

import re
from collections.abc import Iterator

# Text, or one escape sequence: CSI, OSC/DCS/SOS/PM/APC with their strings, or another.
_TOKEN = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]"
    rb"|\x1b[\]PX^_].*?(?:\x07|\x1b\\)"
    rb"|\x1b[ -/]*[0-~]"
    rb"|[^\x1b]+"
    rb"|\x1b",
    re.DOTALL,
)
# What Textual itself sends: styles, the cursor's place, modes, questions about modes, the keyboard protocol,
# the mouse pointer's shape.
_MODES = {"7", "25", "1000", "1002", "1003", "1004", "1006", "1015", "1016", "1049", "2004", "2026", "2048"}
_PLAIN = re.compile(rb"\x1b\[(?:[0-9;]*[mHJ]|\?\d+\$p|>\d+u|<u)\Z|\x1b\]22;[a-z-]+\x07\Z")
_MODE = re.compile(rb"\x1b\[\?([0-9;]+)[hl]\Z")
_BIDI = {chr(code) for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}
_TEXT_CONTROLS = {"\n", "\r"}


def tokens(raw: bytes) -> Iterator[bytes]:
    """The stream in pieces: each an escape sequence or text without any."""
    return (found.group() for found in _TOKEN.finditer(raw))


def foreign(raw: bytes) -> list[str]:
    """All that Textual would not have sent by itself, or that text must not hold; empty when all is well."""
    return [said for token in tokens(raw) for said in _foreign(token)]


def _foreign(token: bytes) -> Iterator[str]:
    if token.startswith(b"\x1b"):
        mode = _MODE.match(token)
        known = set(mode[1].decode().split(";")) <= _MODES if mode else bool(_PLAIN.match(token))
        if not known:
            yield repr(token)
        return
    for character in token.decode("utf-8", "replace"):
        code = ord(character)
        if (code < 0x20 and character not in _TEXT_CONTROLS) or 0x7F <= code < 0xA0 or character in _BIDI:
            yield repr(character)


def colours_used(raw: bytes) -> set[str]:
    """Which kinds of colour the styles ask for: `none`, `16`, `256`, `truecolor`."""
    kinds = set()
    for token in tokens(raw):
        if token.startswith(b"\x1b[") and token.endswith(b"m"):
            kinds |= set(_kinds(token[2:-1].decode().split(";")))
    return kinds


def _kinds(parameters: list[str]) -> Iterator[str]:
    rest = iter(parameters)
    for parameter in rest:
        number = int(parameter or 0)
        if number in (38, 48):
            yield "truecolor" if next(rest) == "2" else "256"
            return
        if number in (*range(30, 38), *range(40, 48), *range(90, 98), *range(100, 108)):
            yield "16"
