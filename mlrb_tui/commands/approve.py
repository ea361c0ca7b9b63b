"""`mlrb approve`: what waits for a person's word in a run, and the word."""

import argparse
import sys
import time

import msgspec

from agent.errors import RunError
from agent.record.asked import WaitingCall, waiting_call
from agent.record.home import Home, RunFolder
from agent.record.inbox import Approve, ApproveMode
from agent.record.lock import is_held
from agent.record.log import EventReader
from agent.record.text import one_line, printable
from mlrb_tui.commands.output import print_json, print_pairs, read_stdin, say
from mlrb_tui.commands.steer import ask_and_print
from mlrb_tui.views import words
from tasks.errors import UsageError


def approve(options: argparse.Namespace) -> int:
    """`mlrb approve RUN [--accept | --edit TEXT | --reject REASON | --always | --mode on|off] [--id ID]`."""
    folder = Home.of_user().find(options.run)
    if options.mode is not None:
        return ask_and_print(options, ApproveMode(on=options.mode == "on"))
    waiting = _waiting(folder)
    if not (options.accept or options.always or options.edit is not None or options.reject is not None):
        return _list(waiting, options)
    if waiting is None:
        raise RunError(f"nothing waits for a word in {folder.run}", hint=f"mlrb show {folder.run}")
    if options.id not in ("", waiting.approval_id):
        raise RunError(
            f"{options.id} does not wait for a word; {waiting.approval_id} does: {_call(waiting)}",
            hint=f"mlrb approve {folder.run} shows it whole",
        )
    return ask_and_print(options, _word(waiting, options), f": {_call(waiting)}")


def _call(waiting: WaitingCall) -> str:
    """The call that waits, on one line."""
    return f"{waiting.tool} {one_line(waiting.summary, 200)}"


def _waiting(folder: RunFolder) -> WaitingCall | None:
    """The question, where there is a runner to hear the answer."""
    if not is_held(folder.lock):
        return None
    with EventReader(folder.events) as reader:
        return waiting_call(reader)


def _list(waiting: WaitingCall | None, options: argparse.Namespace) -> int:
    if options.json:
        print_json([] if waiting is None else [msgspec.to_builtins(waiting)])
    elif waiting is None:
        say("nothing waits for a word")
    else:
        _print(waiting)
    return 0


def _print(waiting: WaitingCall) -> None:
    since = words.duration(time.time() - waiting.asked_at)
    print_pairs(
        {
            "waits": f"{waiting.tool} for {since}",
            "id": waiting.approval_id,
            "always": waiting.rule or "no class could safely be let through",
            "edit": "" if waiting.editable else "nothing of it can be edited; reject it with a reason",
        }
    )
    for name, value in waiting.arguments.items():
        print(f"{printable(name)}{' (what --edit replaces)' if name == waiting.editable else ''}:")
        for line in str(value).split("\n"):
            print(f"  {printable(line)}")


def _word(waiting: WaitingCall, options: argparse.Namespace) -> Approve:
    if options.edit is not None:
        text = read_stdin() if options.edit == "-" else options.edit
        return Approve(approval_id=waiting.approval_id, word="edit", text=text)
    if options.reject is not None:
        return Approve(approval_id=waiting.approval_id, word="reject", text=options.reject)
    if options.accept:
        return Approve(approval_id=waiting.approval_id)
    if not waiting.rule:
        raise RunError("there is no class of calls that could safely be let through", hint="use --accept for this one")
    if not options.yes:
        _confirm(waiting)
    return Approve(approval_id=waiting.approval_id, word="always", text=waiting.rule)


def _confirm(waiting: WaitingCall) -> None:
    """Show what would be let through, and have it confirmed."""
    said = f"this lets `{printable(waiting.rule)}` through for the rest of the run"
    if not sys.stdin.isatty():
        raise UsageError(said, hint="if that is meant: --always --yes")
    say(f"{said}. Is that meant? [y/N]")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was let through")
