"""`mlrb run`: launch runs, and wait for them where that is asked for."""

import argparse
import time

import msgspec

from agent.record import events as ev
from agent.record.home import Home, RunFolder
from agent.record.index import of_folder, refreshed
from agent.record.log import EventReader
from agent.record.request import RunRequest
from agent.record.text import one_line
from agent.record.values import RunSummary
from mlrb_tui.commands.output import print_json, say, whole
from mlrb_tui.control.launch import launch
from mlrb_tui.control.plan import plan_request
from mlrb_tui.views import words
from tasks.errors import UsageError

_POLL_S = 0.1
_GLANCE_S = 1.0
_EXIT_RUN, _EXIT_SCORE = 6, 7


def run(options: argparse.Namespace) -> int:
    """Launch; print ids; wait, or open the app, where that is asked for."""
    if options.watch and (options.json or options.repeat > 1):
        raise UsageError("--watch opens the app on one run", hint="leave out --json and --repeat")
    if options.repeat < 1:
        raise UsageError("--repeat takes a number from 1")
    home = Home.of_user()
    request = _planned(home, options)
    folders = [_launch(home, options, request, repetition) for repetition in range(options.repeat)]
    _tell_of_leftovers(home)
    if options.watch:
        from mlrb_tui.commands.app import watch

        return watch(argparse.Namespace(run=folders[0].run, read_only=False))
    if not options.wait:
        return 0
    try:
        return max(_finish(folder, options) for folder in folders)
    except KeyboardInterrupt:
        say(f"{', '.join(folder.run for folder in folders)}: goes on without this terminal; mlrb kill ends it")
        raise


def result(summary: RunSummary) -> dict[str, object]:
    """A run that has ended, as `--wait --json` prints it."""
    return {
        "run": summary.run,
        "task": summary.task,
        "scale": summary.scale,
        "state": summary.state,
        "outcome": summary.outcome,
        "detail": summary.outcome_detail,
        "score": whole(summary.final_score),
        "usage": {
            **msgspec.structs.asdict(summary.usage),
            "total_tokens": summary.usage.total_tokens,
            "cost_usd": round(summary.cost_usd, 6),
            "steps": summary.step,
            "working_s": round(summary.working_s, 3),
        },
        "interventions": summary.interventions,
    }


def exit_code(summary: RunSummary) -> int:
    """0 for a run that ended with a valid score; 6 where the run failed, 7 where only the score did."""
    if summary.outcome not in ("submitted", "limit"):
        return _EXIT_RUN
    return 0 if summary.final_score is not None and summary.final_score.valid else _EXIT_SCORE


def _planned(home: Home, options: argparse.Namespace) -> RunRequest:
    """Looked at once, however many runs are made of it."""
    request = plan_request(
        home,
        options.task,
        scale=options.scale,
        scaffold=options.scaffold,
        model=options.model,
        supervisor_model=options.supervisor_model,
        base_url=options.base_url,
        sandbox=options.sandbox,
        image=options.image,
        gpus=options.gpus,
        seed=options.seed,
        limit_assignments=options.limit,
        pace_s=options.pace,
        approve=options.approve,
        on_limit=options.on_limit,
    )
    if not options.model:
        say(f"model: {request.model} (none was named)")
    if request.sandbox_notice:
        say(f"warning: {request.sandbox_notice}")
    return request


def _launch(home: Home, options: argparse.Namespace, request: RunRequest, repetition: int) -> RunFolder:
    folder = launch(home, msgspec.structs.replace(request, seed=request.seed + repetition))
    if not options.wait:
        print_json({"run": folder.run}) if options.json else print(folder.run)
    return folder


def _tell_of_leftovers(home: Home) -> None:
    """A word on what earlier runs left behind; a daemon that is slow to answer does not hold anyone up."""
    from agent.sandbox.leftovers import find
    from mlrb_tui.control.reaping import told

    if line := told(find(home, timeout_s=_GLANCE_S)):
        say(f"notice: {line}")


def _finish(folder: RunFolder, options: argparse.Namespace) -> int:
    if not options.json:
        say(f"{folder.run} has started; it goes on when you leave: mlrb watch {folder.run[:4]}")
    _wait(folder, quiet=options.json)
    summary = refreshed(folder, of_folder(folder))
    if options.json:
        print_json(result(summary))
    else:
        print(f"{summary.run}  {words.state(summary)}  {words.score_in_full(summary.final_score) or 'no score'}")
        if summary.outcome_detail:
            say(summary.outcome_detail)
    return exit_code(summary)


def _wait(folder: RunFolder, *, quiet: bool) -> None:
    """Until the run has ended or its runner is gone; tells of each step on the way."""
    from agent.record.lock import is_held

    seq = 0
    with EventReader(folder.events) as reader:
        while True:
            alive = is_held(folder.lock)
            while page := reader.since(seq):
                seq = page[-1].seq
                for event in page:
                    if not quiet and (line := _told(event)):
                        say(line)
            if not alive:
                return
            time.sleep(_POLL_S)


def _told(event: ev.Event) -> str:
    match event.body:
        case ev.ToolCalled(summary=summary, tool=tool):
            shown = summary if isinstance(summary, str) else summary.preview
            return f"{event.step:>4} {'$' if tool == 'bash' else tool} {one_line(shown, 100)}"
        case ev.ModelFailed(reason=reason, retry_in_s=retry_in_s):
            return f"{event.step:>4} model: {reason}" + ("" if retry_in_s is None else f"; again in {retry_in_s:.0f} s")
        case ev.Graded(score=score):
            return f"{event.step:>4} score {words.score_in_full(score)}"
        case ev.RunPaused(by=by, why=why):
            return f"     paused{f' by {by}' if by else ''}{f': {one_line(why)}' if why else ''}"
        case ev.ApprovalAsked(tool=tool, summary=summary):
            shown = summary if isinstance(summary, str) else summary.preview
            return f"{event.step:>4} wants approval: {tool} {one_line(shown, 100)}"
        case ev.AlertRaised(message=message):
            return f"     alert: {message}"
        case _:
            return ""
