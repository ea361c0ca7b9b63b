"""The wire between host and guest: cut, split and hostile streams."""

import json

import pytest

from agent.sandbox.guest.wire import (
    MAX_LINE_BYTES,
    FrameReader,
    LineReader,
    WireBroken,
    frame,
    pack,
    request_line,
    unpack,
)

SECRET = bytes(range(16))


def test_frames_cut_anywhere_arrive_whole() -> None:
    stream = frame({"event": "output", "at": 0}, b"\0\xff" * 50) + frame({"re": 1, "done": True})
    for size in (1, 7, 8, 9, 64, len(stream)):
        reader = FrameReader()
        found = [one for at in range(0, len(stream), size) for one in reader.feed(stream[at : at + size])]
        assert found == [({"event": "output", "at": 0}, b"\0\xff" * 50), ({"re": 1, "done": True}, b"")]


@pytest.mark.parametrize("size", [1, 5, 16, 1000])
def test_what_an_earlier_host_left_half_read_is_skipped(size: int) -> None:
    rest = frame({"event": "output"}, b"x" * 300)[41:]
    stream = rest + frame({"event": "attached"}, SECRET) + frame({"re": 1}, b"y")
    reader = FrameReader(SECRET)
    found = [one for at in range(0, len(stream), size) for one in reader.feed(stream[at : at + size])]
    assert found == [({"re": 1}, b"y")]


def test_rubbish_is_an_error_and_not_a_wait_for_gigabytes() -> None:
    with pytest.raises(WireBroken):
        list(FrameReader().feed(b"\xff" * 8))
    with pytest.raises(WireBroken):
        list(FrameReader().feed(b"\0\0\0\x02\0\0\0\0[]"))


def test_request_cut_by_a_dead_host_costs_only_itself() -> None:
    reader = LineReader()
    half = request_line({"op": "run", "text": "rm -rf /"})[:-9]
    assert list(reader.feed(half)) == []
    assert list(reader.feed(b"\n" + request_line({"op": "attach"}))) == [{"op": "attach"}]


def test_line_without_end_does_not_fill_the_memory() -> None:
    reader = LineReader()
    assert list(reader.feed(b"{" * (MAX_LINE_BYTES + 1))) == []
    assert list(reader.feed(b'"rest"}\n' + request_line({"op": "state"}))) == [{"op": "state"}]


def test_line_that_is_no_object_is_dropped() -> None:
    lines = b'[1]\nnull\n\xff\xfe\n{"op": 1}\n'
    assert list(LineReader().feed(lines)) == [{"op": 1}]


def test_any_text_and_any_bytes_pass() -> None:
    text = "line\nend \udc80 \0 é"
    [request] = LineReader().feed(request_line({"text": text, "data": pack(b"\0\n\xff")}))
    assert request["text"] == text
    assert unpack(request["data"]) == b"\0\n\xff"
    with pytest.raises(ValueError):
        unpack("no base64!")
    assert json.loads(request_line({"a": "\n"})) == {"a": "\n"}
