"""People are told what happens in a run through Apprise; nobody waits for it, and no address gets into a record."""

import json
import os
import queue
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from agent.record import events as ev
from agent.record import index
from agent.record.inbox import ApproveMode, Kill
from agent.record.values import Limits
from agent.runner.notify_settings import NotifySettings, read_notify_settings
from mlrb_tui.control.lost_runs import LostRuns
from mlrb_tui.control.settings import Settings, read_settings
from tasks.errors import UsageError
from tests.process.runner_runs import Run, Runs, bash, script_line, until
from tests.process.test_kill_hung import mlrb, pid_of, reap_child, sleeping

pytest.importorskip("apprise", reason="the notify extra is not installed")

PASSWORD = "hunter2-very-secret"


@contextmanager
def receiver(status: int = 200) -> Iterator[tuple[str, "queue.Queue[dict[str, Any]]"]]:
    """A web server that notifications come to: its address for Apprise, and what it got."""
    got: queue.Queue[dict[str, Any]] = queue.Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"json://ann:{PASSWORD}@127.0.0.1:{server.server_port}/hook", got
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def black_hole() -> Iterator[str]:
    """A service that takes a connection and never says a word."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        yield f"json://127.0.0.1:{listener.getsockname()[1]}"


def configure(runs: Runs, url: str, *on: str) -> None:
    """Notifications to that address."""
    what = f"on = {json.dumps(list(on))}\n" if on else ""
    runs.home.settings.write_text(f'theme = "auto"\n[notify]\nurls = ["{url}"]\n{what}')


def everything_recorded(run: Run) -> bytes:
    """All bytes of the run's folder."""
    return b"".join(path.read_bytes() for path in run.folder.path.rglob("*") if path.is_file())


def test_end_of_a_run_is_told_with_its_score_and_no_address_is_recorded(runs: Runs) -> None:
    with receiver() as (url, got):
        configure(runs, url)
        run = runs.start(
            [bash(f"echo 6 > answer.txt; cat {runs.home.settings}"), script_line("submit")],
        )
        assert run.ended().outcome == "submitted"
        told = got.get(timeout=30)
    assert run.folder.run in told["title"]
    assert "ended" in told["title"]
    assert "number 6 (test, smoke)" in told["message"]
    assert got.empty()
    assert run.bodies(ev.AlertRaised) == []
    recorded = everything_recorded(run)
    assert PASSWORD.encode() not in recorded
    assert b"[redacted]" in recorded


def test_only_what_is_wanted_is_told(runs: Runs) -> None:
    with receiver() as (url, got):
        configure(runs, url, "alert")
        run = runs.start([bash("true")] * 7 + [script_line("submit")])
        run.ended()
        told = got.get(timeout=30)
        assert "alert" in told["title"]
        assert got.empty()
    assert [alert.alert for alert in run.bodies(ev.AlertRaised)] == ["loop"]


@pytest.mark.parametrize(
    ("settings", "told"),
    [("", 1), ("alarm_again_s = 0.0", 2), ("quiet = ['loop']", 0)],
    ids=["by default", "each time", "of none"],
)
def test_alarm_that_comes_and_goes_floods_nobody(runs: Runs, settings: str, told: int) -> None:
    with receiver() as (url, got):
        configure(runs, url, "alert", "ended")
        runs.home.settings.write_text(f"{runs.home.settings.read_text()}{settings}\n")
        run = runs.start([bash("true")] * 6 + [bash("echo")] + [bash("true")] * 6 + [script_line("submit")])
        run.ended()
        titles = [got.get(timeout=30)["title"] for _ in range(told + 1)]
        assert got.empty()
    assert sum("alert" in title for title in titles) == told
    assert [alert.alert for alert in run.bodies(ev.AlertRaised)] == ["loop", "loop"]


def test_failure_is_one_alert_and_the_run_goes_on(runs: Runs) -> None:
    with receiver(status=500) as (url, got):
        configure(runs, url, "alert", "ended")
        run = runs.start([bash("true")] * 7 + [script_line("submit")])
        assert run.ended().outcome == "submitted"
        assert got.get(timeout=30)
    alerts = [alert for alert in run.bodies(ev.AlertRaised) if alert.alert == "notify"]
    assert [alert.message for alert in alerts] == ["a notification was not sent: json: not taken"]
    assert isinstance(run.events()[-1].body, ev.RunEnded)
    assert PASSWORD.encode() not in everything_recorded(run)


def test_service_that_never_answers_holds_no_run_up(runs: Runs) -> None:
    with black_hole() as url:
        configure(runs, url)
        run = runs.start([script_line("submit")])
        run.wait_for(ev.SandboxStopped)
        stopped_at = time.monotonic()
        assert run.ended().outcome == "submitted"
        assert time.monotonic() - stopped_at < 15.0


def test_nothing_is_sent_and_nothing_started_until_there_is_a_service(runs: Runs) -> None:
    run = runs.start([bash("true")] * 7 + [script_line("submit")])
    run.ended()
    assert [alert.alert for alert in run.bodies(ev.AlertRaised)] == ["loop"]
    assert read_notify_settings(runs.home.settings) == NotifySettings()


def test_mistake_in_the_settings_is_an_alert_and_no_failed_run(runs: Runs) -> None:
    runs.home.settings.write_text('[notify]\nurls = ["json://x"]\non = ["sunrise"]\n')
    run = runs.start([script_line("submit")])
    assert run.ended().outcome == "submitted"
    [alert] = run.bodies(ev.AlertRaised)
    assert "sunrise" in alert.message
    with pytest.raises(UsageError, match="sunrise"):
        read_settings(runs.home)


def test_run_that_had_to_be_ended_from_outside_is_told_too(runs: Runs) -> None:
    with receiver() as (url, got):
        configure(runs, url)
        run = sleeping(runs, "751.25")
        os.kill(pid_of(run), signal.SIGKILL)
        reap_child(run)
        assert mlrb(runs, "kill", run.folder.run).returncode == 0
        assert "killed" in got.get(timeout=30)["message"]


def test_lost_run_is_told_once_whoever_looks(runs: Runs) -> None:
    with receiver() as (url, got):
        configure(runs, url)
        run = sleeping(runs, "752.25")
        os.kill(pid_of(run), signal.SIGKILL)
        reap_child(run)
        settings = read_settings(runs.home)
        first, second = LostRuns(runs.home, settings), LostRuns(runs.home, settings)
        assert first.look(index.summaries(runs.home)) == [run.folder.run]
        assert second.look(index.summaries(runs.home)) == []
        assert first.look(index.summaries(runs.home)) == []
        told = got.get(timeout=30)
        assert "lost its runner" in told["title"]
        assert LostRuns(runs.home, Settings()).look(index.summaries(runs.home)) == []
        assert mlrb(runs, "kill", run.folder.run).returncode == 0


def test_settings_can_be_tried_and_never_print_an_address(runs: Runs) -> None:
    assert mlrb(runs, "config", "notify", "--test").returncode == 2
    with receiver() as (url, got):
        configure(runs, url)
        ran = mlrb(runs, "config", "notify", "--test")
        assert ran.returncode == 0, ran.stderr
        assert "json  taken" in ran.stdout
        assert "test" in got.get(timeout=30)["title"]
    ran = mlrb(runs, "config", "notify", "--test")
    assert (ran.returncode, "json  json: not taken" in ran.stdout) == (6, True)
    for arguments in (("config",), ("config", "--json"), ("config", "notify"), ("config", "notify", "--json")):
        ran = mlrb(runs, *arguments)
        assert ran.returncode == 0, ran.stderr
        assert PASSWORD not in ran.stdout + ran.stderr
        assert "json" in ran.stdout or arguments == ("config",)


def test_call_that_waits_for_a_person_is_told_without_the_secrets_in_it(runs: Runs) -> None:
    runs.environment["SOME_API_KEY"] = "sk-very-secret-indeed"
    with receiver() as (url, got):
        configure(runs, url)
        run = runs.start([bash("echo sk-very-secret-indeed > answer.txt"), script_line("submit")], approve=True)
        told = got.get(timeout=30)
        assert "needs approval" in told["title"]
        assert told["message"].startswith("bash waits for a word: echo [redacted] > answer.txt")
        run.answer_to(run.post(ApproveMode(on=False)))
        assert run.ended().outcome == "submitted"
        assert "ended" in got.get(timeout=30)["title"]
        assert got.empty()


def test_run_that_a_limit_pauses_is_told_once_and_says_what_helps(runs: Runs) -> None:
    with receiver() as (url, got):
        configure(runs, url)
        run = runs.start([bash("sleep 754.25")], limits=Limits(time_s=0.5), on_limit="pause")
        run.wait_for(ev.RunPaused)
        told = got.get(timeout=30)
        assert "is paused by a limit" in told["title"]
        assert told["message"] == "paused: the limit on time is reached · raise the limit and resume, or kill it"
        run.post(Kill())
        assert run.ended().outcome == "killed"
        assert "ended" in got.get(timeout=30)["title"]
        assert got.empty()


def test_run_that_a_limit_ends_is_told_to_whoever_asked_for_limits_alone(runs: Runs) -> None:
    with receiver() as (url, got):
        configure(runs, url, "limit")
        run = runs.start([bash("sleep 755.25")], limits=Limits(time_s=0.5))
        assert run.ended().limit == "time"
        assert got.get(timeout=30)["message"].startswith("limit time")


def test_kill_is_answered_before_anyone_is_told(runs: Runs) -> None:
    with black_hole() as url:
        configure(runs, url)
        run = sleeping(runs, "753.25")
        kill = run.post(Kill())
        run.answer_to(kill)
        until(lambda: isinstance(run.events()[-1].body, ev.RunEnded), "it ends all the same")
        assert run.ended().outcome == "killed"
