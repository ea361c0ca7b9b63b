"""What `lean --json` says: one JSON object a line, in the words of Lean 3 and of Lean 4."""

import json
from dataclasses import dataclass

from evaluation.model.words import one_line

_HOLES = ("sorry", "sorryAx")


@dataclass(frozen=True)
class Message:
    """One message of the compiler."""

    severity: str
    """`error`, `warning` or `information`."""
    line: int
    """From 1; 0 where it isn't said."""
    column: int
    text: str

    @property
    def is_error(self) -> bool:
        """The script does not compile."""
        return self.severity == "error"

    @property
    def tells_a_hole(self) -> bool:
        """The proof uses `sorry`, which both versions only warn of."""
        return any(word in self.text.replace("'", " ").replace("`", " ").split() for word in _HOLES)


def parse_messages(output: str) -> tuple[Message, ...]:
    """The messages among the lines of an output; other lines (a build tool's, say) are left out.

    Lean 3 writes `pos_line`, `pos_col` and `text`; Lean 4 `pos.line`, `pos.column` and `data`, where `info` stands for
    `information`.
    """
    return tuple(message for line in output.splitlines() if (message := _message(line)) is not None)


def _message(line: str) -> Message | None:
    try:
        read = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict) or not isinstance(read.get("severity"), str):
        return None
    place = read["pos"] if isinstance(read.get("pos"), dict) else {}
    severity = "information" if read["severity"] == "info" else read["severity"]
    text = read.get("data", read.get("text", ""))
    return Message(
        severity=one_line(severity),
        line=_number(place.get("line", read.get("pos_line"))),
        column=_number(place.get("column", read.get("pos_col"))),
        text=text if isinstance(text, str) else json.dumps(text),
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
