"""Runs are found by what a person types; locks tell the living from the lost; the index is only derived."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.errors import RecordError, RunHeld, RunNotFound
from agent.record import events as ev
from agent.record.home import Home, RunFolder
from agent.record.inbox import Inbox, Inject, Kill, Pause
from agent.record.index import reindex, summaries, update
from agent.record.lock import hold, is_held
from agent.record.log import EventLog
from agent.record.redact import redactor
from agent.record.request import RunRequest, read_request, write_request
from agent.record.values import Limits


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "a home with spaces").ensure()


def recorded(home: Home, *bodies: ev.AnyBody) -> RunFolder:
    folder = home.new_run()
    write_request(folder.request, RunRequest(run=folder.run, task="mlgym/x", limits=Limits(steps=3)))
    with EventLog(folder.events) as log:
        for body in bodies:
            log.append(body)
    return folder


def created(run: str = "") -> ev.RunCreated:
    return ev.RunCreated(
        run=run, task="mlgym/x", scale="smoke", scaffold="react", model="scripted", sandbox="local", seed=0,
        limits=Limits(),
    )  # fmt: skip


def test_home_is_for_its_owner_alone(home: Home) -> None:
    assert home.path.stat().st_mode & 0o777 == 0o700
    folder = recorded(home, created())
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert folder.events.stat().st_mode & 0o777 == 0o600


def test_a_home_that_others_could_read_is_closed(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    assert Home(tmp_path / "open").ensure().path.stat().st_mode & 0o077 == 0


def test_a_home_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot write"):
        Home(tmp_path / "file").ensure()


def test_a_run_is_found_by_an_unambiguous_start(home: Home) -> None:
    for run in ("aa11", "aa22", "bb33"):
        (home.runs / run).mkdir()
    assert home.find("bb").run == "bb33"
    with pytest.raises(RunNotFound, match="2 runs"):
        home.find("aa")
    with pytest.raises(RunNotFound):
        home.find("cc")
    with pytest.raises(RunNotFound):
        home.find("")


def test_last_is_the_run_made_last(home: Home) -> None:
    folders = [recorded(home, created()) for _ in range(3)]
    for age, folder in enumerate(folders):
        os.utime(folder.request, (1_000 - age, 1_000 - age))
    assert home.find("last").run == folders[0].run


def test_request_file_carries_everything_there_and_back(tmp_path: Path) -> None:
    request = RunRequest(
        run="r", task="mlgym/x", model="openai:m", base_url="http://h/v1", limits=Limits(time_s=60, steps=2)
    )
    write_request(tmp_path / "run.toml", request)
    assert read_request(tmp_path / "run.toml") == request


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "run.lock"
    code = (
        "import sys; from pathlib import Path; from agent.record.lock import hold\n"
        f"with hold(Path({str(path)!r})):\n    print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    assert is_held(path)
    with pytest.raises(RunHeld), hold(path):
        pass
    holder.kill()
    holder.communicate()
    assert not is_held(path)
    with hold(path):
        assert is_held(path)


def test_killed_runner_is_lost_not_running(home: Home) -> None:
    folder = recorded(home, created("x"), ev.RunStarted(pid=1, host="h"), ev.StepStarted())
    folder.lock.touch()
    (found,) = summaries(home)
    assert (found.state, found.outcome) == ("ended", "lost")


def test_a_run_whose_runner_has_not_started_is_queued(home: Home) -> None:
    folder = home.new_run()
    write_request(folder.request, RunRequest(run=folder.run, task="mlgym/x"))
    (found,) = summaries(home)
    assert (found.run, found.state) == (folder.run, "queued")


def test_index_row_is_used_and_a_run_it_lacks_is_read_from_its_folder(home: Home) -> None:
    runs = []
    for _ in range(2):
        folder = home.new_run()
        with EventLog(folder.events) as log:
            log.append(created(folder.run))
            log.append(ev.RunEnded(outcome="submitted"))
            runs.append(log.summary)
    update(home.index, runs[0])
    assert {found.run for found in summaries(home)} == {runs[0].run, runs[1].run}


def test_reindex_makes_the_same_index_anew(home: Home) -> None:
    folder = home.new_run()
    with EventLog(folder.events) as log:
        log.append(created(folder.run))
        log.append(ev.RunEnded(outcome="killed"))
        update(home.index, log.summary)
    before = summaries(home)
    home.index.write_bytes(b"broken")
    assert reindex(home) == 1
    assert summaries(home) == before


def test_a_broken_record_costs_one_run(home: Home) -> None:
    good = home.new_run()
    with EventLog(good.events) as log:
        log.append(created(good.run))
        log.append(ev.RunEnded(outcome="submitted"))
    bad = home.new_run()
    bad.events.write_bytes(b"garbage" * 1000)
    found = {summary.run: summary for summary in summaries(home)}
    assert found[good.run].outcome == "submitted"
    assert found[bad.run].outcome == "lost"


def test_requests_keep_their_order_and_survive_reopening(tmp_path: Path) -> None:
    path = tmp_path / "inbox.db"
    inbox = Inbox(path)
    first = inbox.post(Inject(text="one\udc00"), who="ada")
    inbox.close()
    inbox = Inbox(path)
    inbox.post(Pause(strength="now"), who="ada")
    inbox.post(Kill(), who="bob")
    assert [posted.request for posted in inbox.after(0)] == [Inject(text="one�"), Pause(strength="now"), Kill()]
    assert [posted.who for posted in inbox.after(first)] == ["ada", "bob"]
    inbox.close()


def test_a_request_from_the_future_is_handed_on_as_unreadable(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path / "inbox.db")
    inbox._connection.execute(
        "INSERT INTO requests (at, who, origin, body) VALUES (1, 'x', 'cli', '{\"verb\":\"fly\"}')"
    )
    (posted,) = inbox.after(0)
    assert posted.request is None
    assert posted.raw == '{"verb":"fly"}'
    inbox.close()


def test_redactor_takes_out_keys_and_leaves_the_rest() -> None:
    redact = redactor({"ANTHROPIC_API_KEY": "sk-ant-0123456789", "HOME": "/home/ada", "TOKEN": "short"})
    assert redact is not None
    assert redact("my key is sk-ant-0123456789 in /home/ada, short") == "my key is [redacted] in /home/ada, short"
    assert redactor({"HOME": "/x"}) is None
