"""The catalogue: all tasks, one task, and whether every folder holds together."""

import argparse

from agent.record.values import Limits
from mlrb_tui.commands.output import print_json, print_pairs, print_table, say
from mlrb_tui.views import words
from tasks.catalogue import all_tasks, empty_roots, load
from tasks.catalogue import check as problems
from tasks.errors import TaskInvalid
from tasks.spec import ScaleSpec, Task

_COLUMNS = ("task", "scales", "metric", "better", "baseline", "title")


def catalogue(options: argparse.Namespace) -> int:
    """`mlrb tasks`: a line a task."""
    tasks = all_tasks()
    for problem in empty_roots():
        say(f"warning: {problem}")
    if options.json:
        for task in tasks:
            print_json(task.spec)
        return 0
    print_table([_row(task) for task in tasks], _COLUMNS)
    return 0


def show(options: argparse.Namespace) -> int:
    """`mlrb tasks show TASK`."""
    task = load(options.task)
    if options.json:
        print_json(task.spec)
        return 0
    spec, scale, metric = task.spec, task.at(options.scale), task.metric(options.scale)
    print_pairs(
        {
            "task": f"{spec.name} · {options.scale}",
            "title": spec.title,
            "goal": spec.goal,
            "source": spec.source,
            "about": scale.about,
            "artefact": f"{', '.join(spec.artefact.paths)}: {spec.artefact.about}",
            "metric": f"{metric.name}, {metric.direction}",
            "baseline": f"{scale.baseline.value:.4g} ± {scale.baseline.spread:.2g} ({scale.baseline.source})",
            "limits": _limits(scale),
            "needs": ", ".join(spec.requires),
            "network": "yes" if spec.network else "no",
            "folder": str(task.folder),
        }
    )
    for rule in spec.rules:
        print(f"rule      {rule.name}: {rule.text}")
    return 0


def check(options: argparse.Namespace) -> int:
    """`mlrb tasks check`: every folder; one error that lists all that is wrong."""
    found = problems()
    if options.json:
        print_json({"problems": found})
    if found:
        raise TaskInvalid("\n      ".join([f"{words.count(len(found), 'problem')} in the task folders", *found]))
    if not options.json:
        print("every task folder holds together")
    return 0


def _row(task: Task) -> dict[str, str]:
    spec = task.spec
    return {
        "task": spec.name,
        "scales": " ".join(spec.scales),
        "metric": spec.metric.name,
        "better": "higher" if spec.metric.direction == "maximize" else "lower",
        "baseline": " / ".join(f"{scale.baseline.value:.4g}" for scale in spec.scales.values()),
        "title": spec.title,
    }


def _limits(scale: ScaleSpec) -> str:
    limits = scale.limits
    return words.limits(Limits(time_s=limits.time_s, steps=limits.steps, cost_usd=limits.cost_usd))
