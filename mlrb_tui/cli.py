"""The `mlrb` command: parse, then import only what the command needs."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from agent import __version__
from agent.errors import RecordError
from tasks.errors import MlrbError, UsageError

_TASK = "as `mlrb tasks` names it; without its suite where only one has that name"
_SCALE = "smoke takes minutes on two cores, full is what was published (default: smoke)"
_RUN = "a run id, any unambiguous start of one, or `last`"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code. Errors are one line and a hint on stderr, never a traceback."""
    try:
        options = _parser().parse_args(arguments)
        if options.command is None:
            options = _parser().parse_args(["app"])
        module, _, function = options.handler.partition(":")
        code = getattr(importlib.import_module(f"mlrb_tui.commands.{module}"), function)(options)
        sys.stdout.flush()
        return int(code or 0)
    except MlrbError as error:
        _complain(error)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader (head, less) has gone; what follows must not be written by the interpreter's own flush.
        _drop_what_is_unwritten()
        return 0
    except OSError as error:
        # A disk that is full or broken, or a file that is gone or not ours: what was typed may well be right.
        _drop_what_is_unwritten()
        named = f"{error.filename}: " if error.filename else ""
        _complain(RecordError(f"{named}{error.strerror or error}", hint="is the disk full, or the file not yours?"))
        return RecordError.exit_code


def _drop_what_is_unwritten() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(error: MlrbError) -> None:
    from agent.record.text import one_line

    print(f"mlrb: {one_line(error.message, 1000)}", file=sys.stderr)
    if error.hint:
        print(f"      {one_line(error.hint, 1000)}", file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are ours."""

    in_any_order = False
    """Whether options may stand between the names of things: argparse takes a list that may be empty for empty then."""
    _sorting = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if not self.in_any_order or self._sorting:
            return super().parse_known_args(args, namespace)
        self._sorting = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._sorting = False

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"{self.prog} --help")


if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction[_Parser]


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="mlrb",
        description="A flight deck for machine-learning research agents. Without a command: the terminal app.",
    )
    parser.add_argument("--version", action="version", version=f"mlrb {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    adders = (_add_app, _add_run, _add_looking, _add_steering, _add_tasks, _add_record, _add_house, _add_hosts)
    for add in adders:
        add(commands)
    return parser


def _command(commands: "_Commands", name: str, about: str, handler: str, *, json: bool = True) -> _Parser:
    parser = commands.add_parser(name, help=about, description=about)
    parser.set_defaults(handler=handler)
    if json:
        parser.add_argument("--json", action="store_true", help="print JSON and nothing else on stdout")
    return parser


def _add_app(commands: "_Commands") -> None:
    app = _command(commands, "app", "open the terminal app (the same as `mlrb` alone)", "app:fleet", json=False)
    app.add_argument("--read-only", action="store_true", help="watch, and never steer")
    watch = _command(commands, "watch", "open the app on a run", "app:watch", json=False)
    watch.add_argument("run", metavar="RUN", help=_RUN)
    watch.add_argument("--read-only", action="store_true", help="watch, and never steer")
    replay = _command(commands, "replay", "open a recorded run or an exported log", "app:replay", json=False)
    replay.add_argument("run", metavar="RUN|FILE", help=f"{_RUN}; or an events.db or .jsonl file")


def _add_run(commands: "_Commands") -> None:
    run = _command(commands, "run", "launch a detached run and print its id", "run:run")
    run.add_argument("task", metavar="TASK", help=_TASK)
    run.add_argument("--scale", choices=("smoke", "full"), default="smoke", help=_SCALE)
    run.add_argument("--scaffold", default="", help="how the agent is led (default: the settings', else react)")
    run.add_argument(
        "--model",
        default="",
        help="anthropic:NAME, openai:NAME or scripted[:FILE] (default: the settings', else scripted)",
    )
    run.add_argument(
        "--supervisor-model", default="", metavar="MODEL", help="with --scaffold mlrb: the supervisor's own model"
    )
    run.add_argument("--base-url", default="", metavar="URL", help="a server that speaks the vendor's protocol")
    where = "local, docker or docker@HOST (default: docker where a daemon answers)"
    run.add_argument("--sandbox", default="", help=where)
    run.add_argument("--image", default="", help="the image of a docker sandbox")
    run.add_argument(
        "--gpus", default="", metavar="N|0,1|none", help="any N, or which, by index or UUID (default: the task's)"
    )
    run.add_argument("--seed", type=int, default=0, help="what the task's data is generated from (default: 0)")
    run.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=AMOUNT",
        help="time=30m steps=50 cost=5 tokens=2M, or none; may be repeated (default: the task's)",
    )
    run.add_argument(
        "--on-limit",
        choices=("end", "pause"),
        help="whether a limit that is reached ends the run or pauses it (default: the settings')",
    )
    run.add_argument("--approve", action="store_true", help="wait for a person before each call that changes something")
    run.add_argument(
        "--pace",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="how long the scripted model takes over a reply",
    )
    run.add_argument(
        "--repeat", type=int, default=1, metavar="N", help="launch N runs, with seeds that follow each other"
    )
    run.add_argument("--watch", action="store_true", help="open the app on it")
    run.add_argument("--wait", action="store_true", help="wait until it has ended")


def _add_looking(commands: "_Commands") -> None:
    _command(commands, "ls", "all runs", "runs:ls")
    _command(commands, "show", "one run", "runs:show").add_argument("run", metavar="RUN", help=_RUN)
    events = _command(commands, "events", "a run's events", "runs:events")
    events.add_argument("run", metavar="RUN", help=_RUN)
    events.add_argument("--follow", action="store_true", help="go on until the run has ended")
    events.add_argument("--since", type=int, default=0, metavar="SEQ", help="only events after that number")
    events.add_argument(
        "--kind", action="append", default=[], help="only events of that kind, such as tool_called; may be repeated"
    )


def _add_steering(commands: "_Commands") -> None:
    pause = _command(commands, "pause", "stop a run before its next model call", "steer:pause")
    strength = pause.add_mutually_exclusive_group()
    strength.add_argument("--now", action="store_true", help="freeze it at once, in the middle of a command too")
    strength.add_argument("--after-command", action="store_true", help="stop it when the running command has ended")
    parsers = {
        "resume": "let a paused run go on",
        "inject": "say something to the agent",
        "interrupt": "end the command that runs now",
        "limits": "change a run's limits, or show them and what is used",
        "score": "grade the submission as it is, without stopping the run",
        "kill": "end a run, with proof that nothing of it is left",
    }
    made = {"pause": pause} | {
        name: _command(commands, name, about, f"steer:{name}") for name, about in parsers.items()
    }
    for parser in made.values():
        parser.add_argument("run", metavar="RUN", help=_RUN)
        _add_take_over(parser)
    _add_inject(made["inject"])
    made["interrupt"].add_argument("--worker", type=int, metavar="N", help="whose command, where several run")
    _add_approve(commands)
    _add_limits(made["limits"])
    for name in ("limits", "kill"):
        made[name].add_argument("--why", default="", help="a reason, for the record")


def _add_take_over(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--take-over", action="store_true", help="also where somebody else steers it; they are told")


def _add_limits(limits: _Parser) -> None:
    amounts = "time=+1h steps=50 cost=+5 tokens=none; without one: the limits, and what is used"
    limits.in_any_order = True
    limits.add_argument("limit", nargs="*", default=[], metavar="NAME=AMOUNT", help=amounts)
    limits.add_argument("--force", action="store_true", help="also a limit that is exceeded already")


def _add_inject(inject: _Parser) -> None:
    inject.in_any_order = True
    inject.add_argument(
        "text",
        nargs="*",
        default=[],
        metavar="TEXT",
        help="the message; `-` reads it from stdin; without one: what is queued",
    )
    inject.add_argument("--worker", type=int, default=0, metavar="N", help="to that worker (default: the supervisor)")
    change = inject.add_mutually_exclusive_group()
    change.add_argument("--withdraw", type=int, metavar="ID", help="take back a message that is still queued")
    change.add_argument(
        "--edit", nargs=2, metavar=("ID", "TEXT"), help="have a message that is still queued say something else"
    )


def _add_approve(commands: "_Commands") -> None:
    about = "what waits for a person's word in a run, and the word"
    approve = _command(commands, "approve", about, "approve:approve")
    approve.add_argument("run", metavar="RUN", help=_RUN)
    _add_take_over(approve)
    word = approve.add_mutually_exclusive_group()
    word.add_argument("--accept", action="store_true", help="let the call run")
    word.add_argument("--edit", metavar="TEXT", help="run TEXT instead; the agent is told; `-` reads it from stdin")
    word.add_argument("--reject", metavar="REASON", help="don't let it run; the agent is told the reason")
    word.add_argument("--always", action="store_true", help="let its class of calls through for the rest of the run")
    word.add_argument("--mode", choices=("on", "off"), help="turn approve mode on or off")
    approve.add_argument("--id", default="", help="only if this call waits, as `mlrb approve RUN` names it")
    approve.add_argument("--yes", action="store_true", help="with --always: don't ask whether that class is meant")


def _add_tasks(commands: "_Commands") -> None:
    tasks = _command(commands, "tasks", "the catalogue", "tasks:catalogue")
    actions = tasks.add_subparsers(dest="action", metavar="ACTION", parser_class=_Parser)
    show = _command(actions, "show", "one task", "tasks:show")
    show.add_argument("task", metavar="TASK", help=_TASK)
    show.add_argument("--scale", choices=("smoke", "full"), default="smoke", help=_SCALE)
    _command(actions, "check", "check every task folder", "tasks:check")


def _add_record(commands: "_Commands") -> None:
    _command(commands, "grade", "grade again what was submitted", "record:grade").add_argument(
        "run", metavar="RUN", help=_RUN
    )
    export = _command(commands, "export", "a run as a file", "record:export", json=False)
    export.add_argument("run", metavar="RUN", help=_RUN)
    export.add_argument("--format", choices=("jsonl",), default="jsonl", help="one event a line (default: jsonl)")
    export.add_argument("--output", metavar="FILE", default="", help="default: standard output")
    report = _command(commands, "report", "what became of a run, as a report", "report:report")
    report.add_argument("run", metavar="RUN", help=f"{_RUN}; or an events.db or .jsonl file")
    formats = ("text", "markdown", "html", "json")
    report.add_argument("--format", choices=formats, help="default: as FILE's name says, else text")
    report.add_argument("--out", metavar="FILE", default="", help="default: standard output")
    _command(commands, "reindex", "rebuild the index from the run folders", "record:reindex")


def _add_house(commands: "_Commands") -> None:
    reap = _command(commands, "reap", "what runs left behind without a runner; alone, only lists it", "reap:reap")
    act = reap.add_mutually_exclusive_group()
    act.add_argument("--remove", action="store_true", help="take it down, with proof; a lost run ends")
    act.add_argument("--adopt", action="store_true", help="give lost runs a new runner")
    reap.add_argument("--yes", action="store_true", help="do not ask first")
    reap.add_argument("--all", action="store_true", help="containers of other homes and of unknown ones too")
    image = _command(commands, "image", "the sandbox image", "house:image", json=False)
    actions = image.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=_Parser)
    build = _command(actions, "build", "build the image of the docker sandbox", "house:build_image", json=False)
    build.add_argument("--base", default="", metavar="IMAGE", help="what to build on: a CUDA or a plain Debian image")
    build.add_argument("--tag", default="", help="the image's name")
    build.add_argument("--host", default="", help="build it on that machine, reached by SSH")
    build.add_argument("--profile", choices=("base", "eval"), default="eval", help="the Python packages in it")
    config = _command(commands, "config", "each setting, its value and what it may be", "house:config")
    config.add_argument("what", nargs="?", choices=("notify",), help="only whom runs tell what")
    config.add_argument("--test", action="store_true", help="send a notification to each service, now")


def _add_hosts(commands: "_Commands") -> None:
    hosts = _command(commands, "hosts", "machines for runs, and what is free on them", "hosts:hosts")
    hosts.add_argument("host", nargs="*", metavar="HOST", help="only these (default: this machine and hosts.toml)")
    queue = _command(commands, "queue", "runs that wait their turn; with RUN PLACE, move one", "hosts:queue")
    queue.add_argument("run", nargs="?", metavar="RUN", help=_RUN)
    queue.add_argument("place", nargs="?", type=int, metavar="PLACE", help="1 is next")
    _command(commands, "doctor", "what works here, and how to mend what does not", "doctor:doctor")


if __name__ == "__main__":
    sys.exit(main())
