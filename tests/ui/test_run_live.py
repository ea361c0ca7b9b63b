"""A live run in the run screen: what happens is shown, what is asked for is asked, and answers are seen."""

from contextlib import ExitStack
from pathlib import Path

from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.inbox import ChangeLimits, Inbox, Inject, Kill, Pause, Posted, Resume
from agent.record.values import Limits, Proof
from mlrb_tui.widgets.transcript import TranscriptLines
from tests.ui.run_app import RunApp, app_on_run, live_run, screen_text, until


def posted(run: RunFolder) -> list[Posted]:
    inbox = Inbox(run.inbox)
    found = inbox.after(0)
    inbox.close()
    return found


async def test_what_happens_is_shown_as_it_happens(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            await until(pilot, lambda: "LIVE" in screen_text(app))
            log.append(ev.ModelAsked(call_id="m", model="x"), step=1)
            log.append(ev.ModelStreamed(call_id="m", channel="text", text="I will re"), step=1)
            await until(pilot, lambda: "I will re" in screen_text(app))
            log.append(ev.ModelAnswered(call_id="m", message_id="a", text="I will read it."), step=1)
            log.append(ev.ToolCalled(call_id="c", tool="bash", summary="make all"), step=1)
            log.append(ev.ToolOutput(call_id="c", text="compiling 1 of 3\n"), step=1)
            await until(pilot, lambda: "compiling 1 of 3" in screen_text(app))
            assert "running" in screen_text(app)
            log.append(ev.ToolFinished(call_id="c", message_id="t", exit_code=2, failed=True), step=1)
            await until(pilot, lambda: "exit 2" in screen_text(app))


async def test_pause_is_asked_and_what_it_waits_for_is_said(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            log.append(ev.ModelAsked(call_id="m", model="x"), step=1)
            await until(pilot, lambda: "thinking" in screen_text(app))
            await pilot.press("p")
            await until(pilot, lambda: len(posted(run)) == 1)
            request = posted(run)[0]
            assert request.request == Pause(strength="step")
            assert request.origin == "app"
            log.append(
                ev.RequestReceived(request_id=request.request_id, verb="pause", text="step", who="lea", origin="app")
            )
            said = "pausing before the next model call · waiting 0:0{} for the model's answer"
            await until(pilot, lambda: said.format(1) in screen_text(app))
            await until(pilot, lambda: said.format(2) in screen_text(app))
            log.append(ev.RunPaused(strength="step", by="lea", request_id=request.request_id))
            log.append(ev.RequestAnswered(request_id=request.request_id))
            await until(pilot, lambda: "PAUSED" in screen_text(app))
            await until(pilot, lambda: "paused before the next model call 0:01 by lea" in screen_text(app))
            await until(pilot, lambda: "paused before the next model call 0:02 by lea" in screen_text(app))


async def test_pause_after_the_command_names_the_command_and_is_told_before_queued_messages(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        app = app_on_run(home, run)
        async with app.run_test(size=(160, 30)) as pilot:
            log.append(ev.ToolCalled(call_id="c", tool="bash", summary="python train.py"), step=1)
            await pilot.press("h")
            await until(pilot, lambda: len(posted(run)) == 1)
            assert posted(run)[0].request == Pause(strength="command")
            log.append(ev.RequestReceived(request_id=1, verb="pause", text="command: lunch", who="lea"))
            for number in (2, 3):
                log.append(ev.RequestReceived(request_id=number, verb="inject", text="psst", who="lea"))
            said = "pausing after this command · waiting 0:01 for `python train.py` (+2 more)"
            await until(pilot, lambda: said in screen_text(app))
            log.append(ev.RunPaused(strength="command", by="lea", request_id=1))
            log.append(ev.RequestAnswered(request_id=1))
            await until(
                pilot, lambda: "message queued: goes with the first request after the pause" in screen_text(app)
            )


async def test_a_refusal_shows_its_reason(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            await pilot.press("x")
            await until(pilot, lambda: len(posted(run)) == 1)
            log.append(ev.RequestReceived(request_id=1, verb="interrupt", who="lea"))
            log.append(ev.RequestRefused(request_id=1, reason="no command is running"))
            await until(pilot, lambda: "interrupt refused: no command is running" in screen_text(app))
            assert screen_text(app).count("refused: no command is running") == 2


async def test_a_message_is_sent_and_its_receipt_grows(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            await pilot.press("i")
            await pilot.press(*"try [b]this", "enter")
            await until(pilot, lambda: len(posted(run)) == 1)
            assert posted(run)[0].request == Inject(text="try [b]this")
            log.append(ev.RequestReceived(request_id=1, verb="inject", text="try [b]this", who="lea"))
            await until(pilot, lambda: "message queued" in screen_text(app))
            assert "try [b]this" in screen_text(app)
            log.append(ev.RequestDelivered(request_id=1, call_id="m"))
            await until(pilot, lambda: "message delivered" in screen_text(app))
            log.append(ev.RequestAnswered(request_id=1))
            await until(pilot, lambda: "delivered, answered" in screen_text(app))


async def test_a_run_is_killed_only_after_a_yes(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, _):
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            await pilot.press("k")
            await until(pilot, lambda: app.screen is not app.run_screen)
            await pilot.press("enter")
            await pilot.press("n")
            await until(pilot, lambda: app.screen is app.run_screen)
            assert posted(run) == []
            await pilot.press("k", "y")
            await until(pilot, lambda: [each.request for each in posted(run)] == [Kill()])


async def test_a_kill_shows_its_checklist_while_it_fills_in(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        app = app_on_run(home, run)
        async with app.run_test(size=(160, 40)) as pilot:
            log.append(ev.RequestReceived(request_id=1, verb="kill", who="lea", origin="app"))
            await until(pilot, lambda: "killing: waits for model calls, processes, log" in screen_text(app))
            await until(pilot, lambda: "· processes    waits for proof" in screen_text(app))
            log.append(ev.ProofFound(what="model calls", proven=True, detail="none is open"))
            await until(pilot, lambda: "killing: model calls gone; waits for processes, log" in screen_text(app))
            log.append(ev.ProofFound(what="processes", proven=False, detail="still there: 7"))
            log.append(ev.SandboxStopped(proofs=(Proof("processes", False, "still there: 7"),)))
            log.append(ev.RequestAnswered(request_id=1, detail="left over: processes: still there: 7"))
            log.append(ev.RunEnded(outcome="killed"))
            await until(pilot, lambda: "▲ processes    still there: 7" in screen_text(app))
            assert "✔ model calls" in screen_text(app)
            assert "✔ log closed" in screen_text(app)


async def test_limits_are_changed_from_what_holds_now(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, _):
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            await pilot.press("l")
            await pilot.press(*"steps=+5", "enter")
            await until(pilot, lambda: len(posted(run)) == 1)
            assert posted(run)[0].request == ChangeLimits(limits=Limits(time_s=600.0, steps=25))


async def test_a_limit_that_is_exceeded_already_is_said_before_it_is_set(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, _):
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            await pilot.press("l")
            await pilot.press(*"steps=0", "enter")
            await until(pilot, lambda: "already exceeded" in screen_text(app))
            assert posted(run) == []
            await pilot.press(*" --force", "enter")
            await until(pilot, lambda: len(posted(run)) == 1)
            assert posted(run)[0].request == ChangeLimits(limits=Limits(time_s=600.0, steps=0))


async def test_a_viewer_that_may_only_look_asks_nothing(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, _):
        app = app_on_run(home, run, read_only=True)
        async with app.run_test(size=(120, 30)) as pilot:
            await pilot.press("p", "k", "i")
            await until(pilot, lambda: "opened to look only" in screen_text(app))
            assert posted(run) == []


async def test_a_run_whose_runner_died_is_lost_not_running(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, _):
        app = app_on_run(home, run)
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "LOST" in screen_text(app))
        assert "RUNNING" not in screen_text(app)


def keys_of(app: RunApp) -> str:
    return screen_text(app).rstrip().splitlines()[-1]


async def test_a_runner_that_dies_while_it_is_watched_is_lost_at_once(tmp_path: Path) -> None:
    with ExitStack() as alive:
        home, run, _ = alive.enter_context(live_run(tmp_path))
        app = app_on_run(home, run)
        async with app.run_test(size=(140, 30)) as pilot:
            await until(pilot, lambda: "RUNNING" in screen_text(app))
            alive.close()
            await until(pilot, lambda: "LOST" in screen_text(app) and "LIVE" not in screen_text(app))
            await until(pilot, lambda: "r resume" in keys_of(app) and "k kill" in keys_of(app))
            assert "p pause" not in keys_of(app)


async def test_keys_are_shown_where_they_make_sense(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        app = app_on_run(home, run)
        async with app.run_test(size=(160, 30)) as pilot:
            await until(pilot, lambda: "p pause" in keys_of(app))
            assert "x interrupt" not in keys_of(app)
            assert "r resume" not in keys_of(app)
            log.append(ev.ToolCalled(call_id="c", tool="bash", summary="make all"), step=1)
            await until(pilot, lambda: "x interrupt" in keys_of(app))
            log.append(ev.RunPaused(strength="now", by="lea"))
            await until(pilot, lambda: "r resume" in keys_of(app))
            assert "pause" not in keys_of(app)
            assert "freeze" not in keys_of(app)
            log.append(ev.RunResumed(by="lea"))
            await until(pilot, lambda: "p pause" in keys_of(app) and "r resume" not in keys_of(app))
            log.append(ev.RunEnded(outcome="submitted"))
            await until(pilot, lambda: "k kill" not in keys_of(app))


async def test_an_answer_is_said_while_an_older_moment_is_looked_at(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        for step in (1, 2, 3):
            log.append(ev.StepStarted(), step=step)
        app = app_on_run(home, run)
        async with app.run_test(size=(140, 30)) as pilot:
            await pilot.press("left", "left", "P")
            await until(pilot, lambda: "has not read it yet" in screen_text(app))
            log.append(ev.RequestReceived(request_id=1, verb="pause", who="lea"))
            log.append(ev.RunPaused(strength="now", by="lea", request_id=1))
            log.append(ev.RequestAnswered(request_id=1, detail="frozen"))
            await until(pilot, lambda: "pause: frozen" in screen_text(app))
            assert "has not read it yet" not in screen_text(app)
            assert "replay" in screen_text(app)


async def test_requests_reach_the_inbox_in_the_order_of_their_keys(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, _):
        app = app_on_run(home, run)
        async with app.run_test(size=(140, 30)) as pilot:
            await pilot.press(*"PrPrPrPr")
            await until(pilot, lambda: len(posted(run)) == 8)
            assert [type(each.request) for each in posted(run)] == [Pause, Resume] * 4


async def test_reading_above_is_not_disturbed_by_what_comes(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        for number in range(200):
            log.append(ev.NoteTaken(text=f"note {number}"), step=1)
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            await until(pilot, lambda: "note 199" in screen_text(app))
            await pilot.press("pageup", "pageup")
            transcript = app.run_screen.query_one(TranscriptLines)
            before = list(transcript.shown)
            for number in range(200, 300):
                log.append(ev.NoteTaken(text=f"note {number}"), step=1)
            await until(pilot, lambda: app.run_screen.view.position == log.summary.seq)
            assert list(transcript.shown) == before
            await pilot.press("end")
            await until(pilot, lambda: "note 299" in screen_text(app))


async def test_looking_back_in_a_live_run_holds_the_moment(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        for step in range(1, 6):
            log.append(ev.StepStarted(), step=step)
            log.append(ev.NoteTaken(text=f"in step {step}"), step=step)
        app = app_on_run(home, run)
        async with app.run_test(size=(120, 30)) as pilot:
            await pilot.press("left", "left")
            await until(pilot, lambda: "replay" in screen_text(app))
            log.append(ev.NoteTaken(text="news"), step=5)
            await until(pilot, lambda: app.run_screen.view.newest == log.summary.seq)
            assert "news" not in screen_text(app)
            assert "in step 3" in screen_text(app)
            assert "in step 5" not in screen_text(app)
            await pilot.press("end")
            await until(pilot, lambda: "news" in screen_text(app) and "LIVE" in screen_text(app))


async def test_sizes_from_large_to_one_cell_while_it_streams(tmp_path: Path) -> None:
    with live_run(tmp_path) as (home, run, log):
        app = app_on_run(home, run)
        async with app.run_test(size=(200, 60)) as pilot:
            log.append(ev.ToolCalled(call_id="c", tool="bash", summary="train"), step=1)
            for width, height in ((200, 60), (20, 5), (1, 1), (40, 3), (120, 40)):
                await pilot.resize_terminal(width, height)
                for line in range(20):
                    log.append(ev.ToolOutput(call_id="c", text=f"{width} wide, line {line}\n"), step=1)
                await pilot.press("up", "down", "end")
                await until(pilot, lambda: app.run_screen.view.position == log.summary.seq)
            await until(pilot, lambda: "120 wide, line 19" in screen_text(app))
            assert "left" in screen_text(app)
            assert "LIVE" in screen_text(app)
