"""What a task is, as frozen values read from its `task.toml`; strict about unknown keys."""

from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

Direction = Literal["maximize", "minimize"]
Scale = Literal["smoke", "full"]


class Metric(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is measured, and which way is better."""

    name: str
    direction: Direction
    unit: str = ""
    optimum: float | None = None
    """The best value there can be, where it is known."""
    chance: float | None = None
    """What guessing gives."""


class Baseline(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A value to compare with, and where it comes from."""

    value: float
    source: str
    spread: float = 0.0
    """Standard deviation over seeds; an improvement counts only beyond twice the noise."""


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something the task forbids, and whether breaking it makes a score invalid."""

    name: str
    text: str
    invalidates: bool = True


class TaskLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a run of this task may use unless the person who launches it says otherwise."""

    time_s: float
    steps: int
    cost_usd: float
    command_timeout_s: float = 600.0


class Compute(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the task is meant to run on."""

    gpus: int = 0
    gpu: str = ""
    cpus: float = 2.0
    memory_gb: float = 4.0
    shm_gb: float = 0.25
    disk_gb: float = 10.0
    processes: int = 512


class ScaleSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The conditions of one scale."""

    about: str
    """In one sentence: what data, what size, on what machine."""
    limits: TaskLimits
    compute: Compute
    baseline: Baseline
    grading_timeout_s: float = 600.0
    data: str = "generated"
    """`generated` by the task from a seed, or the address of a hub data set."""
    metric: Metric | None = None
    """Where this scale measures something else than the task's metric."""
    options: dict[str, int | float | str | bool] = {}
    """Sizes and the like that `data.py`, the prompt and `grade.py` read."""


class Artefact(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the agent hands in."""

    about: str
    paths: tuple[str, ...]
    """Files and folders below the work folder."""
    max_bytes: int = 2 * 1024**3


class TaskSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that a machine needs to know of a task."""

    name: str
    """`mlgym/battle_of_sexes`."""
    title: str
    goal: str
    """One sentence."""
    source: str
    """The publication that the task comes from."""
    artefact: Artefact
    metric: Metric
    scales: dict[Scale, ScaleSpec]
    rules: tuple[Rule, ...] = ()
    protected: tuple[str, ...] = ()
    """Starter files that are not the agent's to change."""
    requires: tuple[str, ...] = ()
    """Python modules that the sandbox and the grader need."""
    network: bool = False
    published: tuple[Baseline, ...] = ()
    """Published results of agents, for comparison at full scale."""


class Task(Struct, frozen=True, kw_only=True):
    """A task's folder and what its `task.toml` says."""

    spec: TaskSpec
    folder: Path

    @property
    def prompt(self) -> Path:
        """The task text for the agent, with `{names}` to be filled in."""
        return self.folder / "prompt.md"

    @property
    def starter(self) -> Path:
        """The files that the agent starts with."""
        return self.folder / "starter"

    @property
    def baseline_script(self) -> Path:
        """The scripted steps that really solve the task at smoke scale."""
        return self.folder / "baseline.jsonl"

    def at(self, scale: Scale) -> ScaleSpec:
        """The conditions at that scale."""
        return self.spec.scales[scale]

    def metric(self, scale: Scale) -> Metric:
        """What is measured at that scale."""
        return self.at(scale).metric or self.spec.metric


def read_spec(raw: bytes) -> TaskSpec:
    """A spec out of TOML; raises `msgspec.ValidationError` that names the place."""
    return msgspec.toml.decode(raw, type=TaskSpec)
