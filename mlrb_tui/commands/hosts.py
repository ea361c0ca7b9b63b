"""`mlrb hosts` and `mlrb queue`: machines, what is free on them, and who waits for them."""

import argparse
import shutil
import time

import msgspec

from agent.record import index
from agent.record.home import Home
from agent.sandbox.on_machine import SeenMachine
from mlrb_tui.commands.output import print_json, print_table, say
from mlrb_tui.control import hosts as control
from mlrb_tui.views import hosts as views
from mlrb_tui.views import words
from mlrb_tui.views.host_rows import Surroundings, host_rows
from tasks.errors import UsageError

_WIDTH = 160
_QUEUE = ("place", "run", "host", "waits for", "since", "moved by")


def hosts(options: argparse.Namespace) -> int:
    """`mlrb hosts [HOST…]`: each machine, its GPUs and its queue."""
    home = Home.of_user()
    found = control.look(home, options.host)
    if options.json:
        for one in found:
            print_json(_as_json(one))
        return 0
    width = shutil.get_terminal_size((_WIDTH, 24)).columns
    runs = {one.run: one for one in index.summaries(home)}
    for line in host_rows(found, Surroundings(width, runs, time.time())):
        print("".join(span.text for span in line.line).rstrip())
    return 0


def queue(options: argparse.Namespace) -> int:
    """`mlrb queue [RUN PLACE]`: runs that wait their turn; with a run and a place, that run gets that place."""
    home = Home.of_user()
    if options.run:
        if options.place is None or options.place < 1:
            raise UsageError("which place is it to have?", hint="mlrb queue RUN 1 makes it the next")
        run = home.find(options.run).run
        host = control.move(home, run, options.place)
        say(f"{run} is number {control.place_in_queue(home, run)} on {host}")
        return 0
    rows = [
        {
            "place": str(place), "run": one.run, "host": host, "waits for": views.wanted(one.gpus),
            "since": words.duration(time.time() - one.since), "moved by": one.moved_by,
        }
        for host, ledger in control.queues(home).items()
        for place, one in enumerate(ledger.waiting, 1)
    ]  # fmt: skip
    if options.json:
        for host, ledger in control.queues(home).items():
            print_json({"host": host, **msgspec.to_builtins(ledger)})
    elif rows:
        print_table(rows, _QUEUE)
    else:
        print("No run waits for its turn.")
    return 0


def _as_json(one: SeenMachine) -> dict[str, object]:
    """With every field, also those that say the usual."""
    shown: dict[str, object] = {name: getattr(one, name) for name in SeenMachine.__struct_fields__}
    gpus = [
        {**_whole(seen.gpu), "usable": seen.usable, "run": seen.run or None, "elsewhere": seen.elsewhere}
        for seen in one.gpus
    ]
    return shown | {"gpus": gpus, "waiting": [_whole(each) for each in one.waiting]}


def _whole(value: msgspec.Struct) -> dict[str, object]:
    return {name: getattr(value, name) for name in value.__struct_fields__}
