"""What became of a request: looked up in the log itself, whatever moment a screen shows."""

from agent.record import queries
from agent.record.log import EventReader
from mlrb_tui.views import words
from mlrb_tui.views.blocks import Asked
from mlrb_tui.views.transcript import Transcript

_KINDS = ("request_received", "request_delivered", "request_answered", "request_refused")
_RECENT = 40


def standing(reader: EventReader, request_id: int) -> Asked | None:
    """How far that request got; None where no runner has read it yet."""
    newest = reader.last_seq()
    events = [event for kind in _KINDS for event in queries.newest(reader, kind, upto=newest, count=_RECENT)]
    told = Transcript()
    told.apply(sorted(events, key=lambda event: event.seq))
    return told.request(request_id)


def in_words(asked: Asked) -> str:
    """The answer in one line; empty while there is none."""
    if asked.refused:
        return f"{words.verb(asked.verb)} refused: {asked.detail}"
    return f"{words.verb(asked.verb)}: {asked.detail or 'done'}" if asked.answered else ""
