"""Output pieces and their clipped form: bounded, in order, settled across pieces."""

import asyncio
import random
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.record import events as ev
from agent.record.text import settle_carriage_returns
from agent.runner.clipping import Clipped
from agent.runner.output import OutputSoFar, OutputStream
from agent.runner.settled import SettledOutput, pieces
from tests.unit.runner_parts import Desk


@given(st.text(max_size=30_000))
def test_pieces_are_the_text_and_each_fits_into_an_event(text: str) -> None:
    cut = list(pieces(text))
    assert "".join(cut) == text
    assert all(len(piece.encode("utf-8", "replace")) <= 8_192 for piece in cut)


@given(st.lists(st.text(alphabet="ab\n", max_size=200), max_size=60), st.integers(30, 500))
def test_clipped_text_keeps_both_ends_and_counts_what_it_left_out(texts: list[str], limit: int) -> None:
    clipped = Clipped(limit)
    for text in texts:
        clipped.add(text)
    whole, shown = "".join(texts), clipped.text()
    if len(whole) <= limit:
        assert shown == whole
    else:
        head, tail = limit * 2 // 3, limit - limit * 2 // 3
        assert shown == f"{whole[:head]}\n… {len(whole) - limit:,} characters left out …\n{whole[-tail:]}"


def test_redrawn_line_replaces_what_an_earlier_piece_began() -> None:
    clipped = Clipped(1_000)
    for piece in ("start\n 10%", "\r 20%", "\r 30%\nend"):
        clipped.add(piece)
    assert clipped.text() == "start\n 30%\nend"


async def test_output_cut_anywhere_arrives_whole(tmp_path: Path) -> None:
    raw = ("héllo wörld 😀\n" * 2_000).encode()
    rng = random.Random(3)
    desk = Desk(tmp_path)
    stream = OutputStream(desk.journal, "c1")
    position = 0
    while position < len(raw):
        size = rng.randrange(1, 400)
        stream.feed(raw[position : position + size])
        position += size
        if rng.random() < 0.05:
            await asyncio.sleep(0)
    stream.finish()
    stored = "".join(
        body.text for body in desk.bodies() if isinstance(body, ev.ToolOutput) and isinstance(body.text, str)
    )
    assert stored == raw.decode()


async def test_redraws_over_several_batches_keep_their_carriage_return(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    stream = OutputStream(desk.journal, "c1")
    stream.feed(b"go\n")
    async with asyncio.timeout(20):
        while "tool_output" not in desk.kinds():
            await asyncio.sleep(0)
    stream.feed(b"\r 10%")
    stream.flush()
    stream.feed(b"\r 20%\r 30%")
    stream.flush()
    stream.feed(b"\r 100%\ndone\n")
    assert stream.finish() == "go\n 100%\ndone\n"
    stored = [body.text for body in desk.bodies() if isinstance(body, ev.ToolOutput)]
    assert stored == ["go\n", " 10%", "\r 30%", "\r 100%\ndone\n"]


async def test_endless_output_is_capped_with_a_note_that_says_how_much_is_missing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    stream = OutputStream(desk.journal, "c1")
    block = b"x" * 99 + b"\n"
    for _ in range(210):
        stream.feed(block * 1_000)
    observed = stream.finish()
    outputs = [body.text for body in desk.bodies() if isinstance(body, ev.ToolOutput)]
    assert outputs[-1] == "\n… 1,000,000 bytes more not stored\n"
    assert sum(len(text) for text in outputs[:-1] if isinstance(text, str)) == 20_000_000
    assert len(observed) < 17_000


def _seen(text: str) -> str:
    """As a terminal would leave it, however it was cut."""
    return settle_carriage_returns(text.replace("\r\n", "\n"))


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


@given(
    st.lists(
        st.sampled_from([b"ab", b"10%\r", b"\n", b"x\r\n", b"\r20%", "é😀".encode(), b"\xff", b"x" * 50]),
        min_size=1,
        max_size=12,
    )
)
def test_bytes_that_a_piece_tells_of_and_the_rest_behind_them_are_the_whole_output(parts: list[bytes]) -> None:
    raw = b"".join(parts) * (1 + 20_000 // sum(map(len, parts)))
    whole = _seen(raw.decode("utf-8", "replace"))
    told = ""
    for text, read_bytes in SettledOutput(_decoded(raw), mid_line=False).pieces(10**9):
        told += text
        mid_line = bool(told) and not told.endswith("\n")
        rest = SettledOutput(_decoded(raw[read_bytes:]), mid_line=mid_line).pieces(10**9)
        same = _seen(told + "".join(piece for piece, _ in rest)) == whole
        # Not compared in the assertion itself: showing how two long texts differ takes minutes.
        assert same, f"a reader that goes on at byte {read_bytes} of {len(raw)}"


async def test_output_that_a_second_runner_goes_on_with_is_neither_doubled_nor_lost(tmp_path: Path) -> None:
    raw = ("héllo 😀\n" * 900 + " 10%\r 20%\r\n" * 300).encode() + b"\xff\xfe end"
    rng = random.Random(5)
    for cut in range(40):
        folder = tmp_path / str(cut)
        folder.mkdir()
        desk = Desk(folder)
        first = OutputStream(desk.journal, "c1")
        first.feed(raw[: rng.randrange(len(raw))])
        first.flush()
        pieces_so_far = [body for body in desk.bodies() if isinstance(body, ev.ToolOutput)]
        # The runner dies behind any of the pieces that a batch is cut into.
        known = pieces_so_far[: rng.randrange(len(pieces_so_far) + 1)]
        texts = [body.text for body in known if isinstance(body.text, str)]
        read_bytes = known[-1].read_bytes if known else 0
        desk.log.close()
        (folder / "events.db").unlink()
        desk = Desk(folder)
        second = OutputStream(desk.journal, "c1", OutputSoFar(texts, read_bytes))
        second.feed(raw[read_bytes:])
        shown = second.finish()
        texts += [body.text for body in desk.bodies() if isinstance(body, ev.ToolOutput) and isinstance(body.text, str)]
        same = _seen("".join(texts)) == _seen(raw.decode("utf-8", "replace"))
        assert same, f"cut at byte {read_bytes} of {len(raw)}"
        assert second.lines == raw.count(b"\n")
        assert _seen(shown) == _seen("".join(texts))
