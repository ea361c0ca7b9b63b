"""The log keeps every committed event, in order, whatever is in it."""

import sqlite3
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import RecordError
from agent.record import events as ev
from agent.record.clock import FakeClock
from agent.record.jsonl import read_jsonl, write_jsonl
from agent.record.log import MIGRATIONS, EventLog, EventReader, write_events
from agent.record.sqlite import migrate, open_writable
from agent.record.summary import fold_all
from agent.record.values import Blob, Limits, Score


def created(run: str = "r1") -> ev.RunCreated:
    return ev.RunCreated(
        run=run, task="mlgym/x", scale="smoke", scaffold="react", model="scripted", sandbox="local", seed=0,
        limits=Limits(steps=5, time_s=60.0),
    )  # fmt: skip


def fill(log: EventLog) -> None:
    for number in range(1_000):
        log.append(ev.NoteTaken(text=f"{number}" * 1_000))


def test_numbers_have_no_gap_across_reopening(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    for _ in range(3):
        with EventLog(path) as log:
            for _ in range(5):
                log.append(ev.StepStarted(), step=1)
    with EventReader(path) as reader:
        assert [event.seq for event in reader.all()] == list(range(1, 16))


def test_a_reader_sees_an_event_as_soon_as_append_returns(tmp_path: Path) -> None:
    with EventLog(tmp_path / "events.db") as log, EventReader(tmp_path / "events.db") as reader:
        for number in range(1, 20):
            log.append(ev.NoteTaken(text=f"note {number}"))
            assert reader.last_seq() == number


def test_time_never_runs_backwards_even_when_the_clock_is_set_back(tmp_path: Path) -> None:
    clock = FakeClock()
    with EventLog(tmp_path / "events.db", clock) as log:
        first = log.append(ev.StepStarted())
        clock.advance(-3600)
        second = log.append(ev.StepStarted())
    assert second.at >= first.at


def test_long_texts_go_to_blobs_and_come_back_whole(tmp_path: Path) -> None:
    text = "é" * 20_000
    with EventLog(tmp_path / "events.db") as log:
        event = log.append(ev.ToolOutput(call_id="c", text=text))
        log.append(ev.ToolOutput(call_id="c", text=text))
    assert isinstance(event.body, ev.ToolOutput)
    assert isinstance(event.body.text, Blob)
    with EventReader(tmp_path / "events.db") as reader:
        assert reader.text(event.body.text) == text
        assert reader.query("SELECT count(*) FROM blobs") == [(1,)]
        assert reader.whole(event).body == ev.ToolOutput(call_id="c", text=text)


def test_a_body_with_surrogates_anywhere_is_stored(tmp_path: Path) -> None:
    with EventLog(tmp_path / "events.db") as log:
        log.append(ev.ToolCalled(call_id="c", tool="bash", arguments={"k\udc00": ["\ud83d\ude00", {"x": "\udfff"}]}))
    with EventReader(tmp_path / "events.db") as reader:
        body = reader.since(0)[0].body
    assert isinstance(body, ev.ToolCalled)
    assert body.arguments == {"k�": ["😀", {"x": "�"}]}


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_text_survives_the_way_in_and_out(text: str) -> None:
    body = ev.NoteTaken(text=text)
    try:
        raw = ev.encode(body)
    except UnicodeEncodeError:
        return
    assert ev.decode("note_taken", raw) == body


def test_an_unknown_kind_is_kept_whole(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    raw = b'{"kind":"from_the_future","x":1}'
    with EventLog(path) as log:
        log.append(ev.Unknown(kind="from_the_future", raw=raw))
        log.append(ev.StepStarted())
    with EventReader(path) as reader:
        assert reader.since(0)[0].body == ev.Unknown(kind="from_the_future", raw=raw)
        assert reader.last_seq() == 2


def test_a_new_field_in_a_known_kind_is_ignored() -> None:
    assert ev.decode("note_taken", b'{"kind":"note_taken","text":"x","later":1}') == ev.NoteTaken(text="x")


def test_secrets_do_not_reach_the_record(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    with EventLog(path, redact=lambda text: text.replace("sk-secret-key", "[redacted]")) as log:
        log.append(ev.ToolOutput(call_id="c", text="key=sk-secret-key"))
        log.append(ev.ToolOutput(call_id="c", text="sk-secret-key" * 2_000))
    assert b"sk-secret" not in path.read_bytes()


def test_summary_from_a_heartbeat_equals_the_fold_from_the_start(tmp_path: Path) -> None:
    clock = FakeClock()
    with EventLog(tmp_path / "events.db", clock) as log:
        log.append(created())
        log.append(ev.RunStarted(pid=1, host="h"))
        for step in range(1, 6):
            clock.advance(10)
            log.append(ev.StepStarted(), step=step)
            log.append(ev.ModelAnswered(call_id="c", message_id="m", cost_usd=0.5), step=step)
            if step == 3:
                log.heartbeat()
        log.append(ev.Graded(grading_id="g", purpose="final", score=Score(metric="x", value=1.0, valid=True)))
        kept = log.summary
    with EventReader(tmp_path / "events.db") as reader:
        assert reader.summary() == kept
        assert fold_all(reader.all()) == kept
        assert reader.summary(upto=4) == fold_all(reader.since(0, 4))


def test_seek_by_time_finds_the_last_event_no_later(tmp_path: Path) -> None:
    clock = FakeClock(1_000.0)
    with EventLog(tmp_path / "events.db", clock) as log:
        for _ in range(100):
            log.append(ev.StepStarted())
            clock.advance(1)
    with EventReader(tmp_path / "events.db") as reader:
        assert reader.seq_at(999.0) == 0
        assert reader.seq_at(1_000.0) == 1
        assert reader.seq_at(1_041.5) == 42
        assert reader.seq_at(9_999.0) == 100


def test_readers_never_make_the_writer_wait(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    failures: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        try:
            with EventReader(path) as reader:
                seq = 0
                while not done.is_set():
                    for event in reader.since(seq):
                        assert event.seq == seq + 1
                        seq = event.seq
        except BaseException as error:  # noqa: BLE001 -- handed to the test's own thread
            failures.append(error)

    with EventLog(path) as log:
        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(500):
            log.append(ev.ToolOutput(call_id="c", text=str(number)))
        done.set()
        for thread in threads:
            thread.join()
    assert failures == []


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    with EventLog(tmp_path / "events.db") as log, EventReader(tmp_path / "events.db") as reader:
        log.append(ev.StepStarted())
        with pytest.raises(RecordError):
            reader.query("DELETE FROM events")


def test_a_file_that_is_no_log_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "events.db").write_bytes(b"this is not a database" * 100)
    with pytest.raises(RecordError):
        EventReader(tmp_path / "events.db")


def test_a_full_disk_is_an_error_that_names_the_cause_and_leaves_the_log_whole(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    with EventLog(path) as log:
        log.append(ev.StepStarted())
        log._connection.execute("PRAGMA max_page_count = 12")
        with pytest.raises(RecordError, match="full"):
            fill(log)
        last = log._seq
        log._connection.execute("PRAGMA max_page_count = 100000")
        log.append(ev.StepStarted())
    with EventReader(path) as reader:
        assert [event.seq for event in reader.all()] == list(range(1, last + 2))


def test_json_lines_carry_a_log_there_and_back(tmp_path: Path) -> None:
    with EventLog(tmp_path / "events.db") as log:
        log.append(created())
        log.append(ev.ToolOutput(call_id="c", text="y" * 20_000))
        log.append(ev.Unknown(kind="new", raw=b'{"kind":"new","z":[1,2]}'))
    with EventReader(tmp_path / "events.db") as reader:
        events = [reader.whole(event) for event in reader.all()]
    write_jsonl(tmp_path / "log.jsonl", events)
    write_events(tmp_path / "copy.db", read_jsonl(tmp_path / "log.jsonl"))
    with EventReader(tmp_path / "copy.db") as reader:
        copied = [reader.whole(event) for event in reader.all()]
    assert copied[:2] == events[:2]
    assert isinstance(copied[2].body, ev.Unknown)
    assert copied[2].body.kind == "new"


def test_a_line_that_is_no_event_is_named(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"at": 1, "body": {"kind": "step_started"}}\nnonsense\n')
    with pytest.raises(RecordError, match="line 2"):
        list(read_jsonl(tmp_path / "log.jsonl"))


def test_migrations_bring_an_old_file_up_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    connection = open_writable(path)
    migrate(connection, MIGRATIONS[:1])
    done: list[int] = []

    def second(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE events ADD COLUMN extra TEXT")
        done.append(2)

    migrate(connection, (*MIGRATIONS[:1], second))
    migrate(connection, (*MIGRATIONS[:1], second))
    assert done == [2]
    assert connection.execute("PRAGMA user_version").fetchone() == (2,)
