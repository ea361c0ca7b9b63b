"""What there is: all runs, one run, a run's events."""

import argparse
import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent.record.gpu_time import of_run, total
from agent.record.home import Home, RunFolder
from agent.record.index import of_folder, refreshed, summaries
from agent.record.lock import is_held
from agent.record.text import one_line
from agent.record.values import RunSummary
from mlrb_tui.commands.output import print_json, print_pairs, print_table, whole
from mlrb_tui.views import words
from mlrb_tui.views.now import activity, at_moment, with_duration
from tasks.errors import UsageError

if TYPE_CHECKING:
    from agent.record.lease import Standing

_POLL_S = 0.1
_NOW_WIDTH = 32
_SHOWN = ("viewer", "who", "origin", "host", "terminal", "pid")
"""What a script may want to know of who steers."""
_COLUMNS = ("run", "task", "scale", "model", "state", "step", "now", "left", "score", "cost", "age")


def ls(options: argparse.Namespace) -> int:
    """`mlrb ls`: a line a run, the newest last."""
    runs = summaries(Home.of_user())
    if options.json:
        for summary in runs:
            print_json(_with_hours(summary))
        return 0
    if not runs:
        print("No runs yet. Start one: mlrb run mlgym/battle_of_sexes --watch")
        return 0
    now = time.time()
    print_table([_row(summary, now) for summary in runs], _COLUMNS)
    if said := words.gpu_hours(total(runs)):
        print(f"GPU: {said}")
    return 0


def show(options: argparse.Namespace) -> int:
    """`mlrb show RUN`: one run, whole."""
    from agent.record.lease import Standing
    from agent.record.lease_watch import standing_of
    from mlrb_tui.views.control import described

    folder = Home.of_user().find(options.run)
    summary = refreshed(folder, of_folder(folder))
    standing = Standing() if summary.state == "ended" and summary.outcome != "lost" else standing_of(folder.inbox)
    if options.json:
        hours = _commands(folder) if summary.gpus else []
        print_json(_with_hours(summary) | {"gpu_commands": hours, "control": _control(standing)})
        return 0
    now = time.time()
    said = words.described(at_moment(summary, now), with_duration(summary, now))
    print_pairs(said | {"steered by": described(standing), "folder": str(folder.path)})
    return 0


def events(options: argparse.Namespace) -> int:
    """`mlrb events RUN`: one event a line as JSON, which is also what `mlrb replay` reads."""
    from agent.record.events import kind_of, known_kinds
    from agent.record.jsonl import to_line
    from agent.record.log import EventReader
    from agent.record.queries import kinds_present

    folder = Home.of_user().find(options.run)
    kinds = set(options.kind)
    with EventReader(folder.events) as reader:
        _check_kinds(kinds, {*known_kinds(), *kinds_present(reader)})
    seq = options.since
    with EventReader(folder.events) as reader:
        while True:
            alive = options.follow and is_held(folder.lock)
            while page := reader.since(seq):
                seq = page[-1].seq
                lines = (to_line(event) for event in page if not kinds or kind_of(event.body) in kinds)
                sys.stdout.writelines(line + "\n" for line in lines)
            sys.stdout.flush()
            if not alive:
                return 0
            time.sleep(_POLL_S)


def _with_hours(summary: RunSummary) -> dict[str, object]:
    shown = whole(summary)
    assert isinstance(shown, dict)
    return shown | {"gpu_hours": whole(of_run(summary))}


def _commands(folder: RunFolder) -> object:
    """What each command held and used of the GPUs."""
    from agent.record.ledger import read_commands

    return whole(read_commands(folder.events)) if folder.events.exists() else []


def _control(standing: "Standing") -> dict[str, object] | None:
    """Who steers, for scripts; None where nobody does."""
    holder = standing.holder
    if holder is None or standing.lease is None:
        return None
    asking = [viewer.said for viewer in standing.asking]
    return {**{name: getattr(holder, name) for name in _SHOWN}, "since": standing.lease.since, "asked_by": asking}


def _check_kinds(wanted: Iterable[str], known: Iterable[str]) -> None:
    """Raise `UsageError` for a kind of event that there is not, and name those that were meant."""
    import difflib

    for kind in sorted(set(wanted) - set(known)):
        near = difflib.get_close_matches(kind, known, n=3, cutoff=0.5) or sorted(known)
        raise UsageError(f"there is no kind of event {kind!r}", hint=f"kinds are {', '.join(near)}")


def _row(summary: RunSummary, now: float) -> dict[str, str]:
    return {
        "run": summary.run,
        "task": summary.task,
        "scale": summary.scale,
        "model": summary.model,
        "state": words.state(summary),
        "step": str(summary.step),
        "now": one_line(activity(summary, now), _NOW_WIDTH),
        "left": words.left(summary),
        "score": words.score(summary.final_score or summary.last_score),
        "cost": words.cost(summary),
        "age": words.duration(now - summary.created_at),
    }
