"""Long payloads: kept once by their sha256, in the same file and the same transaction as their event."""

import hashlib
import sqlite3
import zlib
from typing import get_type_hints

import msgspec

from agent.errors import RecordError
from agent.record import events as ev
from agent.record.text import storable
from agent.record.values import Blob, Text

INLINE_BYTES = 8 * 1024
PREVIEW_CHARACTERS = 2_000


def _text_fields(kind: type[ev.Body]) -> tuple[str, ...]:
    return tuple(name for name, hint in get_type_hints(kind).items() if hint == Text)


_TEXT_FIELDS = {kind: _text_fields(kind) for kind in ev.Known.__args__}


def externalize(connection: sqlite3.Connection, body: ev.AnyBody) -> ev.AnyBody:
    """The body with every text over 8 KiB moved to the blob table."""
    changes = {
        name: store(connection, text)
        for name in _TEXT_FIELDS.get(type(body), ())
        if isinstance(text := getattr(body, name), str) and _is_long(text)
    }
    return msgspec.structs.replace(body, **changes) if changes else body


def internalize(connection: sqlite3.Connection, body: ev.AnyBody) -> ev.AnyBody:
    """The body with every text whole again."""
    changes = {
        name: load(connection, blob.sha256)
        for name in _TEXT_FIELDS.get(type(body), ())
        if isinstance(blob := getattr(body, name), Blob)
    }
    return msgspec.structs.replace(body, **changes) if changes else body


def store(connection: sqlite3.Connection, text: str) -> Blob:
    """Keep a text; the same text is kept once."""
    text = storable(text)
    raw = text.encode()
    sha256 = hashlib.sha256(raw).hexdigest()
    connection.execute(
        "INSERT OR IGNORE INTO blobs (sha256, size_bytes, packed) VALUES (?, ?, ?)",
        (sha256, len(raw), zlib.compress(raw, 1)),
    )
    return Blob(sha256=sha256, size_bytes=len(raw), preview=text[:PREVIEW_CHARACTERS])


def load(connection: sqlite3.Connection, sha256: str) -> str:
    """The text of that sha256."""
    row = connection.execute("SELECT packed FROM blobs WHERE sha256 = ?", (sha256,)).fetchone()
    if row is None:
        raise RecordError(f"the log holds no blob {sha256[:12]}")
    return zlib.decompress(row[0]).decode()


def _is_long(text: str) -> bool:
    return len(text) > INLINE_BYTES or (not text.isascii() and len(text.encode("utf-8", "replace")) > INLINE_BYTES)
