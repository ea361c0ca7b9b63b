"""What rows cost and how they look once they are painted: blanks join a neighbour only where nobody sees it."""

from mlrb_tui.views.rows import Span
from mlrb_tui.widgets.lines import merged


def test_blanks_in_front_of_a_match_are_not_marked_as_found() -> None:
    row = (Span(" "), Span("      "), Span("step 6", "found"), Span("/12", "output"))
    assert merged(row) == (Span("       "), Span("step 6", "found"), Span("/12", "output"))


def test_blanks_that_were_found_stay_marked_and_others_do_not_become_so() -> None:
    assert merged((Span("  ", "found"), Span("x", "dim"))) == (Span("  ", "found"), Span("x", "dim"))
    assert merged((Span("a", "found"), Span("  "), Span("b"))) == (Span("a", "found"), Span("  b"))


def test_blanks_between_styles_cost_no_style_of_their_own() -> None:
    assert merged((Span("  "), Span("a", "dim"), Span("   "), Span("b", "dim"))) == (Span("  a   b", "dim"),)
