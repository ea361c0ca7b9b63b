"""A run's view: whatever moment it shows, it shows what a fold from the start would."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.clock import FakeClock
from agent.record.log import EventLog, EventReader, write_events
from agent.record.summary import fold_all
from agent.record.values import Host, Progress
from mlrb_tui.views import search
from mlrb_tui.views.blocks import AnyBlock, Called
from mlrb_tui.views.run import RunView
from mlrb_tui.views.transcript import Transcript
from tests.logs import baby_lm

_EVENTS = baby_lm.events()


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "events.db"
    write_events(path, _EVENTS)
    return path


@pytest.fixture
def view(log: Path) -> Iterator[RunView]:
    with EventReader(log) as reader:
        shown = RunView(reader)
        while shown.read_marks():
            pass
        yield shown


def folded(upto: int) -> Transcript:
    transcript = Transcript()
    transcript.apply(_EVENTS[:upto])
    return transcript


def essence(block: AnyBlock) -> object:
    """A block without what only a reader of the whole log can know: how many lines went by before its tail."""
    if isinstance(block, Called):
        return (block.place, block.title, block.tail[-200:], block.finished, block.exit_code, block.progress)
    return block


def test_a_seek_shows_what_a_fold_from_the_start_would(view: RunView) -> None:
    chance = random.Random(5)
    for seq in [1, 2, len(_EVENTS), *(chance.randrange(1, len(_EVENTS)) for _ in range(60))]:
        view.seek(seq)
        expected = folded(seq).blocks
        while view.load_older():
            pass
        assert [essence(block) for block in view.transcript.blocks] == [essence(block) for block in expected], seq
        assert view.summary == fold_all(_EVENTS[:seq])


def test_playing_shows_the_same_as_seeking(view: RunView) -> None:
    view.go_to_start()
    view.player.change_speed(+9)
    view.play_or_stop()
    while view.player.playing and view.position < 900:
        view.play_on(0.1)
    while view.load_older():
        pass
    assert [essence(block) for block in view.transcript.blocks] == [essence(b) for b in folded(view.position).blocks]
    assert view.summary == fold_all(_EVENTS[: view.position])


def test_play_ends_at_the_last_event_and_stands_still(view: RunView) -> None:
    view.go_to_start()
    view.player.change_speed(+9)
    view.play_or_stop()
    for _ in range(2_000):
        view.play_on(1.0)
    assert view.at_end
    assert not view.player.playing


def test_long_waits_are_cut_short_unless_asked_for(view: RunView) -> None:
    pause = next(event.seq for event in _EVENTS if isinstance(event.body, ev.RunPaused))
    view.seek(pause + 1)
    view.player.skips_gaps = False
    view.play_or_stop()
    view.play_on(1.0)
    assert view.position == pause + 1
    view.player.skips_gaps = True
    view.play_on(0.1)
    view.play_on(0.5)
    assert view.position > pause + 1


def test_steps_forth_and_back_end_where_they_began(view: RunView) -> None:
    view.go_to_start()
    stops = []
    while not view.at_end:
        view.step(forwards=True)
        stops.append(view.position)
    back = [view.position]
    while view.position > 1 and len(back) < len(stops):
        view.step(forwards=False)
        back.append(view.position)
    assert back[::-1] == stops


def test_jumps_stop_at_every_mark_of_the_chosen_kind(view: RunView) -> None:
    view.go_to_start()
    seen = []
    while view.jump("scores", forwards=True):
        seen.append(view.position)
    assert seen == [event.seq for event in _EVENTS if isinstance(event.body, ev.Graded)]
    assert not view.jump("scores", forwards=True)


def test_marks_read_from_the_log_are_those_seen_live(view: RunView) -> None:
    from mlrb_tui.views.marks import Marks

    live = Marks()
    for event in _EVENTS:
        live.add(event)
    assert view.marks.by_column(view.first_at, view.last_at, 300) == live.by_column(view.first_at, view.last_at, 300)
    assert view.marks.values == live.values
    assert view.marks.pauses == live.pauses


def test_a_view_of_the_past_stays_there_while_the_run_goes_on(tmp_path: Path) -> None:
    with EventLog(tmp_path / "events.db", clock=FakeClock()) as log:
        for number in range(30):
            log.append(ev.NoteTaken(text=f"note {number}"), step=number)
        with EventReader(tmp_path / "events.db") as reader:
            view = RunView(reader)
            view.seek(10)
            log.append(ev.NoteTaken(text="new"))
            assert view.poll() == 1
            assert (view.position, view.newest) == (10, 31)
            view.go_to_end()
            log.append(ev.NoteTaken(text="newer"))
            view.poll()
            assert view.position == 32


def test_a_run_without_events_can_be_shown_and_followed(tmp_path: Path) -> None:
    with EventLog(tmp_path / "events.db", clock=FakeClock()) as log, EventReader(tmp_path / "events.db") as reader:
        view = RunView(reader)
        assert view.at_end
        log.append(ev.NoteTaken(text="first"))
        view.poll()
        assert len(view.transcript.blocks) == 1


def test_following_for_long_does_not_keep_everything(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    write_events(path, (ev.Event(seq=n, at=float(n), body=ev.NoteTaken(text=f"{n}")) for n in range(1, 4_001)))
    with EventReader(path) as reader:
        view = RunView(reader)
        view.seek(1)
        view.player.at = view.at
        view.player.playing = True
        view.player.skips_gaps = False
        view.player.change_speed(9)
        while not view.at_end:
            view.play_on(1.0)
        assert len(view.transcript.blocks) <= 1_500
        while view.load_older():
            pass
        assert [block.seq for block in view.transcript.blocks] == list(range(1, 4_001))


def test_series_are_sampled_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "events.db"

    def story() -> Iterator[ev.Event]:
        yield ev.Event(seq=1, at=1.0, body=ev.ToolCalled(call_id="c", tool="bash"))
        for seq in range(2, 20_001):
            progress = Progress(values={"loss": 20_000 / seq}, step=seq, rate=1.0)
            host = ev.HostSampled(host=Host(cpu_percent=float(seq)))
            body = host if seq % 2 else ev.ProgressSeen(call_id="c", progress=progress)
            yield ev.Event(seq=seq, at=float(seq), body=body)

    write_events(path, story())
    with EventReader(path) as reader:
        readings = RunView(reader).readings
    assert 60 <= len(readings.loss.values) <= 200
    assert readings.loss.last == 1.0
    assert readings.loss.thinned
    assert readings.cpu.values == sorted(readings.cpu.values)


@pytest.mark.parametrize("needle", ["cosine schedule", "COSINE", "KeyError: 'lm_head", "100 %_"])
def test_search_finds_what_is_there_and_nothing_else(view: RunView, needle: str) -> None:
    found = [place for place in search.places(view.reader, needle, start=view.newest, forwards=False) if place]
    expected = [event.seq for event in _EVENTS if needle.lower() in ev.encode(event.body).decode().lower()]
    assert found == expected[-1:]


def test_search_goes_round_at_the_end(view: RunView) -> None:
    first = next(place for place in search.places(view.reader, "validate", start=view.newest, forwards=True) if place)
    assert first == next(e.seq for e in _EVENTS if isinstance(e.body, ev.ToolCalled) and e.body.tool == "validate")
