"""The recorded outputs, read as a run would read them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from agent.record import events as ev
from agent.telemetry.progress import read_lines
from agent.telemetry.training import Training
from mlrb_tui.views.curves import Curves

FOLDER = Path(__file__).parent
_LINE_END = re.compile(r"[\r\n]+")


def progress_events(text: str, line_s: float = 1.0) -> Iterator[ev.Event]:
    """The events that a command with this output leads to, a line every `line_s` seconds."""
    training = Training()
    for seq, line in enumerate(read_lines(_LINE_END.split(text)), start=1):
        yield ev.Event(
            seq=seq, at=seq * line_s, body=ev.ProgressSeen(call_id="c", progress=training.see(line, seq * line_s))
        )


def series_of(text: str) -> dict[str, list[list[float]]]:
    """Every figure in an output by name: its steps and values."""
    curves = Curves()
    for event in progress_events(text):
        curves.take(event)
    return {
        name: [list(point) for point in zip(curve.steps, curve.values, strict=True)]
        for name, curve in curves.of("c").items()
    }


def logs() -> list[Path]:
    """All recorded outputs."""
    return sorted(FOLDER.glob("*.txt"))


def expected(log: Path) -> dict[str, list[list[float]]]:
    """The series that an output must give."""
    found: dict[str, list[list[float]]] = json.loads(log.with_suffix(".json").read_text())
    return found


def write_expected() -> None:
    """Write down what is read now; look at the difference before it is committed."""
    for log in logs():
        lines = [f"  {json.dumps(name)}: {json.dumps(series)}" for name, series in series_of(log.read_text()).items()]
        log.with_suffix(".json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    write_expected()
