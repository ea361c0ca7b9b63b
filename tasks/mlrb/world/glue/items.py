"""All eight tasks at once: rows with every class equally often, and the same as texts for training."""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tasks.mlrb.world.glue import inference, reading, words
from tasks.mlrb.world.glue.author import ItemAuthor
from tasks.mlrb.world.glue.prompts import PROMPTS
from tasks.mlrb.world.grammar import Part
from tasks.mlrb.world.quiz import Prompt

Row = dict[str, Any]
TRIVIAL = {
    "boolq": 1 / 2,
    "cb": 1 / 3,
    "copa": 1 / 2,
    "multirc": 1 / 2,
    "record": 1 / 4,
    "rte": 1 / 2,
    "wic": 1 / 2,
    "wsc": 1 / 2,
}
"""What the most frequent answer earns, and a guess on ReCoRD; .448 in the mean."""
_MAKERS: Mapping[str, tuple[int, Callable[[ItemAuthor, int], Row]]] = {
    "boolq": (2, reading.boolq),
    "cb": (3, inference.cb),
    "copa": (2, words.copa),
    "multirc": (2, reading.multirc),
    "record": (4, reading.record),
    "rte": (2, inference.rte),
    "wic": (2, words.wic),
    "wsc": (2, words.wsc),
}
"""How many classes a task has, and who makes an item of a class."""
TASKS = tuple(_MAKERS)
CONFIGURATIONS = {"wsc": "wsc.fixed"}
"""Where the hub's name for a task is not the task's."""


def super_glue(seed: int, part: Part, each: int = 60) -> dict[str, dict[str, list[Row]]]:
    """Rows by configuration and split, `each` a task in `validation`, which lm-eval asks; `train` shows the form."""
    return {
        CONFIGURATIONS.get(task, task): {
            "train": rows(seed, task, "corpus", 16),
            "validation": rows(seed, task, part, each),
        }
        for task in TASKS
    }


def rows(seed: int, task: str, part: Part, count: int) -> list[Row]:
    """Different rows of a task, the classes in turn."""
    classes, make = _MAKERS[task]
    author = ItemAuthor(seed, random.Random(f"{seed}:{part}:{task}"), part)
    seen: set[str] = set()
    made: list[Row] = []
    while len(made) < count:
        row = make(author, len(made) % classes)
        key = json.dumps(row)
        if key not in seen:
            seen.add(key)
            made.append({**row, "idx": len(made)})
    author.rng.shuffle(made)
    return made


def practice(seed: int, rng: random.Random) -> Iterator[tuple[str, Prompt]]:
    """Endless items for training, each with its task's name; none of them is a graded one."""
    author = ItemAuthor(seed, rng, "corpus")
    while True:
        task = rng.choice(TASKS)
        classes, make = _MAKERS[task]
        yield task, PROMPTS[task](make(author, rng.randrange(classes)))
