"""What `lean` says: with `--json` one object a line, in the words of Lean 3 and of Lean 4; else lines for people."""

import json
import re
from dataclasses import dataclass, replace

from evaluation.model.words import one_line

_HOLES = ("sorry", "sorryAx")
LONGEST_TEXT = 10_000
"""Characters after which no more lines are added to a message."""
_FOR_PEOPLE = re.compile(r".*?:(\d+):(\d+): (error|warning|information|info): ?(.*)")


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
    `information`. Without `--json` both write `file:line:column: severity: text`, the text going on in the next lines.
    """
    found: list[Message] = []
    goes_on = False
    for line in output.splitlines():
        message = _message(line)
        if message is not None:
            found.append(message)
            goes_on = False
        elif told := _FOR_PEOPLE.fullmatch(line):
            found.append(Message(_severity(told[3]), int(told[1]), int(told[2]), told[4]))
            goes_on = True
        elif goes_on and not line.startswith("{") and len(found[-1].text) < LONGEST_TEXT:
            found[-1] = replace(found[-1], text=f"{found[-1].text}\n{line}")
    return tuple(found)


def _severity(word: str) -> str:
    return "information" if word == "info" else word


def _message(line: str) -> Message | None:
    try:
        read = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict) or not isinstance(read.get("severity"), str):
        return None
    place = read["pos"] if isinstance(read.get("pos"), dict) else {}
    text = read.get("data", read.get("text", ""))
    return Message(
        severity=one_line(_severity(read["severity"])),
        line=_number(place.get("line", read.get("pos_line"))),
        column=_number(place.get("column", read.get("pos_col"))),
        text=text if isinstance(text, str) else json.dumps(text),
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
