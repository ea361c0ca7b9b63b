"""The commands that steer a run: each waits (bounded) for the event that answers it and prints it."""

import argparse
import sys

from agent.errors import RunError
from agent.record.events import Graded, RequestAnswered
from agent.record.home import Home, RunFolder
from agent.record.inbox import (
    ChangeLimits,
    Inject,
    Interrupt,
    Kill,
    Pause,
    Request,
    Resume,
    ScoreNow,
    verb_of,
)
from agent.record.index import of_folder
from agent.record.jsonl import to_line
from agent.record.lock import is_held
from agent.record.log import EventReader
from mlrb_tui.commands.output import print_json, say
from mlrb_tui.control.launch import take_up
from mlrb_tui.control.steer import ask, patience_s
from mlrb_tui.views import words
from tasks.errors import UsageError


def pause(options: argparse.Namespace) -> int:
    """`mlrb pause RUN [--now]`."""
    return _ask(options, Pause(strength="now" if options.now else "command" if options.after_command else "step"))


def resume(options: argparse.Namespace) -> int:
    """`mlrb resume RUN`: a paused run goes on; a lost one gets a new runner."""
    folder = Home.of_user().find(options.run)
    if not is_held(folder.lock) and of_folder(folder).state != "ended":
        take_up(folder)
        if options.json:
            print_json({"run": folder.run, "taken_up": True})
        else:
            print(f"{folder.run}  taken up by a new runner: mlrb watch {folder.run[:4]}")
        return 0
    return _ask(options, Resume())


def inject(options: argparse.Namespace) -> int:
    """`mlrb inject RUN TEXT`."""
    text = sys.stdin.read() if options.text == "-" else options.text
    if not text.strip():
        raise UsageError("there is nothing to say", hint="mlrb inject RUN 'try a cosine schedule'")
    return _ask(options, Inject(text=text))


def interrupt(options: argparse.Namespace) -> int:
    """`mlrb interrupt RUN`."""
    return _ask(options, Interrupt())


def limits(options: argparse.Namespace) -> int:
    """`mlrb limits RUN time=+1h --why TEXT`."""
    from mlrb_tui.control.amounts import changed_limits

    now = of_folder(Home.of_user().find(options.run)).limits
    return _ask(options, ChangeLimits(limits=changed_limits(now, options.limit), why=options.why))


def score(options: argparse.Namespace) -> int:
    """`mlrb score RUN`."""
    return _ask(options, ScoreNow())


def kill(options: argparse.Namespace) -> int:
    """`mlrb kill RUN`."""
    return _ask(options, Kill(why=options.why))


def _ask(options: argparse.Namespace, request: Request) -> int:
    folder = Home.of_user().find(options.run)
    event = ask(folder, request, timeout_s=patience_s(request))
    if event is None:
        raise RunError(
            f"{verb_of(request)} is not answered yet; it stays in the inbox",
            hint=f"mlrb events {folder.run} --follow --kind request_answered",
        )
    assert isinstance(event.body, RequestAnswered)
    if options.json:
        print(to_line(event))
    else:
        print(f"{folder.run}  {verb_of(request)}: {event.body.detail or 'done'}")
        _print_score(folder, request)
    return 0


def _print_score(folder: RunFolder, request: Request) -> None:
    """After `score`: what it was."""
    if not isinstance(request, ScoreNow):
        return
    with EventReader(folder.events) as reader:
        graded = [event.body for event in reader.of_kinds(("graded",), limit=1, newest=True)]
    for body in graded:
        if isinstance(body, Graded):
            say(words.score_in_full(body.score))
