"""Reads scalars out of TensorBoard's event files: TFRecord frames around a few fields of two protocol buffers.

A reader of our own: the libraries that read them bring a hundred megabytes along (docs/design/telemetry.md).
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

MOST_RECORD_BYTES = 1024**2
"""A record that is longer holds a picture or a graph: it is passed over unread."""

LONGEST_CHECKED_BYTES = 1024
"""A record with scalars is shorter; what is longer is not checked."""

_FRAME = struct.Struct("<QI")
_CRC_BYTES = 4
_LENGTH_BYTES = 8
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FLOAT_TYPE, _DOUBLE_TYPE = 1, 2


def _crc_table() -> tuple[int, ...]:
    table = []
    for entry in range(256):
        for _ in range(8):
            entry = (entry >> 1) ^ (0x82F63B78 if entry & 1 else 0)
        table.append(entry)
    return tuple(table)


_CRC_TABLE = _crc_table()


@dataclass(frozen=True)
class Scalar:
    """One value of one series."""

    tag: str
    step: int
    value: float
    wall_time: float


class Broken(Exception):
    """These are no records: a file of another kind, or a damaged one."""


def records(data: bytes) -> tuple[list[bytes], int, bool]:
    """The whole records at the start of `data`, how many bytes they take, and whether what follows may be one.

    A record cut short is left for later. One whose content does not fit its checksum is passed over; where a length
    does not fit its own, nobody knows where the next record begins.
    """
    found: list[bytes] = []
    at = 0
    while len(data) - at >= _FRAME.size:
        length, checksum = _FRAME.unpack_from(data, at)
        if masked_crc(data[at : at + _LENGTH_BYTES]) != checksum:
            return found, at, False
        end = at + _FRAME.size + length + _CRC_BYTES
        if end > len(data):
            break
        content = data[at + _FRAME.size : end - _CRC_BYTES]
        # Long ones hold no numbers, and their checksums would take long.
        if length <= LONGEST_CHECKED_BYTES:
            if masked_crc(content) == int.from_bytes(data[end - _CRC_BYTES : end], "little"):
                found.append(content)
        elif length <= MOST_RECORD_BYTES:
            found.append(content)
        at = end
    return found, at, True


def masked_crc(data: bytes) -> int:
    """The checksum of a TFRecord: CRC-32C, turned and moved by a constant."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC_TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def next_record_bytes(data: bytes) -> int:
    """How long the record at the start of `data` is with its frame; 0 where not even its length is there."""
    return _FRAME.size + _FRAME.unpack_from(data)[0] + _CRC_BYTES if len(data) >= _FRAME.size else 0


def scalars(record: bytes) -> list[Scalar]:
    """The scalars of one record; raises `Broken`."""
    wall_time, step, summary = 0.0, 0, b""
    for number, kind, value in _fields(record):
        if number == 1 and kind == _FIXED64:
            (wall_time,) = struct.unpack("<d", value)
        elif number == 2 and kind == _VARINT:
            step = _signed(value)
        elif number == 5 and kind == _BYTES:
            summary = value
    found = []
    for number, kind, value in _fields(summary):
        if number == 1 and kind == _BYTES and (named := _value(value)) is not None:
            found.append(Scalar(named[0], step, named[1], wall_time))
    return found


def _value(raw: bytes) -> tuple[str, float] | None:
    """Tag and number of one summary value; None where it is no number."""
    tag, number_found = "", None
    for number, kind, value in _fields(raw):
        if number == 1 and kind == _BYTES:
            tag = value.decode("utf-8", "replace")
        elif number == 2 and kind == _FIXED32:
            (number_found,) = struct.unpack("<f", value)
        elif number == 8 and kind == _BYTES:
            number_found = _tensor(value)
    # Seven digits are all that such a number has; more would be noise.
    return None if number_found is None else (tag, float(f"{number_found:.7g}"))


def _tensor(raw: bytes) -> float | None:
    """The number in a tensor of one; TensorFlow 2 writes scalars so."""
    kind_of_number, content, listed = 0, b"", None
    for number, kind, value in _fields(raw):
        if number == 1 and kind == _VARINT:
            kind_of_number = _signed(value)
        elif number == 4 and kind == _BYTES:
            content = value
        elif number in (5, 6):
            listed = value
    form = {_FLOAT_TYPE: "<f", _DOUBLE_TYPE: "<d"}.get(kind_of_number)
    content = content or listed or b""
    if form is None or len(content) != struct.calcsize(form):
        return None
    return float(struct.unpack(form, content)[0])


def _fields(raw: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Number, wire type and raw value of each field."""
    at = 0
    while at < len(raw):
        key, at = _varint(raw, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            start = at
            _, at = _varint(raw, at)
        else:
            if kind == _BYTES:
                length, at = _varint(raw, at)
            elif kind in (_FIXED64, _FIXED32):
                length = 8 if kind == _FIXED64 else 4
            else:
                raise Broken(f"wire type {kind}")
            start, at = at, at + length
        if at > len(raw):
            raise Broken("a field is longer than its record")
        yield number, kind, raw[start:at]


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(raw):
            break
        byte = raw[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise Broken("a number that does not end")


def _signed(raw: bytes) -> int:
    value, _ = _varint(raw, 0)
    return value - (1 << 64) if value >> 63 else value
