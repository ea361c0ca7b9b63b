"""The suites that models are scored on: which stock tasks, on which hub set, and how their mean is taken."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tasks.mlrb.hub import BLIMP_SET, MERGING_SET, MMLU_SET, SUPER_GLUE_SET, configurations

OWN_TASKS = Path(__file__).parent / "tasks"
"""Task files for sets that lm-eval has none for."""


@dataclass(frozen=True)
class Suite:
    """Tasks of lm-eval that make one score together."""

    name: str
    """The group, tag or task as lm-eval calls it."""
    hub_set: str
    family: str
    """The folder with its task files, below lm-eval's own; empty for ours."""
    size: int
    """Configurations of the whole set."""
    weighting: Literal["tasks", "items"] = "tasks"
    """Whether each task counts the same in the mean, or each item."""
    prefix: str = ""
    """What lm-eval puts before a configuration's name to make a task's."""


BLIMP = Suite("blimp", BLIMP_SET, "blimp", 67, prefix="blimp_")
"""Minimal pairs (Warstadt et al. 2020, arXiv 1912.00582); the group is the unweighted mean of its paradigms."""

SUPER_GLUE = Suite("super-glue-lm-eval-v1", SUPER_GLUE_SET, "super_glue", 8)
"""Eight tasks (Wang et al. 2019, arXiv 1905.00537). A tag only: lm-eval prints no mean, so it is taken here as the
paper's, with ReCoRD by exact match."""

MMLU = Suite("mmlu", MMLU_SET, "mmlu/default", 57, weighting="items", prefix="mmlu_")
"""Questions on 57 subjects (Hendrycks et al. 2021, arXiv 2009.03300); lm-eval weights the subjects by their size."""

COSMOSQA = Suite("cosmosqa", MERGING_SET, "", 1)
"""The multiple choice of the merging competition, for which lm-eval has no task file."""

XSUM = Suite("xsum", MERGING_SET, "", 1)
"""The summaries of the merging competition, by ROUGE-L; for that, too, there is a task file of ours."""

SUITES = {suite.name: suite for suite in (BLIMP, SUPER_GLUE, MMLU, COSMOSQA, XSUM)}


def task_names(suite: Suite, hub_root: Path) -> list[str]:
    """What to ask lm-eval for: the group where its set below `hub_root` is whole, else the tasks it has rows for."""
    there = configurations(hub_root, suite.hub_set)
    if not suite.prefix or len(there) == suite.size:
        return [suite.name]
    return [suite.prefix + name for name in there]
