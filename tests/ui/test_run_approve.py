"""A question in the run's own screen, and its queued messages: shown in place, answered by keys, gone when answered."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.inbox import Approve, ApproveMode, EditInjection, Inbox, Request, WithdrawInjection
from agent.record.log import EventLog
from mlrb_tui.widgets.dialogs import Confirm, TextPrompt
from mlrb_tui.widgets.queued import QueuedMessages
from tests.ui.run_app import app_on, app_on_run, live_run, screen_text, until

CODE = "print('[/bold]')\n\x1b[31mprint(2)"


def posted(run: RunFolder) -> list[Request | None]:
    inbox = Inbox(run.inbox)
    found = [each.request for each in inbox.after(0)]
    inbox.close()
    return found


def _ask(log: EventLog, approval_id: str = "q1", rule: str = "python:*") -> None:
    log.append(
        ev.ApprovalAsked(
            approval_id=approval_id, call_id="c", tool="python", summary=CODE, editable="code", rule=rule,
            arguments=msgspec.json.encode({"code": CODE}).decode(),
        ),
        step=1,
    )  # fmt: skip


async def test_a_question_is_shown_whole_with_its_keys_until_it_is_answered(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            await until(pilot, lambda: "LIVE" in screen_text(app))
            await pilot.press("a")
            assert "a accept" not in screen_text(app)
            _ask(log)
            await until(pilot, lambda: "may this run?" in screen_text(app))
            assert "print('[/bold]')" in screen_text(app)
            assert "always let `python:*` through" in screen_text(app)
            assert "WANTS APPROVAL" in screen_text(app)
            await pilot.press("a")
            await until(pilot, lambda: posted(run) == [Approve(approval_id="q1")])
            log.append(ev.ApprovalGiven(approval_id="q1", decision="accepted", by="lea"), step=1)
            await until(pilot, lambda: "accepted by lea" in screen_text(app))
            assert "may this run?" not in screen_text(app)
            assert "WANTS APPROVAL" not in screen_text(app)


async def test_edit_reject_and_always_send_what_was_written_and_shown(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            _ask(log)
            await until(pilot, lambda: "may this run?" in screen_text(app))
            await pilot.press("e")
            await until(pilot, lambda: isinstance(app.screen, TextPrompt))
            await pilot.press("escape", "d")
            await pilot.press(*"too slow", "enter")
            await until(pilot, lambda: len(posted(run)) == 1)
            await pilot.press("A")
            await until(pilot, lambda: isinstance(app.screen, Confirm))
            assert "Always let `python:*` through?" in screen_text(app)
            await pilot.press("y")
            await until(pilot, lambda: len(posted(run)) == 2)
            assert posted(run) == [
                Approve(approval_id="q1", word="reject", text="too slow"),
                Approve(approval_id="q1", word="always", text="python:*"),
            ]


async def test_an_answer_meant_for_one_question_never_goes_to_the_next(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            _ask(log)
            await until(pilot, lambda: "may this run?" in screen_text(app))
            await pilot.press("d")
            await until(pilot, lambda: isinstance(app.screen, TextPrompt))
            log.append(ev.ApprovalGiven(approval_id="q1", decision="accepted", by="bob"), step=1)
            _ask(log, "q2")
            await until(pilot, lambda: log.summary.seq == app.run_screen.view.position)
            await pilot.press(*"no", "enter")
            await until(pilot, lambda: posted(run) == [Approve(approval_id="q1", word="reject", text="no")])


async def test_approve_mode_is_switched_by_key(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            await pilot.press("M")
            await until(pilot, lambda: posted(run) == [ApproveMode(on=True)])
            log.append(ev.ApproveModeChanged(on=True, by="lea"))
            await until(pilot, lambda: "approve mode on" in screen_text(app))
            await pilot.press("M")
            await until(pilot, lambda: posted(run) == [ApproveMode(on=True), ApproveMode(on=False)])


async def test_queued_messages_are_listed_changed_and_withdrawn(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            await pilot.press("I")
            await until(pilot, lambda: "no message is queued" in screen_text(app))
            log.append(ev.RequestReceived(request_id=1, verb="inject", text="try [/b] this", who="lea"))
            log.append(ev.RequestReceived(request_id=2, verb="inject", text="or that", who="bob"))
            await until(pilot, lambda: "or that" in screen_text(app))
            await pilot.press("I")
            await until(pilot, lambda: isinstance(app.screen, QueuedMessages))
            await pilot.press("down", "w")
            await until(pilot, lambda: posted(run) == [WithdrawInjection(request_id=2)])
            log.append(ev.RequestWithdrawn(request_id=2, by="lea"))
            await until(pilot, lambda: "withdrawn by lea" in screen_text(app))
            await pilot.press("I", "enter", "!", "enter")
            await until(pilot, lambda: len(posted(run)) == 2)
            assert posted(run)[1] == EditInjection(request_id=1, text="try [/b] this!")
            log.append(ev.RequestEdited(request_id=1, text="try [/b] this!", by="lea"))
            await until(pilot, lambda: "try [/b] this!" in screen_text(app))


async def test_a_run_paused_by_a_limit_says_what_helps(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            log.append(ev.RunPaused(strength="now", by="", why="the limit on time is reached", limit="time"))
            await until(
                pilot, lambda: "the limit on time is reached; raise it by l, then r goes on" in screen_text(app)
            )


@pytest.mark.parametrize("size", [(80, 24), (160, 48)], ids=["80x24", "160x48"])
def test_picture(snap_compare: Callable[..., bool], size: tuple[int, int]) -> None:
    assert snap_compare(app_on("asked"), terminal_size=size)
