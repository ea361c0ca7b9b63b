"""Scrolling through things of unknown number, and through outputs that are read as they are looked at."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.record import events as ev
from agent.record.log import EventReader, write_events
from mlrb_tui.views.blocks import Called, place_of
from mlrb_tui.views.document import Document, Output
from mlrb_tui.views.rows import Row, row
from mlrb_tui.views.scroller import Scroller


class Numbers:
    """Things 0 … n-1 of which a part is loaded at first; thing k has as many rows as `heights` says."""

    def __init__(self, heights: list[int], loaded: tuple[int, int]) -> None:
        self.heights = heights
        self.first, self.last = loaded

    @property
    def count(self) -> int:
        return self.last - self.first

    def key(self, index: int) -> int:
        return self.first + index

    def find(self, key: int) -> int:
        return max(-1, min(self.count - 1, key - self.first))

    def rows(self, index: int) -> list[Row]:
        number = self.first + index
        return [row(f"{number}.{at}") for at in range(self.heights[number])]

    def load_before(self) -> bool:
        before, self.first = self.first, max(0, self.first - 3)
        return self.first < before

    def load_after(self) -> bool:
        before, self.last = self.last, min(len(self.heights), self.last + 3)
        return self.last > before


def shown(scroller: Scroller) -> list[str]:
    return ["".join(span.text for span in line) for _, line in scroller.visible()]


def all_rows(heights: list[int]) -> list[str]:
    return [f"{number}.{at}" for number, height in enumerate(heights) for at in range(height)]


_HEIGHTS = st.lists(st.integers(0, 6), min_size=1, max_size=30)
_MOVES = st.lists(st.tuples(st.sampled_from(["move", "page", "scroll"]), st.integers(-7, 7)), max_size=25)


@given(_HEIGHTS, st.integers(1, 12), _MOVES)
def test_the_window_is_always_a_whole_piece_of_what_there_is(
    heights: list[int], height: int, moves: list[tuple[str, int]]
) -> None:
    scroller = Scroller(Numbers(heights, (max(0, len(heights) - 2), len(heights))))
    scroller.height = height
    everything = all_rows(heights)
    for name, by in moves:
        getattr(scroller, name)(by)
        window = shown(scroller)
        assert len(window) == min(height, len(everything))
        if window:
            at = everything.index(window[0])
            assert everything[at : at + len(window)] == window


@given(_HEIGHTS.filter(lambda heights: sum(heights) > 0), st.integers(1, 9))
def test_going_up_row_by_row_reaches_the_first_row_and_down_the_last(heights: list[int], height: int) -> None:
    everything = all_rows(heights)
    scroller = Scroller(Numbers(heights, (len(heights) - 1, len(heights))))
    scroller.height = height
    for _ in everything:
        scroller.move(-1)
    assert shown(scroller)[0] == everything[0]
    for _ in everything:
        scroller.move(1)
    assert shown(scroller)[-1] == everything[-1]
    assert scroller.following


def test_what_is_looked_at_stays_when_more_comes() -> None:
    numbers = Numbers([2] * 40, (0, 20))
    scroller = Scroller(numbers)
    scroller.height = 6
    scroller.move(-9)
    before = shown(scroller)
    numbers.last = 40
    assert shown(scroller) == before


def test_following_moves_by_leaps_not_row_by_row() -> None:
    numbers = Numbers([1] * 400, (0, 100))
    scroller = Scroller(numbers)
    scroller.height, scroller.leaps = 20, True
    assert shown(scroller)[-1] == "99.0"
    tops = set()
    for last in range(101, 301):
        numbers.last = last
        window = shown(scroller)
        assert window[-1] == f"{last - 1}.0"
        tops.add(window[0])
    assert len(tops) <= 200 / 4


def test_a_document_shows_hostile_lines_harmless_and_whole() -> None:
    document = Document([("a\x1b[2Jb", ""), ("1 %\r2 %\r3 %", ""), ("z" * 90_000, "")])
    assert document.rows(0)[0][0].text == "ab"
    assert document.rows(1)[0][0].text == "3 %"
    document.wrap(100)
    assert len(document.rows(2)) == 900


_LINES = 50_000


@pytest.fixture(scope="module")
def long_output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("output") / "events.db"

    def story() -> Iterator[ev.Event]:
        yield ev.Event(seq=1, at=1.0, step=1, body=ev.ToolCalled(call_id="c", tool="bash", summary="seq"))
        for line in range(_LINES):
            yield ev.Event(seq=line + 2, at=2.0, step=1, body=ev.ToolOutput(call_id="c", text=f"line {line}\n"))

    write_events(path, story())
    return path


@pytest.fixture
def output(long_output: Path) -> Iterator[Output]:
    with EventReader(long_output) as reader:
        call = ev.Event(seq=1, at=1.0, step=1, body=ev.ToolCalled(call_id="c", tool="bash", summary="seq"))
        block = Called(place=place_of(call), call_id="c", tool="bash", title="seq", arguments={})
        yield Output(reader, block, [("seq", "strong"), ("", "")], reader.last_seq())


def test_an_output_of_50000_lines_is_read_as_it_is_looked_at(output: Output) -> None:
    scroller = Scroller(output)
    scroller.height = 30
    assert shown(scroller)[-1] == f"line {_LINES - 1}"
    assert output.count < 2_000


def test_paging_through_an_output_misses_no_line(output: Output) -> None:
    scroller = Scroller(output)
    scroller.height = 50
    output.go_to_start()
    scroller.to_start()
    assert shown(scroller)[:3] == ["seq", "", "line 0"]
    seen: list[str] = []
    for _ in range(60):
        seen += [line for line in shown(scroller) if line not in seen[-60:]]
        scroller.scroll(48)
    numbers = [int(line.split()[1]) for line in seen if line.startswith("line ")]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > 2_500


def test_an_output_read_backwards_joins_where_the_pages_meet(output: Output) -> None:
    for _ in range(5):
        output.load_before()
    lines = [output.rows(index)[0][0].text for index in range(output.count - 1)]
    first = int(lines[0].split()[1])
    assert lines == [f"line {number}" for number in range(first, _LINES)]


@pytest.mark.parametrize("forwards", [True, False])
def test_search_in_an_output_finds_what_is_not_loaded(output: Output, forwards: bool) -> None:
    if forwards:
        output.go_to_start()
    key = next(key for key in output.places("line 25000", output.key(0), forwards=forwards) if key is not None)
    index = output.find(key)
    assert output.rows(index)[0][0].text == "line 25000"


def test_the_whole_output_is_copied_not_only_what_is_loaded(output: Output) -> None:
    assert output.whole().count("\n") >= _LINES
