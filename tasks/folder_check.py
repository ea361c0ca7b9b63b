"""Checks one task folder against what its `task.toml` promises; imports none of the task's code."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tasks.spec import Task, TaskSpec

TOOLS: dict[str, frozenset[str]] = {
    "bash": frozenset({"command", "timeout_s"}),
    "python": frozenset({"code", "timeout_s"}),
    "read": frozenset({"path", "offset", "limit"}),
    "write": frozenset({"path", "content"}),
    "edit": frozenset({"path", "old", "new"}),
    "scratchpad": frozenset({"note"}),
    "validate": frozenset(),
    "submit": frozenset({"summary"}),
}
"""The tools that a baseline script may use, and their arguments."""

PARTS = {"data.py": "generate", "grade.py": "grade"}


def folder_problems(task: Task) -> list[str]:
    """What is wrong with a task folder whose `task.toml` could be read, one line a problem."""
    return [
        *_spec_problems(task.spec),
        *_file_problems(task),
        *_part_problems(task.folder, needs_download=any(s.data != "generated" for s in task.spec.scales.values())),
        *script_problems(task.baseline_script),
    ]


def _spec_problems(spec: TaskSpec) -> Iterator[str]:
    if "smoke" not in spec.scales:
        yield "has no smoke scale"
    if not spec.artefact.paths:
        yield "the artefact names no path"
    for path in (*spec.artefact.paths, *spec.protected):
        if not _is_sane(path):
            yield f"path {path!r} must be relative, below the work folder and without '..'"
    names = [rule.name for rule in spec.rules]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two rules are named {name!r}"
    for rule in spec.rules:
        if not rule.name.isidentifier() or not rule.text.strip():
            yield f"rule {rule.name!r} needs a name that is an identifier, and a text"
    for scale, conditions in spec.scales.items():
        limits = conditions.limits
        if limits.time_s <= 0 or limits.steps <= 0 or conditions.grading_timeout_s <= 0:
            yield f"scale {scale}: limits must be above zero"
        if conditions.baseline.spread < 0:
            yield f"scale {scale}: the baseline's spread is negative"


def _is_sane(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts and "\\" not in path and "\0" not in path


def _file_problems(task: Task) -> Iterator[str]:
    for name in ("prompt.md", "data.py", "grade.py", "baseline.jsonl"):
        if not (task.folder / name).is_file():
            yield f"{name} is missing"
    if not task.starter.is_dir():
        yield "starter/ is missing"
        return
    for path in task.spec.protected:
        if not (task.starter / path).exists():
            yield f"protected file {path!r} is not in starter/"
    for file in task.starter.rglob("*"):
        if file.is_symlink():
            yield f"starter/{file.relative_to(task.starter)} is a symbolic link"


def _part_problems(folder: Path, *, needs_download: bool) -> Iterator[str]:
    for name, function in PARTS.items():
        file = folder / name
        if not file.is_file():
            continue
        try:
            tree = ast.parse(file.read_bytes(), name)
        except (SyntaxError, ValueError) as error:
            yield f"{name}: {error}"
            continue
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        wanted = {function} | ({"download"} if name == "data.py" and needs_download else set())
        for missing in sorted(wanted - defined):
            yield f"{name} defines no function {missing!r}"


def script_problems(path: Path) -> list[str]:
    """What is wrong with a baseline script, one line a problem."""
    if not path.is_file():
        return []
    problems, steps = [], 0
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if not line.strip():
            continue
        steps += 1
        problem = _step_problem(line)
        if problem:
            problems.append(f"{path.name} line {number}: {problem}")
    return problems if steps else [f"{path.name} has no steps"]


def _step_problem(line: str) -> str:
    try:
        step = json.loads(line)
    except ValueError as error:
        return str(error)
    if not isinstance(step, dict) or not isinstance(step.get("thought"), str):
        return "a step is an object with a thought"
    calls = step.get("calls", [step])
    if not isinstance(calls, list) or not calls:
        return "calls must be a list of tool calls"
    for call in calls:
        problem = _call_problem(call)
        if problem:
            return problem
    return ""


def _call_problem(call: object) -> str:
    if not isinstance(call, dict):
        return "a call is an object with tool and arguments"
    tool, arguments = call.get("tool"), call.get("arguments", {})
    if not isinstance(tool, str) or tool not in TOOLS:
        return f"unknown tool {tool!r}"
    if not isinstance(arguments, dict):
        return "arguments must be an object"
    unknown = sorted(set(arguments) - TOOLS[tool])
    return f"tool {tool} has no argument {', '.join(unknown)}" if unknown else ""
