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
from agent.record.text import printable
from mlrb_tui.commands.output import print_json, print_pairs, say
from mlrb_tui.commands.steer import ask_and_print
from mlrb_tui.views import words
from tasks.errors import UsageError


def approve(options: argparse.Namespace) -> int:
    """`mlrb approve RUN [--accept | --edit TEXT | --reject REASON | --always | --mode on|off]`."""
    folder = Home.of_user().find(options.run)
    if options.mode is not None:
        return ask_and_print(options, ApproveMode(on=options.mode == "on"))
    waiting = _waiting(folder)
    if not (options.accept or options.always or options.edit is not None or options.reject is not None):
        return _list(waiting, options)
    if waiting is None:
        raise RunError(f"nothing waits for a word in {folder.run}", hint=f"mlrb show {folder.run}")
    return ask_and_print(options, _word(waiting, options))


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
        {"waits": f"{waiting.tool} for {since}", "always": waiting.rule or "no class could safely be let through"}
    )
    for name, value in waiting.arguments.items():
        print(f"{printable(name)}:")
        for line in str(value).split("\n"):
            print(f"  {printable(line)}")


def _word(waiting: WaitingCall, options: argparse.Namespace) -> Approve:
    if options.edit is not None:
        text = sys.stdin.read() if options.edit == "-" else options.edit
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
