"""The transcript's fold: what a reader must not be told wrong."""

from agent.record import events as ev
from agent.record.values import Score, ToolCall
from mlrb_tui.views.block_rows import Options, rows_of
from mlrb_tui.views.blocks import AnyBlock, Asked, Called, Notice, Reply
from mlrb_tui.views.notices import HEADS, QUIET
from mlrb_tui.views.rows import Row, width_of
from mlrb_tui.views.transcript import STREAM_CHARACTERS, TAIL_CHARACTERS, Transcript
from tests.logs import baby_lm, hostile

_BODIES = ev.Known.__args__


def fold(*bodies: ev.AnyBody) -> Transcript:
    transcript = Transcript()
    transcript.apply(_events(bodies))
    return transcript


def _events(bodies: tuple[ev.AnyBody, ...]) -> list[ev.Event]:
    return [ev.Event(seq=number, at=float(number), step=1, body=body) for number, body in enumerate(bodies, 1)]


def text_of(block: AnyBlock, width: int = 100) -> str:
    return "\n".join("".join(span.text for span in line) for line in rows_of(block, Options(width=width), now=100.0))


def _called(**changes: object) -> ev.ToolCalled:
    return ev.ToolCalled(call_id="c", tool="bash", summary="make", **changes)  # type: ignore[arg-type]


def test_every_kind_either_begins_a_block_or_is_known_not_to() -> None:
    kinds = {str(body.__struct_config__.tag) for body in _BODIES}
    assert kinds == {*HEADS, *QUIET}


def test_streamed_pieces_are_replaced_by_the_whole_reply() -> None:
    streamed = fold(
        ev.ModelAsked(call_id="m", model="x"),
        ev.ModelStreamed(call_id="m", channel="text", text="par"),
        ev.ModelStreamed(call_id="m", channel="text", text="tial"),
    )
    assert [block.text for block in streamed.blocks if isinstance(block, Reply)] == ["partial"]
    streamed.apply([ev.Event(seq=9, at=9.0, body=ev.ModelAnswered(call_id="m", message_id="a", text="whole"))])
    assert [block.text for block in streamed.blocks if isinstance(block, Reply)] == ["whole"]


def test_pieces_of_a_failed_reply_do_not_stay() -> None:
    transcript = fold(
        ev.ModelStreamed(call_id="m", channel="reasoning", text="half a thou"),
        ev.ModelFailed(call_id="m", reason="overloaded", retry_in_s=2.0),
    )
    assert [type(block) for block in transcript.blocks] == [Notice]


def test_a_reply_without_words_is_no_empty_block() -> None:
    call = ToolCall(call_id="c", tool="bash")
    assert fold(ev.ModelAnswered(call_id="m", message_id="a", text=" \n", calls=(call,))).blocks == []


def test_an_endless_stream_keeps_only_its_end() -> None:
    transcript = fold(*(ev.ModelStreamed(call_id="m", channel="text", text="word " * 500) for _ in range(20)))
    assert isinstance(block := transcript.blocks[0], Reply)
    assert len(block.text) == STREAM_CHARACTERS


def test_output_of_two_calls_at_once_is_not_mixed() -> None:
    transcript = fold(
        ev.ToolCalled(call_id="a", tool="bash", summary="one"),
        ev.ToolCalled(call_id="b", tool="bash", summary="two"),
        ev.ToolOutput(call_id="a", text="from a\n"),
        ev.ToolOutput(call_id="b", text="from b\n"),
        ev.ToolOutput(call_id="a", text="again a\n"),
    )
    assert [block.tail for block in transcript.blocks if isinstance(block, Called)] == ["from a\nagain a\n", "from b\n"]


def test_a_progress_bar_is_one_line_not_ten_thousand() -> None:
    pieces = (ev.ToolOutput(call_id="c", text=f"\r{number} %") for number in range(10_000))
    transcript = fold(_called(), *pieces)
    assert "9999 %" in text_of(transcript.blocks[0])
    assert "9998 %" not in text_of(transcript.blocks[0])


def test_a_million_characters_of_output_are_not_kept() -> None:
    transcript = fold(_called(), *(ev.ToolOutput(call_id="c", text="x" * 1_000 + "\n") for _ in range(1_000)))
    assert isinstance(block := transcript.blocks[0], Called)
    assert len(block.tail) <= TAIL_CHARACTERS


def test_a_failed_command_says_how_it_failed() -> None:
    ends = {
        "exit 3": ev.ToolFinished(call_id="c", message_id="t", exit_code=3, failed=True),
        "timed out": ev.ToolFinished(call_id="c", message_id="t", timed_out=True, failed=True),
        "interrupted by lea": ev.ToolFinished(call_id="c", message_id="t", interrupted_by="lea", failed=True),
        "failed": ev.ToolFinished(call_id="c", message_id="t", failed=True),
    }
    for said, end in ends.items():
        assert said in text_of(fold(_called(), end).blocks[0])


def test_an_injected_message_shows_each_stage_of_its_receipt() -> None:
    transcript = fold(ev.RequestReceived(request_id=7, verb="inject", text="go slower", who="lea"))
    assert "received" in text_of(transcript.blocks[0])
    for body, said in (
        (ev.RequestDelivered(request_id=7, call_id="m"), "delivered"),
        (ev.RequestAnswered(request_id=7), "delivered, answered"),
    ):
        transcript.apply([ev.Event(seq=5, at=5.0, body=body)])
        assert said in text_of(transcript.blocks[0])
    assert transcript.open_requests == []


def test_an_injected_message_is_shown_once() -> None:
    transcript = fold(
        ev.RequestReceived(request_id=7, verb="inject", text="go slower", who="lea"),
        ev.MessageAdded(message_id="x", role="user", text="go slower", origin="operator", request_id=7),
    )
    assert [type(block) for block in transcript.blocks] == [Asked]


def test_a_refusal_shows_its_reason() -> None:
    transcript = fold(
        ev.RequestReceived(request_id=1, verb="interrupt"),
        ev.RequestRefused(request_id=1, reason="no command runs"),
    )
    assert "refused: no command runs" in text_of(transcript.blocks[0])


def test_an_unknown_kind_is_one_grey_line() -> None:
    rows = rows_of(fold(ev.Unknown(kind="telepathy", raw=b"{}")).blocks[0], Options(), now=0.0)
    assert len(rows) == 1
    assert {span.tone for span in rows[0] if span.text.strip()} == {"dim"}


def test_an_invalid_score_never_looks_like_a_result() -> None:
    score = Score(metric="m", value=0.99, valid=False, untouched=True)
    transcript = fold(ev.Graded(grading_id="g", purpose="final", score=score))
    assert "untouched starter" in text_of(transcript.blocks[0])
    assert "beats" not in text_of(transcript.blocks[0])


def test_a_validation_belongs_to_the_call_that_asked_for_it() -> None:
    score = Score(metric="m", value=0.5, valid=True, split="dev")
    transcript = fold(
        ev.ToolCalled(call_id="v", tool="validate"),
        ev.Graded(grading_id="g", purpose="validate", score=score),
        ev.ToolFinished(call_id="v", message_id="t", tool="validate"),
    )
    assert len(transcript.blocks) == 1
    assert "dev m 0.5" in text_of(transcript.blocks[0])


def test_no_row_is_wider_than_the_room_for_it() -> None:
    for tell in (baby_lm.events, hostile.events):
        transcript = Transcript()
        transcript.apply(tell())
        for width in (12, 37, 80, 150):
            for block in transcript.blocks:
                for line in rows_of(block, Options(width=width), now=0.0):
                    assert width_of(line) <= width, (width, block)


def test_hostile_text_never_reaches_a_row_raw() -> None:
    transcript = Transcript()
    transcript.apply(hostile.events())
    rows: list[Row] = [
        line for block in transcript.blocks for wrap in (True, False)
        for line in rows_of(block, Options(width=90, wrap=wrap), now=0.0)
    ]  # fmt: skip
    shown = "".join(span.text for line in rows for span in line)
    forbidden = {*map(chr, range(32)), *map(chr, range(0x7F, 0xA0)), "\u202e", "\u2066", "\u200f", "\udc00", "\u2028"}
    assert not forbidden & set(shown)
    assert "[/bold]" in shown


def test_beside_narrow_text_the_labels_are_told_apart() -> None:
    told = fold(
        ev.ModelAnswered(call_id="m", message_id="a", reasoning="because"),
        ev.RequestReceived(request_id=1, verb="inject", text="try", who="root"),
    )
    reply, asked = told.blocks
    assert text_of(reply, 57).startswith("  1 reasons   because")
    assert text_of(reply, 30).startswith("  1 re because")
    assert text_of(asked, 30).startswith("  1 ro try")
