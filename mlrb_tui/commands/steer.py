"""The commands that steer a run: each waits (bounded) for the event that answers it and prints it."""

import argparse
import sys

from agent.errors import RunError
from agent.record.asked import queued_messages
from agent.record.events import Event, Graded, ProofFound, RequestAnswered
from agent.record.home import Home, RunFolder
from agent.record.inbox import (
    ChangeLimits,
    EditInjection,
    Inject,
    Interrupt,
    Pause,
    Request,
    Resume,
    ScoreNow,
    WithdrawInjection,
    verb_of,
)
from agent.record.index import of_folder
from agent.record.jsonl import to_line
from agent.record.lock import is_held
from agent.record.log import EventReader
from agent.record.text import one_line
from mlrb_tui.commands.output import print_json, print_table, say
from mlrb_tui.control.launch import take_up
from mlrb_tui.control.steer import ask, patience_s
from mlrb_tui.views import words
from tasks.errors import UsageError


def pause(options: argparse.Namespace) -> int:
    """`mlrb pause RUN [--now]`."""
    return ask_and_print(
        options, Pause(strength="now" if options.now else "command" if options.after_command else "step")
    )


def resume(options: argparse.Namespace) -> int:
    """`mlrb resume RUN`: a paused run goes on; a lost one gets a new runner."""
    folder = Home.of_user().find(options.run)
    if not is_held(folder.lock) and (found := of_folder(folder)).state != "ended":
        take_up(folder)
        # A pause outlives the runner: two things are asked for, and one was done.
        paused = found.state == "paused"
        then = f"still paused: mlrb resume {folder.run[:4]} lets it go on" if paused else f"mlrb watch {folder.run[:4]}"
        if options.json:
            print_json({"run": folder.run, "taken_up": True, "paused": paused})
        else:
            print(f"{folder.run}  taken up by a new runner; {then}")
        return 0
    return ask_and_print(options, Resume())


def inject(options: argparse.Namespace) -> int:
    """`mlrb inject RUN [TEXT]`: say something; change or take back what is queued; or list it."""
    if options.text is not None and (options.withdraw is not None or options.edit):
        raise UsageError("one thing at a time", hint="--edit ID TEXT, --withdraw ID, or the TEXT of a new message")
    if options.withdraw is not None:
        return ask_and_print(options, WithdrawInjection(request_id=options.withdraw))
    if options.edit:
        message, text = options.edit
        if not message.isascii() or not message.isdigit():
            raise UsageError(f"{message!r} is no message's number", hint=f"mlrb inject {options.run} lists them")
        return ask_and_print(options, EditInjection(request_id=int(message), text=_said(text)))
    if options.text is None:
        return _list_queued(options)
    return ask_and_print(options, Inject(text=_said(options.text)))


def _said(given: str) -> str:
    """A message as it was given, or out of stdin."""
    text = sys.stdin.read() if given == "-" else given
    if not text.strip():
        raise UsageError("there is nothing to say", hint="mlrb inject RUN 'try a cosine schedule'")
    return text


def _list_queued(options: argparse.Namespace) -> int:
    folder = Home.of_user().find(options.run)
    with EventReader(folder.events) as reader:
        found = queued_messages(reader)
    if options.json:
        print_json(found)
    elif found:
        print_table(
            [{"id": str(each.request_id), "who": each.who, "message": one_line(each.text, 200)} for each in found],
            ("id", "who", "message"),
        )
    else:
        say("no message is queued")
    return 0


def interrupt(options: argparse.Namespace) -> int:
    """`mlrb interrupt RUN`."""
    return ask_and_print(options, Interrupt())


def limits(options: argparse.Namespace) -> int:
    """`mlrb limits RUN time=+1h --why TEXT`."""
    from mlrb_tui.control.amounts import changed_limits

    now = of_folder(Home.of_user().find(options.run)).limits
    return ask_and_print(options, ChangeLimits(limits=changed_limits(now, options.limit), why=options.why))


def score(options: argparse.Namespace) -> int:
    """`mlrb score RUN`."""
    return ask_and_print(options, ScoreNow())


def kill(options: argparse.Namespace) -> int:
    """`mlrb kill RUN`: a runner that does not do it is ended; one that ended before is looked after."""
    from mlrb_tui.control.killing import kill as kill_run

    folder = Home.of_user().find(options.run)
    if of_folder(folder).state == "ended" and not is_held(folder.lock):
        return _killed_before(folder, options)
    event = kill_run(folder, options.why, origin="cli", tell=lambda proof: None if options.json else _say_proof(proof))
    if event is None:
        return _killed_before(folder, options)
    _print_answer(folder, "kill", event, options)
    return 0


def _killed_before(folder: RunFolder, options: argparse.Namespace) -> int:
    """A kill of what has ended: looks that nothing is left, and is an error only where the run ended otherwise."""
    from agent.runner.last_rites import end_run

    left = end_run(folder)
    said = f"left over: {'; '.join(left)}" if left else "nothing is left over"
    summary = of_folder(folder)
    if summary.outcome != "killed":
        raise RunError(f"{folder.run} has ended: {words.state(summary)}; {said}", hint=f"mlrb show {folder.run}")
    if options.json:
        print_json({"run": folder.run, "outcome": "killed", "detail": said})
    else:
        print(f"{folder.run}  kill: it was killed before; {said}")
    return 0


def _say_proof(proof: ProofFound) -> None:
    sign = "gone" if proof.proven else "still there"
    say(f"  {proof.what:<12} {sign}{f': {proof.detail}' if proof.detail else ''}")


def ask_and_print(options: argparse.Namespace, request: Request) -> int:
    """Ask it of the run that is named, wait for the answer and print it."""
    folder = Home.of_user().find(options.run)
    event = ask(folder, request, timeout_s=patience_s(request))
    if event is None:
        hint = f"mlrb events {folder.run} --follow --kind request_answered"
        if isinstance(request, Inject):
            hint = f"mlrb inject {folder.run} lists what is queued, and changes it or takes it back"
        raise RunError(f"{verb_of(request)} is not answered yet; it stays in the inbox", hint=hint)
    _print_answer(folder, verb_of(request), event, options)
    if not options.json:
        _print_score(folder, request)
    return 0


def _print_answer(folder: RunFolder, verb: str, event: Event, options: argparse.Namespace) -> None:
    assert isinstance(event.body, RequestAnswered)
    print(to_line(event) if options.json else f"{folder.run}  {verb}: {event.body.detail or 'done'}")


def _print_score(folder: RunFolder, request: Request) -> None:
    """After `score`: what it was."""
    if not isinstance(request, ScoreNow):
        return
    with EventReader(folder.events) as reader:
        graded = [event.body for event in reader.of_kinds(("graded",), limit=1, newest=True)]
    for body in graded:
        if isinstance(body, Graded):
            say(words.score_in_full(body.score))
