"""What the soak's runs work on: a small task whose commands leave a witness, and seeded scripts for it.

Each command counts aloud, and writes each count to `witness.txt` before it says it. So a command that ran twice, and
output that was lost or doubled, can be read off afterwards.
"""

import json
import random
from pathlib import Path

TASK = "soak/ticks"
WITNESS = "witness.txt"

_TASK_TOML = """
name = "soak/ticks"
title = "Ticks"
goal = "Count, and write the last count into answer.txt."
source = "tests"

[artefact]
about = "answer.txt with one number, and the witness of all that was counted"
paths = ["answer.txt", "witness.txt"]

[metric]
name = "number"
direction = "maximize"

[scales.smoke]
about = "one number"
limits = { time_s = 300.0, steps = 60, cost_usd = 1.0, command_timeout_s = 60.0 }
compute = { cpus = 1.0, memory_gb = 1.0, processes = 256 }
grading_timeout_s = 60.0

[scales.smoke.baseline]
value = 1.0
source = "tests"
"""

_DATA = '''"""Data of the soak's task."""


def generate(out, *, seed, options):
    (out / "public" / "input.txt").write_text(f"seed {seed}\\n")
    for split in ("dev", "test"):
        (out / "private" / split / "bonus.txt").write_text("1")
'''

_GRADE = '''"""Grader of the soak's task: the number, after a while in which it can be cut off."""

import time


def grade(submission, private, *, split, options, report):
    for done in range(10):
        report(done, 10, "naps")
        time.sleep(0.1)
    return {"value": float((submission / "answer.txt").read_text())}
'''


def write_task(root: Path) -> Path:
    """A folder for `MLRB_TASKS` that holds the task."""
    folder = root / "tasks" / TASK
    (folder / "starter").mkdir(parents=True)
    (folder / "task.toml").write_text(_TASK_TOML)
    (folder / "prompt.md").write_text("{goal} You have {time} and {steps} steps.\n")
    (folder / "data.py").write_text(_DATA)
    (folder / "grade.py").write_text(_GRADE)
    (folder / "starter" / "answer.txt").write_text("0\n")
    (folder / "starter" / WITNESS).write_text("")
    (folder / "baseline.jsonl").write_text(_line("bash", command="echo 5 > answer.txt") + _line("submit"))
    return root / "tasks"


def script(rng: random.Random) -> str:
    """A run's script: some commands of several kinds, then the submission: again where it was cut off or rejected."""
    kinds = (_counting, _counting, _counting, _counting_in_python, _leaving_children, _talking, _failing, _validating)
    return "".join(rng.choice(kinds)(rng, number) for number in range(rng.randint(5, 10))) + _line("submit") * 6


def tick(number: int, count: int | str) -> str:
    """What line `number` of a script says, and writes to the witness, at that count."""
    return f"tick {number} {count}"


def _counting(rng: random.Random, number: int) -> str:
    counts, pause_s = rng.randint(5, 40), rng.choice((0.05, 0.1, 0.2))
    said = tick(number, "$i")
    loop = f'for i in $(seq {counts}); do echo "{said}" >> {WITNESS}; echo "{said}"; sleep {pause_s}; done'
    return _line("bash", command=f"{loop}; echo {counts} > answer.txt")


def _counting_in_python(rng: random.Random, number: int) -> str:
    said = f"f'{tick(number, '{i}')}'"
    code = (
        f"import time\nfor i in range(1, {rng.randint(5, 20)}):\n"
        f"    print({said}, file=open('{WITNESS}', 'a'))\n    print({said}, flush=True)\n    time.sleep(0.1)\n"
    )
    return _line("python", code=code)


def _leaving_children(rng: random.Random, number: int) -> str:
    return _line("bash", command="sleep 600 & (setsid sleep 601 &) ; (sleep 602 & exec setsid sleep 603) & sleep 1")


def _talking(rng: random.Random, number: int) -> str:
    return _line("bash", command=f"seq {rng.randint(500, 5000)}; sleep 0.5")


def _failing(rng: random.Random, number: int) -> str:
    return _line("bash", command="sleep 0.5; exit 3")


def _validating(rng: random.Random, number: int) -> str:
    return _line("validate")


def _line(tool: str, **arguments: object) -> str:
    thought = f"Next I use {tool}, and say why in some words, so that the reply takes a moment to come."
    return json.dumps({"thought": thought, "tool": tool, "arguments": arguments}) + "\n"
