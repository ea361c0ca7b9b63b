"""Writes the golden logs of this folder anew: `python -m tests.logs.make_logs`."""

import json
from collections.abc import Iterable
from pathlib import Path

from agent.record import events as ev
from agent.record.jsonl import to_line
from tests.logs import asked, baby_lm, crew, gpu_trouble, hostile, short

FOLDER = Path(__file__).parent
LOGS = {
    "asked": asked.events, "baby_lm": baby_lm.events, "crew": crew.events, "gpu_trouble": gpu_trouble.events,
    "short": short.events,
    "hostile": hostile.events,
}  # fmt: skip


def line_of(event: ev.Event) -> str:
    """One event as a line of JSON; lone surrogates, which msgspec refuses, as escapes."""
    import msgspec

    try:
        return to_line(event)
    except UnicodeEncodeError:
        body = msgspec.to_builtins(event.body) if not isinstance(event.body, ev.Unknown) else {"kind": event.body.kind}
        row = {"seq": event.seq, "at": event.at, "step": event.step, "worker": event.worker, "body": body}
        return json.dumps(row)


def write(path: Path, events: Iterable[ev.Event]) -> None:
    """Write a log; the same story gives the same bytes."""
    path.write_text("".join(line_of(event) + "\n" for event in events), encoding="utf-8")


def main() -> None:
    """Write them all."""
    for name, tell in LOGS.items():
        write(FOLDER / f"{name}.jsonl", tell())


if __name__ == "__main__":
    main()
