"""A log as JSON lines: one event a line, for export, for golden logs, and for replay of a file."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from agent.errors import RecordError
from agent.record import events as ev


def to_line(event: ev.Event) -> str:
    """One event as one line of JSON: the envelope, then the body under `body`, its `kind` inside."""
    body = msgspec.Raw(ev.encode(event.body))
    envelope = {"seq": event.seq, "at": event.at, "step": event.step, "worker": event.worker, "body": body}
    return msgspec.json.encode(envelope).decode()


def write_jsonl(path: Path, events: Iterable[ev.Event]) -> None:
    """Write events as JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(to_line(event) + "\n" for event in events)


def read_jsonl(path: Path) -> Iterator[ev.Event]:
    """Read events from JSON lines; numbers are given anew where they are missing."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _event(line, number, path)


def _event(line: str, number: int, path: Path) -> ev.Event:
    # The standard library reads lone surrogates that msgspec refuses.
    try:
        row = json.loads(line)
        body = row["body"]
        raw = json.dumps(body).encode()
        return ev.Event(
            seq=int(row.get("seq", number)),
            at=float(row["at"]),
            step=int(row.get("step", 0)),
            worker=int(row.get("worker", 0)),
            body=_body(str(body["kind"]), body, raw),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise RecordError(
            f"{path.name}, line {number}, is not an event", hint="an export of mlrb has one event a line"
        ) from error


def _body(kind: str, body: object, raw: bytes) -> ev.AnyBody:
    try:
        known: ev.Known = msgspec.convert(body, ev.Known)
    except msgspec.ValidationError:
        return ev.Unknown(kind=kind, raw=raw)
    return known
