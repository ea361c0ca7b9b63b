"""`mlrb report`: any run by any of its names, in the format that is asked for, or one line of error."""

import json
from pathlib import Path

import pytest

from agent.record import events as ev
from agent.record.home import Home, RunFolder
from agent.record.lock import hold
from agent.record.log import EventLog, write_events
from agent.record.request import RunRequest, write_request
from agent.record.values import Limits
from mlrb_tui.cli import main
from tests.unit.report_logs import LOGS, golden

CREATED = ev.RunCreated(
    run="bb000000", task="no/such_task", scale="smoke", scaffold="react", model="m", sandbox="local", seed=0,
    limits=Limits(),
)  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("MLRB_HOME", str(tmp_path / "home"))
    return Home(tmp_path / "home").ensure()


def folder_of(home: Home, run: str) -> RunFolder:
    """An empty run folder."""
    folder = RunFolder(home.runs / run)
    folder.path.mkdir()
    return folder


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    """The report as JSON."""
    assert main(["report", *arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert isinstance(told, dict)
    return told


def test_run_is_found_by_id_prefix_last_and_file(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    write_events(folder_of(home, "7f3a21c4").events, golden("baby_lm"))
    for name in ("7f3a21c4", "7f", "last", str(LOGS / "baby_lm.jsonl")):
        found = told(capsys, name)
        assert (found["run"], found["outcome"], found["so_far"]) == ("7f3a21c4", "submitted", False)


def test_file_is_written_in_the_format_of_its_name(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = str(LOGS / "short.jsonl")
    begins = {"a.html": "<!doctype html>", "a.md": "# mlgym", "a.json": '{"task":', "a.txt": "mlgym/battle"}
    for name, start in begins.items():
        assert main(["report", source, "--out", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    assert main(["report", source, "--format", "markdown", "--out", str(tmp_path / "b.html")]) == 0
    assert (tmp_path / "b.html").read_text(encoding="utf-8").startswith("# mlgym")
    assert capsys.readouterr().out == ""


def test_live_lost_and_waiting_runs_have_a_report(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    folder = folder_of(home, "bb000000")
    with EventLog(folder.events) as log, hold(folder.lock):
        log.append(CREATED)
        log.append(ev.RunStarted(pid=1, host="box"))
        live = told(capsys, "bb")
        assert (live["so_far"], live["outcome"], live["rules"]) == (True, None, [])
    lost = told(capsys, "bb")
    assert (lost["so_far"], lost["outcome"]) == (False, "lost")
    waiting = folder_of(home, "cc000000")
    request = RunRequest(run="cc000000", task="mlgym/house_price")
    write_request(waiting.request, request)
    found = told(capsys, "cc")
    assert (found["task"], found["state"], found["turns"]) == ("mlgym/house_price", "queued", 0)
    assert main(["report", "cc"]) == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("nothere",), 5),
        (("no/such/file.jsonl",), 5),
        ((str(LOGS / "short.jsonl"), "--out", "/no/such/folder/report.html"), 5),
        ((str(LOGS / "short.jsonl"), "--json", "--format", "html"), 2),
        ((str(LOGS / "short.jsonl"), "--format", "pdf"), 2),
    ],
)
def test_mistake_is_one_line_and_a_hint(
    home: Home, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int
) -> None:
    assert main(["report", *arguments]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("mlrb: ")
    assert len(said.err.strip().splitlines()) <= 2


def test_record_that_cannot_be_read_is_an_error_and_no_report(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    folder_of(home, "dd000000").events.write_bytes(b"no database at all, but long enough to be looked at" * 40)
    assert main(["report", "dd"]) == 5
    assert capsys.readouterr().err.startswith("mlrb: ")
