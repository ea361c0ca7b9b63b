"""What is written to a terminal besides text: the clipboard, and the way back to a sane state."""

import base64
import re

from mlrb_tui.terminal import RESTORE, SETTLE, clipboard_sequence


def _text(sequence: str) -> str:
    packed = re.fullmatch(r"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07", sequence)
    assert packed
    return base64.b64decode(packed[1]).decode(errors="replace")


def test_a_copied_step_arrives_whole_in_the_terminals_clipboard() -> None:
    text = "python train.py\n\x1b[31mläuft 界\x1b[0m\n"
    assert _text(clipboard_sequence(text, {})) == text


def test_tmux_takes_the_sequence_as_it_is_even_in_a_screen() -> None:
    assert _text(clipboard_sequence("x", {"TMUX": "1", "STY": "2"})) == "x"


def test_screen_gets_it_in_envelopes_that_it_passes_on() -> None:
    sequence = clipboard_sequence("long " * 500, {"STY": "1"})
    pieces = re.findall(r"\x1bP(.*?)\x1b\\", sequence, re.DOTALL)
    assert "".join(f"\x1bP{piece}\x1b\\" for piece in pieces) == sequence
    assert all(len(piece) <= 768 for piece in pieces)
    assert _text("".join(pieces)) == "long " * 500


def test_what_is_too_long_for_terminals_is_cut() -> None:
    assert len(clipboard_sequence("x" * 10_000_000, {})) < 100_000


def test_lone_surrogates_do_not_break_a_copy() -> None:
    assert "52;c;" in clipboard_sequence("a\udc00b", {})


def test_the_way_back_turns_off_every_mode_and_leaves_the_alternate_screen() -> None:
    for mode in (1000, 1002, 1003, 1006, 1015, 1016, 2004, 1004, 2048, 1049):
        assert f"\x1b[?{mode}l" in RESTORE
    for sequence in ("\x1b[?25h", "\x1b[0m"):
        assert sequence in RESTORE
        assert sequence in SETTLE
    assert "1049" not in SETTLE
