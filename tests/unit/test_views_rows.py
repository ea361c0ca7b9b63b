"""Rows are exact about columns: a row too wide or too narrow breaks the frame around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.record.text import printable
from mlrb_tui.views.charts import bar, curve, spark
from mlrb_tui.views.rows import Span, apart, cells, cut, folded, marked, row, width_of, wrapped
from mlrb_tui.views.scroller import cropped

_TEXTS = st.text(st.characters(codec="utf-8"), max_size=60).map(printable)


@pytest.mark.parametrize(
    "text", ["plain", "日本語 text", "naïve é", "👩‍🔬 lab", "👩‍👩‍👧‍👦", "✔ ▲ ◆ ×", "ｆｕｌｌ", "a\u0301b", "─━▒⣿"]
)
def test_widths_agree_with_what_draws_them(text: str) -> None:
    assert cells(text) == cell_len(text)


@given(_TEXTS, st.integers(1, 40))
def test_cut_text_never_exceeds_its_width(text: str, width: int) -> None:
    assert cells(cut(text, width)) <= width


@given(_TEXTS, st.integers(2, 30))
def test_wrapped_lines_never_exceed_the_width(text: str, width: int) -> None:
    assert all(cells(line) <= width for line in wrapped(text, width))


@given(_TEXTS, st.integers(2, 30))
def test_folding_loses_nothing(text: str, width: int) -> None:
    assert "".join(folded(text, width)) == text


@given(_TEXTS, _TEXTS, st.integers(4, 60))
def test_two_rows_apart_fill_the_line_exactly(left: str, right: str, width: int) -> None:
    right = cut(right, width - 2)
    assert width_of(apart(row(left), row(right), width)) == width


def test_wrapping_breaks_at_spaces_where_it_can() -> None:
    assert wrapped("one two three four", 9) == ["one two", "three", "four"]


def test_a_line_without_spaces_is_broken_anywhere() -> None:
    assert wrapped("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]


def test_found_text_is_marked_whatever_its_case() -> None:
    assert marked(row("The Loss is lost"), "LOS") == (
        Span("The "), Span("Los", "found"), Span("s is "), Span("los", "found"), Span("t"),
    )  # fmt: skip


def test_marking_a_text_whose_lower_case_is_longer_changes_nothing() -> None:
    assert marked(row("İstanbul is"), "is") == row("İstanbul is")


def test_a_cropped_row_keeps_its_tones() -> None:
    assert cropped(row(Span("abc", "dim"), Span("defgh", "bad")), 2, 4) == (Span("c", "dim"), Span("def", "bad"))


@pytest.mark.parametrize("values", [[], [1.0], [2.0, 2.0], [float("nan"), 1.0], [1e308, -1e308], list(range(500))])
def test_charts_take_any_values(values: list[float]) -> None:
    assert len(spark(values, 10)) <= 10
    picture = curve(values, 10, 4, low=0.0, high=1.0)
    assert [len(line) for line in picture] == [10] * 4


@pytest.mark.parametrize("part", [-1.0, 0.0, 0.333, 1.0, 7.0])
def test_a_bar_is_as_wide_as_asked(part: float) -> None:
    assert width_of(bar(part, 21)) == 21
