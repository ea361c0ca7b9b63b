"""Nothing that a terminal obeys gets past `printable`; what is ours to show stays as it is."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.record.text import clip, one_line, printable, settle_carriage_returns, storable

_BIDI = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_no_control_bidi_or_surrogate_reaches_a_terminal(text: str) -> None:
    for char in printable(text):
        assert unicodedata.category(char) not in {"Cc", "Cs"}
        assert ord(char) not in _BIDI


@given(ANY_TEXT)
def test_line_ends_are_kept_only_where_asked_for(text: str) -> None:
    assert "\n" not in printable(text)
    assert printable(text, lines=True).count("\n") <= text.count("\n")
    assert "\r" not in printable(text, lines=True)


@given(ANY_TEXT)
def test_printable_changes_nothing_the_second_time(text: str) -> None:
    once = printable(text)
    assert printable(once) == once


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1;2|dcs\x1b\\after", "after"),
        ("\x9b31mred", "red"),
        ("\x9d0;title\x9cafter", "after"),
        ("\x1b[2J\x1b[Hhome", "home"),
        ("nul\x00", "nul␀"),
        ("bell\x07", "bell␇"),
        ("\x1b", "␛"),
        ("a\tb", "a   b"),
        ("\u202eevil", "�evil"),
        ("\udc00", "�"),
        ("zero\u200bwidth", "zerowidth"),
    ],
)
def test_known_attacks_are_disarmed(hostile: str, shown: str) -> None:
    assert printable(hostile) == shown


@pytest.mark.parametrize("text", ["[/bold]", "[00] x", "[/INST]", "[b + ", "naïve 日本語 👩‍🔬 ✔"])
def test_markup_and_ordinary_text_stay_literal(text: str) -> None:
    assert printable(text) == text


def test_an_unclosed_string_sequence_does_not_swallow_the_next_line() -> None:
    assert printable("\x1b]0;never closed\nnext", lines=True) == "\nnext"


def test_towers_of_combining_marks_are_cut() -> None:
    assert len(printable("a" + "\u0301" * 5_000)) == 5


@given(ANY_TEXT)
def test_stored_text_is_valid_unicode(text: str) -> None:
    storable(text).encode()


def test_split_surrogate_pairs_are_joined_and_lone_ones_replaced() -> None:
    assert storable("\ud83d\ude00") == "😀"
    assert storable("a\udc00b") == "a�b"


def test_ten_thousand_carriage_returns_leave_one_line() -> None:
    assert settle_carriage_returns("".join(f"{n}%\r" for n in range(10_000))) == "9999%\r"


def test_carriage_returns_settle_as_a_terminal_leaves_them() -> None:
    assert settle_carriage_returns("a\rb\nc\r\nd") == "b\nc\nd"


def test_clipping_says_how_much_is_missing() -> None:
    clipped = clip("x" * 1_000, 300)
    assert "700 characters left out" in clipped
    assert len(clipped) < 400


def test_one_line_is_one_line() -> None:
    assert one_line("a\nb\x1b[31m\tc", 4) == "a b…"
