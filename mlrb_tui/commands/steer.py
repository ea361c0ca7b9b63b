"""The commands that steer a run: each waits (bounded) for the event that answers it and prints it."""

import argparse
import json
import time

from agent.errors import RunError
from agent.record.asked import queued_messages
from agent.record.events import Event, Graded, ProofFound, RequestAnswered, RequestReceived
from agent.record.home import Home, RunFolder
from agent.record.inbox import (
    ChangeLimits,
    EditInjection,
    Inject,
    Interrupt,
    Kill,
    Pause,
    Request,
    Resume,
    ScoreNow,
    WithdrawInjection,
    verb_of,
)
from agent.record.index import of_folder, refreshed
from agent.record.jsonl import to_line
from agent.record.lock import is_held
from agent.record.log import EventReader
from agent.record.text import one_line
from agent.record.values import PauseStrength
from agent.record.viewer import Viewer
from mlrb_tui.commands.output import print_json, print_pairs, print_table, read_stdin, say, whole
from mlrb_tui.control.revive import revived
from mlrb_tui.control.steer import ask, patience_s
from mlrb_tui.views import words
from mlrb_tui.views.now import at_moment, what_it_waits_for
from tasks.errors import UsageError

_WHEN: dict[PauseStrength, str] = {
    "step": "at the next step",
    "command": "after this command",
    "now": "as soon as there is something to freeze",
}


def pause(options: argparse.Namespace) -> int:
    """`mlrb pause RUN [--now]`."""
    return ask_and_print(
        options, Pause(strength="now" if options.now else "command" if options.after_command else "step")
    )


def resume(options: argparse.Namespace) -> int:
    """`mlrb resume RUN`: a paused run goes on; a lost one gets a new runner."""
    folder = Home.of_user().find(options.run)
    paused = of_folder(folder).state == "paused"
    if revived(folder, Viewer.here("cli"), take_over=options.take_over):
        # A pause outlives the runner: two things are asked for, and one was done.
        then = f"still paused: mlrb resume {folder.run[:4]} lets it go on" if paused else f"mlrb watch {folder.run[:4]}"
        if options.json:
            print_json({"run": folder.run, "taken_up": True, "paused": paused})
        else:
            print(f"{folder.run}  taken up by a new runner; {then}")
        return 0
    return ask_and_print(options, Resume())


def inject(options: argparse.Namespace) -> int:
    """`mlrb inject RUN [TEXT]`: say something; change or take back what is queued; or list it."""
    if options.text and (options.withdraw is not None or options.edit):
        raise UsageError("one thing at a time", hint="--edit ID TEXT, --withdraw ID, or the TEXT of a new message")
    if options.withdraw is not None:
        return ask_and_print(options, WithdrawInjection(request_id=options.withdraw))
    if options.edit:
        message, text = options.edit
        if not message.isascii() or not message.isdigit():
            raise UsageError(f"{message!r} is no message's number", hint=f"mlrb inject {options.run} lists them")
        return ask_and_print(options, EditInjection(request_id=int(message), text=_said(text)))
    if not options.text:
        return _list_queued(options)
    return ask_and_print(options, Inject(text=_said(" ".join(options.text)), worker=options.worker))


def _said(given: str) -> str:
    """A message as it was given, or out of stdin."""
    text = read_stdin() if given == "-" else given
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
    return ask_and_print(options, Interrupt(worker=options.worker))


def limits(options: argparse.Namespace) -> int:
    """`mlrb limits RUN [time=+1h --why TEXT]`: change them; or show them and what is used."""
    from mlrb_tui.control.spent import FORCE, wanted_limits

    folder = Home.of_user().find(options.run)
    if not options.limit:
        return _show_limits(folder, options)
    wanted, spent = wanted_limits(folder, [*options.limit, *([FORCE] if options.force else [])])
    return ask_and_print(options, ChangeLimits(limits=wanted, why=options.why), "".join(f"; {said}" for said in spent))


def _show_limits(folder: RunFolder, options: argparse.Namespace) -> int:
    summary = at_moment(refreshed(folder, of_folder(folder)), time.time())
    if options.json:
        print_json({"run": summary.run, "limits": whole(summary.limits), "used": words.used(summary)})
    else:
        print_pairs(words.limits_and_use(summary))
    return 0


def score(options: argparse.Namespace) -> int:
    """`mlrb score RUN`."""
    return ask_and_print(options, ScoreNow())


def kill(options: argparse.Namespace) -> int:
    """`mlrb kill RUN`: a runner that does not do it is ended; one that ended before is looked after."""
    from mlrb_tui.control.killing import kill as kill_run

    folder = Home.of_user().find(options.run)
    if of_folder(folder).state == "ended" and not is_held(folder.lock):
        return _killed_before(folder, options)
    event = kill_run(
        folder, options.why, Viewer.here("cli"), take_over=options.take_over,
        tell=lambda proof: None if options.json else _say_proof(proof),
    )  # fmt: skip
    if event is None:
        return _killed_before(folder, options)
    _print_event(folder, Kill(why=options.why), event, options, "")
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


def ask_and_print(options: argparse.Namespace, request: Request, about: str = "") -> int:
    """Ask it of the run that is named, wait for what comes of it and print that; `about` says more of an answer."""
    folder = Home.of_user().find(options.run)
    event = ask(folder, request, Viewer.here("cli"), timeout_s=patience_s(request), take_over=options.take_over)
    _print_event(folder, request, event, options, about)
    if not options.json:
        _print_score(folder, request)
    return 0


def _print_event(folder: RunFolder, request: Request, event: Event, options: argparse.Namespace, about: str) -> None:
    match event.body:
        case RequestAnswered(request_id=request_id, detail=detail):
            state, said = "done", f"{detail or 'done'}{about}"
        case RequestReceived(request_id=request_id):
            state, said = _under_way(folder, request, request_id)
        case _:
            raise AssertionError("a request is received or answered")
    if options.json:
        told = {"run": folder.run, "id": request_id, "verb": verb_of(request), "state": state, "detail": said}
        print_json(told | json.loads(to_line(event)))
    else:
        print(f"{folder.run}  {options.command}: {said}")


def _under_way(folder: RunFolder, request: Request, request_id: int) -> tuple[str, str]:
    """How a request stands that the runner has and that waits for something, in a word and in full."""
    summary = of_folder(folder)
    what = what_it_waits_for(summary, time.time())
    match request:
        case Inject():
            unless = "" if summary.state != "paused" else f"; {what}"
            return "queued", f"queued as message {request_id}; it goes out with the next model request{unless}"
        case Pause(strength=strength):
            return "pausing", f"pausing {_WHEN[strength]}; {what}"
        case _:
            return "received", f"received; {what}"


def _print_score(folder: RunFolder, request: Request) -> None:
    """After `score`: what it was."""
    if not isinstance(request, ScoreNow):
        return
    with EventReader(folder.events) as reader:
        graded = [event.body for event in reader.of_kinds(("graded",), limit=1, newest=True)]
    for body in graded:
        if isinstance(body, Graded):
            say(words.score_in_full(body.score))
