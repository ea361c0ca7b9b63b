"""Whatever is asked of a run that is ending gets an answer or is refused at once; nothing waits there for ever."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from agent.errors import RunOver
from agent.record import events as ev
from agent.record.inbox import MIGRATIONS, Inbox, Inject, Interrupt, Kill, WithdrawInjection
from agent.record.sqlite import migrate, open_writable
from tests.process.runner_runs import Runs, script_line
from tests.process.test_kill_hung import mlrb, pid_of, reap_child, sleeping

POSTERS, MOST = 4, 2000


def _post_until_shut(path: Path, start: threading.Barrier) -> set[int]:
    posted: set[int] = set()
    with closing(Inbox(path)) as inbox:
        start.wait()
        for _ in range(MOST):
            try:
                posted.add(inbox.post(Interrupt()))
            except RunOver:
                return posted
    raise AssertionError("it takes requests for ever")


def test_each_request_is_read_by_the_last_look_or_refused_to_whoever_posts_it(tmp_path: Path) -> None:
    path = tmp_path / "inbox.db"
    start = threading.Barrier(POSTERS + 1)
    with closing(Inbox(path)) as inbox, ThreadPoolExecutor(POSTERS) as pool:
        posting = [pool.submit(_post_until_shut, path, start) for _ in range(POSTERS)]
        start.wait()
        last = inbox.shut(0)
        posted = set().union(*(one.result() for one in posting))
        assert {one.request_id for one in last} == posted
        inbox.open_again()
        assert inbox.post(Interrupt()) not in posted


def test_inbox_of_an_older_program_can_be_shut(tmp_path: Path) -> None:
    path = tmp_path / "inbox.db"
    old = open_writable(path)
    migrate(old, MIGRATIONS[:1])
    old.execute("INSERT INTO requests (at, who, origin, body) VALUES (0, 'ann', 'cli', '{\"verb\":\"interrupt\"}')")
    old.close()
    with closing(Inbox(path)) as inbox:
        assert [one.who for one in inbox.shut(0)] == ["ann"]
        with pytest.raises(RunOver):
            inbox.post(Interrupt())


def test_run_that_has_ended_takes_no_request(runs: Runs) -> None:
    run = runs.start([script_line("submit")])
    run.ended()
    with pytest.raises(RunOver):
        run.post(Inject(text="too late"))
    assert mlrb(runs, "inject", run.folder.run, "too late").returncode == 6


def test_message_that_was_withdrawn_is_not_refused_as_well_when_a_lost_run_is_killed(runs: Runs) -> None:
    run = sleeping(runs, "741.25")
    kept, taken_back = run.post(Inject(text="kept")), run.post(Inject(text="taken back"))
    run.answer_to(run.post(WithdrawInjection(request_id=taken_back)))
    os.kill(pid_of(run), signal.SIGKILL)
    reap_child(run)
    assert mlrb(runs, "kill", run.folder.run).returncode == 0
    assert [body.request_id for body in run.bodies(ev.RequestRefused)] == [kept]
    with pytest.raises(RunOver):
        run.post(Kill())
    assert mlrb(runs, "kill", run.folder.run).returncode == 0
