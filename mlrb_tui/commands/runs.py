"""What there is: all runs, one run, a run's events."""

import argparse
import sys
import time

from agent.record.home import Home
from agent.record.index import of_folder, refreshed, summaries
from agent.record.lock import is_held
from agent.record.text import one_line
from agent.record.values import RunSummary
from mlrb_tui.commands.output import print_json, print_pairs, print_table, whole
from mlrb_tui.views import words
from mlrb_tui.views.now import activity, at_moment, with_duration

_POLL_S = 0.1
_NOW_WIDTH = 32
_COLUMNS = ("run", "task", "scale", "model", "state", "step", "now", "left", "score", "cost", "age")


def ls(options: argparse.Namespace) -> int:
    """`mlrb ls`: a line a run, the newest last."""
    runs = summaries(Home.of_user())
    if options.json:
        for summary in runs:
            print_json(whole(summary))
        return 0
    if not runs:
        print("No runs yet. Start one: mlrb run mlgym/battle_of_sexes --watch")
        return 0
    now = time.time()
    print_table([_row(summary, now) for summary in runs], _COLUMNS)
    return 0


def show(options: argparse.Namespace) -> int:
    """`mlrb show RUN`: one run, whole."""
    folder = Home.of_user().find(options.run)
    summary = refreshed(folder, of_folder(folder))
    if options.json:
        print_json(whole(summary))
        return 0
    now = time.time()
    described = words.described(at_moment(summary, now), with_duration(summary, now))
    print_pairs(described | {"folder": str(folder.path)})
    return 0


def events(options: argparse.Namespace) -> int:
    """`mlrb events RUN`: one event a line as JSON, which is also what `mlrb replay` reads."""
    from agent.record.events import kind_of
    from agent.record.jsonl import to_line
    from agent.record.log import EventReader

    folder = Home.of_user().find(options.run)
    kinds = set(options.kind)
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
