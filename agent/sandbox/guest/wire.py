"""How host and guest talk: requests as JSON lines, answers as length-prefixed frames.

A request is one line, so that a stream which was cut in the middle of one heals at the next line end. An answer is
a JSON header and a raw payload. On attaching, the host sends a secret number; the guest puts it into its next
frame, and the host skips all that comes before it: what an earlier reader left half read does no harm.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator

LENGTHS = struct.Struct(">II")
MAX_LINE_BYTES = 16 * 1024**2
MAX_HEADER_BYTES = 1024**2
MAX_PAYLOAD_BYTES = 64 * 1024**2

Header = dict[str, object]


class WireBroken(Exception):
    """What came over the stream is no frame."""


def request_line(request: Header) -> bytes:
    """A request as it is sent to the guest."""
    return json.dumps(request, separators=(",", ":")).encode() + b"\n"


def frame(header: Header, payload: bytes = b"") -> bytes:
    """An answer as it is sent to the host."""
    head = json.dumps(header, separators=(",", ":")).encode()
    return LENGTHS.pack(len(head), len(payload)) + head + payload


def pack(data: bytes) -> str:
    """Bytes as a request carries them."""
    return base64.b64encode(data).decode()


def unpack(text: object) -> bytes:
    """The bytes that `pack` was given."""
    return base64.b64decode(str(text), validate=True)


class LineReader:
    """Cuts what arrives at the guest into requests; a line that is no request is dropped."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._dropping = False

    def feed(self, data: bytes) -> Iterator[Header]:
        """The requests that `data` completes."""
        self._buffer += data
        while True:
            end = self._buffer.find(b"\n")
            if end < 0:
                break
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            request = None if self._dropping else _request(line)
            self._dropping = False
            if request is not None:
                yield request
        if len(self._buffer) > MAX_LINE_BYTES:
            self._buffer.clear()
            self._dropping = True


def _request(line: bytes) -> Header | None:
    try:
        request = json.loads(line)
    except ValueError:
        return None
    return request if isinstance(request, dict) else None


class FrameReader:
    """Cuts what arrives at the host into frames, from the one on that carries the secret number."""

    def __init__(self, secret: bytes = b"") -> None:
        self._buffer = bytearray()
        self._secret = secret

    def feed(self, data: bytes) -> Iterator[tuple[Header, bytes]]:
        """The frames that `data` completes; raises `WireBroken`."""
        self._buffer += data
        if self._secret and not self._found_secret():
            return
        start = 0
        try:
            while len(self._buffer) - start >= LENGTHS.size:
                head_bytes, payload_bytes = LENGTHS.unpack_from(self._buffer, start)
                if head_bytes > MAX_HEADER_BYTES or payload_bytes > MAX_PAYLOAD_BYTES:
                    raise WireBroken(f"a frame of {head_bytes} and {payload_bytes} bytes")
                middle = start + LENGTHS.size + head_bytes
                end = middle + payload_bytes
                if len(self._buffer) < end:
                    break
                head = bytes(self._buffer[start + LENGTHS.size : middle])
                payload = bytes(self._buffer[middle:end])
                start = end
                yield _header(head), payload
        finally:
            del self._buffer[:start]

    def _found_secret(self) -> bool:
        at = self._buffer.find(self._secret)
        if at < 0:
            del self._buffer[: max(0, len(self._buffer) - len(self._secret) + 1)]
            return False
        del self._buffer[: at + len(self._secret)]
        self._secret = b""
        return True


def _header(head: bytes) -> Header:
    try:
        header = json.loads(head)
    except ValueError as error:
        raise WireBroken("a frame's header is not JSON") from error
    if not isinstance(header, dict):
        raise WireBroken("a frame's header is not an object")
    return header
