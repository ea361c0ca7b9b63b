"""The catalogue: finds, reads and checks task folders, and fills their prompts.

A task folder is `<root>/<suite>/<task>/` with `task.toml`, `prompt.md`, `starter/`, `data.py`, `grade.py` and
`baseline.jsonl`. Roots are this package and every folder in `$MLRB_TASKS` (separated as `$PATH` is).
`tasks/contract.py` says what `data.py` and `grade.py` must offer.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tasks.errors import TaskInvalid, UsageError
from tasks.folder_check import folder_problems
from tasks.spec import Scale, Task, read_spec

TASKS_VARIABLE = "MLRB_TASKS"
BUILT_IN = Path(__file__).parent
_PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def roots() -> list[Path]:
    """The folders that hold suites of tasks: ours first, then the user's."""
    given = os.environ.get(TASKS_VARIABLE, "")
    return [BUILT_IN, *(Path(part).expanduser().absolute() for part in given.split(os.pathsep) if part)]


def load(name: str) -> Task:
    """The task of that name, its suite left out where no other has it.

    Raises `UsageError` where there is none, or more than one, and `TaskInvalid` where it cannot be read.
    """
    folders = dict(_named_folders())
    if name in folders:
        return _read(name, folders[name])
    named = sorted(one for one in folders if one.partition("/")[2] == name)
    if len(named) == 1:
        return _read(named[0], folders[named[0]])
    if named:
        raise UsageError(f"{name!r} names {len(named)} tasks", hint=f"write {' or '.join(named)}")
    raise UsageError("; ".join([f"there is no task {name!r}", *empty_roots()]), hint=_did_you_mean(name, list(folders)))


def empty_roots() -> list[str]:
    """What is wrong with the folders in `$MLRB_TASKS`, one line a folder: what is not there hides its tasks."""
    problems = []
    for root in roots()[1:]:
        if not root.is_dir():
            problems.append(f"{TASKS_VARIABLE}: there is no folder {root}")
        elif next(root.glob("*/*/task.toml"), None) is None:
            problems.append(f"{TASKS_VARIABLE}: {root} holds no SUITE/NAME/task.toml")
    return problems


def all_tasks() -> list[Task]:
    """Every task, by name; raises one `TaskInvalid` that lists all that cannot be read."""
    tasks, problems = [], []
    for name, folder in sorted(dict(_named_folders()).items()):
        try:
            tasks.append(_read(name, folder))
        except TaskInvalid as error:
            problems.append(error.message)
    if problems:
        raise TaskInvalid("; ".join(problems), hint="mlrb tasks check")
    return tasks


def check() -> list[str]:
    """What is wrong with the task folders, one line a problem; empty when all is well."""
    problems = empty_roots()
    seen: dict[str, Path] = {}
    for name, folder in sorted(_named_folders()):
        if name in seen:
            problems.append(f"{name}: two folders have this name; {folder} is hidden")
            continue
        seen[name] = folder
        try:
            task = _read(name, folder)
        except TaskInvalid as error:
            problems.append(error.message)
            continue
        problems += [f"{name}: {problem}" for problem in folder_problems(task)]
        problems += _prompt_problems(task)
    return problems


def require_sound() -> None:
    """Raise one `TaskInvalid` that lists all that is wrong with the task folders."""
    problems = check()
    if problems:
        raise TaskInvalid("\n".join(problems), hint="mend the task folders named above")


def prompt(task: Task, scale: Scale, *, time_s: float | None = None, steps: int | None = None) -> str:
    """The task text for the agent, its `{names}` filled in; limits are the task's own unless given."""
    values = _prompt_values(task, scale, time_s=time_s, steps=steps)
    text = task.prompt.read_text(encoding="utf-8")
    unknown = sorted({name for name in _PLACE.findall(text) if name not in values})
    if unknown:
        known = ", ".join(sorted(values))
        raise TaskInvalid(f"{task.spec.name}: prompt.md asks for {', '.join(unknown)}", hint=f"known are {known}")
    return _PLACE.sub(lambda found: values[found[1]], text)


def _named_folders() -> Iterator[tuple[str, Path]]:
    for root in roots():
        for spec_file in sorted(root.glob("*/*/task.toml")):
            folder = spec_file.parent
            yield f"{folder.parent.name}/{folder.name}", folder


def _read(name: str, folder: Path) -> Task:
    try:
        spec = read_spec((folder / "task.toml").read_bytes())
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        raise TaskInvalid(f"{name}: task.toml: {error}") from error
    if spec.name != name:
        raise TaskInvalid(f"{name}: task.toml names itself {spec.name!r}", hint="name = suite/folder")
    return Task(spec=spec, folder=folder)


def _did_you_mean(name: str, known: list[str]) -> str:
    import difflib

    # A name without its suite is meant as such, and the suites' names would make all of them alike.
    names = {one.rpartition("/")[2]: one for one in sorted(known)}
    near = [names[one] for one in difflib.get_close_matches(name.rpartition("/")[2], list(names), n=3, cutoff=0.4)]
    return f"did you mean {', '.join(near)}?" if near else "mlrb tasks shows the tasks there are"


def _prompt_problems(task: Task) -> list[str]:
    problems = []
    for scale in task.spec.scales:
        try:
            prompt(task, scale)
        except TaskInvalid as error:
            problems.append(f"{error.message} (at scale {scale})")
        except (OSError, UnicodeDecodeError) as error:
            return [f"{task.spec.name}: prompt.md cannot be read: {error}"]
    return problems


def _prompt_values(task: Task, scale: Scale, *, time_s: float | None, steps: int | None) -> dict[str, str]:
    spec, conditions = task.spec, task.at(scale)
    metric = task.metric(scale)
    better = "higher" if metric.direction == "maximize" else "lower"
    options = {name: _shown(value) for name, value in conditions.options.items()}
    return options | {
        "title": spec.title,
        "goal": spec.goal,
        "metric": metric.name,
        "direction": f"{better} is better",
        "baseline": f"{conditions.baseline.value:.4g}",
        "baseline_spread": f"{conditions.baseline.spread:.2g}",
        "scale": scale,
        "conditions": conditions.about,
        "artefact": spec.artefact.about,
        "rules": "\n".join(f"- {rule.text}" for rule in spec.rules),
        "time": _duration(conditions.limits.time_s if time_s is None else time_s),
        "steps": str(conditions.limits.steps if steps is None else steps),
        "command_timeout": _duration(conditions.limits.command_timeout_s),
        "cpus": f"{conditions.compute.cpus:g}",
        "memory_gb": f"{conditions.compute.memory_gb:g}",
        "gpus": _gpus(conditions.compute.gpus, conditions.compute.gpu),
    }


def _shown(value: int | float | str | bool) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _gpus(count: int, name: str) -> str:
    if not count:
        return "no GPU"
    return f"{count} {name} GPU{'s' if count > 1 else ''}".replace("  ", " ")


def _duration(seconds: float) -> str:
    if seconds >= 7200:
        return f"{seconds / 3600:g} hours"
    return f"{seconds / 60:g} minutes" if seconds >= 120 else f"{seconds:g} seconds"
