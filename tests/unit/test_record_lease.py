"""The lease of a run: one holds it, each change is whole, an old inbox learns of it, and looking writes nothing."""

import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from agent.errors import ControlHeld, RecordError
from agent.record.inbox import MIGRATIONS, Inbox, Inject, Kill, Pause, Resume
from agent.record.lease import ASK_S, TTL_S
from agent.record.lease_watch import LeaseWatch, standing_of
from agent.record.sqlite import migrate, open_writable
from agent.record.viewer import Viewer


def viewer(who: str, origin: str = "app") -> Viewer:
    """Another program of this machine's, as far as anyone can see."""
    return msgspec.structs.replace(Viewer.here(origin), who=who)


def gone(who: str) -> Viewer:
    """One whose process is gone, or whose number another process has by now."""
    return msgspec.structs.replace(viewer(who), started=1)


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Inbox]:
    made = Inbox(tmp_path / "inbox.db")
    yield made
    made.close()


def _happened(inbox: Inbox) -> list[str]:
    return [f"{change.how} {change.viewer.who}" for change in inbox.control.changes(0)]


def _silent(inbox: Inbox, tmp_path: Path, seconds: float) -> None:
    """Have the holder not renew its lease for so long."""
    connection = open_writable(tmp_path / "inbox.db")
    connection.execute("UPDATE lease SET renewed = ?", (time.monotonic() - seconds,))
    connection.close()


def test_a_request_of_who_does_not_steer_is_refused_at_posting_and_names_who_does(inbox: Inbox) -> None:
    ann, bob = viewer("ann"), viewer("bob")
    inbox.post_by(ann, Inject(text="a"), keep=True)
    with pytest.raises(ControlHeld, match=r"ann \(app.*has steered this run since \d\d:\d\d") as caught:
        inbox.post_by(bob, Resume(), keep=True)
    assert caught.value.exit_code == 6
    assert "--take-over" in caught.value.hint
    inbox.post_by(ann, Resume(), keep=True)
    assert [posted.who for posted in inbox.after(0)] == ["ann", "ann"]
    assert _happened(inbox) == ["free ann"]


def test_take_over_is_noted_with_who_had_it_and_the_loser_is_refused_then(inbox: Inbox) -> None:
    ann, bob = viewer("ann"), viewer("bob")
    inbox.control.take(ann)
    inbox.post_by(bob, Resume(), keep=True, take_over=True)
    change = inbox.control.changes(0)[-1]
    assert (change.how, change.viewer.who, change.before and change.before.who) == ("taken_over", "bob", "ann")
    with pytest.raises(ControlHeld, match="bob"):
        inbox.post_by(ann, Resume(), keep=True)
    assert not inbox.control.renew(ann)
    inbox.control.release(ann)
    assert (holder := inbox.control.standing().holder) is not None
    assert holder.who == "bob"


def test_a_command_that_takes_over_lets_go_after_its_request(inbox: Inbox) -> None:
    inbox.control.take(viewer("ann"))
    request = inbox.post_by(viewer("bob", "cli"), Kill(), take_over=True)
    assert inbox.control.standing().holder is None
    taken, released = inbox.control.changes(1)
    assert (taken.how, taken.after_request < request) == ("taken_over", True)
    assert (released.how, released.after_request) == ("released", request)


def test_a_command_where_nobody_steers_leaves_no_lease_and_no_trace_of_one(inbox: Inbox) -> None:
    inbox.post_by(viewer("bob", "cli"), Pause())
    assert inbox.control.standing().lease is None
    assert _happened(inbox) == []


def test_ones_own_pause_and_kill_pass_ones_other_program_and_nothing_else_does(inbox: Inbox) -> None:
    app, command = viewer("ann"), viewer("ann", "cli")
    inbox.control.take(app)
    inbox.post_by(command, Pause(strength="now"))
    inbox.post_by(command, Kill())
    with pytest.raises(ControlHeld):
        inbox.post_by(command, Resume())
    with pytest.raises(ControlHeld):
        inbox.post_by(msgspec.structs.replace(command, host="elsewhere"), Pause())
    assert (holder := inbox.control.standing().holder) is not None
    assert holder.viewer == app.viewer
    assert _happened(inbox) == ["free ann", "passed ann", "passed ann"]


def test_a_holder_whose_process_is_gone_holds_nothing_at_once(inbox: Inbox) -> None:
    inbox.control.take(gone("ann"))
    assert inbox.control.standing().holder is None
    inbox.post_by(viewer("bob"), Resume(), keep=True)
    assert _happened(inbox) == ["free ann", "expired ann", "free bob"]


def test_a_holder_of_another_boot_is_gone(inbox: Inbox) -> None:
    inbox.control.take(msgspec.structs.replace(viewer("ann"), boot="before the power cut"))
    assert inbox.control.standing().holder is None


def test_a_holder_that_is_silent_for_too_long_loses_the_lease_but_may_come_back_first(
    inbox: Inbox, tmp_path: Path
) -> None:
    # Its process cannot be seen from here, so that only its silence tells.
    ann = msgspec.structs.replace(viewer("ann"), pid_space="another container")
    inbox.control.take(ann)
    _silent(inbox, tmp_path, TTL_S - 5)
    assert inbox.control.standing().holder is not None
    _silent(inbox, tmp_path, TTL_S + 1)
    assert inbox.control.standing().holder is None
    assert inbox.control.renew(ann)
    assert inbox.control.standing().holder is not None
    _silent(inbox, tmp_path, TTL_S + 1)
    inbox.control.expire()
    assert not inbox.control.renew(ann)
    assert _happened(inbox) == ["free ann", "expired ann"]


def test_control_is_handed_to_who_asked_and_only_by_who_has_it(inbox: Inbox) -> None:
    ann, bob, eve = viewer("ann"), viewer("bob"), viewer("eve")
    inbox.control.take(ann)
    inbox.control.ask(bob)
    assert [each.who for each in inbox.control.standing().asking] == ["bob"]
    assert not inbox.control.hand_over(eve, eve)
    assert inbox.control.hand_over(ann, bob)
    standing = inbox.control.standing()
    assert (standing.holder and standing.holder.who, standing.asking) == ("bob", ())
    change = inbox.control.changes(0)[-1]
    assert (change.how, change.viewer.who, change.before and change.before.who) == ("handed", "bob", "ann")


def test_a_question_for_control_does_not_stand_for_ever_and_not_for_the_dead(inbox: Inbox, tmp_path: Path) -> None:
    ann, bob = viewer("ann"), viewer("bob")
    inbox.control.take(ann)
    inbox.control.ask(gone("eve"))
    assert inbox.control.standing().asking == ()
    assert not inbox.control.hand_over(ann, gone("eve"))
    inbox.control.ask(bob)
    connection = open_writable(tmp_path / "inbox.db")
    connection.execute("UPDATE asks SET at = at - ?", (ASK_S + 1,))
    connection.close()
    assert inbox.control.standing().asking == ()


def test_who_asks_where_nobody_steers_has_it(inbox: Inbox) -> None:
    inbox.control.ask(viewer("bob"))
    assert (holder := inbox.control.standing().holder) is not None
    assert holder.who == "bob"


def test_a_process_that_has_ended_and_was_not_buried_is_gone() -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    try:
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        assert msgspec.structs.replace(Viewer.here("app"), pid=child, started=0).is_gone
    finally:
        os.waitpid(child, 0)


def test_an_inbox_of_an_older_program_keeps_its_requests_and_learns_of_leases(tmp_path: Path) -> None:
    path = tmp_path / "inbox.db"
    old = open_writable(path)
    migrate(old, MIGRATIONS[:1])
    insert = "INSERT INTO requests (at, who, origin, body) VALUES (1.0, 'ann', 'cli', '{\"verb\":\"resume\"}')"
    old.execute(insert)
    assert standing_of(path).holder is None
    inbox = Inbox(path)
    inbox.control.take(viewer("bob"))
    # The older program may still be there, and knows of no further column.
    old.execute(insert)
    old.close()
    assert [(posted.who, posted.viewer, posted.request) for posted in inbox.after(0)] == [("ann", "", Resume())] * 2
    inbox.close()


def test_looking_writes_nothing_and_tells_each_change_once(inbox: Inbox, tmp_path: Path) -> None:
    path = tmp_path / "inbox.db"
    inbox.control.take(viewer("ann"))
    watch = LeaseWatch(path)
    witness = sqlite3.connect(path)
    version = witness.execute("PRAGMA data_version").fetchone()
    assert watch.look() == []
    for _ in range(1_000):
        assert watch.look() == []
    assert witness.execute("PRAGMA data_version").fetchone() == version
    inbox.control.take(viewer("bob"), take_over=True)
    assert [change.how for change in watch.look()] == ["taken_over"]
    assert watch.look() == []
    assert witness.execute("PRAGMA data_version").fetchone() != version
    watch.close()
    witness.close()


def test_a_folder_without_an_inbox_has_nobody_who_steers(tmp_path: Path) -> None:
    assert standing_of(tmp_path / "inbox.db").holder is None
    assert list(tmp_path.iterdir()) == []


def test_a_runner_that_ends_a_dead_lease_waits_for_no_other_program(inbox: Inbox, tmp_path: Path) -> None:
    inbox.control.take(gone("ann"))
    stuck = open_writable(tmp_path / "inbox.db")
    stuck.execute("BEGIN IMMEDIATE")
    with pytest.raises(RecordError, match="locked"):
        inbox.control.expire()
    assert _happened(inbox) == ["free ann"]
    stuck.execute("ROLLBACK")
    stuck.close()
    inbox.control.expire()
    assert _happened(inbox) == ["free ann", "expired ann"]
